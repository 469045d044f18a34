//! `kunde`: what is done with a partner by its number.

use clap::Subcommand;
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use super::changes::note;
use super::database::{begin, find_tenant, now, open};
use super::terminal::{Outcome, Terminal};
use crate::app::vergessen::{self, Forgotten, Records};
use crate::config::Config;
use crate::db::TenantId;
use crate::db::tx::{Tx, WriteTx};
use crate::kunden::{self, Erased};
use crate::rules::deed::{Art, Deed, Tat};

#[derive(Subcommand)]
pub enum Command {
    /// Erase what is said of a person (GDPR art. 17)
    ///
    /// Master data, their history and attachments. Records that name the person stay as they are; name and address of
    /// the master data stay for as long as the law wants one of these records (AO § 147). Without --yes it only says
    /// what it would do.
    #[command(
        override_usage = "partnerd kunde vergessen [OPTIONS]\n       --tenant <T> <NUMBER>",
        after_help = "Examples:\n  partnerd kunde vergessen K-1001 \\\n      --tenant \"Mühle Beispiel\"\n  partnerd kunde vergessen K-1001 \\\n      --tenant \"Mühle Beispiel\" --yes"
    )]
    Vergessen {
        /// Number of the customer or supplier, for example K-1001
        #[arg(value_name = "NUMBER")]
        number: String,
        /// Name or id of the company
        #[arg(long, value_name = "T")]
        tenant: String,
        /// Do it; nothing brings it back
        #[arg(long)]
        yes: bool,
    },
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    let Command::Vergessen { number, tenant, yes } = command;
    let mut connection = open(config)?;
    let transaction = begin(&mut connection)?;
    let tenant = find_tenant(&transaction, &tenant)?.id;
    let (id, erased, kept) = forget(&transaction, tenant, &number)?;
    // Without --yes what was tried is undone.
    if yes && erased != Erased::default() {
        let deed = Deed::new(Tat::Vergessen, Art::Partner).id(id);
        note(&transaction, Some(tenant), "kunde vergessen", &deed)?;
        transaction.commit()?;
    }
    say(&erased, &kept, yes, terminal)
}

/// Which partner was forgotten, what of it was erased, and what is kept.
fn forget(connection: &Connection, tenant: TenantId, number: &str) -> Outcome<(Uuid, Erased, Vec<Records>)> {
    let forgotten = WriteTx::carry_out(Tx::new(connection, tenant, now()), None, |tx| {
        let Some(kunde) = kunden::find_by_kundennr(tx, number)? else { return Ok(None) };
        let forgotten = vergessen::forget(tx, &kunde)?;
        Ok(Some((kunde, forgotten)))
    });
    let missing = || format!("there is no customer or supplier {number}: their numbers look like K-1001");
    match forgotten?.ok_or_else(missing)? {
        (kunde, Forgotten::Done(erased, kept)) => Ok((kunde.id, erased, kept)),
        (kunde, Forgotten::Open(open)) => {
            let open: Vec<_> =
                open.iter().map(|records| format!("{} {}", records.open, records.kind)).collect();
            let open = open.join(", ");
            let kundennr = kunde.kundennr;
            Err(format!("{kundennr} is still needed. Open: {open}. Finish or cancel them first").into())
        }
    }
}

fn say(erased: &Erased, kept: &[Records], done: bool, terminal: &Terminal) -> Outcome {
    if terminal.json {
        terminal.print(&json!({"done": done, "kept": kept, "erased": erased}).to_string());
        return Ok(());
    }
    if !kept.is_empty() {
        terminal.rows(&["kept", "count", "wanted until"], kept, |records| {
            vec![records.kind.to_owned(), records.count.to_string(), records.until.to_string()]
        })?;
    }
    terminal.say(&match (erased == &Erased::default(), done) {
        (true, _) => "There is nothing to erase.".to_owned(),
        (false, true) => format!(
            "Erased: {}. Backups and copies (-before-…) made before today still hold it.",
            in_words(erased)
        ),
        (false, false) => {
            format!("This would erase {}. Nothing was erased: --yes does it.", in_words(erased))
        }
    });
    Ok(())
}

fn in_words(erased: &Erased) -> String {
    let fields = match erased.fields.as_slice() {
        [] => "no fields".to_owned(),
        fields => format!("the fields {}", fields.join(", ")),
    };
    format!("{fields}; what {} changes said; {} attachments", erased.changes, erased.attachments)
}

//! `kunde`: forgets a partner by its number.

use clap::Subcommand;
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use super::changes::note;
use super::database::{begin, find_tenant, now, open};
use super::terminal::{Outcome, Terminal};
use crate::master::kunden::{self, Erased};
use crate::operations::vergessen::{self, Forgotten, Records};
use crate::platform::db::TenantId;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Löschen, was über eine Person gespeichert ist (DSGVO Art. 17)
    ///
    /// Stammdaten, ihr Verlauf und Anhänge. Unterlagen, die die Person nennen, bleiben, wie sie sind; Name
    /// und Anschrift der Stammdaten bleiben, solange das Gesetz eine davon verlangt (§ 147 AO). Ohne --yes
    /// sagt es nur, was es täte.
    #[command(
        override_usage = "partnerd kunde vergessen [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>",
        after_help = "Beispiele:\n  \
                      partnerd kunde vergessen K-1001 \\\n      \
                      --tenant \"Mühle Beispiel\"\n  \
                      partnerd kunde vergessen K-1001 \\\n      \
                      --tenant \"Mühle Beispiel\" --yes"
    )]
    Vergessen {
        /// Nummer des Kunden oder Lieferanten, etwa K-1001
        #[arg(value_name = "NUMMER")]
        number: String,
        /// Name oder Nummer der Firma
        #[arg(long, value_name = "FIRMA")]
        tenant: String,
        /// Es tun; nichts bringt es zurück
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
    // Without --yes, dropping the transaction undoes the trial.
    if yes && erased != Erased::default() {
        let event = AdminEvent::new(AdminAction::Vergessen, Art::Partner).id(id);
        note(&transaction, Some(tenant), "kunde vergessen", &event)?;
        transaction.commit()?;
    }
    say(&erased, &kept, yes, terminal)
}

/// Forgets the partner; returns its id, what was erased, and what is kept.
fn forget(connection: &Connection, tenant: TenantId, number: &str) -> Outcome<(Uuid, Erased, Vec<Records>)> {
    let forgotten = WriteTx::carry_out(Tx::new(connection, tenant, now()), None, |tx| {
        let Some(kunde) = kunden::find_by_kundennr(tx, number)? else { return Ok(None) };
        let forgotten = vergessen::forget(tx, &kunde)?;
        Ok(Some((kunde, forgotten)))
    });
    let missing = || format!("den Partner {number} gibt es nicht: ihre Nummern sehen aus wie K-1001");
    match forgotten?.ok_or_else(missing)? {
        (kunde, Forgotten::Done(erased, kept)) => Ok((kunde.id, erased, kept)),
        (kunde, Forgotten::Open(open)) => {
            let open: Vec<_> =
                open.iter().map(|records| format!("{} {}", records.open, records.kind)).collect();
            let open = open.join(", ");
            let kundennr = kunde.kundennr;
            Err(format!("{kundennr} wird noch gebraucht. Offen: {open}. Erst abschließen oder stornieren")
                .into())
        }
    }
}

fn say(erased: &Erased, kept: &[Records], done: bool, terminal: &Terminal) -> Outcome {
    if terminal.json {
        terminal.print(&json!({"done": done, "kept": kept, "erased": erased}).to_string());
        return Ok(());
    }
    if !kept.is_empty() {
        terminal.rows(&["bleibt", "Anzahl", "verlangt bis"], kept, |records| {
            vec![records.kind.to_owned(), records.count.to_string(), records.until.to_string()]
        })?;
    }
    terminal.say(&match (erased == &Erased::default(), done) {
        (true, _) => "Es gibt nichts zu löschen.".to_owned(),
        (false, true) => format!(
            "Gelöscht: {}. Sicherungen und Kopien (-before-…) von früher enthalten es noch.",
            in_words(erased)
        ),
        (false, false) => {
            format!("Das löschte: {}. Gelöscht ist nichts: --yes tut es.", in_words(erased))
        }
    });
    Ok(())
}

fn in_words(erased: &Erased) -> String {
    let fields = match erased.fields.as_slice() {
        [] => "keine Felder".to_owned(),
        fields => format!("die Felder {}", fields.join(", ")),
    };
    let Erased { changes, attachments, emails, .. } = erased;
    let emails = if *emails > 0 { format!("; an wen {emails} E-Mails gingen") } else { String::new() };
    format!("{fields}; der Inhalt von {changes} Änderungen; {attachments} Anhänge{emails}")
}

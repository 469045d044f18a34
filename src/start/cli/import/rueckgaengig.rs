//! `import rueckgaengig`: takes imports back (D22).

use serde_json::json;

use crate::operations::rueckgaengig::{Report, find, take_back};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::admin_event::AdminEvent;
use crate::start::cli::changes::note;
use crate::start::cli::database::{begin, find_tenant, now, open};
use crate::start::cli::terminal::{Outcome, Terminal};
use crate::start::config::Config;

#[derive(clap::Args)]
pub struct TakeBack {
    /// Nummern der Importe: Ein Import sagt sie am Ende, je Teil eine, und die Seite Import des Leitstands
    #[arg(value_name = "NUMMER", required = true)]
    numbers: Vec<i64>,
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Es tun; sonst wird nur gesagt, was geschähe
    #[arg(long)]
    yes: bool,
}

pub fn run(arguments: &TakeBack, config: &Config, terminal: &Terminal) -> Outcome {
    let TakeBack { numbers, tenant, yes } = arguments;
    let mut connection = open(config)?;
    let transaction = begin(&mut connection)?;
    let tenant = find_tenant(&transaction, tenant)?.id;
    let taken_back =
        WriteTx::carry_out(Tx::new(&transaction, tenant, now()), None, |tx| take_back_all(tx, numbers));
    let (events, [deleted, put_back]) = taken_back.map_err(|failure| failure.in_german())?;
    // Without --yes, dropping the transaction undoes the trial.
    if *yes {
        events.iter().try_for_each(|event| note(&transaction, Some(tenant), "import rueckgaengig", event))?;
        transaction.commit()?;
    }
    let json = json!({"done": yes, "deleted": deleted, "put_back": put_back});
    terminal.result(&format!("{deleted} gelöscht, {put_back} zurückgestellt"), &json);
    if !yes {
        terminal.say("Nur nachgesehen: Es wurde nichts zurückgenommen. --yes tut es.");
    }
    Ok(())
}

/// Takes imports back, newest first. Returns the log entry of each, and how many records were deleted and how
/// many restored.
fn take_back_all(tx: &WriteTx<'_>, numbers: &[i64]) -> Result<(Vec<AdminEvent>, [usize; 2])> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let (mut events, mut all) = (Vec::new(), Report::default());
    for number in numbers.into_iter().rev() {
        let import = find(tx, number)?;
        let report = take_back(tx, &import, None)?;
        events.push(report.event(&import));
        all.deleted += report.deleted;
        all.put_back += report.put_back;
        all.kept.extend(report.kept);
    }
    all.refuse()?;
    Ok((events, [all.deleted, all.put_back]))
}

//! `import dsfinvk`: imports the export of a cash register (D22).

use super::interrupt::watch_for_interrupts;
use super::parts::{Source, Work, refuse_too_many, store_parts};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Failure;
use crate::platform::import::check::Mistake;
use crate::platform::import::parts::{Counts, NOTHING_STORED, Stop};
use crate::start::cli::database::{find_tenant, now, open};
use crate::start::cli::terminal::{Outcome, Terminal};
use crate::start::config::Config;
use crate::trade::kasse;
use crate::trade::kasse::dsfinvk::{Receipt, read, store_receipt};

pub const KIND: &str = "dsfinvk";

/// Reads and joins the files, then stores the receipts and after them the file: all of them or none.
pub fn run(source: &Source, config: &Config, terminal: &Terminal) -> Outcome {
    watch_for_interrupts(terminal);
    let refused = |complaint: String| format!("{}. {NOTHING_STORED}", complaint.trim_end_matches('.'));
    let read = read(&source.file).map_err(refused)?;
    refuse_too_many(read.receipts.iter().map(Receipt::lines).sum(), source)?;
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &source.tenant)?.id;
    read.notes.iter().for_each(|note| terminal.say(note));
    let size = |receipt: usize| read.receipts.get(receipt).map_or(0, Receipt::lines);
    let groups = read.receipts.len() + 1;
    let work = Work { groups, size: &size, hide: None, kind: KIND, tenant };
    store_parts(&mut connection, source, terminal, &work, |connection, at, hints| {
        let tx = Tx::new(connection, tenant, now());
        let Some(receipt) = read.receipts.get(at) else {
            let kept = WriteTx::carry_out(tx, None, |tx| {
                kasse::delete_old(tx)?;
                read.datei.iter().try_for_each(|datei| kasse::keep(tx, datei))
            });
            return kept.map(|()| Counts::default()).map_err(Stop::Failed);
        };
        let stored = WriteTx::carry_out(tx, None, |tx| Ok(store_receipt(tx, receipt, hints)));
        let stored = stored.map_err(Stop::Failed)?.map_err(|(at, failure)| match failure {
            Failure::Refused(refusal) => {
                Stop::Refused(Box::new(Mistake::of_receipt(receipt.bon_nr(), at + 1, &refusal)))
            }
            failure => Stop::Failed(failure),
        })?;
        Ok(Counts::of(&stored))
    })
}

//! `export z3`: the data of a period for an auditor.

use std::path::PathBuf;

use serde_json::json;

use super::super::changes::note;
use super::super::database::{change, find_tenant, now, open};
use super::super::key::day;
use super::super::terminal::{Outcome, Terminal};
use crate::office::z3::{Ergebnis, Zeitraum};
use crate::operations::z3::export;
use crate::platform::db::file::files::refuse_existing;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::bytes::hex;
use crate::rules::changed::Changed;
use crate::rules::day::Day;
use crate::start::config::Config;

#[derive(clap::Args)]
pub struct Arguments {
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Erster Tag, etwa 2026-01-01
    #[arg(long, value_name = "TAG", value_parser = day)]
    von: Day,
    /// Letzter Tag
    #[arg(long, value_name = "TAG", value_parser = day)]
    bis: Day,
    /// Die Datei, die entsteht; es darf sie noch nicht geben
    #[arg(long, value_name = "DATEI")]
    out: PathBuf,
    /// Auch die Dateien der Belege: PDF, E-Rechnungen, Anhänge
    #[arg(long)]
    belege: bool,
}

pub fn run(z3: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let tenant = find_tenant(&open(config)?, &z3.tenant)?.id;
    refuse_existing(&z3.out)?;
    let zeitraum = Zeitraum { von: z3.von, bis: z3.bis };
    let Ergebnis { zeilen, bytes, sha256 } = terminal
        .step_by_step(|began| export(&config.db, (tenant, now()), (zeitraum, z3.belege), &z3.out, began))?;
    let (file, sha256) = (z3.out.display().to_string(), hex(&sha256));
    change(config, |connection| {
        let period = format!("{} bis {}", z3.von.german(), z3.bis.german());
        let event = AdminEvent::new(AdminAction::Angelegt, Art::Ueberlassung).name(period);
        let event = event.changing(
            [Changed::of("file", "", &file), Changed::of("sha256", "", &sha256)].into_iter().flatten(),
        );
        Ok(note(connection, Some(tenant), "export z3", &event)?)
    })?;
    terminal.say(&format!("{zeilen} Zeilen, {bytes} Bytes, sha256 {sha256}"));
    terminal.result(&file, &json!({"file": file, "rows": zeilen, "bytes": bytes, "sha256": sha256}));
    Ok(())
}

//! `backup` and `restore`.

use std::path::PathBuf;

use super::changes::record_made;
use super::database::{refuse_missing, use_file};
use super::terminal::{Outcome, Terminal};
use crate::operations::backup::{Content, backup, restore};
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::{migrate as schema, system_clock};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::start::config::Config;

#[derive(clap::Args)]
pub struct BackupArguments {
    /// Die Datei, die entsteht; es darf sie noch nicht geben
    #[arg(value_name = "DATEI")]
    file: PathBuf,
    /// Auch das Geheimnis schreiben, mit dem Protokoll und Belege versiegelt sind, nach DATEI-secret.
    /// Getrennt aufheben: wer beides hat, kann beides fälschen
    #[arg(long)]
    with_secret: bool,
}

#[derive(clap::Args)]
pub struct RestoreArguments {
    /// Die Sicherung
    #[arg(value_name = "DATEI")]
    file: PathBuf,
}

pub fn run_backup(arguments: &BackupArguments, config: &Config, terminal: &Terminal) -> Outcome {
    refuse_missing(&config.db)?;
    use_file(&config.db)?;
    let content =
        terminal.step_by_step(|began| backup(&config.db, &arguments.file, &system_clock(), began))?;
    // The log can only be written with the schema of this version.
    if schema::check_current(&config.db)? {
        let secret = arguments.with_secret.then(|| Changed::of("secret", "", "true")).flatten();
        let event =
            AdminEvent::new(AdminAction::Angelegt, Art::Sicherung).name(&content.file).changing(secret);
        record_made(&config.db, terminal, "backup", &event);
    }
    if arguments.with_secret {
        let secret = Secret::read(&config.db)?;
        let secret = secret
            .ok_or_else(|| format!("{} hat kein Geheimnis: die Sicherung ist ohne", config.db.display()))?;
        let file = secret.write(&arguments.file)?;
        terminal
            .say(&format!("Das Geheimnis ist in {}: getrennt von der Sicherung aufheben.", file.display()));
    }
    show(&content, terminal)
}

pub fn run_restore(arguments: &RestoreArguments, config: &Config, terminal: &Terminal) -> Outcome {
    let restored =
        terminal.step_by_step(|began| restore(&config.db, &arguments.file, &system_clock(), began))?;
    if let Some(aside) = &restored.set_aside {
        terminal.say(&format!("Was vorher da war, ist in {} aufgehoben.", aside.display()));
        terminal.say(
            "Schlüssel, die nach der Sicherung gesperrt wurden, gelten wieder: `partnerd key list` ansehen.",
        );
    }
    // The log can only be written with the schema of this version.
    if schema::check_current(&config.db)? {
        let event = AdminEvent::new(AdminAction::Zurueckgespielt, Art::Sicherung)
            .name(arguments.file.display().to_string());
        record_made(&config.db, terminal, "restore", &event);
    }
    show(&restored.content, terminal)
}

fn show(content: &Content, terminal: &Terminal) -> Outcome {
    const HEADER: &str =
        "Datei,Bytes,Firmen,Kunden,Belege,Wiegungen,Bons,Protokollzeilen,Protokoll,Änderungen,Nachweis";
    let header: Vec<_> = HEADER.split(',').collect();
    terminal.rows(&header, std::slice::from_ref(content), |content| {
        let Content { companies, customers, documents, weighings, receipts, audit_rows, .. } = content;
        let counts = [companies, customers, documents, weighings, receipts, audit_rows];
        let counts = counts.map(ToString::to_string);
        let heads = [&content.audit_head, &content.changes_head, &content.evidence_head]
            .map(|head| head.clone().unwrap_or_default());
        [content.file.clone(), content.bytes.to_string()].into_iter().chain(counts).chain(heads).collect()
    })
}

//! `backup` and `restore`.

use std::path::PathBuf;

use super::changes::note_made;
use super::terminal::{Outcome, Terminal};
use crate::app::backup::{Content, backup, restore};
use crate::config::Config;
use crate::db::seal::Secret;
use crate::db::{migrate as schema, system_clock};
use crate::rules::changed::Changed;
use crate::rules::deed::{Art, Deed, Tat};

#[derive(clap::Args)]
pub struct BackupArguments {
    /// The file to write; it must not be there yet
    file: PathBuf,
    /// Also write the secret that the log and the documents are sealed with, to FILE-secret. Keep it apart: whoever
    /// has both can forge them
    #[arg(long)]
    with_secret: bool,
}

#[derive(clap::Args)]
pub struct RestoreArguments {
    /// The backup
    file: PathBuf,
}

pub fn run_backup(arguments: &BackupArguments, config: &Config, terminal: &Terminal) -> Outcome {
    if !config.db.exists() {
        return Err(format!("there is no database {}: name it with --db", config.db.display()).into());
    }
    super::database::use_file(&config.db)?;
    let content =
        terminal.step_by_step(|began| backup(&config.db, &arguments.file, &system_clock(), began))?;
    // A database of an earlier version is copied as it is.
    if schema::check_current(&config.db)? {
        let secret = arguments.with_secret.then(|| Changed::of("secret", "", "true")).flatten();
        let deed = Deed::new(Tat::Angelegt, Art::Sicherung).name(&content.file).changing(secret);
        note_made(&config.db, terminal, "backup", &deed);
    }
    if arguments.with_secret {
        let secret = Secret::read(&config.db)?;
        let secret = secret
            .ok_or_else(|| format!("{} has no secret: the backup is without one", config.db.display()))?;
        let file = secret.write(&arguments.file)?;
        terminal.say(&format!("The secret is in {}: keep it apart from the backup.", file.display()));
    }
    show(&content, terminal)
}

pub fn run_restore(arguments: &RestoreArguments, config: &Config, terminal: &Terminal) -> Outcome {
    let restored =
        terminal.step_by_step(|began| restore(&config.db, &arguments.file, &system_clock(), began))?;
    if let Some(aside) = &restored.set_aside {
        terminal.say(&format!("What was there before is kept in {}.", aside.display()));
        terminal.say(
            "Keys that were deactivated since the backup are active again: look at `partnerd key list`.",
        );
    }
    show(&restored.content, terminal)
}

fn show(content: &Content, terminal: &Terminal) -> Outcome {
    const HEADER: &str = "file,bytes,companies,Kunden,Belege,Wiegungen,Bons,audit rows,log,changes,evidence";
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

//! `tls`: makes a self-signed certificate for a network that has none.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::changes::record_made;
use super::database::{is_there, now, use_file};
use super::private::write_private;
use super::terminal::{Outcome, Terminal};
use crate::platform::db::file::files::is_blank;
use crate::platform::db::file::files::refuse_existing;
use crate::platform::db::file::german::in_german;
use crate::platform::db::migrate as schema;
use crate::platform::http::tls::self_signed;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::day::Day;
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Ein Zertifikat machen, das sich selbst beglaubigt, für zehn Jahre
    #[command(
        after_help = "Beispiele:\n  partnerd tls self-signed \\\n      --name waage.local --name 192.168.1.20"
    )]
    SelfSigned {
        /// Name oder Adresse, unter der andere diesen Rechner erreichen; mehrmals möglich
        #[arg(long = "name", value_name = "NAME", required = true)]
        names: Vec<String>,
        /// Der Ordner für partnerd-cert.pem und partnerd-key.pem
        #[arg(long, value_name = "ORDNER", default_value = ".")]
        folder: PathBuf,
    },
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    let Command::SelfSigned { mut names, folder } = command;
    names.extend(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    names.sort();
    names.dedup();
    let folder = std::path::absolute(&folder)
        .map_err(|error| format!("{}: {}", folder.display(), in_german(&error)))?;
    let (certificate, key) = (folder.join("partnerd-cert.pem"), folder.join("partnerd-key.pem"));
    for file in [&certificate, &key] {
        refuse_existing(file)?;
    }
    let year = i32::try_from(Day::in_berlin(now()).year()).unwrap_or(2026);
    let made = self_signed(names.clone(), year)
        .map_err(|error| format!("{} kann nicht in einem Zertifikat stehen ({error})", names.join(", ")))?;
    write_private(&key, &made.key)?;
    if let Err(complaint) = write_private(&certificate, &made.certificate) {
        let _ = std::fs::remove_file(&key);
        return Err(complaint.into());
    }
    // Without a current database there is no log to record this in.
    if is_there(&config.db)? && !is_blank(&config.db) && schema::check_current(&config.db)? {
        use_file(&config.db)?;
        let event =
            AdminEvent::new(AdminAction::Angelegt, Art::Zertifikat).name(certificate.display().to_string());
        let event = event.changing(Changed::of("names", "", names.join(", ")));
        record_made(&config.db, terminal, "tls self-signed", &event);
    }
    terminal.say(&format!("Das Zertifikat gilt für {}.", names.join(", ")));
    terminal.say("In die Einstellungsdatei gehört:");
    terminal.say(&format!("  tls_certificate = {:?}", certificate.display().to_string()));
    terminal.say(&format!("  tls_key = {:?}", key.display().to_string()));
    terminal.say(
        "Die Programme der anderen müssen dem Zertifikat vertrauen; der Schlüssel bleibt auf diesem Rechner.",
    );
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    terminal.result(&certificate, &json!({"certificate": certificate, "key": key}));
    Ok(())
}

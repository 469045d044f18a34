//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

#[cfg(windows)]
use super::service;
use super::{audit, backup, beleg, import, key, kunde, migrate, serve, tenant, tls, user};

/// The partner interface of your company's data: JSON over HTTP from one file.
#[derive(Parser)]
#[command(name = "partnerd", version, max_term_width = 100)]
pub struct Arguments {
    /// The database file [default: partnerd.db]
    #[arg(long, global = true, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// The configuration file
    #[arg(long, global = true, value_name = "FILE", env = "PARTNERD_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print JSON instead of a table or text
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Open or create the database and serve until Ctrl-C
    #[command(
        after_help = "Examples:\n  partnerd serve --listen 0.0.0.0:8080\n  partnerd --db /daten/partnerd.db \\\n      --config /etc/partnerd.toml serve"
    )]
    Serve(serve::Arguments),
    /// Serve a fresh partnerd-demo.db with a mill's data
    #[command(after_help = "Examples:\n  partnerd demo")]
    Demo(serve::Arguments),
    /// Bring the database to this version
    #[command(after_help = "Examples:\n  partnerd migrate --status")]
    Migrate(migrate::Arguments),
    /// Companies and their settings
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd tenant create \"Mühle Beispiel\"\n  partnerd tenant set \"Mühle Beispiel\" \\\n      negativbestand=ablehnen"
    )]
    Tenant(tenant::Command),
    /// API keys
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd key create --tenant \"Mühle Beispiel\" \\\n      --label shop --for shop --out shop.key\n  partnerd key list\n  partnerd key deactivate 3f2a9c01b4d7"
    )]
    Key(key::Command),
    /// People who use the pages at /leitstand
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd user create Erika --role verwalten\n  partnerd user list\n  partnerd user link Erika"
    )]
    User(user::Command),
    /// Make documents final, or mark them as settled
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd beleg abschliessen RE-2026-00017 \\\n      --tenant \"Mühle Beispiel\""
    )]
    Beleg(beleg::Command),
    /// Forget a person (GDPR)
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd kunde vergessen K-1001 \\\n      --tenant \"Mühle Beispiel\""
    )]
    Kunde(kunde::Command),
    /// The log of all requests
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd audit list --status 401 --since 2026-07-01\n  partnerd audit verify\n  partnerd audit rollover --days 90 --export alt.jsonl"
    )]
    Audit(audit::Command),
    /// Import master data from JSON, CSV or a spreadsheet
    #[command(
        after_help = "Examples:\n  partnerd import kunden kunden.csv \\\n      --tenant \"Mühle Beispiel\" --dry-run\n  partnerd import dsfinvk export.zip \\\n      --tenant \"Mühle Beispiel\""
    )]
    Import(import::Arguments),
    /// Copy the database, also beside a running server, and prove the copy
    #[command(after_help = "Examples:\n  partnerd backup /mnt/usb/partnerd-heute.db")]
    Backup(backup::BackupArguments),
    /// Put a backup in the place of the database
    #[command(
        after_help = "Examples:\n  partnerd --db neu/partnerd.db \\\n      restore /mnt/usb/partnerd-heute.db"
    )]
    Restore(backup::RestoreArguments),
    /// Prove the database: integrity, schema, references, stock, numbers
    #[command(after_help = "Examples:\n  partnerd check")]
    Check,
    /// Certificates
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd tls self-signed \\\n      --name waage.local --name 192.168.1.20"
    )]
    Tls(tls::Command),
    /// Install, remove or look at the service of Windows
    #[cfg(windows)]
    #[command(subcommand)]
    Service(service::Command),
    /// Name what is wrong with this machine, and what to do
    #[command(after_help = "Examples:\n  partnerd --config /etc/partnerd.toml doctor")]
    Doctor,
    /// Print the settings in force and where each came from
    #[command(after_help = "Examples:\n  partnerd --config /etc/partnerd.toml config")]
    Config,
    /// Print the description of the interface (OpenAPI 3.1)
    #[command(after_help = "Examples:\n  partnerd openapi > openapi.json")]
    Openapi,
    /// Print the completions for a shell
    #[command(
        after_help = "Examples:\n  partnerd completions bash \\\n      > /etc/bash_completion.d/partnerd"
    )]
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// Print the page for man, or write one for each command
    #[command(
        after_help = "Examples:\n  partnerd man | man -l -\n  partnerd man --folder /usr/local/share/man/man1"
    )]
    Man {
        /// Write partnerd.1, partnerd-backup.1 and so on into this folder
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

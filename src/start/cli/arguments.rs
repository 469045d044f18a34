//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

#[cfg(windows)]
use super::service;
use super::{
    abrechnung, audit, backup, beleg, bericht, export, import, key, kunde, migrate, serve, tenant, tls, user,
};

/// Die Partnerschnittstelle zu den Daten der Firma: JSON über HTTP, aus einer Datei.
#[derive(Parser)]
#[command(name = "partnerd", version, max_term_width = 100, subcommand_value_name = "BEFEHL", after_help = HANDBOOK)]
pub struct Arguments {
    /// Die Datei der Datenbank [sonst: partnerd.db]
    #[arg(long, global = true, value_name = "DATEI")]
    pub db: Option<PathBuf>,
    /// Die Einstellungsdatei, auch PARTNERD_CONFIG
    #[arg(long, global = true, value_name = "DATEI", env = "PARTNERD_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// JSON ausgeben statt Tabelle oder Text
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

const HANDBOOK: &str = "Das Handbuch: /usr/share/doc/partnerd/handbuch (Debian), sonst docs/handbuch";

#[derive(Subcommand)]
pub enum Command {
    /// Die Datenbank öffnen oder anlegen und bedienen, bis Strg-C
    #[command(after_help = "Beispiele:\n  \
                            partnerd serve --listen 0.0.0.0:8080\n  \
                            partnerd --db /daten/partnerd.db \\\n      \
                            --config /etc/partnerd.toml serve")]
    Serve(serve::Arguments),
    /// Eine neue partnerd-demo.db mit den Daten einer Mühle bedienen
    #[command(after_help = "Beispiele:\n  partnerd demo")]
    Demo(serve::Arguments),
    /// Die Datenbank auf den Stand dieser Version bringen
    #[command(after_help = "Beispiele:\n  partnerd migrate --status")]
    Migrate(migrate::Arguments),
    /// Firmen und ihre Einstellungen
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd tenant create \"Mühle Beispiel\"\n  \
                      partnerd tenant set \"Mühle Beispiel\" \\\n      \
                      negativbestand=ablehnen"
    )]
    Tenant(tenant::Command),
    /// Schlüssel der Programme
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd key create --tenant \"Mühle Beispiel\" \\\n      \
                      --label shop --for shop --out shop.key\n  \
                      partnerd key list\n  \
                      partnerd key deactivate 3f2a9c01b4d7"
    )]
    Key(key::Command),
    /// Personen, die den Leitstand benutzen
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd user create Erika --role verwalten\n  \
                      partnerd user list\n  \
                      partnerd user link Erika"
    )]
    User(user::Command),
    /// Belege abschließen oder als erledigt vermerken
    #[command(
        subcommand,
        after_help = "Beispiele:\n  partnerd beleg abschliessen RE-2026-00017 \\\n      --tenant \"Mühle Beispiel\""
    )]
    Beleg(beleg::Command),
    /// Annahmescheine eines Lieferanten abrechnen
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd abrechnung vorschau --partner L-2001 \\\n      \
                      --tenant \"Mühle Beispiel\""
    )]
    Abrechnung(abrechnung::Command),
    /// Rechnungen für den Steuerberater ausgeben, Daten für die Betriebsprüfung
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd export datev --tenant \"Mühle Beispiel\" \\\n      \
                      --bis 2026-10-31 --out /mnt/usb"
    )]
    Export(export::Command),
    /// Zahlen für Umsatzsteuer, Zusammenfassende Meldung und Intrastat
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd bericht umsatzsteuer --tenant \"Mühle Beispiel\" \\\n      \
                      --von 2026-10-01 --bis 2026-10-31"
    )]
    Bericht(bericht::Command),
    /// Eine Person vergessen (DSGVO)
    #[command(
        subcommand,
        after_help = "Beispiele:\n  partnerd kunde vergessen K-1001 \\\n      --tenant \"Mühle Beispiel\""
    )]
    Kunde(kunde::Command),
    /// Das Protokoll aller Anfragen
    #[command(
        subcommand,
        after_help = "Beispiele:\n  \
                      partnerd audit list --status 401 --since 2026-07-01\n  \
                      partnerd audit verify\n  \
                      partnerd audit rollover --days 90 --export alt.jsonl"
    )]
    Audit(audit::Command),
    /// Stammdaten aus JSON, CSV oder einer Tabelle übernehmen
    #[command(after_help = "Beispiele:\n  \
                            partnerd import kunden kunden.csv \\\n      \
                            --tenant \"Mühle Beispiel\" --dry-run\n  \
                            partnerd import dsfinvk export.zip \\\n      \
                            --tenant \"Mühle Beispiel\"")]
    Import(import::Arguments),
    /// Die Datenbank sichern, auch neben einem Server, und die Kopie prüfen
    #[command(after_help = "Beispiele:\n  partnerd backup /mnt/usb/partnerd-heute.db")]
    Backup(backup::BackupArguments),
    /// Eine Sicherung an die Stelle der Datenbank setzen
    #[command(
        after_help = "Beispiele:\n  partnerd --db neu/partnerd.db \\\n      restore /mnt/usb/partnerd-heute.db"
    )]
    Restore(backup::RestoreArguments),
    /// Die Datenbank beweisen: Seiten, Aufbau, Verweise, Bestand, Nummern
    #[command(after_help = "Beispiele:\n  partnerd check")]
    Check,
    /// Zertifikate
    #[command(
        subcommand,
        after_help = "Beispiele:\n  partnerd tls self-signed \\\n      --name waage.local --name 192.168.1.20"
    )]
    Tls(tls::Command),
    /// Den Dienst von Windows einrichten, entfernen oder ansehen
    #[cfg(windows)]
    #[command(subcommand)]
    Service(service::Command),
    /// Sagen, was an diesem Rechner nicht stimmt, und was zu tun ist
    #[command(after_help = "Beispiele:\n  partnerd --config /etc/partnerd.toml doctor")]
    Doctor,
    /// Ausgeben, welche Einstellungen gelten und woher
    #[command(after_help = "Beispiele:\n  partnerd --config /etc/partnerd.toml config")]
    Config,
    /// Die Beschreibung der Schnittstelle ausgeben (OpenAPI 3.1)
    #[command(after_help = "Beispiele:\n  partnerd openapi > openapi.json")]
    Openapi,
    /// Die Ergänzungen für eine Shell ausgeben
    #[command(
        after_help = "Beispiele:\n  partnerd completions bash \\\n      > /etc/bash_completion.d/partnerd"
    )]
    Completions {
        /// bash, zsh, fish, elvish oder powershell
        shell: Shell,
    },
    /// Die Seite für man ausgeben, oder für jeden Befehl eine schreiben
    #[command(
        after_help = "Beispiele:\n  partnerd man | man -l -\n  partnerd man --folder /usr/local/share/man/man1"
    )]
    Man {
        /// partnerd.1, partnerd-backup.1 und so weiter in diesen Ordner schreiben
        #[arg(long, value_name = "ORDNER")]
        folder: Option<PathBuf>,
    },
}

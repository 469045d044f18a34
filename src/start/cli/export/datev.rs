//! `export datev`: batches for the tax adviser (D32).

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use serde_json::json;

use crate::office::buchhaltung::{self, Entwurf, NewStapel, StapelAngelegt};
use crate::papers::blatt::numbers::german;
use crate::platform::db::file::copy::copy;
use crate::platform::db::file::files::broken;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::admin_event::AdminAction;
use crate::rules::day::Day;
use crate::rules::error::{Code, Hints};
use crate::start::cli::changes::note;
use crate::start::cli::database::{begin, change, find_tenant, now, open};
use crate::start::cli::key::day;
use crate::start::cli::terminal::{Outcome, Terminal, sentence};
use crate::start::config::Config;

#[derive(clap::Args)]
#[command(group(ArgGroup::new("was").required(true).args(["bis", "liste", "stapel", "verwerfen"])))]
pub struct Arguments {
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Letzter Tag des Zeitraums, etwa 2026-10-31; er muss vorbei sein
    #[arg(long, value_name = "TAG", value_parser = day)]
    bis: Option<Day>,
    /// Erster Tag; gilt nur mit --nur
    #[arg(long, value_name = "TAG", value_parser = day, requires = "nur")]
    von: Option<Day>,
    /// Nur ab --von, auch wenn Früheres noch in keinem Stapel ist
    #[arg(long, requires = "bis")]
    nur: bool,
    /// Nur sagen, was der Stapel enthielte und was fehlt
    #[arg(long, requires = "bis")]
    pruefen: bool,
    /// Ablehnen, wenn im Zeitraum noch Rechnungen offen sind
    #[arg(long, requires = "bis")]
    streng: bool,
    /// Den Zeitraum zugleich sperren (gesperrt_bis)
    #[arg(long, requires = "bis")]
    sperren: bool,
    /// Alle Stapel nennen
    #[arg(long)]
    liste: bool,
    /// Einen Stapel noch einmal schreiben, Byte für Byte wie damals
    #[arg(long, value_name = "NUMMER")]
    stapel: Option<i64>,
    /// Den neuesten Stapel verwerfen, den der Steuerberater nicht eingelesen hat
    #[arg(long, value_name = "NUMMER", requires = "grund")]
    verwerfen: Option<i64>,
    /// Warum er verworfen wird
    #[arg(long, value_name = "TEXT", requires = "verwerfen")]
    grund: Option<String>,
    /// Zielordner; sonst der aktuelle
    #[arg(long, value_name = "ORDNER", default_value = ".", hide_default_value = true)]
    out: PathBuf,
}

pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    match (arguments.stapel, arguments.verwerfen, arguments.liste) {
        (Some(nr), ..) => again(arguments, nr, config, terminal),
        (_, Some(nr), _) => discard(arguments, nr, config, terminal),
        (.., true) => list(arguments, config, terminal),
        _ => create(arguments, config, terminal),
    }
}

fn create(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let wish = NewStapel {
        bis: arguments.bis,
        von: arguments.von,
        nur: Some(arguments.nur),
        pruefen: Some(arguments.pruefen),
        streng: Some(arguments.streng),
        sperren: Some(arguments.sperren),
    };
    if !arguments.out.is_dir() {
        let folder = arguments.out.display();
        return Err(format!("den Ordner {folder} gibt es nicht: bitte erst anlegen").into());
    }
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &arguments.tenant)?.id;
    let refused = |failure| missing(failure).unwrap_or_else(|failure| sentence(failure.into()));
    let read = connection.transaction()?;
    let entwurf = Entwurf::of(&Tx::new(&read, tenant, now()), wish, Hints::default()).map_err(refused)?;
    read.finish()?;
    let transaction = begin(&mut connection)?;
    let tx = Tx::new(&transaction, tenant, now());
    let made = WriteTx::carry_out(tx, None, |tx| buchhaltung::create(tx, &entwurf)).map_err(refused)?;
    made.hinweise.iter().for_each(|hint| terminal.say(&hint.message));
    made.event.iter().try_for_each(|event| note(&transaction, Some(tenant), "export datev", event))?;
    transaction.commit()?;
    terminal.say(&summary(&made));
    let Some(nr) = made.nr else {
        if made.belege > 0 || terminal.json {
            terminal.result(&accounts(&made), &json!(made));
        }
        return Ok(());
    };
    // Packed after the commit, so that others can write again; if writing the file fails, the batch remains.
    let path = write(&Tx::new(&connection, tenant, now()), nr, &arguments.out);
    let again = format!("partnerd export datev --tenant {:?} --stapel {nr}", arguments.tenant);
    let path =
        path.map_err(|error| format!("{error}. Stapel {nr} ist angelegt; seine Datei schreibt: {again}"))?;
    terminal.result(&path, &json!({"datei": path, "stapel": made}));
    Ok(())
}

/// Sums up what was made, or would be made.
fn summary(made: &StapelAngelegt) -> String {
    if made.belege == 0 {
        return "Nichts ist neu: kein Stapel.".to_owned();
    }
    let what = made.nr.map_or("Der Stapel enthielte".to_owned(), |nr| format!("Stapel {nr}"));
    format!("{what}: {} Belege, {} Zeilen, {} EUR.", made.belege, made.zeilen, german(made.summe, 2))
}

/// Lists the accounts of the batch, one per line.
fn accounts(made: &StapelAngelegt) -> String {
    let line = |sum: &buchhaltung::KontoSumme| {
        format!("{:>9} {:>6} Zeilen {:>16} EUR", sum.konto, sum.zeilen, german(sum.saldo, 2))
    };
    made.konten.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Lists everything that is missing, with its documents; returns any other failure unchanged.
fn missing(failure: Failure) -> Result<String> {
    const DOCUMENTS: usize = 10;
    let refusal = match failure {
        Failure::Refused(refusal) if refusal.code == Code::DatevUnvollstaendig => refusal,
        other => return Err(other),
    };
    let missing = buchhaltung::luecken(&refusal);
    let line = |luecke: &buchhaltung::Luecke<'_>| {
        let named = luecke.belege.iter().take(DOCUMENTS).copied().collect::<Vec<_>>().join(" ");
        let more = match luecke.belege.len().saturating_sub(DOCUMENTS) {
            0 => String::new(),
            more => format!(" und {more} weitere"),
        };
        format!("{}  {}\n  {named}{more}", luecke.code.as_str(), luecke.message)
    };
    let lines: Vec<_> = missing.iter().map(line).collect();
    Ok(format!("{} Angaben fehlen, angelegt wurde nichts.\n{}", missing.len(), lines.join("\n")))
}

/// Writes the ZIP of a batch into a folder; does not overwrite a file.
fn write(tx: &Tx<'_>, nr: i64, folder: &Path) -> Outcome<String> {
    let (name, bytes) = buchhaltung::zip(tx, &buchhaltung::with_number(tx, nr)?)?;
    let path = folder.join(name);
    let fill = |part: &Path| std::fs::write(part, bytes).map_err(broken(part, "lässt sich nicht schreiben"));
    copy(&path, fill, |_| Ok(()))?;
    Ok(path.display().to_string())
}

fn again(arguments: &Arguments, nr: i64, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tx = Tx::new(&connection, find_tenant(&connection, &arguments.tenant)?.id, now());
    let path = write(&tx, nr, &arguments.out)?;
    terminal.result(&path, &json!({"datei": path}));
    Ok(())
}

fn discard(arguments: &Arguments, nr: i64, config: &Config, terminal: &Terminal) -> Outcome {
    let grund = arguments.grund.clone().unwrap_or_default();
    let discarded = change(config, |connection| {
        let tenant = find_tenant(connection, &arguments.tenant)?.id;
        let tx = Tx::new(connection, tenant, now());
        let discarded = WriteTx::carry_out(tx, None, |tx| {
            let stapel = buchhaltung::with_number(tx, nr)?;
            buchhaltung::discard(tx, &stapel, &grund)
        });
        let discarded = discarded.map_err(|failure| sentence(failure.into()))?;
        note(connection, Some(tenant), "export datev --verwerfen", &discarded.event(AdminAction::Verworfen))?;
        Ok(discarded)
    })?;
    terminal.say(&format!("Stapel {nr} ist verworfen, seine {} Belege sind wieder neu.", discarded.belege));
    terminal.result(&nr.to_string(), &json!(discarded));
    Ok(())
}

fn list(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tx = Tx::new(&connection, find_tenant(&connection, &arguments.tenant)?.id, now());
    let header = ["Stapel", "bis", "Belege", "Zeilen", "Summe", "angelegt", "verworfen"];
    terminal.rows(&header, &buchhaltung::all(&tx)?, |stapel| {
        let day = |instant| Day::in_berlin(instant).german();
        vec![
            stapel.nr.to_string(),
            stapel.bis.german(),
            stapel.belege.to_string(),
            stapel.zeilen.to_string(),
            german(stapel.summe, 2),
            day(stapel.created_at),
            stapel.verworfen_am.map(day).unwrap_or_default(),
        ]
    })
}

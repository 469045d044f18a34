//! `export datev`: batches for the tax adviser (D32).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use serde_json::json;

use crate::blatt::numbers::german;
use crate::buchhaltung::{self, NewStapel, Stapel, StapelAngelegt};
use crate::cli::changes::note;
use crate::cli::database::{begin, change, find_tenant, now, open};
use crate::cli::private::{create_private, unwritable};
use crate::cli::terminal::{Outcome, Terminal, sentence};
use crate::config::Config;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Failure;
use crate::rules::day::Day;
use crate::rules::deed::{Art, Deed, Tat};
use crate::rules::error::{Code, Hints, Refusal};

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
    /// Ordner für die Datei; sonst dieser
    #[arg(long, value_name = "ORDNER", default_value = ".", hide_default_value = true)]
    out: PathBuf,
}

fn day(typed: &str) -> Result<Day, String> {
    let day = Day::parse_plain(typed).or_else(|| Day::parse_german(typed));
    day.ok_or_else(|| "ein Tag wie 2026-10-31 oder 31.10.2026".to_owned())
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
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &arguments.tenant)?.id;
    let transaction = begin(&mut connection)?;
    let tx = Tx::new(&transaction, tenant, now());
    let made = WriteTx::carry_out(tx, None, |tx| buchhaltung::create(tx, &wish, Hints::default()));
    let made = made.map_err(|failure| missing(failure).unwrap_or_else(|failure| sentence(failure.into())))?;
    made.hinweise.iter().for_each(|hint| terminal.say(&hint.message));
    let (Some(nr), false) = (made.nr, arguments.pruefen) else {
        terminal.say(&summary(&made, arguments.pruefen));
        if made.belege > 0 || terminal.json {
            terminal.result(&accounts(&made), &json!(made));
        }
        return Ok(transaction.commit()?);
    };
    let deed = Deed::new(Tat::Angelegt, Art::DatevStapel).name(nr.to_string());
    note(&transaction, Some(tenant), "export datev", &deed)?;
    let tx = Tx::new(&transaction, tenant, now());
    let path = write(&tx, &buchhaltung::with_number(&tx, nr)?, &arguments.out)?;
    transaction.commit()?;
    terminal.say(&summary(&made, false));
    terminal.result(&path, &json!({"datei": path, "stapel": made}));
    Ok(())
}

/// What was made, or would be.
fn summary(made: &StapelAngelegt, is_checked: bool) -> String {
    if made.belege == 0 {
        return "Nichts ist neu: kein Stapel.".to_owned();
    }
    let what = match (made.nr, is_checked) {
        (Some(nr), false) => format!("Stapel {nr}"),
        _ => "Der Stapel enthielte".to_owned(),
    };
    format!("{what}: {} Belege, {} Zeilen, {} EUR.", made.belege, made.zeilen, german(made.summe, 2))
}

/// A line for each account of the batch.
fn accounts(made: &StapelAngelegt) -> String {
    let line = |sum: &buchhaltung::KontoSumme| {
        format!("{:>9} {:>6} Zeilen {:>16} EUR", sum.konto, sum.zeilen, german(sum.saldo, 2))
    };
    made.konten.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// All that is missing, a line each with its documents; the failure again where it is another.
fn missing(failure: Failure) -> Result<String, Failure> {
    const DOCUMENTS: usize = 10;
    let refusal: Box<Refusal> = match failure {
        Failure::Refused(refusal) if refusal.code == Code::DatevUnvollstaendig => refusal,
        other => return Err(other),
    };
    let mut missing: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for fehler in &refusal.fehler {
        let documents = missing.entry((fehler.error, &fehler.feld, &fehler.message)).or_default();
        documents.extend(fehler.beleg_nummer.as_deref());
    }
    let line = |((code, _, message), documents): (&(Code, &String, &String), &Vec<&str>)| {
        let named = documents.iter().take(DOCUMENTS).copied().collect::<Vec<_>>().join(" ");
        let more = match documents.len().saturating_sub(DOCUMENTS) {
            0 => String::new(),
            more => format!(" und {more} weitere"),
        };
        format!("{}  {message}\n  {named}{more}", code.as_str())
    };
    let lines: Vec<_> = missing.iter().map(line).collect();
    Ok(format!("{} Angaben fehlen, angelegt wurde nichts.\n{}", missing.len(), lines.join("\n")))
}

/// Writes a batch into a folder; a file that is there already stays.
fn write(tx: &Tx<'_>, stapel: &Stapel, folder: &Path) -> Outcome<String> {
    let (name, bytes) = buchhaltung::zip(tx, stapel)?;
    let path = folder.join(name);
    let mut file = create_private(&path)?;
    if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_all()) {
        // What is half written would be taken for the batch.
        let _ = std::fs::remove_file(&path);
        return Err(unwritable(&path, &error).into());
    }
    Ok(path.display().to_string())
}

fn again(arguments: &Arguments, nr: i64, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tx = Tx::new(&connection, find_tenant(&connection, &arguments.tenant)?.id, now());
    let path = write(&tx, &buchhaltung::with_number(&tx, nr)?, &arguments.out)?;
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
        note(
            connection,
            Some(tenant),
            "export datev --verwerfen",
            &Deed::new(Tat::Verworfen, Art::DatevStapel).name(nr.to_string()),
        )?;
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

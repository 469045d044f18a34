//! Commands that write a database or replace it, cut off like the server: an import, a backup, a restore.

use rusqlite::Connection;
use serde_json::json;

use super::disk::{Image, Stored};
use super::recording::{Log, Recording, is_seldom};
use super::{Left, laid_out, oracle};
use crate::dice::Dice;
use crate::experiment::Case;
use crate::process::Folder;

/// States per command.
const STATES: usize = 12;

/// In one of this many the executable's own checks are run.
const PROVED_EACH: usize = 3;

/// Number of imported articles.
const ARTICLES: i64 = 300;

const DATABASE: &str = "partnerd.db";
const BACKUP: &str = "copy.db";

/// The company of another installation.
const ELSEWHERE: &str = "Speicher";

/// Starts each command on the state after a power cut; returns the number of states.
pub fn cut_off(case: &mut Case, left: &Left) -> Result<u64, String> {
    let commands = [import, backup, restore, restore_elsewhere];
    commands.iter().try_for_each(|command| command(case, left))?;
    Ok((commands.len() * STATES) as u64)
}

fn import(case: &mut Case, left: &Left) -> Result<(), String> {
    let folder = laid_out(&left.image);
    let rows: Vec<_> = (0..ARTICLES)
        .map(|at| json!({"artikelnummer": format!("I{at}"), "bezeichnung": "Saat", "einheit": "kg"}))
        .collect();
    folder.write("artikel.json", &json!(rows).to_string());
    let import = ["import", "artikel", "artikel.json", "--tenant", "Mühle"];
    each_state(case, &folder, &import, |state, is_done| {
        oracle::look(&state.file(DATABASE), &left.answered)?;
        let articles = count(state, "artikel")?;
        agree(!is_done || articles == 1 + ARTICLES, || format!("{articles} articles"))?;
        // Whatever remained of it, it can be repeated.
        let again = state.run(&import);
        agree(again.status.success(), || String::from_utf8_lossy(&again.stderr).into_owned())?;
        let articles = count(state, "artikel")?;
        agree(articles == 1 + ARTICLES, || format!("{articles} articles when it was done again"))
    })
}

fn backup(case: &mut Case, left: &Left) -> Result<(), String> {
    each_state(case, &laid_out(&left.image), &["backup", BACKUP], |state, is_done| {
        oracle::look(&state.file(DATABASE), &left.answered)?;
        let is_there = state.file(BACKUP).exists();
        agree(is_there || !is_done, || "the backup is gone".to_owned())?;
        if is_there { oracle::look(&state.file(BACKUP), &left.answered) } else { Ok(()) }
    })
}

/// The database is the previous one, which has one partner more, or that of the backup.
fn restore(case: &mut Case, left: &Left) -> Result<(), String> {
    let folder = laid_out(&left.image);
    folder.result(&["backup", BACKUP]);
    let partner = json!([{"kundennr": "K-2", "nachname_firma": "Hof", "ort": "Fulda"}]);
    folder.import("Mühle", "kunden", &partner);
    let before = count(&folder, "kunde")?;
    each_state(case, &folder, &["restore", BACKUP], |state, is_done| {
        oracle::look(&state.file(DATABASE), &left.answered)?;
        let partners = count(state, "kunde")?;
        let is_one_of_both = partners == before - 1 || partners == before && !is_done;
        agree(is_one_of_both, || format!("{partners} partners of {before}"))
    })
}

/// Replaces another installation, whose secret is different.
fn restore_elsewhere(case: &mut Case, left: &Left) -> Result<(), String> {
    let (from, folder) = (laid_out(&left.image), Folder::new());
    from.result(&["backup", BACKUP]);
    folder.company(ELSEWHERE);
    std::fs::copy(from.file(BACKUP), folder.file(BACKUP)).unwrap();
    each_state(case, &folder, &["restore", BACKUP], |state, is_done| {
        let is_of_before = count(state, &format!("tenant where name = '{ELSEWHERE}'"))? == 1;
        agree(!(is_of_before && is_done), || "the backup was not kept".to_owned())?;
        if is_of_before { Ok(()) } else { oracle::look(&state.file(DATABASE), &left.answered) }
    })
}

fn agree(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Runs a command in a folder, cuts it off and checks each state with `expected`, which is told whether the
/// command was done.
fn each_state(
    case: &mut Case,
    folder: &Folder,
    arguments: &[&str],
    expect: impl Fn(&Folder, bool) -> Result<(), String>,
) -> Result<(), String> {
    let (base, logs) = (Stored::of(folder.path()), Folder::new());
    let mut command = folder.command(arguments);
    let log = Log::of(&mut command, folder, &logs);
    let output = command.output().unwrap();
    agree(output.status.success(), || {
        format!("{arguments:?} fails: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    let recording = Recording { base, log: log.read() };
    let (all, mut nr) = (recording.log.len(), 0);
    let instants = instants(&recording, &mut case.dice);
    let look_at = |image: &Image, end: usize, nr: usize| {
        if nr.is_multiple_of(PROVED_EACH) {
            oracle::prove(&laid_out(image))?;
        }
        expect(&laid_out(image), end == all)
    };
    let cut = recording.cut_off(case, &instants, |image, end| {
        nr += 1;
        look_at(&image, end, nr).map_err(|found| (found, image))
    });
    cut.map_err(|found| format!("{arguments:?}, {found}"))
}

/// The numbers of records after which it is cut off: at its end, or anywhere, or next to a rare call.
fn instants(recording: &Recording, dice: &mut Dice) -> Vec<usize> {
    let records = recording.records();
    let seldom: Vec<usize> = (1..=records.len()).filter(|at| is_seldom(&records[at - 1])).collect();
    let instant = |dice: &mut Dice| match dice.below(3) {
        0 => 1 + dice.below(records.len()),
        _ => dice.pick(&seldom).unwrap_or(1) + dice.below(3) - 1,
    };
    let mut instants: Vec<usize> = (1..STATES).map(|_| instant(dice).clamp(1, records.len())).collect();
    instants.push(records.len());
    instants.sort_unstable();
    instants
}

fn count(folder: &Folder, rows: &str) -> Result<i64, String> {
    let connection = Connection::open(folder.file(DATABASE)).map_err(|error| error.to_string())?;
    let sql = format!("select count(*) from {rows}");
    connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| error.to_string())
}

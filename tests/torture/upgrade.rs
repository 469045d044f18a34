//! P11: an upgrade is done completely or not at all, whatever call of it fails or is the last before a kill,
//! and however many processes begin it at once; an older executable changes nothing.
//!
//! There is only one migration so far, so a future one is made up: this program applies it in a separate
//! process, like the next executable would. The expected result is that of an undisturbed upgrade of the same
//! database: the same schema and the same rows.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::OnceLock;

use partnerd::platform::db::migrate::{MIGRATIONS, Migration, Step, migrate_to};
use partnerd::platform::failure::Failure;
use partnerd::rules::day::Instant;
use rusqlite::Connection;
use serde_json::json;

use crate::calls::fault::{Way, each_call};
use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::recording::Log;
use crate::process::Folder;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P11",
    what: "upgrades of which a call failed, that were killed at one, or of which eight began at once",
    needs: &["cc"],
    seeds: 3,
    case,
    fault: "a statement of the migration is left out",
    control_seeds: 1,
};

/// A table that is filled, a column that is filled, an index.
const SCHEMA: &str = "
    create table silo (
      tenant_id integer not null references tenant (id),
      id        integer not null,
      kunden    integer not null,
      primary key (tenant_id, id)
    ) strict, without rowid;
    alter table artikel add column silo_id integer;
    create index artikel_silo on artikel (tenant_id, silo_id);
    insert into silo select id, 1, (select count(*) from kunde where tenant_id = tenant.id) from tenant;";
const DATA: &str = "update artikel set silo_id = 1;";

/// Tells this program to upgrade a database, and to leave out a statement.
const UPGRADES: &str = "PARTNERD_TORTURE_UPGRADES";
const LACKS: &str = "PARTNERD_TORTURE_LACKS";

const NOW: i64 = MIGRATIONS.len() as i64;
const NEXT: i64 = NOW + 1;
const DATABASE: &str = "partnerd.db";
const AT_ONCE: usize = 8;

/// Migrates a database to the future schema.
pub fn upgrade(database: &Path, now: Instant, is_whole: bool) -> Result<Vec<Step>, Failure> {
    let sql: &'static str = if is_whole { format!("{SCHEMA}{DATA}").leak() } else { SCHEMA };
    let migrations = [MIGRATIONS, &[Migration { name: "silo", sql }]].concat();
    migrate_to(&migrations, database, now)
}

/// What this program does if told to upgrade a database.
pub fn as_told() -> Option<ExitCode> {
    let database = std::env::var_os(UPGRADES)?;
    let is_whole = std::env::var_os(LACKS).is_none();
    match upgrade(Path::new(&database), Instant::from_millis(0), is_whole) {
        Ok(_) => Some(ExitCode::SUCCESS),
        Err(failure) => {
            eprintln!("{failure}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let lacks = case.has_fault;
    let trials = each_call(case, 1, |_, way, number| {
        trial(way, number, lacks).map_err(|found| format!("{}: {found}", way.describe(number)))
    })?;
    at_once(case.seed.is_multiple_of(2), lacks).map_err(|found| format!("{AT_ONCE} at once: {found}"))?;
    Ok(trials + 1)
}

/// An upgrade with a failing call, which is then continued. Returns how many calls of the kind it had.
fn trial(way: Way, number: u64, lacks: bool) -> Result<u64, String> {
    let (folder, logs) = (same(mill()), Folder::new());
    let mut command = upgrading(&folder, lacks);
    let log = Log::of(&mut command, &folder, &logs);
    log.set_fault(&way.at(number));
    let output = command.output().unwrap();
    let met = log.met();
    let (is_done, is_new) = (said(&output)?, version(&folder) == NEXT);
    if is_done && !is_new || !is_done && met < number {
        return Err(format!(
            "it ended with {}, and the database has version {}",
            output.status,
            version(&folder)
        ));
    }
    if !is_new {
        equal(&contents(&folder.file(DATABASE))?, before(), "the database that was not upgraded")?;
        oracle::prove(&folder)?;
        if !said(&upgrading(&folder, lacks).output().unwrap())? {
            return Err("it is not carried on".to_owned());
        }
    }
    look(&folder, !is_new)?;
    if number == u64::MAX {
        older_touches_nothing(&folder)?;
    }
    Ok(met)
}

/// Several processes begin it at the same time, on an old database or on none.
fn at_once(is_old: bool, lacks: bool) -> Result<(), String> {
    let folder = if is_old { same(mill()) } else { Folder::new() };
    let start = |_| {
        let mut command = upgrading(&folder, lacks);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..AT_ONCE).map(start).collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        if !said(&output)? {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    if is_old { look(&folder, true) } else { of_new(&folder) }
}

/// Checks that an upgraded database is as after an undisturbed upgrade, with a whole copy of the previous
/// one. Files that could not be deleted are deleted when the upgrade is continued.
fn look(folder: &Folder, is_carried_on: bool) -> Result<(), String> {
    equal(&contents(&folder.file(DATABASE))?, after(), "the upgraded database")?;
    let (parts, copies): (Vec<_>, Vec<_>) =
        names(folder, &format!("before-v{NEXT}-")).into_iter().partition(|name| name.contains("-part-"));
    if is_carried_on && !parts.is_empty() {
        return Err(format!("what was left of a copy was not deleted: {parts:?}"));
    }
    match copies.as_slice() {
        [copy] => equal(&contents(&folder.file(copy))?, before(), "the copy of before"),
        _ => Err(format!("of before there are the copies {copies:?}")),
    }
}

/// A newly created database has the same schema, and nothing to lose.
fn of_new(folder: &Folder) -> Result<(), String> {
    let made = contents(&folder.file(DATABASE))?;
    match (made.get("sqlite_schema") == after().get("sqlite_schema"), names(folder, "before-").is_empty()) {
        (true, true) => Ok(()),
        (same, no_copy) => Err(format!("a new database: same schema {same}, no copy {no_copy}")),
    }
}

/// The current executable refuses a newer database, changes nothing of it, and accepts the copy from before.
fn older_touches_nothing(folder: &Folder) -> Result<(), String> {
    let newer = format!(
        "die Datenbank hat Stand {NEXT}, dieses partnerd kennt {NOW}: das neuere Programm benutzen, das sie schrieb"
    );
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["check"], &["tenant", "list"]]
    {
        let output = folder.run(command);
        let said = [output.stdout, output.stderr].concat();
        if output.status.code() != Some(1) || !String::from_utf8_lossy(&said).contains(&newer) {
            return Err(format!("{command:?} on a newer database: {}", String::from_utf8_lossy(&said)));
        }
    }
    equal(&contents(&folder.file(DATABASE))?, after(), "the database that an older executable had")?;
    let copy = names(folder, &format!("before-v{NEXT}-")).remove(0);
    let restored = folder.run(&["restore", &copy]);
    if !restored.status.success() {
        return Err(format!("restore of {copy}: {}", String::from_utf8_lossy(&restored.stderr)));
    }
    oracle::prove(folder)
}

/// Whether the output reports success; a panic is a violation.
fn said(output: &Output) -> Result<bool, String> {
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) | None => Ok(false),
        Some(code) => Err(format!("it ended with {code}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn upgrading(folder: &Folder, lacks: bool) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.current_dir(folder.path()).env(UPGRADES, folder.file(DATABASE)).stdin(Stdio::null());
    if lacks {
        command.env(LACKS, "1");
    }
    command
}

/// A mill after some use, with some records of each kind.
fn mill() -> &'static Folder {
    static MILL: OnceLock<Folder> = OnceLock::new();
    MILL.get_or_init(|| {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        let rows = |name: &str| (0..50).map(|at| format!("{name}{at}")).collect::<Vec<_>>();
        let article = |nr| json!({"artikelnummer": nr, "bezeichnung": "Sack", "einheit": "Stk"});
        let partner = |nr| json!({"kundennr": nr, "name": "Hof"});
        folder.import("Mühle", "artikel", &rows("A").into_iter().map(article).collect());
        folder.import("Mühle", "kunden", &rows("K").into_iter().map(partner).collect());
        let mut server = folder.serve(&[]);
        let client = server.client(&key);
        for menge in 1..10 {
            let items = json!([{"artikelnr": "A1", "menge": menge, "ep_netto": "1.25", "mwst_satz": 7}]);
            let body = json!({"beleg_typ": "LS", "kundennummer": "K1", "items": items});
            assert_eq!(client.post("/api/v1/belege", &body).status, 201);
        }
        server.signal("TERM");
        assert!(server.end().0.success());
        folder
    })
}

fn before() -> &'static Contents {
    static BEFORE: OnceLock<Contents> = OnceLock::new();
    BEFORE.get_or_init(|| contents(&mill().file(DATABASE)).unwrap())
}

/// The result of an undisturbed upgrade.
fn after() -> &'static Contents {
    static AFTER: OnceLock<Contents> = OnceLock::new();
    AFTER.get_or_init(|| {
        let folder = same(mill());
        assert!(upgrading(&folder, false).status().unwrap().success());
        contents(&folder.file(DATABASE)).unwrap()
    })
}

fn names(folder: &Folder, part: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(part)).collect()
}

fn same(of: &Folder) -> Folder {
    let folder = Folder::new();
    for name in names(of, DATABASE) {
        std::fs::copy(of.file(&name), folder.file(&name)).unwrap();
    }
    folder
}

fn version(folder: &Folder) -> i64 {
    folder.database().query_row("select max(version) from migration", [], |row| row.get(0)).unwrap()
}

/// The rows of each table, including the schema and the statistics of the planner.
type Contents = BTreeMap<String, Vec<String>>;

fn contents(database: &Path) -> Result<Contents, String> {
    let failed = |error: rusqlite::Error| format!("{}: {error}", database.display());
    let connection = Connection::open(database).map_err(failed)?;
    let tables = "select name from sqlite_schema where type = 'table' union select 'sqlite_schema'";
    let mut tables = connection.prepare(tables).map_err(failed)?;
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    tables.map(|table| rows(&connection, &table?)).collect::<Result<_, _>>().map_err(failed)
}

fn rows(connection: &Connection, table: &str) -> rusqlite::Result<(String, Vec<String>)> {
    let columns = match table {
        // Excludes the position of a table in the file, and the time of a migration, which differ.
        "sqlite_schema" => "type, name, tbl_name, sql",
        "migration" => "version, name, checksum",
        _ => "*",
    };
    let mut statement = connection.prepare(&format!("select {columns} from {table}"))?;
    let count = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        (0..count).map(|at| Ok(format!("{:?}", row.get_ref(at)?))).collect::<rusqlite::Result<Vec<_>>>()
    };
    let rows = statement.query_map([], row)?;
    let mut rows: Vec<String> = rows.map(|row| Ok(row?.join(" "))).collect::<rusqlite::Result<_>>()?;
    rows.sort();
    Ok((table.to_owned(), rows))
}

fn equal(found: &Contents, expected: &Contents, what: &str) -> Result<(), String> {
    let tables = found.keys().chain(expected.keys());
    for table in tables {
        let (found, expected) = (found.get(table), expected.get(table));
        if found != expected {
            let count = |rows: Option<&Vec<String>>| rows.map(Vec::len);
            let other =
                found.into_iter().flatten().find(|row| !expected.is_some_and(|rows| rows.contains(row)));
            let (found, expected) = (count(found), count(expected));
            return Err(format!(
                "{what} differs in {table}: {found:?} rows instead of {expected:?}, as {other:?}"
            ));
        }
    }
    Ok(())
}

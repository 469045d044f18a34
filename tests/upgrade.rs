//! Upgrades with the real executable (P11): a database of every older schema, one that is killed at
//! its steps, one that is newer.

mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use partnerd::app::ADOPTIONS;
use partnerd::rules::day::Instant;
use process::Folder;
use rusqlite::Connection;
use serde_json::json;

mod embedded {
    refinery::embed_migrations!("migrations");
}

fn count(path: &Path, table: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
}

/// Seventy customers, one of whom got ten sacks that nobody invoiced yet, and a receipt of two lines.
const DATA: &str = "
    insert into tenant (name, angelegt_am) values ('Mühle', 0);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 70)
    insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, staat, status, ist_kunde,
      ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text)
    select 1, unhex(printf('%032x', i)), i, 'K' || i, 'Hof ' || i, 'Hof ' || i, 'DE', 'aktiv', 1, 0, 0, 0, 0,
      'k' || i, printf('k%03d', i), 'hof ' || i from n;
    insert into artikel (tenant_id, id, artikelnummer, bezeichnung, einheit, preis, status, artikelnummer_key,
      artikelnummer_sort, such_text)
    values (1, unhex(printf('%032x', 1)), 'S', 'Sack', 'Stk', 1250000, 'aktiv', 's', 's', 'sack');
    insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, summe_netto, summe_mwst,
      summe_brutto, ist_gutschrift, angelegt_am, geaendert_am)
    values (1, unhex(printf('%032x', 1)), 'LS-2024-00001', 'LS', 'offen', '2024-05-06', unhex(printf('%032x', 1)), 1250,
      88, 1338, 0, 1714980000000, 1714980000000);
    insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, einheit, ep_netto,
      rabatt_prozent, mwst_satz, satz_gesendet, gesamtpreis, charge_gesendet, lager_buchen, lager_menge)
    values (1, unhex(printf('%032x', 2)), unhex(printf('%032x', 1)), 1, unhex(printf('%032x', 1)), 'Sack', 10000000, 'Stk',
      1250000, 0, 7000000, 0, 1250, 0, 1, 10000000);
    insert into lagerbewegung (tenant_id, id, artikel_id, beleg_id, menge, am)
    values (1, unhex(printf('%032x', 1)), unhex(printf('%032x', 1)), unhex(printf('%032x', 1)), -10000000, 1714980000000);
    insert into beleg_verlauf (tenant_id, beleg_id, version, am, aktion, beleg)
    values (1, unhex(printf('%032x', 1)), 1, 1714980000000, 'aendern', '{\"notizen\":\"alt\",\"positionen\":[{\"position\":1}]}');
    update beleg set version = 2;
    insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'LS', 2024, 1);
    insert into bon (tenant_id, id, bon_nr, bon_nr_sort, kassiert_am, datum, art, zahlart, zeilen)
    values (1, unhex(printf('%032x', 1)), '1', '1', 1714980000000, '2024-05-06', 'verkauf', 'bar', 2);
    insert into barverkauf (tenant_id, id, bon_id, position, bezeichnung, menge, einzelpreis, mwst_satz, gesamt, steuer)
    values (1, 1, unhex(printf('%032x', 1)), 1, 'Mehl', 1000000, 1250000, 7000000, 125, 8),
           (1, 2, unhex(printf('%032x', 1)), 2, 'Mehl', 1000000, 1250000, 7000000, 125, 8);";

/// The second customer got ten sacks, an invoice of eight and six was paired with them and moved the rest, and three
/// came back.
const PAIRS: &str = "
    with d(nr, typ, nummer) as (values (2, 'LS', 'LS-2024-00002'), (3, 'RE', 'RE-2024-00001'), (4, 'LS', 'LS-2024-00003'))
    insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, summe_netto, summe_mwst,
      summe_brutto, ist_gutschrift, angelegt_am, geaendert_am)
    select 1, unhex(printf('%032x', nr)), nummer, typ, 'offen', '2024-05-06', unhex(printf('%032x', 2)), 0, 0, 0, 0, 0, 0
    from d;
    with p(nr, beleg, position, menge) as (values (3, 2, 1, 10), (4, 3, 1, 8), (5, 3, 2, 6), (6, 4, 1, -3))
    insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, einheit, ep_netto,
      rabatt_prozent, mwst_satz, satz_gesendet, gesamtpreis, charge_gesendet, lager_buchen, lager_menge)
    select 1, unhex(printf('%032x', nr)), unhex(printf('%032x', beleg)), position, unhex(printf('%032x', 1)), 'Sack',
      menge * 1000000, 'Stk', 0, 0, 7000000, 0, 0, 0, 1, menge * 1000000 from p;
    with m(beleg, menge) as (values (2, -10), (3, -4), (4, 3))
    insert into lagerbewegung (tenant_id, id, artikel_id, beleg_id, menge, am)
    select 1, unhex(printf('%032x', beleg)), unhex(printf('%032x', 1)), unhex(printf('%032x', beleg)), menge * 1000000, 0
    from m;
    update nummernkreis set letzte = 3;
    insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'RE', 2024, 1);";

/// The pairs of the second customer, then what is open of him.
fn pairs(database: &Path) -> String {
    let connection = Connection::open(database).unwrap();
    let statement = "
        select (select group_concat(art || ' ' || (menge / 1000000) || ' ' || coalesce(bewegt_von, zurueck_von), ', ')
                from (select * from lager_paar where kunde_id = unhex(printf('%032x', 2)) order by id))
          || '; ' || (select group_concat(beleg_typ || position || ' ' || (menge / 1000000))
                from lager_offen where kunde_id = unhex(printf('%032x', 2)))";
    connection.query_row(statement, [], |row| row.get(0)).unwrap()
}

/// A database that the first version filled, and a later one left as it was.
fn older(path: &Path, version: i32) {
    std::fs::write(path, "").unwrap();
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch("pragma application_id = 1886549092").unwrap();
    let mut run_to = |version| {
        let runner = embedded::migrations::runner().set_target(refinery::Target::Version(version));
        runner.run(&mut connection).unwrap();
    };
    run_to(1);
    let filled = Connection::open(path).unwrap();
    filled.execute_batch(DATA).unwrap();
    filled.execute_batch(PAIRS).unwrap();
    run_to(version);
    let adopted = ADOPTIONS.iter().filter(|adoption| adoption.version <= version.into());
    adopted.for_each(|adoption| (adoption.run)(&filled, Instant::from_millis(0)).unwrap());
}

/// What an older version kept is worked on as if this one had.
fn work_goes_on(folder: &Folder) {
    let key = folder.result(&["key", "create", "--tenant", "Mühle", "--label", "test", "--all-scopes"]);
    let server = folder.serve(&[]);
    let client = server.client(key.trim());
    assert_eq!(client.get("/api/v1/kunden?limit=5").body["count"], 70);
    assert_eq!(client.get("/api/v1/kunden?suche=hof+67").body["data"][0]["kunden_id"], 67);
    assert_eq!(client.get("/api/v1/barverkaeufe?limit=5").body["count"], 2);
    // What an older version kept in the history is read as it was; what comes now has its positions apart.
    let document = "/api/v1/belege/00000000-0000-0000-0000-000000000001";
    assert_eq!(client.send("PUT", document, Some(&json!({"notizen": "neu"}))).unwrap().status, 200);
    let history = client.get(&format!("{document}/verlauf")).body["data"].clone();
    let old = json!({"notizen": "alt", "positionen": [{"position": 1}]});
    assert_eq!((&history[0]["version"], &history[0]["beleg"]), (&json!(1), &old));
    let new = &history[1]["beleg"];
    assert_eq!((&history[1]["version"], &new["positionen"][0]["menge"]), (&json!(2), &json!("10.000")));
    assert_eq!((&new["notizen"], history.as_array().unwrap().len()), (&json!(null), 2));
    // Goods move once (D8): six of ten are invoiced, then four of seven were delivered before.
    for (menge, moved) in [(6, json!([])), (7, json!(["-3.000"]))] {
        let items = json!([{"artikelnr": "S", "menge": menge, "mwst_satz": 7}]);
        let answer =
            client.post("/api/v1/belege", &json!({"beleg_typ": "RE", "kunden_id": 1, "items": items}));
        assert_eq!(answer.status, 201, "{}", answer.body);
        let movements = answer.body["lagerbewegungen"].as_array().unwrap();
        let quantities: Vec<_> = movements.iter().map(|movement| movement["menge"].clone()).collect();
        assert_eq!(json!(quantities), moved, "an invoice of {menge}");
    }
}

fn names(folder: &Folder, part: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(part)).collect()
}

/// The copy that was kept before a migration.
fn kept(folder: &Folder, version: i32) -> PathBuf {
    let found = names(folder, &format!("before-v{version}-"));
    assert_eq!(found.len(), 1, "{found:?}");
    folder.file(&found[0])
}

fn versions() -> i32 {
    embedded::migrations::runner().get_migrations().iter().map(|known| known.version()).max().unwrap()
}

#[test]
fn every_older_schema_is_upgraded_and_a_copy_of_it_is_kept() {
    for version in 1..versions() {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        older(&database, version);
        folder.result(&["migrate"]);
        folder.result(&["check"]);
        assert_eq!(
            pairs(&database),
            "paar 8 lieferung, paar 2 lieferung, rueckgabe 3 rueckgabe; RE2 4",
            "from version {version}"
        );
        let kept = kept(&folder, version + 1);
        assert_eq!(
            (count(&kept, "tenant"), count(&kept, "refinery_schema_history")),
            (1, i64::from(version))
        );
        assert_eq!(count(&database, "tenant"), 1);
        // A second start has nothing to keep.
        folder.result(&["migrate"]);
        assert_eq!(names(&folder, "before").len(), 1);
        work_goes_on(&folder);
        folder.result(&["check"]);
    }
    // A new database has nothing to lose.
    let folder = Folder::new();
    folder.result(&["migrate"]);
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains("before"))
            .count(),
        0
    );
}

/// Copies of other days stay, whatever the database is called; what a killed copy left goes.
#[test]
fn only_what_killed_copies_left_is_deleted() {
    let folder = Folder::new();
    older(&folder.file("lager-part-7.db"), 1);
    let kept = ["lager-part-7.db-before-v2-2026-01-01", "lager-part-7.db-before-v1-2025-01-01"];
    let left =
        ["lager-part-7.db-before-v2-2026-01-01-part-99", "lager-part-7.db-before-v2-2026-01-01-part-99-wal"];
    for name in kept.iter().chain(&left) {
        folder.write(name, "");
    }
    folder.result(&["--db", "lager-part-7.db", "migrate"]);
    assert!(kept.iter().all(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert!(!left.iter().any(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert_eq!(names(&folder, "before").len(), 3);
}

/// The system calls by which a migration changes files.
const CALLS: &str = "pwrite64,fsync,fdatasync,rename,unlink,ftruncate,openat";

/// An upgrade that is killed at any of its steps is carried on by the next start.
#[test]
fn an_upgrade_that_is_killed_at_any_step_is_carried_on() {
    // All migrations, one after the other.
    let from = 1;
    let whole = Folder::new();
    older(&whole.file("partnerd.db"), from);
    let trace = whole.file("trace");
    let strace = |folder: &Folder, more: &[&str]| -> Output {
        let mut command = Command::new("strace");
        command.current_dir(folder.path()).args(["-f", "-qq", "-e", &format!("trace={CALLS}")]).args(more);
        command.arg(env!("CARGO_BIN_EXE_partnerd")).arg("migrate").output().unwrap()
    };
    assert!(strace(&whole, &["-o", trace.to_str().unwrap()]).status.success());
    let calls = std::fs::read_to_string(&trace).unwrap().lines().count();
    assert!(calls > 40, "{calls} system calls");
    let mut killed = 0;
    // About forty of them, spread over all.
    for at in (1..=calls).step_by(calls.div_ceil(40)) {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        older(&database, from);
        let inject = format!("inject={CALLS}:signal=KILL:when={at}");
        let output = strace(&folder, &["-o", "/dev/null", "-e", &inject]);
        killed += usize::from(!output.status.success());
        folder.result(&["migrate"]);
        let check = folder.run(&["check"]);
        assert!(check.status.success(), "killed at call {at}: {}", String::from_utf8_lossy(&check.stdout));
        assert_eq!(count(&database, "tenant"), 1, "killed at call {at}");
        let kept = kept(&folder, from + 1);
        assert_eq!(count(&kept, "refinery_schema_history"), i64::from(from), "killed at call {at}");
    }
    assert!(killed >= 20, "only {killed} were killed");
}

/// A migration is committed when it is proved, not before.
#[test]
fn a_migration_that_would_leave_broken_references_changes_nothing() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    older(&database, 1);
    let run = |sql: &str| Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    run(
        "pragma foreign_keys = off; insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (9, 'RE', 2024, 1)",
    );
    let output = folder.run(&["migrate"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("1 broken references"), "{said}");
    assert_eq!(count(&database, "refinery_schema_history"), 1);
    run("delete from nummernkreis where tenant_id = 9");
    folder.result(&["migrate"]);
    folder.result(&["check"]);
    assert_eq!(count(&database, "refinery_schema_history"), i64::from(versions()));
}

/// The figures that SQLite plans with are those of this version, whatever an older one or another program left.
#[test]
fn a_start_puts_the_statistics_right() {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let all = "select group_concat(tbl || ' ' || idx || ' ' || stat, ';') from
        (select * from sqlite_stat1 order by tbl, idx)";
    let figures = || folder.database().query_row(all, [], |row| row.get::<_, Option<String>>(0)).unwrap();
    let right = figures();
    assert!(right.as_ref().is_some_and(|figures| figures.len() > 1_000), "{right:?}");
    for spoil in
        ["delete from sqlite_stat1", "insert into route (methode, muster) values ('A', 'B'); analyze"]
    {
        folder.database().execute_batch(spoil).unwrap();
        assert_ne!(figures(), right, "{spoil}");
        let mut server = folder.serve(&[]);
        server.signal("TERM");
        assert!(server.end().0.success());
        assert_eq!(figures(), right, "{spoil}");
    }
}

/// With PARTNERD_RECORD set the file is written anew.
#[test]
fn the_schema_is_the_one_that_is_written_down() {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let connection = folder.database();
    // Each table with what belongs to it. The history of migrations belongs to their runner.
    let statement = "select s.type, s.sql from sqlite_schema s join sqlite_schema t on t.name = s.tbl_name
        where s.sql is not null and t.name not like 'refinery%' and t.name not like 'sqlite%'
        order by t.rowid, s.type <> 'table', s.type, s.name";
    let mut statement = connection.prepare(statement).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut schema =
        "-- The schema after all migrations, as a database keeps it: to be read. The migrations make it.\n"
            .to_owned();
    for (kind, sql) in rows.map(Result::<(String, String), _>::unwrap) {
        let gap = if kind == "table" { "\n" } else { "" };
        schema.push_str(&format!("{gap}{sql};\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/schema.sql");
    if std::env::var_os("PARTNERD_RECORD").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == schema,
        "PARTNERD_RECORD=1 cargo test --test upgrade schema writes migrations/schema.sql anew"
    );
}

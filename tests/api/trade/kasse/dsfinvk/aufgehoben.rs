//! The export of a register is stored unchanged (D22), and handed over to auditors (D36).

use std::fs;
use std::io::{Cursor, Read};

use partnerd::platform::db::file::connection::open_writer;
use serde_json::json;
use zip::ZipArchive;

use super::{FILES, export, fixture, import, shop, zipped};
use crate::harness::{COMPLETE, Server};
use crate::office::z3::ended;
use crate::trade::kasse::counts;

/// Name, days and bytes of the stored exports.
fn kept(server: &Server) -> Vec<(String, String, Vec<u8>)> {
    let database = open_writer(&server.database).unwrap();
    let mut statement = database
        .prepare("select dateiname, von || ' ' || bis, inhalt from kassendatei order by dateiname")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn the_export_is_kept_as_it_came_once_and_handed_over() {
    let server = Server::start_at("2021-06-01T10:00:00Z");
    let mill = shop(&server);
    server.set(&mill, COMPLETE);
    let entries: Vec<_> = FILES.iter().map(|file| (*file, fixture(file))).collect();
    let zip = zipped(&server, "Kasse Hof.zip", &entries);
    counts(&import(&server, &mill, &zip, &["--dry-run"]), [12, 0, 0]);
    assert!(kept(&server).is_empty(), "a dry run keeps nothing");
    for _ in 0..2 {
        import(&server, &mill, &zip, &[]);
    }
    let folder = export(&server, "ordner", |_, bytes| Some(bytes));
    fs::write(folder.join("index.xml"), "<x/>").unwrap();
    fs::write(folder.join("foto.jpg"), "not an export").unwrap();
    for _ in 0..2 {
        counts(&import(&server, &mill, &folder, &[]), [0, 0, 12]);
    }

    let found = kept(&server);
    let names: Vec<_> = found.iter().map(|(name, days, _)| format!("{name} {days}")).collect();
    assert_eq!(names, ["Kasse Hof.zip 2020-12-31 2021-01-05", "ordner.zip 2020-12-31 2021-01-05"]);
    assert_eq!(found[0].2, fs::read(&zip).unwrap());
    let mut packed = ZipArchive::new(Cursor::new(&found[1].2)).unwrap();
    let mut files: Vec<String> = packed.file_names().map(|name| name.unwrap().into_owned()).collect();
    files.sort();
    let mut expected: Vec<_> =
        FILES.iter().map(|file| (*file).to_owned()).chain(["index.xml".into()]).collect();
    expected.sort();
    assert_eq!(files, expected);
    for file in FILES {
        let mut bytes = Vec::new();
        packed.by_name(file).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, fixture(file), "{file}");
    }

    let hand_over = |von: &str, bis: &str, mit_belegen: bool| {
        let asked = json!({"von": von, "bis": bis, "mit_belegen": mit_belegen});
        let id = mill.post("/api/v1/z3", asked).id();
        assert_eq!(ended(&mill, &id).body["stand"], "fertig");
        let file = mill.get(&format!("/api/v1/z3/{id}/datei"));
        file.is(200);
        let mut zip = ZipArchive::new(Cursor::new(&file.bytes)).unwrap();
        let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
        let mut kasse = Vec::new();
        for name in names.into_iter().filter(|name| name.starts_with("kasse/")) {
            let mut bytes = Vec::new();
            zip.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
            kasse.push((name, bytes));
        }
        kasse
    };
    let handed = hand_over("2021-01-05", "2021-02-28", true);
    let names: Vec<_> = handed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["kasse/1-Kasse_Hof.zip", "kasse/2-ordner.zip"]);
    assert_eq!(handed[0].1, fs::read(&zip).unwrap());
    assert!(hand_over("2021-01-06", "2021-02-28", true).is_empty(), "no day of the period");
    assert!(hand_over("2021-01-05", "2021-02-28", false).is_empty(), "without the files of documents");
}

#[test]
fn check_finds_an_export_that_was_altered() {
    let server = Server::start();
    let mill = shop(&server);
    import(&server, &mill, &export(&server, "export", |_, bytes| Some(bytes)), &[]);
    let trigger: String = server.sql("select sql from sqlite_schema where name = 'kassendatei_nie_aendern'");
    let replace = |content: &str| {
        let change = format!(
            "drop trigger kassendatei_nie_aendern; update kassendatei set inhalt = x'{content}'; {trigger}"
        );
        open_writer(&server.database).unwrap().execute_batch(&change).unwrap();
    };
    let check = || {
        let output = server.cli(&["check"]);
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let whole: String = server.sql("select hex(inhalt) from kassendatei");
    assert!(check().0);
    replace("504B");
    let (is_whole, said) = check();
    assert!(!is_whole && said.contains("export.zip wurde geändert"), "{said}");
    replace(&whole);
}

#[test]
fn an_export_of_a_register_goes_when_the_law_no_longer_wants_it() {
    let server = Server::start();
    let mill = shop(&server);
    // Commands use the clock of the machine.
    let year = i64::from(jiff::Zoned::now().year());
    let of_year = |name: &str, year: i64| {
        export(&server, name, |_, bytes| {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let text = text
                .replace("2020-12-31", &format!("{year}-06-30"))
                .replace("2021-01-04", &format!("{year}-06-30"));
            Some(text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect())
        })
    };
    let names = || kept(&server).into_iter().map(|(name, ..)| name).collect::<Vec<_>>();
    import(&server, &mill, &of_year("aelter", year - 11), &[]);
    let other = server.company("Andere");
    import(&server, &other, &of_year("fremd", year - 11), &[]);
    assert_eq!(names(), ["aelter.zip", "fremd.zip"]);
    import(&server, &mill, &of_year("neuer", year - 10), &[]);
    assert_eq!(names(), ["fremd.zip", "neuer.zip"], "that of another company stays");
    import(&server, &mill, &of_year("aelter", year - 11), &[]);
    assert_eq!(names(), ["aelter.zip", "fremd.zip", "neuer.zip"]);
    let tenant = mill.tenant.to_string();
    assert!(server.cli(&["kunde", "vergessen", "K-1", "--tenant", &tenant, "--yes"]).status.success());
    assert_eq!(names(), ["fremd.zip", "neuer.zip"]);
}

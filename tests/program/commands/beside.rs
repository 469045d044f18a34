//! A large import beside a server that writes (D22): it is stored in parts, and others write in between.

use std::fmt::Write;
use std::process::Stdio;

use serde_json::json;

use crate::commands::{rows, said};
use crate::process::Folder;

const ROWS: usize = 30_000;

/// Maximum rows of one writing transaction (docs/command-line.md).
const PART: usize = 5_000;

#[test]
fn others_write_between_the_parts_of_an_import_and_no_part_is_large() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let server = folder.serve(&[]);
    let client = server.client(&key);
    let mut text = "kundennr;nachname_firma\n".to_owned();
    (0..ROWS).for_each(|at| writeln!(text, "N-{at};Hof {at}").unwrap());
    folder.write("kunden.csv", &text);
    let mut command = folder.command(&["import", "kunden", "kunden.csv", "--tenant", "Mühle", "--in-parts"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut written = 0;
    while child.try_wait().unwrap().is_none() {
        let body = json!({"kundennr": format!("H-{written}"), "nachname_firma": "Laden"});
        let answer = client.post("/api/v1/kunden", &body);
        assert_eq!(answer.status, 201, "{:?}", answer.body);
        written += 1;
    }
    said(&child.wait_with_output().unwrap(), 0);
    let count = |filter: &str| -> u32 {
        let statement = format!("select count(*) from kunde where {filter}");
        folder.database().query_row(&statement, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("kundennr like 'N-%'") as usize, ROWS);
    assert_eq!(count("kundennr like 'H-%'"), written);
    // Whoever writes next gets the next kunden_id.
    let between = "kundennr like 'H-%'
        and kunden_id > (select min(kunden_id) from kunde where kundennr like 'N-%')
        and kunden_id < (select max(kunden_id) from kunde where kundennr like 'N-%')";
    assert!(count(between) > 0, "nobody wrote between two parts: {written}");
    let log = rows(&folder, &["audit", "changes", "--limit", "5000"]);
    let of_part = log.iter().filter(|row| row["tat"] == "importiert");
    let parts: Vec<usize> =
        of_part.map(|row| row["nachher"]["created"].as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(parts.iter().sum::<usize>(), ROWS, "{parts:?}");
    assert!(parts.iter().all(|part| *part <= PART), "{parts:?}");
}

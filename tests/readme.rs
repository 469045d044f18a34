//! The README's flow walks the whole way: its commands are run as they stand there, against the
//! demo.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The code blocks between two marks of the README.
fn blocks(mark: &str) -> String {
    let readme = include_str!("../README.md");
    let part = readme.split(&format!("<!-- {mark} -->\n")).nth(1).unwrap();
    let blocks: Vec<&str> =
        part.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty(), "no commands between the marks {mark}");
    blocks.join("\n")
}

#[test]
fn the_chapter_for_the_admin_works_word_by_word_in_an_empty_folder() {
    let folder = tempfile::TempDir::new().unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_partnerd"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = format!("set -euo pipefail\n{}", blocks("admin"));
    let output =
        Command::new("bash").current_dir(folder.path()).env("PATH", path).arg("-c").arg(script).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", String::from_utf8_lossy(&output.stdout));
    let key = std::fs::read_to_string(folder.path().join("shop.key")).unwrap();
    assert!(key.starts_with("ak_"), "{key}");
    let restored = rusqlite::Connection::open(folder.path().join("neuer-rechner/partnerd.db")).unwrap();
    let name: String = restored.query_row("select name from kunde", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "Bio-Hof Huber");
}

#[test]
fn the_commands_of_the_readme_walk_the_whole_way() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_partnerd"));
    demo.args(["demo", "--listen", "127.0.0.1:0"]).current_dir(folder.path()).stdout(Stdio::piped());
    let mut demo = Demo(demo.spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.strip_prefix("partnerd listening on ").unwrap();
    let key = lines.next().unwrap().unwrap();

    let flow = blocks("flow");
    let script = format!("set -euo pipefail\nB={address}/api/v1\nK={key}\n{flow}");
    let output = Command::new("bash").arg("-c").arg(script).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{printed}\n{errors}");

    // Second weighing, stock, delivery note, invoice, archive, poll, PDF: a line each.
    let answers: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [weighing, batches, note, invoice, archived, polled, pdf] = answers.as_slice() else {
        panic!("{} answers: {printed}", answers.len());
    };
    assert_eq!(
        (&weighing["gewicht_netto_kg"], &weighing["richtung"]),
        (&"24860.000".into(), &"eingang".into())
    );
    let newest = batches.as_array().unwrap().last().unwrap();
    assert_eq!((&newest["fremde_charge_nr"], &newest["bestand"]), (&"FELD-7".into(), &"24860.000".into()));
    assert_eq!(note["lagerbewegungen"][0]["menge"], "-12000.000");
    // 12,000 kg at 0.27, and freight at 19 %: 3,240.00 + 226.80 + 85.00 + 16.15
    assert_eq!(invoice["summe_brutto"], "3567.95");
    assert_eq!(invoice["positionen"][0]["charge_id"], newest["id"]);
    assert_eq!(archived["status"], "abgeschlossen");
    assert!(polled.as_array().unwrap().iter().any(|entry| entry["id"] == invoice["id"]));
    assert_eq!(pdf["datei_base64"], "JVBERi0xLjQKJSVFT0YK");
}

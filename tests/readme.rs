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

    let readme = include_str!("../README.md");
    let flow = readme.split("<!-- flow -->\n").nth(1).unwrap();
    let flow = flow.trim().strip_prefix("```sh").unwrap().strip_suffix("```").unwrap();
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

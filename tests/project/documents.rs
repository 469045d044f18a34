//! The documents are true: commands of the README and of the handbook are run as written, tables and the
//! configuration file match the code, every link leads somewhere, and the README stays short.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::programs::needs;
use partnerd::interface::routes;
use partnerd::master::tenants;
use partnerd::platform::http::route::Access;
use partnerd::start::config;

struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The code blocks between pairs of a mark in a document.
fn blocks(text: &str, mark: &str) -> Vec<String> {
    let mark = format!("<!-- {mark} -->\n");
    assert_eq!(text.matches(&mark).count() % 2, 0, "a mark {mark} has no counterpart");
    let marked = text.split(&mark).skip(1).step_by(2);
    let blocks = marked.flat_map(|part| part.split("```sh\n").skip(1));
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The files of the handbook, in the order of its index.
fn chapters() -> Vec<String> {
    let index = read("docs/handbuch/README.md");
    let numbered = index.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let chapters = numbered.map(|line| {
        let file = line.split("](").nth(1).and_then(|rest| rest.split(')').next());
        format!("docs/handbuch/{}", file.unwrap_or_else(|| panic!("no link in {line}")))
    });
    chapters.collect()
}

#[test]
fn the_handbook_works_word_by_word_in_an_empty_folder() {
    needs!("bash", "curl");
    let folder = tempfile::TempDir::new().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_partnerd"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let blocks: Vec<String> = chapters().iter().flat_map(|chapter| blocks(&read(chapter), "admin")).collect();
    assert!(blocks.len() > 8, "only {} blocks of the handbook are marked", blocks.len());
    let script = format!("set -euo pipefail\n{}", blocks.join("\n"));
    let output =
        Command::new("bash").current_dir(folder.path()).env("PATH", path).arg("-c").arg(script).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", String::from_utf8_lossy(&output.stdout));
    for key in ["shop.key", "waage.key", "dms.key"] {
        let key = fs::read_to_string(folder.path().join(key)).unwrap();
        assert!(key.starts_with("ak_"), "{key}");
    }
    assert!(folder.path().join("mit-geheimnis.db-secret").exists());
    let restored = rusqlite::Connection::open(folder.path().join("neuer-rechner/partnerd.db")).unwrap();
    let name: String = restored.query_row("select name from kunde", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "Bio-Hof Huber");
}

#[test]
fn the_commands_of_the_readme_walk_the_whole_way() {
    needs!("bash", "curl");
    let folder = tempfile::TempDir::new().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_partnerd"));
    demo.args(["demo", "--listen", "127.0.0.1:0"]).current_dir(folder.path()).stdout(Stdio::piped());
    let mut demo = Demo(demo.spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.strip_prefix("partnerd listening on ").unwrap();
    let key = lines.next().unwrap().unwrap();

    let flow = blocks(&read("README.md"), "flow").join("\n");
    assert!(!flow.is_empty(), "the README marks no flow");
    let script = format!("set -euo pipefail\nB={address}/api/v1\nK={key}\n{flow}");
    let output = Command::new("bash").arg("-c").arg(script).current_dir(folder.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{printed}\n{errors}");

    // Second weighing, stock, delivery note, invoice, final, poll: one line each; the files print nothing.
    let answers: Vec<serde_json::Value> = printed
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [weighing, batches, note, invoice, finished, polled] = answers.as_slice() else {
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
    assert_eq!(
        (&finished["status"], &finished["hinweise"]),
        (&"abgeschlossen".into(), &serde_json::json!([]))
    );
    assert!(polled.as_array().unwrap().iter().any(|entry| entry["id"] == invoice["id"]));
    let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(file("rechnung.pdf").starts_with(b"%PDF-"));
    let xml = String::from_utf8(file("rechnung.xml")).unwrap();
    assert!(xml.contains("CrossIndustryInvoice") && xml.contains("3567.95"), "{xml}");
}

#[test]
fn the_readme_has_at_most_120_lines_of_120_characters() {
    let readme = read("README.md");
    let lines = readme.lines().count();
    assert!(lines <= 120, "README.md has {lines} lines, at most 120: what is longer belongs into docs/");
    for (at, line) in readme.lines().enumerate() {
        let letters = line.chars().count();
        assert!(letters <= 120, "line {} of README.md has {letters} characters, at most 120", at + 1);
    }
}

/// README.md and all Markdown files in `docs`.
fn documents() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![root().join("README.md")];
    below(&root().join("docs"), &mut found);
    found
}

/// A document without its code blocks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let outside = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    outside.collect::<Vec<_>>().join("\n")
}

/// The targets of a document's links, except those in code.
fn targets(text: &str) -> Vec<String> {
    let without_code: String = prose(text).split('`').step_by(2).collect();
    let targets = without_code.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    targets.collect()
}

/// The anchors of a document: those of its headings, as repository pages generate them, and explicit ones.
fn anchors(text: &str) -> Vec<String> {
    let prose = prose(text);
    let mut anchors: Vec<String> = Vec::new();
    for line in prose.lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let same = anchors.iter().filter(|known| **known == anchor).count();
        // Repeated headings get a number.
        anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }
    let written = prose.split("id=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    anchors.extend(written);
    anchors
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut seen = 0;
    let mut dead = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let name = document.strip_prefix(root()).unwrap().display().to_string();
        for target in targets(&text).iter().filter(|target| !target.contains("://")) {
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            if !path.exists() {
                dead.push(format!("{name}: there is no {target}"));
            } else if !anchor.is_empty() && path.extension().is_some_and(|ending| ending == "md") {
                let is_known =
                    anchors(&fs::read_to_string(&path).unwrap()).iter().any(|known| known == anchor);
                if !is_known {
                    dead.push(format!("{name}: {file} has no heading {anchor}"));
                }
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(seen > 30, "only {seen} links were found");
}

#[test]
fn links_and_anchors_are_read_as_a_page_reads_them() {
    let text = "# Wann ein Beleg „fest“ wird\n\n[a](b.md#c) and `[no](code.md)`\n```sh\n# no\n[no](x)\n```\n\
                [`d`](e.md)\n## D8 Stock: once\n## D8 Stock: once\n<a id=\"here\"></a>";
    assert_eq!(targets(text), ["b.md#c", "e.md"]);
    let anchors = anchors(text);
    assert_eq!(anchors, ["wann-ein-beleg-fest-wird", "d8-stock-once", "d8-stock-once-1", "here"]);
}

/// The table of routes as in docs/api.md.
fn table_of_routes() -> String {
    let mut table = "| method | path | scope | what it does |\n|---|---|---|---|\n".to_owned();
    for route in routes::all() {
        let access = match route.access {
            Access::Open => "none, no key".to_owned(),
            Access::AnyKey => "none, any valid key".to_owned(),
            Access::Scope(scope) => scope.as_str().to_owned(),
        };
        table +=
            &format!("| {} | {} | {access} | {} |\n", route.method.as_str(), route.pattern, route.summary);
    }
    table
}

#[test]
fn the_document_for_partners_lists_the_routes() {
    let document = read("docs/api.md");
    let part = document.split("<!-- routes -->\n").nth(1).expect("docs/api.md marks the table of routes");
    assert_eq!(part, table_of_routes(), "put this into docs/api.md:\n{}", table_of_routes());
}

/// The settings of a company as in the documentation.
fn table_of_settings() -> String {
    let mut table = "| Einstellung | Werte | Vorgabe | was sie tut |\n|---|---|---|---|\n".to_owned();
    for setting in tenants::all_settings() {
        let default = if setting.default.is_empty() { "nichts" } else { setting.default };
        table +=
            &format!("| {} | {} | {default} | {} |\n", setting.name, setting.explained(), setting.meaning);
    }
    table
}

#[test]
fn one_document_lists_the_settings_of_a_company() {
    let documents = documents();
    let texts = documents.iter().map(|path| fs::read_to_string(path).unwrap());
    let mark = "<!-- settings -->\n";
    let parts: Vec<_> =
        texts.filter_map(|text| text.split(mark).nth(1).map(|part| part.trim().to_owned())).collect();
    let table = table_of_settings();
    assert_eq!(parts, [table.trim()], "put this between two lines {mark}in one document:\n{table}");
}

#[test]
fn the_help_lists_the_settings_of_a_company() {
    let help =
        Command::new(env!("CARGO_BIN_EXE_partnerd")).args(["tenant", "set", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    // Lines are wrapped at the width of the terminal.
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for setting in tenants::SETTINGS {
        let default = if setting.default.is_empty() { "nichts" } else { setting.default };
        let entry =
            format!("{}: {} [sonst: {default}] {}", setting.name, setting.explained(), setting.meaning);
        assert!(help.contains(&entry), "no {entry:?} in:\n{help}");
    }
}

#[test]
fn the_configuration_file_shows_every_setting_with_its_default() {
    let file = read("config/partnerd.toml");
    for setting in config::SETTINGS {
        let value = match setting.default.parse::<i64>() {
            Ok(number) => number.to_string(),
            Err(_) => format!("{:?}", setting.default),
        };
        let entry = format!("# {}\n# {} = {value}\n", setting.summary, setting.name);
        assert!(file.contains(&entry), "config/partnerd.toml lacks:\n{entry}");
    }
    let entries = file.lines().filter(|line| line.starts_with("# ") && line.contains(" = ")).count();
    assert_eq!(entries, config::SETTINGS.len());
}

//! Importing master data from files: the real command line beside a running server (D22).

use std::process::Output;

use serde_json::{Value, json};

use crate::harness::{Client, Server, data};

/// The result of an import by the command line.
pub struct Import {
    output: Output,
}

impl Import {
    /// Counts of created, changed and unchanged records.
    #[track_caller]
    pub fn counts(&self) -> [u64; 3] {
        assert_eq!(self.output.status.code(), Some(0), "{}", self.said());
        let counts: Value = serde_json::from_slice(&self.output.stdout).unwrap();
        ["created", "changed", "unchanged"].map(|name| counts[name].as_u64().unwrap())
    }

    /// The messages to a person.
    pub fn said(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }

    /// Asserts that the file was refused with all of these texts.
    #[track_caller]
    pub fn refused(&self, named: &[&str]) {
        assert_eq!(self.output.status.code(), Some(1), "{}", self.said());
        assert_eq!(String::from_utf8_lossy(&self.output.stdout), "");
        for name in named {
            assert!(self.said().contains(name), "no {name} in: {}", self.said());
        }
    }
}

/// Runs the command line.
pub fn run(server: &Server, arguments: &[&str]) -> Import {
    Import { output: server.cli(arguments) }
}

/// Imports a file for a company, with further arguments.
pub fn import_with(server: &Server, mill: &Client, kind: &str, file: &[u8], more: &[&str]) -> Import {
    let path = server.database.with_file_name(format!("{kind}.file"));
    std::fs::write(&path, file).unwrap();
    let tenant = mill.tenant.to_string();
    let arguments = ["--json", "import", kind, path.to_str().unwrap(), "--tenant", &tenant];
    run(server, &[&arguments[..], more].concat())
}

pub fn import(server: &Server, mill: &Client, kind: &str, file: &str) -> Import {
    import_with(server, mill, kind, file.as_bytes(), &[])
}

/// The rows of a list without the values that differ in each company.
fn rows(mill: &Client, path: &str) -> Vec<Value> {
    let answer = mill.get(&format!("{path}?limit=5000"));
    let body = answer.is(200);
    let mut rows = body.get("data").unwrap_or(body).as_array().unwrap().clone();
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.retain(|name, _| {
            !["id", "artikel_id", "partner_id", "created_at", "updated_at"].contains(&&**name)
        });
    }
    rows
}

/// Everything that clients see of the master data, including ids and instants.
fn everything(mill: &Client) -> Vec<Value> {
    let lists = ["kunden", "artikel", "artikelgruppen", "chargen"];
    lists.iter().map(|name| mill.get(&format!("/api/v1/{name}?limit=5000")).is(200).clone()).collect()
}

/// One file of each kind, in a valid order of import.
const FILES: [(&str, &str); 6] = [
    ("artikelgruppen", "kuerzel;name;nummer;mwst_satz\nGE;Getreide;1;7\nOE;Öle;2;7,8\n"),
    ("vertriebler", "id;name\n4;Eva Groß\n;Jörg Klein\n"),
    (
        "artikel",
        "artikelnummer;bezeichnung;einheit;preis;gruppe;chargenpflichtig\n\
         W;Weizen;kg;0,32;GE;true\nR;Roggen;kg;0,3;Getreide;false\nS;Sonnenblumenöl;kg;1.234,5;2;true\n",
    ),
    ("staffelpreise", "artikelnummer;ab_menge;preis\nW;1.000,5;0,29\nW;5000;0,27\n"),
    (
        "kunden",
        "kundennr;kunden_id;name;plz;ort;status;steuerart;partner_typen;zahlungsziel_tage;skonto_prozent\n\
         K-1;40;Hof;01234;Ulm;aktiv;pauschal_24;lieferant;14;2,5\n;;Ohne Nummer;01001;Ort;;;;;\n",
    ),
    (
        "chargen",
        "artikelnummer;charge_nr;partner;bestand;mhd;herkunftsland\n\
         W;L1;K-1;1.000,5;31.03.2027;AT\nW;L2;;0;;\nS;L1;K-1;5;2027-01-02;DE\n",
    ),
];

#[test]
fn the_same_files_again_change_nothing() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (kind, file) in FILES {
        let rows = file.trim().lines().count() as u64 - 1;
        assert_eq!(import(&server, &mill, kind, file).counts(), [rows, 0, 0], "{kind}");
        assert_eq!(import(&server, &mill, kind, file).counts(), [0, 0, rows], "{kind} again");
    }
    let (before, kunde) = (everything(&mill), rows(&mill, "/api/v1/kunden")[0].clone());
    for (kind, file) in FILES {
        let [created, changed, _] = import(&server, &mill, kind, file).counts();
        assert_eq!([created, changed], [0, 0], "{kind}");
    }
    assert_eq!(everything(&mill), before);
    let expected = json!({"kundennr": "K-1", "kunden_id": 40, "name": "Hof", "plz": "01234", "ort": "Ulm",
        "steuerart": "pauschal_24", "partner_typen": ["lieferant"], "zahlungsziel_tage": 14,
        "skonto_prozent": "2.50", "staat": "DE"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&kunde[field], value, "{field}");
    }
    // A group can be given by kuerzel, nummer or name.
    let gruppen = mill.get("/api/v1/artikel").body["data"].as_array().unwrap().clone();
    let gruppen: Vec<_> = gruppen.iter().map(|artikel| artikel["gruppe"].as_str().unwrap()).collect();
    assert_eq!(gruppen, ["Getreide", "Öle", "Getreide"]);
}

#[test]
fn blank_cells_mean_the_same_the_second_time() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let table = [
        ("kunden", "kundennr;name;zahlungsziel_tage\n1;A;\n"),
        ("kunden", "kundennr;name;staat;land;status;partner_typen\n2;A;;;;\n"),
        ("kunden", "kundennr;name;nachname_firma;vorname\n3;A;;\n"),
        ("kunden", "kundennr;name;nachname_firma;vorname\n4;;Meier;Eva\n"),
        ("kunden", r#"[{"kundennr": "5", "name": "A", "zahlungsziel_tage": null, "staat": null}]"#),
        ("artikel", "artikelnummer;bezeichnung;preis;status;chargenpflichtig;gruppe\nW;a;;;;\n"),
        ("artikelgruppen", "kuerzel;name;nummer;mwst_satz\nG;Getreide;;\n;Obst;;\n"),
        ("staffelpreise", "artikelnummer;ab_menge;preis;aktiv\nW;5;1;\n"),
        ("chargen", "artikelnummer;charge_nr;bestand;mhd;partner\nW;L1;;;\n"),
    ];
    for (kind, file) in table {
        let [created, ..] = import(&server, &mill, kind, file).counts();
        let before = everything(&mill);
        assert_eq!(import(&server, &mill, kind, file).counts(), [0, 0, created], "{file}");
        assert_eq!(everything(&mill), before, "{file}");
    }
}

#[test]
fn every_form_of_file_says_the_same() {
    let server = Server::start();
    let head = ["artikelnummer", "bezeichnung", "preis", "chargenpflichtig"];
    let cells = |price| ["R1", "\"Öl, kühl; kalt, \"\"nativ\"\"\"", price, "true"];
    let table = |separator: &str, price: &'static str| {
        // One file uses one decimal separator.
        let small = if !price.contains(',') {
            "0.25"
        } else if separator == "," {
            "\"0,25\""
        } else {
            "0,25"
        };
        let second = ["R2", "Weizen", small, "false"];
        [head, cells(price), second].map(|row| row.join(separator)).join("\r\n")
    };
    let array = r#"[{"artikelnummer": "R1", "bezeichnung": "Öl, kühl; kalt, \"nativ\"", "preis": 1234.56,
        "chargenpflichtig": true}, {"artikelnummer": "R2", "bezeichnung": "Weizen", "preis": "0.25"}]"#;
    let lines = array.replace("\n        ", " ").replace("}, {", "}\n{").replace(['[', ']'], "");
    let umlaut_as_one_byte = |text: String| -> Vec<u8> {
        text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
    };
    let files: [(&str, Vec<u8>); 9] = [
        ("a JSON array", array.into()),
        ("JSON lines", lines.into()),
        ("a JSON array with BOM", format!("\u{feff}{array}").into()),
        ("semicolons", table(";", "1.234,56").into()),
        ("semicolons, decimal point", table(";", "1234.56").into()),
        ("commas", table(",", "\"1.234,56\"").into()),
        ("commas, decimal point", table(",", "1234.56").into()),
        ("tabulators with BOM", format!("\u{feff}{}", table("\t", "1234,56")).into()),
        ("Windows-1252", umlaut_as_one_byte(table(";", "1.234,56"))),
    ];
    let expected = [json!("Öl, kühl; kalt, \"nativ\""), json!("1234.5600"), json!(true)];
    let mut first = Vec::new();
    for (name, file) in files {
        let mill = server.company(name);
        let imported = import_with(&server, &mill, "artikel", &file, &[]);
        assert_eq!(imported.counts(), [2, 0, 0], "{name}");
        // For a table the output names the decimal separator, and otherwise only how to undo the import.
        let said = imported.said();
        let lines: Vec<&str> = said.lines().map(|line| line.split(": ").next().unwrap()).collect();
        let told = ["Kodierung", "Dezimalen trennt", "Zurücknehmen lässt es sich mit"];
        let left_out = if name.contains("JSON") { 2 } else { usize::from(name != "Windows-1252") };
        assert_eq!(lines, told[left_out..], "{name}: {said}");
        let rows = rows(&mill, "/api/v1/artikel");
        if first.is_empty() {
            first.clone_from(&rows);
        }
        assert_eq!(
            head[1..].iter().map(|field| rows[0][field].clone()).collect::<Vec<_>>(),
            expected,
            "{name}"
        );
        assert_eq!(rows, first, "{name}");
    }
}

#[test]
fn german_numbers_and_days_are_read_from_tables() {
    let server = Server::start();
    let mill = server.company("Mühle");
    import(&server, &mill, "artikel", "artikelnummer;bezeichnung\nW;Weizen\n").counts();
    let table = [
        ("1.234,56", "31.12.2026", "1234.560", "2026-12-31T00:00:00.000Z"),
        ("1234.56", "2026-12-31", "1234.560", "2026-12-31T00:00:00.000Z"),
        ("1.234.567,5", "01.02.2027", "1234567.500", "2027-02-01T00:00:00.000Z"),
        ("0,001", "29.02.2028", "0.001", "2028-02-29T00:00:00.000Z"),
        ("12", "2027-02-01", "12.000", "2027-02-01T00:00:00.000Z"),
    ];
    for (at, (menge, mhd, shown, day)) in table.into_iter().enumerate() {
        let file = format!("artikelnummer;charge_nr;eingang_menge;mhd\nW;L{at};{menge};{mhd}\n");
        import(&server, &mill, "chargen", &file).counts();
        let charge = rows(&mill, "/api/v1/chargen").pop().unwrap();
        assert_eq!((&charge["eingang_menge"], &charge["mhd"]), (&json!(shown), &json!(day)), "{menge} {mhd}");
    }
    for (cells, column) in [("1,2,3;", "eingang_menge"), (";30.02.2026", "mhd"), (";13/12/2026", "mhd")] {
        let file = format!("artikelnummer;charge_nr;eingang_menge;mhd\nW;X;{cells}\n");
        import(&server, &mill, "chargen", &file).refused(&["Zeile 2", column]);
    }
}

#[test]
fn a_row_is_found_again_by_its_natural_key() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (kind, file) in FILES {
        import(&server, &mill, kind, file).counts();
    }
    let table = [
        ("artikelgruppen", r#"{"kuerzel": "GE", "name": "Korn"}"#, [0, 1, 0]),
        ("artikelgruppen", r#"{"name": "Korn", "nummer": 8}"#, [0, 1, 0]),
        ("artikelgruppen", r#"{"kuerzel": "XX", "name": "Neu"}"#, [1, 0, 0]),
        ("artikel", r#"{"artikelnummer": "W", "bezeichnung": "Winterweizen"}"#, [0, 1, 0]),
        ("artikel", r#"{"artikelnummer": "W2", "bezeichnung": "Winterweizen"}"#, [1, 0, 0]),
        ("vertriebler", r#"{"id": 4, "name": "Eva Klein"}"#, [0, 1, 0]),
        ("vertriebler", r#"{"name": "Jörg Klein"}"#, [0, 0, 1]),
        ("vertriebler", r#"{"name": "Neue Person"}"#, [1, 0, 0]),
        ("kunden", r#"{"kundennr": "K-1", "nachname_firma": "Hof Meier"}"#, [0, 1, 0]),
        (
            "kunden",
            r#"{"nachname_firma": "Hof Meier", "plz": "01234", "ort": "Ulm", "email": "a@b"}"#,
            [0, 1, 0],
        ),
        ("kunden", r#"{"nachname_firma": "Hof Meier", "plz": "01234", "ort": "Aalen"}"#, [1, 0, 0]),
        ("kunden", r#"{"nachname_firma": "Hof Meier", "plz": "99999", "ort": "Ulm"}"#, [1, 0, 0]),
        ("chargen", r#"{"artikelnummer": "R", "charge_nr": "L1"}"#, [1, 0, 0]),
        (
            "chargen",
            r#"{"artikelnummer": "S", "charge_nr": "L1", "bestand": 5, "mhd": "2027-01-03"}"#,
            [0, 1, 0],
        ),
    ];
    for (kind, row, counts) in table {
        assert_eq!(import(&server, &mill, kind, row).counts(), counts, "{kind} {row}");
    }
    let hof = mill.get("/api/v1/kunden?suche=K-1").body["data"][0].clone();
    assert_eq!((&hof["nachname_firma"], &hof["email"]), (&json!("Hof Meier"), &json!("a@b")));
    let charge =
        rows(&mill, "/api/v1/chargen").into_iter().find(|row| row["artikel_bezeichnung"] == "Sonnenblumenöl");
    assert_eq!(charge.unwrap()["mhd"], "2027-01-03T00:00:00.000Z");
    let vb = mill.post("/api/v1/kunden", json!({"name": "A", "vb_id": "eva klein"}));
    assert_eq!(mill.get(&format!("/api/v1/kunden/{}", vb.id())).body["vb_id"], 4);
}

#[test]
fn a_tier_is_found_again_by_article_and_quantity() {
    let server = Server::start();
    let mill = server.company("Mühle");
    import(&server, &mill, "artikel", "artikelnummer;bezeichnung;einheit;preis\nW;Weizen;kg;0,32\n").counts();
    mill.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let price = || {
        let items = json!([{"artikelnr": "W", "menge": 1000}]);
        let offer = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
        let id = mill.post("/api/v1/belege", offer).id();
        mill.get(&format!("/api/v1/belege/{id}")).is(200)["positionen"][0]["ep_netto"].clone()
    };
    let table = [
        (r#"{"artikelnummer": "W", "ab_menge": 1000, "preis": "0.29"}"#, [1, 0, 0], "0.2900"),
        (r#"{"artikelnummer": "W", "ab_menge": "1000.000", "preis": 0.28}"#, [0, 1, 0], "0.2800"),
        (r#"{"artikelnummer": "W", "ab_menge": 1000.5, "preis": 0.1}"#, [1, 0, 0], "0.2800"),
        (r#"{"artikelnummer": "W", "ab_menge": 1000, "preis": 0.28, "aktiv": true}"#, [0, 0, 1], "0.2800"),
        (r#"{"artikelnummer": "W", "ab_menge": 1000, "preis": 0.28, "aktiv": false}"#, [0, 1, 0], "0.3200"),
    ];
    assert_eq!(price(), "0.3200");
    for (row, counts, expected) in table {
        assert_eq!(import(&server, &mill, "staffelpreise", row).counts(), counts, "{row}");
        assert_eq!(price(), expected, "{row}");
    }
    let unknown = r#"{"artikelnummer": "X", "ab_menge": 1, "preis": 1}"#;
    import(&server, &mill, "staffelpreise", unknown).refused(&["Zeile 1", "artikelnummer", "X"]);
}

#[test]
fn a_file_with_a_mistake_is_refused_as_a_whole() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let table = [
        ("artikel", "artikelnummer;bezeichnung;preis\nA;a;1\nB;b;2\nC;c;drei\n", "Zeile 4", "preis"),
        ("artikel", "artikelnummer;bezeichnung\nA;\"a\nb\"\n;c\n", "Zeile 4", "artikelnummer"),
        ("artikel", "artikelnummer;bezeichnung\nA;a\n\nB;\n", "Zeile 4", "bezeichnung"),
        ("artikel", "artikelnummer;bezeichnung;status\nA;a;neu\n", "Zeile 2", "status"),
        ("kunden", "[\n{\"name\": \"A\"},\n{\"name\": \"B\", \"staat\": \"Narnia\"}]", "Zeile 3", "staat"),
        ("kunden", "{\"name\": \"A\"}\n\n{\"ort\": \"Ulm\"}\n", "Zeile 3", "nachname_firma"),
        ("kunden", "kundennr;name;partner_typen\n1;A;kunde\n2;B;bauer\n", "Zeile 3", "partner_typen"),
        ("chargen", "artikelnummer;charge_nr\nW;L1\nX;L2\n", "Zeile 3", "artikelnummer"),
        ("chargen", "artikelnummer;charge_nr;partner\nW;L1;\nW;L2;K-9\n", "Zeile 3", "partner"),
        ("chargen", "artikelnummer;charge_nr;bestand\nW;L1;5\nW;;7\n", "Zeile 3", "charge_nr"),
        ("artikelgruppen", "[{\"name\": \"A\"}, {\"kuerzel\": \"B\"}]", "Zeile 1", "name"),
        ("vertriebler", "id;name\n1;Eva\nzwei;Jörg\n", "Zeile 3", "id"),
        ("kunden", "[{\"name\": \"A\"},\n {\"name\": }]", "Zeile 2", "Zeichen"),
    ];
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nW;Weizen\n");
    let before = everything(&mill);
    for (kind, file, line, column) in table {
        import(&server, &mill, kind, file).refused(&[line, column]);
        assert_eq!(everything(&mill), before, "{kind} {file}");
    }
    assert_eq!(server.sql::<i64>("select count(*) from vertriebler"), 0);
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung"), 0);
    import(&server, &mill, "kunden", "").refused(&["leer"]);
}

#[test]
fn unknown_columns_are_named_and_ignored() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = data("artikel.json").as_array().unwrap().len() as u64;
    let artikel = data("artikel.json").to_string();
    let first = import(&server, &mill, "artikel", &artikel);
    assert_eq!(first.counts(), [rows, 0, 0]);
    let again = import(&server, &mill, "artikel", &artikel);
    assert_eq!(again.counts(), [0, 0, rows]);
    let partner = data("partner.json");
    let kunden = import(&server, &mill, "kunden", &partner.to_string());
    assert_eq!(kunden.counts(), [partner.as_array().unwrap().len() as u64, 0, 0]);
    let table = import(&server, &mill, "kunden", "name;farbe;größe\nA;rot;7\nB;blau;8\n");
    assert_eq!(table.counts(), [2, 0, 0]);
    for (import, columns) in [
        (&first, &["nutzcode"][..]),
        (&again, &["nutzcode"]),
        (&kunden, &["partner_rolle_quelle"]),
        (&table, &["farbe", "größe"]),
    ] {
        for column in columns {
            assert_eq!(import.said().matches(column).count(), 1, "{column}: {}", import.said());
        }
    }
    assert!(!again.said().contains("gruppe"), "{}", again.said());
    let silent = import(&server, &mill, "kunden", "name\nC\n").said();
    let way = format!("partnerd import rueckgaengig 5 --tenant \"{}\"", mill.tenant);
    assert_eq!(silent, format!("Zurücknehmen lässt es sich mit: {way}\n"));
}

#[test]
fn an_unknown_group_is_created_and_said() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let file = "artikelnummer;bezeichnung;gruppe\nA;a;Ölsaaten\nB;b;ölsaaten\nC;c;Getreide\n";
    let imported = import(&server, &mill, "artikel", file);
    assert_eq!(imported.counts(), [3, 0, 0]);
    for name in ["Ölsaaten", "Getreide"] {
        assert!(imported.said().contains(name), "{name}: {}", imported.said());
    }
    // The column was used.
    assert!(!imported.said().contains("Nicht benutzte"), "{}", imported.said());
    let gruppen = rows(&mill, "/api/v1/artikelgruppen");
    let mut names: Vec<_> = gruppen.iter().map(|gruppe| gruppe["name"].as_str().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["Getreide", "Ölsaaten"]);
    let again = import(&server, &mill, "artikel", file);
    assert_eq!((again.counts(), again.said().as_str()), ([0, 0, 3], ""));
}

#[test]
fn a_dry_run_counts_and_stores_nothing() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nW;Weizen\n");
    let before = everything(&mill);
    for (kind, file, counts) in [
        ("artikel", "artikelnummer;bezeichnung;gruppe\nW;Korn;GE\nX;x;GE\n", [1, 1, 0]),
        ("kunden", "name\nA\n", [1, 0, 0]),
        ("chargen", "artikelnummer;charge_nr;bestand\nW;L1;5\n", [1, 0, 0]),
    ] {
        let dry = import_with(&server, &mill, kind, file.as_bytes(), &["--dry-run"]);
        assert_eq!(dry.counts(), counts, "{kind}");
        assert_eq!(everything(&mill), before, "{kind}");
    }
    let bad = import_with(&server, &mill, "artikel", b"artikelnummer\nW\nY\n", &["--dry-run"]);
    bad.refused(&["Zeile 3", "bezeichnung"]);
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung"), 0);
}

#[test]
fn opening_stock_is_that_of_a_new_batch() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = "artikelnummer;bezeichnung;einheit;preis;chargenpflichtig\nW;Weizen;kg;1;true\n";
    server.import(&mill, "artikel", artikel);
    mill.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let charge = || mill.get("/api/v1/chargen").is(200)[0].clone();
    let run = |bestand: &str| {
        let file = format!("artikelnummer;charge_nr;bestand\nW;L1;{bestand}\n");
        import(&server, &mill, "chargen", &file)
    };
    assert_eq!(run("100").counts(), [1, 0, 0]);
    assert_eq!(run("100,000").counts(), [0, 0, 1]);
    let items = json!([{"artikelnr": "W", "menge": 40, "charge_id": charge()["id"]}]);
    mill.post("/api/v1/belege", json!({"beleg_typ": "LS", "kundennummer": "K-1001", "items": items})).is(201);
    // Sales in the meantime do not count: the file is compared with what was imported.
    assert_eq!(run("100").counts(), [0, 0, 1]);
    assert_eq!(run("").counts(), [0, 0, 1]);
    // Nor does an exported list, which says what is there today.
    assert_eq!(run("60").counts(), [0, 0, 1]);
    run("70").refused(&["Zeile 2", "bestand", "Inventur"]);
    assert_eq!(charge()["bestand"], "60.000");
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung"), 2);
}

#[test]
fn a_wrong_call_says_why() {
    let server = Server::start();
    let mill = server.company("Mühle Süd");
    server.company("Andere");
    let file = server.database.with_file_name("kunden.csv");
    std::fs::write(&file, "name\nA\n").unwrap();
    let path = file.to_str().unwrap();
    let run = |arguments: &[&str]| run(&server, arguments);
    run(&["import", "kunden", path, "--tenant", "Niemand"]).refused(&["Niemand"]);
    run(&["import", "kunden", "missing.csv", "--tenant", "Andere"]).refused(&["missing.csv"]);
    assert_eq!(run(&["import", "kunden", path]).output.status.code(), Some(2));
    let unknown = run(&["import", "kundn", path, "--tenant", "Andere"]);
    assert!(!unknown.output.status.success() && unknown.said().contains("kundn"), "{}", unknown.said());
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 0);
    // A company can be given by name, and only that company gets the record.
    assert_eq!(run(&["--json", "import", "kunden", path, "--tenant", "Mühle Süd"]).counts(), [1, 0, 0]);
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 1);
    assert_eq!(run(&["--json", "import", "kunden", path, "--tenant", "Andere"]).counts(), [1, 0, 0]);
}

#[test]
fn an_imported_kunden_id_is_kept_and_counted_on() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let row = r#"{"kundennr": "A", "name": "A", "kunden_id": 40}"#;
    assert_eq!(import(&server, &mill, "kunden", row).counts(), [1, 0, 0]);
    let taken = r#"{"kundennr": "B", "name": "B", "kunden_id": 40}"#;
    import(&server, &mill, "kunden", taken).refused(&["Zeile 1", "kunden_id"]);
    // The field cannot be changed (D1).
    let moved = r#"{"kundennr": "A", "name": "A", "kunden_id": 41}"#;
    import(&server, &mill, "kunden", moved).refused(&["Zeile 1", "kunden_id"]);
    let next = mill.post("/api/v1/kunden", json!({"name": "C"}));
    assert_ne!(next.is(201)["kunden_id"], 40);
    let found = mill.get("/api/v1/kunden?suche=A").body["data"][0].clone();
    assert_eq!((&found["kundennr"], &found["kunden_id"]), (&json!("A"), &json!(40)));
}

/// Creates a named pipe that delivers this text to its reader.
#[cfg(unix)]
fn pipe(path: &std::path::Path, text: &'static str) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let path = path.to_owned();
    // Without a reader this thread blocks until the tests end.
    std::thread::spawn(move || std::fs::write(path, text));
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_imported() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let folder = tempfile::TempDir::new().unwrap();
    let tenant = mill.tenant.to_string();
    pipe(&folder.path().join("kunden"), "kundennr;name\n1;Hof\n");
    let export = folder.path().join("export");
    std::fs::create_dir(&export).unwrap();
    pipe(&export.join("transactions.csv"), "Z_KASSE_ID\n");
    let places =
        [("kunden", folder.path().join("kunden")), ("kunden", "/dev/null".into()), ("dsfinvk", export)];
    for (kind, place) in
        places.iter().chain([&("dsfinvk", "/dev/null".into()), &("kunden", folder.path().into())])
    {
        let output = server.cli(&["import", kind, place.to_str().unwrap(), "--tenant", &tenant]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{place:?}: {said}");
        assert!(said.contains("ist keine gewöhnliche Datei"), "{place:?}: {said}");
    }
    assert_eq!(server.sql::<i64>("select count(*) from kunde"), 0);
}

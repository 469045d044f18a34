//! Lists as files (D39): all rows that the filter selects, and an import of the same file changes nothing.

use serde_json::{Value, json};

use crate::harness::{Client, Server};
use crate::leitstand::person;

/// The text of a list as a file, without its byte order mark.
fn table(mill: &Client, path: &str) -> String {
    let answer = mill.get(path);
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8", "{path}");
    let text = String::from_utf8(answer.bytes).unwrap();
    text.strip_prefix('\u{feff}').expect("a byte order mark").to_owned()
}

/// A company whose records have every kind of value, and texts that a spreadsheet program would execute.
fn filled(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(&mill, "artikelgruppen", "name\nGetreide\n");
    let wheat = json!({"artikelnummer": "W-1", "artikelnr": "007", "bezeichnung": "=1+1", "bezeichnung2": "Korn; lose",
        "einheit": "t", "preis": "1234.5678", "ep_netto": 0, "mwst_satz": "7.8", "ean": "2000000130132",
        "gruppe": "Getreide", "chargenpflichtig": true, "langtext": "Zeile 1\nZeile \"2\"", "status": "aktiv"});
    mill.post("/api/v1/artikel", wheat).is(201);
    // Apostrophes of their own, which a spreadsheet program would take for its mark or not.
    for (nummer, text) in [("@x", "'s Korn"), ("'5", "'5 Korn"), ("A", "''=1"), ("B", "'")] {
        mill.post("/api/v1/artikel", json!({"artikelnummer": nummer, "bezeichnung": text})).is(201);
    }
    let farm = json!({"kundennr": "L-1", "nachname_firma": "Ahrens", "vorname": "Eva", "name": "Hof Ahrens",
        "anrede": "Frau", "telefon": "+49 581 1", "strasse": "-", "plz": "01234", "ort": "Ülzen", "staat": "AT",
        "partner_typen": ["kunde", "lieferant"], "steuerart": "pauschal_24", "zahlungsziel_tage": 14, "skonto_tage": 8,
        "skonto_prozent": "2.5", "iban": "DE02120300000000202051", "gutschrift_vereinbart_am": "2026-07-01",
        "status": "gesperrt", "notizen": "ruft an"});
    mill.post("/api/v1/kunden", farm).is(201);
    let miller = mill.post("/api/v1/kunden", json!({"kundennr": "L-2", "nachname_firma": "Müller"})).id();
    let contract = json!({"kontrakt_nr": "V-1", "kontrakt_typ": "einkauf", "gueltig_von": "2026-07-01",
        "gueltig_bis": "2027-06-30", "gesamtmenge": "100.5", "gesamtmenge_einheit": "t", "erntejahr": 2026,
        "partner_id": miller, "notizen": "-5 % ab Mai"});
    mill.post("/api/v1/kontrakte", contract).is(201);
    mill
}

#[test]
fn a_list_as_a_file_has_german_headings_and_cells_and_nothing_that_is_executed() {
    let server = Server::start();
    let mill = filled(&server);
    let text = table(&mill, "/api/v1/artikel?format=csv");
    let heads = "Nummer;Zweite Nummer;Bezeichnung;Zusatz;Einheit;Verkaufspreis netto (EUR);\
        Einkaufspreis netto (EUR);Steuersatz (%);EAN;Status;Chargenpflichtig;Langtext;Gruppe;Bestand\r\n";
    assert!(text.starts_with(heads), "{text}");
    let empty = ";;;;;;;aktiv;nein;;;";
    for row in [
        format!("'@x;;'s Korn{empty}"),
        format!("''5;;''5 Korn{empty}"),
        format!("A;;'''=1{empty}"),
        format!("B;;'{empty}"),
        "W-1;007;'=1+1;\"Korn; lose\";t;1234,5678;0,0000;7,80;2000000130132;aktiv;ja;\
         \"Zeile 1\nZeile \"\"2\"\"\";Getreide;"
            .to_owned(),
    ] {
        assert!(text.contains(&format!("\r\n{row}\r\n")), "{row}: {text}");
    }
    let farm = table(&mill, "/api/v1/kunden?format=csv&suche=ahrens");
    for cell in
        ["'+49 581 1", "'-", "01234", "Ülzen", "kunde, lieferant", "pauschal_24", "2,50", "01.07.2026"]
    {
        assert!(farm.contains(&format!(";{cell};")), "{cell}: {farm}");
    }
    assert_eq!(farm.lines().count(), 2, "{farm}");
    let contract = table(&mill, "/api/v1/kontrakte?format=csv");
    assert!(
        contract.contains(";01.07.2026;30.06.2027;;100,500;t;") && contract.contains("'-5 % ab Mai"),
        "{contract}"
    );
}

#[test]
fn all_rows_come_unless_a_part_is_asked_for_and_another_format_is_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows: Vec<Value> =
        (0..130).map(|at| json!({"artikelnummer": format!("A{at:03}"), "bezeichnung": "A"})).collect();
    server.import(&mill, "artikel", &json!(rows).to_string());
    assert_eq!(table(&mill, "/api/v1/artikel?format=csv").lines().count(), 131);
    let part = table(&mill, "/api/v1/artikel?format=csv&limit=2&offset=5");
    let numbers: Vec<_> = part.lines().skip(1).map(|line| line.split(';').next().unwrap()).collect();
    assert_eq!(numbers, ["A005", "A006"]);
    assert_eq!(mill.get("/api/v1/artikel?format=json&limit=1").is(200)["count"], 130);
    mill.get("/api/v1/artikel?format=xml").refused(400, "PARAMETER_UNGUELTIG");
}

#[test]
fn what_was_exported_is_imported_again_and_changes_nothing_but_what_was_edited() {
    let server = Server::start();
    let mill = filled(&server);
    let tables = [("artikel", 5), ("kunden", 2), ("kontrakte", 1)];
    for (kind, rows) in tables {
        let text = table(&mill, &format!("/api/v1/{kind}?format=csv"));
        let unchanged = format!("0 neu, 0 geändert, {rows} unverändert\n");
        let said = server.import(&mill, kind, &text);
        assert!(said.ends_with(&unchanged), "{kind}: {said}\n{text}");
    }
    let edited = table(&mill, "/api/v1/artikel?format=csv").replace("1234,5678", "99,5");
    assert!(server.import(&mill, "artikel", &edited).ends_with("0 neu, 1 geändert, 4 unverändert\n"));
    assert_eq!(mill.get("/api/v1/artikel?suche=w-1").body["data"][0]["preis"], "99.5000");
}

/// One record of each other list that can be had as a file.
fn traded(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(&mill, "artikelgruppen", "name;kuerzel;nummer;mwst_satz\nGetreide;G;7;7\n");
    let partner =
        json!({"kundennr": "L-1", "nachname_firma": "=Hof", "partner_typen": ["kunde", "lieferant"]});
    let partner = mill.post("/api/v1/kunden", partner).id();
    let wheat =
        json!({"artikelnummer": "W-1", "bezeichnung": "Weizen", "einheit": "kg", "chargenpflichtig": true});
    let wheat = mill.post("/api/v1/artikel", wheat).id();
    server.import(
        &mill,
        "chargen",
        "artikelnummer;charge_nr;bestand;mhd;herkunftsland;eingang_menge;eingang_ep;partner\n\
         W-1;C-1;500;2030-01-31;DE;1000;0.21;L-1\n",
    );
    let weighed = json!({"waage_id": 1, "gewicht_erst_kg": 24000, "partner_id": partner, "artikel_id": wheat,
        "kennzeichen": "UE-A 1"});
    let weighed = mill.post("/api/v1/wiegungen", weighed).id();
    mill.put(&format!("/api/v1/wiegungen/{weighed}/zweitwiegung"), json!({"gewicht_zweit_kg": 9000})).is(200);
    let schein = json!({"kunden_id": partner, "artikel_id": wheat, "wiegung_id": weighed, "feuchte_prozent": "15.5",
        "basisfeuchte_prozent": "14.5", "preis_je_t": "210.5"});
    mill.post("/api/v1/annahmescheine", schein).is(201);
    server.import(
        &mill,
        "barverkaeufe",
        "bon_nr;kassiert_at;zahlart;artikelnummer;bezeichnung;menge;einzelpreis;mwst_satz\n\
         1;2026-07-10T08:15:30Z;bar;W-1;Weizen;2;1.49;7\n1;2026-07-10T08:15:30Z;bar;;Sack;1;5;19\n",
    );
    mill.post(
        "/api/v1/produktionsauftraege",
        json!({"bezeichnung": "Schrot", "produktions_datum": "2026-07-10"}),
    )
    .is(201);
    let beleg =
        json!({"beleg_typ": "AN", "kundennummer": "L-1", "items": [{"artikelnr": "W-1", "menge": 1}]});
    mill.post("/api/v1/belege", beleg).is(201);
    let schema = json!({"nummer": "W26", "bezeichnung": "Weizen", "erntejahr": 2026, "artikel": ["W-1"],
        "gueltig_von": "2026-07-01", "schritte": []});
    mill.post("/api/v1/abrechnungsschemata", schema).is(201);
    mill
}

#[test]
fn every_list_is_to_be_had_as_a_file_in_the_interface_and_on_its_page() {
    let server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = traded(&server);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let lists = [
        ("artikelgruppen", None, "Name;Kürzel;Nummer;Steuersatz (%)", "Getreide;G;7;7,00"),
        (
            "chargen",
            Some("chargen"),
            "Chargennummer;Nummer des Lieferanten;Haltbar bis;",
            "C-1;;31.01.2030;DE;",
        ),
        (
            "wiegungen",
            Some("wiegungen"),
            "Wiegeschein;Status;Richtung;Kennzeichen;",
            ";fertig;eingang;UE-A 1;",
        ),
        ("annahmescheine", Some("annahme"), "Annahmeschein;Status;Lieferdatum;", ";15000,000;"),
        ("barverkaeufe", Some("kasse"), "Zeile;Kennung des Bons;", ";10.07.2026 10:15:30;"),
        ("produktionsauftraege", Some("produktion"), "Auftrag;Rezeptur;", ";10.07.2026;"),
        ("belege", Some("belege"), "Nummer;Art;Status;Datum;", ";AN;offen;"),
        (
            "abrechnungsschemata",
            Some("annahme/schemata"),
            "Nummer;Version;Bezeichnung;Ernte;Gültig ab;Gültig bis;Angelegt am;Artikel\r\n",
            "W26;1;Weizen;2026;01.07.2026;;10.07.2026 12:00:00;W-1\r\n",
        ),
    ];
    for (list, page, head, cells) in lists {
        let path = format!("/api/v1/{list}?format=csv");
        let text = table(&mill, &path);
        assert!(text.starts_with(head) && text.contains(cells), "{list}: {text}");
        mill.get(&format!("/api/v1/{list}?format=xml")).refused(400, "PARAMETER_UNGUELTIG");
        let Some(page) = page else { continue };
        let page = format!("/leitstand/f/{}/{page}", mill.tenant);
        assert!(browser.get(&page).is(200).text.contains(&format!("{page}?format=csv")), "{list}");
        assert_eq!(browser.get_bytes(&format!("{page}?format=csv")), mill.get(&path).bytes, "{list}");
    }
    // Stock and open items are lists of pages alone.
    let invoice = json!({"beleg_typ": "RE", "kundennummer": "L-1", "zahlungsziel_tage": 14, "abschliessen": true,
        "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 100, "mwst_satz": 19}]});
    mill.post("/api/v1/belege", invoice).is(201);
    let stock = ";Bestand\r\nW-1;;Weizen;;kg;;;;;aktiv;ja;;;500,000\r\n";
    for (page, cells) in [("bestand", stock), ("offen", ";Fällig am\r\n"), ("offen", ";24.07.2026\r\n")] {
        let page = format!("/leitstand/f/{}/{page}", mill.tenant);
        assert!(browser.get(&page).is(200).text.contains(&format!("{page}?format=csv")), "{page}");
        let text = String::from_utf8(browser.get_bytes(&format!("{page}?format=csv"))).unwrap();
        assert!(text.contains(cells) && text.lines().count() == 2, "{page}: {text}");
    }
    // Instants that German words do not name: with a fraction of a second, and in the hour that comes twice.
    server.import(
        &mill,
        "barverkaeufe",
        "bon_nr;kassiert_at;artikelnummer;bezeichnung;menge;einzelpreis;mwst_satz\n\
         7;2026-07-09T08:15:30.250Z;W-1;Weizen;1;1.49;7\n8;2025-10-26T00:30:00Z;W-1;Weizen;1;1.49;7\n",
    );
    // What an import knows is known again.
    let tables = [("artikelgruppen", "1"), ("chargen", "1"), ("annahmescheine", "1"), ("barverkaeufe", "4")];
    for (kind, records) in tables {
        let text = table(&mill, &format!("/api/v1/{kind}?format=csv"));
        let said = server.import(&mill, kind, &text);
        let unchanged = format!("0 neu, 0 geändert, {records} unverändert\n");
        assert!(said.ends_with(&unchanged), "{kind}: {said}\n{text}");
    }
}

#[test]
fn the_page_of_a_list_offers_what_its_filter_selects() {
    let server = Server::start();
    let mill = filled(&server);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let page = format!("/leitstand/f/{}/partner?suche=ahrens", mill.tenant);
    let shown = browser.get(&page);
    let link = format!("/leitstand/f/{}/partner?format=csv&amp;suche=ahrens", mill.tenant);
    assert!(shown.is(200).text.contains(&link), "{}", shown.text);
    let bytes = browser.get_bytes(&link.replace("&amp;", "&"));
    let interface = mill.get("/api/v1/kunden?format=csv&suche=ahrens").bytes;
    assert_eq!(bytes, interface);
    for list in ["artikel", "kontrakte"] {
        let path = format!("/leitstand/f/{}/{list}", mill.tenant);
        assert!(browser.get(&path).is(200).text.contains(&format!("{path}?format=csv")), "{list}");
    }
}

/// A label is ours, but it must not take a heading away that other programs use for something else.
#[test]
fn a_heading_of_another_program_means_what_it_meant() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "Artikelnr.;Beschreibung;VK;EK;Me\nB-1;Braugerste;1,5;1;dt\n");
    let shown = mill.get("/api/v1/artikel?suche=braugerste").body["data"][0].clone();
    let fields =
        ["artikelnummer", "bezeichnung", "preis", "ep_netto", "einheit"].map(|name| shown[name].clone());
    assert_eq!(fields, ["B-1", "Braugerste", "1.5000", "1.0000", "dt"].map(Value::from));
    server.import(
        &mill,
        "kunden",
        "Debitorennr;Firma;Strasse;PLZ;Ort;Land;Typ\n77;Hof;Weg 1;01234;Ulm;AT;Lieferant\n",
    );
    let shown = mill.get("/api/v1/kunden?kundennr=77").body["data"][0].clone();
    assert_eq!((&shown["staat"], &shown["partner_typen"]), (&json!("AT"), &json!(["lieferant"])));
}

/// A value that is doubtful is asked about where it is new, in whichever way it comes, and not again.
#[test]
fn what_is_doubtful_is_said_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let doubtful = |answer: &crate::harness::Answer| {
        answer
            .hint_codes()
            .iter()
            .any(|code| ["WERT_FRAGLICH", "MWST_SATZ_UNBEKANNT"].contains(&code.as_str()))
    };
    let article = json!({"artikelnummer": "A", "bezeichnung": "A", "ean": "123", "mwst_satz": 33, "preis": 1, "einheit": "t"});
    let partner = json!({"nachname_firma": "Hof", "iban": "DE00", "email": "x", "ust_id": "DE1"});
    let cases = [("artikel", article, json!({"ean": "124"})), ("kunden", partner, json!({"iban": "DE01"}))];
    for (list, body, other) in cases {
        let made = mill.post(&format!("/api/v1/{list}"), body.clone());
        assert!(doubtful(&made), "{list}: {}", made.body);
        let path = format!("/api/v1/{list}/{}", made.id());
        let again = mill.put(&path, body);
        assert!(!doubtful(&again), "{list}: {}", again.body);
        assert!(doubtful(&mill.put(&path, other)), "{list}");
    }
    let id = mill.get("/api/v1/artikel").body["data"][0]["id"].clone();
    let position = json!({"artikel_id": id, "menge": 1, "preis": 99});
    let made = mill.post("/api/v1/kontrakte", json!({"kontrakt_nr": "V", "positionen": [position]}));
    assert!(doubtful(&made), "{}", made.body);
    let path = format!("/api/v1/kontrakte/{}", made.id());
    let whole = mill.get(&path).body;
    assert!(!doubtful(&mill.put(&path, json!({"positionen": whole["positionen"], "notizen": "x"}))));
    assert!(doubtful(&mill.put(&path, json!({"gesamtmenge_einheit": "t", "kontrakt_typ": "verkauf"}))));
}

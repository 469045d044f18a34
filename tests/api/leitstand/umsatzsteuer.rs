//! The figures for the VAT return in the browser (D35): each links to its documents, and missing data are named.

use serde_json::json;

use super::partner::shows;
use super::{Browser, Shown, person};
use crate::harness::{Client, Server};
use crate::office::buchhaltung::{advised, worked};

fn worked_company(server: &Server) -> Client {
    let mill = advised(server);
    server.import(&mill, "kunden", worked::PARTNERS);
    worked::october(&mill);
    mill
}

fn page(mill: &Client) -> String {
    format!("/leitstand/f/{}/umsatzsteuer", mill.tenant)
}

/// The row of a table that begins with this cell, and the target of that cell's link.
fn row<'t>(shown: &'t Shown, first: &str) -> (&'t str, String) {
    let begin =
        shown.text.find(&format!(">{first}</a>")).unwrap_or_else(|| panic!("{first}: {}", shown.text));
    let to = shown.text[..begin].rsplit("href=\"").next().unwrap().trim_end_matches('"');
    (shown.text[begin..].split("</tr>").next().unwrap(), to.replace("&amp;", "&"))
}

/// The cell below a column header.
fn cell<'r>(row: &'r str, head: &str) -> &'r str {
    let after =
        row.split(&format!("data-head=\"{head}\">")).nth(1).unwrap_or_else(|| panic!("{head}: {row}"));
    after.split('<').next().unwrap()
}

/// The sums on the page of documents, base and tax, and the number of documents.
fn documents(browser: &mut Browser, to: &str) -> (String, String, usize) {
    let shown = browser.get(to);
    let sum = |name: &str| {
        let after = shown.is(200).text.split(&format!("{name} <strong>")).nth(1).unwrap();
        after.split(" EUR").next().unwrap().to_owned()
    };
    (sum("Basis"), sum("Steuer"), shown.text.matches("data-head=\"Beleg\"").count())
}

#[test]
fn each_figure_leads_to_its_documents() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    let other = server.company("Andere Mühle");
    server.set_clock("2026-11-02T10:00:00Z");
    let mut bert = person(&server, &["Bert", "--role", "buero"]);
    // Last month is proposed.
    let shown = bert.get(&page(&mill));
    shows(
        &shown.is(200).text,
        &["<h1>Umsatzsteuer Oktober 2026</h1>", "Vordruck 2026", "gezählt sind 17 Belege"],
    );
    let (of_86, to) = row(&shown, "86");
    assert_eq!(cell(of_86, "Was"), "Steuerpflichtige Umsätze zu 7 %");
    let amounts = ["Basis", "volle Euro", "Steuer", "im Formular", "Unterschied"];
    assert_eq!(amounts.map(|head| cell(of_86, head)), ["7.434,47", "7.434", "520,41", "520,38", "-0,03"]);
    assert_eq!(documents(&mut bert, &to), ("7.434,47".to_owned(), "520,41".to_owned(), 7));
    let (_, to) = row(&shown, "46 / 47");
    assert_eq!(documents(&mut bert, &to), ("800,00".to_owned(), "152,00".to_owned(), 1));
    let (of_wien, to) = row(&shown, "ATU13585627");
    assert_eq!((cell(of_wien, "Art"), cell(of_wien, "volle Euro")), ("L, Lieferung", "10.000"));
    assert_eq!(documents(&mut bert, &to), ("10.000,00".to_owned(), "0,00".to_owned(), 1));
    let (_, to) = row(&shown, "4. Quartal 2026");
    assert_eq!(documents(&mut bert, &to).0, "10.000,00");
    let (_, to) = row(&shown, "5.000,00");
    assert_eq!(documents(&mut bert, &to), ("5.000,00".to_owned(), "0,00".to_owned(), 1));
    let back = bert.get(&to).text.split("umsatzsteuer?zeitraum=").nth(1).unwrap().to_owned();
    assert!(back.starts_with("2026%2D10\""), "{back}");

    let quarter = bert.get(&format!("{}?zeitraum=2026-Q4", page(&mill)));
    shows(&quarter.is(200).text, &["<h1>Umsatzsteuer 4. Quartal 2026</h1>", "value=\"2026-Q4\" selected"]);
    assert_eq!(cell(row(&quarter, "86").0, "Basis"), "7.434,47");
    // Another company has none of them.
    let of_other = bert.get(&format!("{}?zeitraum=2026-10", page(&other)));
    shows(&of_other.is(200).text, &["nichts, was in die Voranmeldung gehört", "nichts zu melden"]);
    let to = to.replace(&format!("/f/{}/", mill.tenant), &format!("/f/{}/", other.tenant));
    assert_eq!(documents(&mut bert, &to), ("0,00".to_owned(), "0,00".to_owned(), 0));
}

#[test]
fn what_a_report_lacks_is_said_in_its_place() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    let item = json!([{"bezeichnung": "Lohnmahlen", "menge": 1, "ep_netto": "85", "mwst_satz": 0,
        "steuer_kategorie": "AE"}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "16", "beleg_datum": "2026-10-20", "lieferdatum": "2026-09-30",
        "items": item});
    let made = mill.post("/api/v1/belege", body);
    let number = made.is(201)["beleg_nummer"].as_str().unwrap();
    server.set(&mill, &[("abschluss_bei_anlage", "")]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "23", "beleg_datum": "2026-10-20",
        "items": [{"artikelnr": "A", "menge": 1, "ep_netto": 5}]});
    let open = mill.post("/api/v1/belege", body).is(201)["beleg_nummer"].as_str().unwrap().to_owned();
    let mut bert = person(&server, &["Bert", "--role", "ansehen"]);
    let shown = bert.get(&format!("{}?zeitraum=2026-10", page(&mill)));
    // A missing VAT id refuses only the recapitulative statement.
    let way = format!(
        "suche?suche={}\">{number}</a>: Trans Polska hat keine gültig aufgebaute USt-IdNr.",
        number.replace('-', "%2D")
    );
    shows(
        &shown.is(200).text,
        &[&way, "85,00", &format!("Noch offen und nicht gezählt: {open}."), "Intrastat"],
    );
    assert_eq!(shown.text.matches("Noch offen und nicht gezählt").count(), 1);
    let (other, to) = row(&shown, number);
    assert_eq!((cell(other, "Belegdatum"), cell(other, "Leistung")), ("20.10.2026", "30.09.2026"));
    assert!(to.ends_with(&made.id()), "{to}");

    let earlier = bert.get(&format!("{}?zeitraum=2025-12", page(&mill)));
    shows(&earlier.is(200).text, &["Für 2025 sind keine Kennzahlen bekannt", "nichts zu melden"]);
    // An invalid month is replaced by the previous one.
    for typed in ["2026-13", "2026-Q5", "2026", "0000-01", "99999-01", "x-Qy", "2026-Q-1"] {
        let shown = bert.get(&format!("{}?zeitraum={typed}", page(&mill)));
        shows(&shown.is(200).text, &["<h1>Umsatzsteuer September 2026</h1>"]);
    }
    bert.get(&format!("{}?zeitraum=9998-12", page(&mill))).is(200);
    bert.get(&format!("{}?zeitraum=0001-Q1", page(&mill))).is(200);
    let behind = |query: &str| format!("{}/belege?{query}", page(&mill));
    bert.get(&behind("von=2026-10-01&kennzahl=86")).is(400);
    bert.get(&behind("von=2026-10-01&bis=2026-10-31&fall=nichts")).is(400);
    let far = bert.get(&behind("von=2026-10-01&bis=2026-10-31&kennzahl=86&seite=99999"));
    shows(&far.is(200).text, &["Hierzu gibt es keine Belege."]);
}

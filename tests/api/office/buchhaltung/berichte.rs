//! Figures for the VAT return, the recapitulative statement (ZM) and Intrastat (D35): those of the worked
//! documents to the cent, and those of any documents as DATEV gets them in the batch.

use std::collections::BTreeMap;

use rusqlite::config::DbConfig;
use serde_json::{Value, json};

use super::worked::{self, PARTNERS};
use super::{BELEGE, KONTEN, advised, chance, files, stapel};
use crate::datev::{self, steuer};
use crate::harness::{Answer, Client, Server};

fn bericht(mill: &Client, name: &str, von: &str, bis: &str) -> Answer {
    mill.get(&format!("/api/v1/berichte/{name}?von={von}&bis={bis}"))
}

/// An amount of a report in cents.
fn cents(value: &Value) -> Option<i64> {
    value.as_str().map(|text| text.replace('.', "").parse().unwrap())
}

/// Kennzahl, base, whole euros, tax, tax computed by the form.
type Row = (i64, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

fn rows(report: &Answer) -> Vec<Row> {
    let row = |row: &Value| {
        let [basis, steuer, formular, differenz] =
            ["basis", "steuer", "steuer_formular", "differenz"].map(|name| cents(&row[name]));
        assert_eq!(formular.zip(steuer).map(|(formular, steuer)| formular - steuer), differenz);
        (row["kennzahl"].as_i64().unwrap(), basis, row["basis_euro"].as_i64(), steuer, formular)
    };
    report.is(200)["kennzahlen"].as_array().unwrap().iter().map(row).collect()
}

fn worked_company(server: &Server) -> Client {
    let mill = advised(server);
    server.import(&mill, "kunden", PARTNERS);
    server.set(&mill, &[("datev_ab", "2026-10-01")]);
    mill
}

#[test]
fn the_figures_of_the_worked_documents_are_right_to_the_cent() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    let ids = worked::october(&mill);
    // As in the design, without its cash day: 600.00 at 7 % and 100.00 at 19 %.
    let expected: [Row; 9] = [
        (41, Some(1_000_000), Some(10_000), None, None),
        (43, Some(250_000), Some(2_500), None, None),
        (46, Some(80_000), Some(800), Some(15_200), Some(15_200)),
        (61, None, None, Some(35_000), Some(35_000)),
        (66, None, None, Some(117_256), Some(117_256)),
        (67, None, None, Some(15_200), Some(15_200)),
        (81, Some(8_000), Some(80), Some(1_520), Some(1_520)),
        (86, Some(743_447), Some(7_434), Some(52_041), Some(52_038)),
        (93, Some(500_000), Some(5_000), Some(35_000), Some(35_000)),
    ];
    let october = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
    assert_eq!(rows(&october), expected);
    assert_eq!(october.is(200)["belege"], 17);
    assert_eq!(october.is(200)["anderer_monat"], json!([]));
    assert_eq!(october.is(200)["formular"], 2026);
    assert_eq!(october.is(200)["kennzahlen"][6]["bezeichnung"], "Steuerpflichtige Umsätze zu 19 %");
    let zm = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    let zeile = json!([{"ust_id": "ATU13585627", "art": "L", "summe": "10000.00", "summe_euro": 10_000}]);
    assert_eq!(zm.is(200)["zeilen"], zeile);
    let intrastat = bericht(&mill, "intrastat", "2026-10-01", "2026-10-31").is(200)["jahre"].clone();
    let [jahr] = intrastat.as_array().unwrap().as_slice() else { panic!("one year") };
    assert_eq!((&jahr["eingaenge"], &jahr["versendungen"]), (&json!("5000.00"), &json!("10000.00")));
    assert_eq!(jahr["schwelle_eingaenge"], "3000000.00");

    server.set_clock("2026-11-03T10:00:00Z");
    mill.post(&format!("{BELEGE}/{}/storno", ids[0]), json!({"grund": "Falscher Preis"})).is(200);
    let back = json!([{"artikelnr": "A", "menge": -1, "ep_netto": "100", "bezug_beleg_id": ids[1]}]);
    let credit = json!({"beleg_typ": "RE", "kundennummer": "23", "beleg_datum": "2026-11-03", "items": back});
    mill.post(BELEGE, credit).is(201);
    let november = bericht(&mill, "umsatzsteuer", "2026-11-01", "2026-11-30");
    assert_eq!(rows(&november), [(86, Some(-620_313), Some(-6_203), Some(-43_422), Some(-43_421))]);
    // The cancelled invoice still counts in its month.
    assert_eq!(rows(&bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31")), expected);

    let tenant = mill.tenant.to_string();
    let arguments =
        ["bericht", "umsatzsteuer", "--tenant", &tenant, "--von", "2026-10-01", "--bis", "31.10.2026"];
    let printed = String::from_utf8(server.cli(&arguments).stdout).unwrap();
    let line = printed.lines().find(|line| line.starts_with("86")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(cells, ["86", "7.434,47", "7434", "520,41", "520,38", "\u{2212}0,03"]);
}

/// Net and tax of each case and rate in cents, as DATEV computes them from the batch. Sales are positive, too.
type Sums = BTreeMap<(String, i64), (i64, i64)>;

fn of_report(report: &Answer) -> Sums {
    let row = |row: &Value| {
        let satz = cents(&row["mwst_satz"]).unwrap_or_default();
        let key = (row["fall"].as_str().unwrap().to_owned(), satz);
        (key, (cents(&row["basis"]).unwrap(), cents(&row["steuer"]).unwrap()))
    };
    report.is(200)["faelle"].as_array().unwrap().iter().map(row).collect()
}

/// The sums of a batch; each account is assigned by its row in konten.
fn of_batch(mill: &Client, bis: &str) -> Sums {
    let konten = mill.get(KONTEN).is(200).clone();
    let fall_of = |konto: u64, satz: u32| {
        let konten = konten.as_array().unwrap().iter();
        let mut of_account = konten.filter(|row| {
            row["konto"] == konto && cents(&row["satz"]).is_none_or(|of_row| of_row == i64::from(satz))
        });
        of_account.next().unwrap_or_else(|| panic!("no row for {konto} at {satz}"))["fall"].clone()
    };
    let made = stapel(mill, bis);
    made.is(201);
    let mut sums = Sums::new();
    for (_, bytes) in files(mill, &made.id()).iter().filter(|(name, _)| name.contains("Buchungsstapel")) {
        let file = datev::check(bytes, &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
        for (posten, betrag) in steuer::recompute(&file).unwrap() {
            let fall = fall_of(posten.konto, posten.satz).as_str().unwrap().to_owned();
            let sign = if fall.starts_with("erloes") { -1 } else { 1 };
            let (netto, steuer) = sums.entry((fall, posten.satz.into())).or_default();
            *netto += sign * betrag.netto;
            *steuer += sign * betrag.steuer;
        }
    }
    sums
}

#[test]
fn the_report_is_what_datev_finds_in_the_batch_of_the_same_documents() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    worked::october(&mill);
    chance::documents(&mill, 41, 60);
    server.set_clock("2026-11-02T06:00:00Z");
    let report = of_report(&bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31"));
    assert_eq!(report.len(), 9, "{report:?}");
    assert_eq!(of_batch(&mill, "2026-10-31"), report);
}

/// The documents behind a sum of a report, read in pages of seven: number, base and tax of each.
fn behind(mill: &Client, von: &str, bis: &str, of: &str) -> Vec<(String, i64, i64)> {
    let mut rows = Vec::new();
    loop {
        let offset = rows.len();
        let path = format!("/api/v1/berichte/belege?von={von}&bis={bis}&{of}&limit=7&offset={offset}");
        let page = mill.get(&path);
        let data = page.is(200)["data"].as_array().unwrap();
        let of = |row: &Value| {
            let number = row["beleg_nummer"].as_str().unwrap().to_owned();
            (number, cents(&row["basis"]).unwrap(), cents(&row["steuer"]).unwrap())
        };
        rows.extend(data.iter().map(of));
        if data.is_empty() {
            assert_eq!(page.is(200)["count"], rows.len());
            return rows;
        }
    }
}

fn sums(rows: &[(String, i64, i64)]) -> (i64, i64) {
    rows.iter().fold((0, 0), |(basis, steuer), row| (basis + row.1, steuer + row.2))
}

/// Posts a service for which the customer owes the tax.
fn service(mill: &Client, kunde: &str, day: &str, ep_netto: &str) -> Answer {
    let item = json!([{"bezeichnung": "Lohnmahlen", "menge": 1, "einheit": "t", "ep_netto": ep_netto, "mwst_satz": 0,
        "steuer_kategorie": "AE"}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": kunde, "beleg_datum": day, "items": item});
    mill.post(BELEGE, body)
}

#[test]
fn the_documents_behind_each_figure_add_up_to_it() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    worked::october(&mill);
    chance::documents(&mill, 43, 60);
    for kunde in ["24", "23", "25"] {
        service(&mill, kunde, "2026-10-20", "85.55").is(201);
    }
    let other = server.company_with("Andere Mühle", &[("abschluss_bei_anlage", "RE,ER")]);
    server.import(&other, "kunden", PARTNERS);
    service(&other, "24", "2026-10-20", "99").is(201);
    let (von, bis) = ("2026-10-01", "2026-10-31");
    let report = bericht(&mill, "umsatzsteuer", von, bis);
    let figures = rows(&report);
    assert_eq!(figures.len(), 12, "{figures:?}");
    for (kennzahl, basis, _, steuer, _) in figures {
        let found = behind(&mill, von, bis, &format!("kennzahl={kennzahl}"));
        let (of_basis, of_steuer) = sums(&found);
        assert!(!found.is_empty() && basis.is_none_or(|basis| basis == of_basis), "{kennzahl}: {found:?}");
        assert_eq!(of_steuer, steuer.unwrap_or_default(), "{kennzahl}: {found:?}");
        let numbers: Vec<_> = found.iter().map(|(number, ..)| number).collect();
        assert!(numbers.iter().all(|number| numbers.iter().filter(|same| *same == number).count() == 1));
    }
    // Kennzahl 66 has no base in the form, but its documents have.
    assert!(sums(&behind(&mill, von, bis, "kennzahl=66")).0 > 0);
    let mut of_cases: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for ((fall, _), (basis, steuer)) in of_report(&report) {
        let sum = of_cases.entry(fall).or_default();
        *sum = (sum.0 + basis, sum.1 + steuer);
    }
    for (fall, expected) in of_cases {
        assert_eq!(sums(&behind(&mill, von, bis, &format!("fall={fall}"))), expected, "{fall}");
    }
    let zm = bericht(&mill, "zm", von, bis);
    let lines = zm.is(200)["zeilen"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    for line in lines {
        let of = |name: &str| line[name].as_str().unwrap();
        let found = behind(&mill, von, bis, &format!("zm={}&ust_id={}", of("art"), of("ust_id")));
        assert_eq!(Some(sums(&found)), cents(&line["summe"]).map(|sum| (sum, 0)), "{line}");
    }
    assert_eq!(behind(&mill, von, bis, "zm=S&ust_id=PL5260001246"), []);
    assert_eq!(behind(&mill, von, bis, "kennzahl=77"), []);
    assert_eq!(behind(&mill, von, "2026-10-18", "kennzahl=41"), []);
    let of_other = behind(&other, von, bis, "kennzahl=21");
    assert_eq!((of_other.len(), sums(&of_other)), (1, (9_900, 0)));
    let refused = mill.get("/api/v1/berichte/belege?von=2026-10-01&bis=2026-10-31&zm=D");
    refused.refused(400, "PARAMETER_UNGUELTIG");
}

#[test]
fn services_to_businesses_in_the_eu_have_a_row_of_their_own_in_the_zm() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    worked::october(&mill);
    // Milling for Wien: 85.50, of which 10.20 are credited. The others get no row: Germany is in Kennzahl 60,
    // Bern in 45.
    for (kunde, ep_netto) in [("24", "85.50"), ("24", "-10.20"), ("23", "40"), ("25", "30")] {
        service(&mill, kunde, "2026-10-20", ep_netto).is(201);
    }
    let report = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
    let of = |kennzahl| rows(&report).into_iter().find(|row| row.0 == kennzahl).map(|row| (row.1, row.2));
    assert_eq!(of(21), Some((Some(7_530), Some(75))));
    assert_eq!(of(60), Some((Some(4_000), Some(40))));
    assert_eq!(of(45), Some((Some(3_000), Some(30))));
    let zm = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    let expected = json!([
        {"ust_id": "ATU13585627", "art": "L", "summe": "10000.00", "summe_euro": 10_000},
        {"ust_id": "ATU13585627", "art": "S", "summe": "75.30", "summe_euro": 75},
    ]);
    assert_eq!(zm.is(200)["zeilen"], expected);
    let tenant = mill.tenant.to_string();
    let arguments = ["bericht", "zm", "--tenant", &tenant, "--von", "2026-10-01", "--bis", "2026-10-31"];
    let printed = String::from_utf8(server.cli(&arguments).stdout).unwrap();
    let line = printed.lines().find(|line| line.contains("75,30")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["ATU13585627", "S", "75,30", "75"]);
    // Services neither make the statement monthly nor count for Intrastat.
    service(&mill, "24", "2026-10-21", "60000").is(201);
    let zm = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    assert_eq!(zm.is(200)["quartale"][4]["ueberschritten"], false);
    let intrastat = bericht(&mill, "intrastat", "2026-10-01", "2026-10-31");
    assert_eq!(intrastat.is(200)["jahre"][0]["versendungen"], "10000.00");

    // Trans Polska has no VAT id.
    let number = service(&mill, "16", "2026-10-22", "1").is(201)["beleg_nummer"].clone();
    let refused = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    let fehler = refused.refused(400, "UST_ID_FEHLT")["details"]["fehler"].clone();
    assert_eq!((&fehler[0]["beleg_nummer"], fehler.as_array().unwrap().len()), (&number, 1));
}

/// One of the own country, or of a form that its country does not have, is none: the ZM and the batch refuse it, the
/// figures name it (D35).
#[test]
fn a_vat_id_of_germany_or_of_a_wrong_form_is_none() {
    for ust_id in ["DE136695976", "beantragt", "ATU1", "CHE-123.456.788 MWST"] {
        let server = Server::start_at("2026-10-28T10:00:00Z");
        let mill = worked_company(&server);
        let partner = json!({"kunden_id": 26, "kundennr": "26", "nachname_firma": "Mühle Graz", "staat": "AT",
            "ust_id": ust_id});
        mill.post("/api/v1/kunden", partner).is(201);
        let before = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
        assert!(!before.hint_codes().contains(&"STEUERAUSWEIS_PRUEFEN".to_owned()), "{}", before.body);
        let ig = json!([{"artikelnr": "A", "menge": 1, "ep_netto": "100", "mwst_satz": 0, "steuer_kategorie": "K"}]);
        let sale = json!({"beleg_typ": "RE", "kundennummer": "26", "beleg_datum": "2026-10-27", "items": ig});
        let nummer = mill.post(BELEGE, sale).is(201)["beleg_nummer"].as_str().unwrap().to_owned();
        let report = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
        let said = report.hints("STEUERAUSWEIS_PRUEFEN")["hinweise"].to_string();
        assert!(said.contains(&nummer) && said.contains("100,00 EUR"), "{said}");
        let refused = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
        let fehler = refused.refused(400, "UST_ID_FEHLT")["details"]["fehler"].clone();
        let said = fehler[0]["message"].as_str().unwrap();
        assert!(said.contains("Mühle Graz hat keine gültig aufgebaute USt-IdNr."), "{said}");
        server.set_clock("2026-11-02T10:00:00Z");
        let batch =
            stapel(&mill, "2026-10-31").refused(400, "DATEV_UNVOLLSTAENDIG")["details"]["fehler"].clone();
        assert_eq!(batch[0]["error"], "UST_ID_FEHLT");
    }
}

/// Opens the database without triggers, so that copied rows leave nothing else behind.
fn without_triggers(server: &Server) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(&server.database).unwrap();
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    database
}

/// Copies an invoice directly in the database: the server would take minutes.
fn copied(server: &Server, count: usize) {
    let database = without_triggers(server);
    let mut statement = database.prepare("select name from pragma_table_info('beleg')").unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names: Vec<String> = names.map(Result::unwrap).collect();
    let value = |name: &String| match name.as_str() {
        "id" => "randomblob(16)".to_owned(),
        "beleg_nummer" => "beleg_nummer || '-' || n".to_owned(),
        "ereignis_am" => "ereignis_am + n".to_owned(),
        other => other.to_owned(),
    };
    let values: Vec<_> = names.iter().map(value).collect();
    let statement = format!(
        "with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < {count})
         insert into beleg ({}) select {} from beleg, numbers",
        names.join(", "),
        values.join(", ")
    );
    database.execute(&statement, []).unwrap();
}

#[test]
fn a_report_counts_at_most_50000_invoices_of_its_kind() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    let items = json!([{"artikelnr": "A", "menge": 1, "ep_netto": "100"}]);
    let sale = json!({"beleg_typ": "RE", "kundennummer": "23", "beleg_datum": "2026-10-12", "items": items});
    mill.post(BELEGE, sale).is(201);
    copied(&server, 50_000);
    let (von, bis) = ("2026-10-01", "2026-10-31");
    let refused = bericht(&mill, "umsatzsteuer", von, bis);
    let said = refused.refused(400, "ZEITRAUM_UNGUELTIG")["message"].as_str().unwrap().to_owned();
    assert!(said.contains("50000") && said.contains("50001"), "{said}");
    mill.get(&format!("/api/v1/berichte/belege?von={von}&bis={bis}&kennzahl=81"))
        .refused(400, "ZEITRAUM_UNGUELTIG");
    // Large sales in Germany do not shorten the reporting period to a month.
    assert_eq!(bericht(&mill, "zm", von, bis).is(200)["zeilen"], json!([]));
    assert_eq!(bericht(&mill, "intrastat", von, bis).is(200)["jahre"][0]["versendungen"], "0.00");
    assert_eq!(behind(&mill, von, bis, "zm=L"), []);
    without_triggers(&server).execute("delete from beleg where beleg_nummer like '%-%-%-%'", []).unwrap();
}

#[test]
fn a_report_needs_no_accounts_but_the_vat_ids_of_what_went_into_the_eu() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    worked::october(&mill);
    let database = rusqlite::Connection::open(&server.database).unwrap();
    database.execute("delete from konto", []).unwrap();
    assert_eq!(rows(&bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31")).len(), 9);

    let partner = json!({"kunden_id": 26, "kundennr": "26", "nachname_firma": "Mühle Graz", "staat": "AT"});
    mill.post("/api/v1/kunden", partner).is(201);
    let ig =
        json!([{"artikelnr": "A", "menge": 1, "ep_netto": "100", "mwst_satz": 0, "steuer_kategorie": "K"}]);
    let sale = json!({"beleg_typ": "RE", "kundennummer": "26", "beleg_datum": "2026-10-27", "items": ig});
    let number = mill.post(BELEGE, sale).is(201)["beleg_nummer"].clone();
    let refused = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    let fehler = refused.refused(400, "UST_ID_FEHLT")["details"]["fehler"].clone();
    assert_eq!((&fehler[0]["beleg_nummer"], fehler.as_array().unwrap().len()), (&number, 1));
    let tenant = mill.tenant.to_string();
    let arguments = ["bericht", "zm", "--tenant", &tenant, "--von", "2026-10-01", "--bis", "2026-10-31"];
    let printed = server.cli(&arguments);
    assert_eq!(printed.status.code(), Some(1));
    let said = String::from_utf8(printed.stderr).unwrap();
    assert!(
        said.contains("Mühle Graz hat keine gültig aufgebaute USt-IdNr.") && said.contains("UST_ID_FEHLT"),
        "{said}"
    );
    // It is outside the period.
    bericht(&mill, "zm", "2026-10-01", "2026-10-26").is(200);

    let of_partner =
        mill.get("/api/v1/kunden?suche=Graz").is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    mill.put(&format!("/api/v1/kunden/{of_partner}"), json!({"ust_id": "ATU12345675"})).is(200);
    let zm = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    assert_eq!(zm.is(200)["zeilen"].as_array().unwrap().len(), 2);
    assert_eq!(zm.hint_codes().into_iter().collect::<Vec<_>>(), ["UST_ID_UEBERNOMMEN"]);
}

#[test]
fn quarters_above_50000_and_what_is_open_or_of_another_month_are_named() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    let sale = |day: &str, ep_netto: &str, more: Value| {
        let item = json!({"artikelnr": "A", "menge": 1, "ep_netto": ep_netto, "mwst_satz": 0, "steuer_kategorie": "K"});
        let mut body = json!({"beleg_typ": "RE", "kundennummer": "24", "beleg_datum": day, "items": [item]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        mill.post(BELEGE, body).is(201).clone()
    };
    sale("2026-09-30", "50000.01", json!({}));
    let moved = sale("2026-10-02", "50000", json!({"lieferdatum": "2026-09-30"}));
    let zm = bericht(&mill, "zm", "2026-10-01", "2026-10-31");
    let quartale: Vec<_> = zm.is(200)["quartale"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (of["jahr"].clone(), of["quartal"].clone(), of["ueberschritten"].clone()))
        .collect();
    let quarter = |jahr: i64, quartal: i64, is_above: bool| (json!(jahr), json!(quartal), json!(is_above));
    let expected = [
        quarter(2025, 4, false),
        quarter(2026, 1, false),
        quarter(2026, 2, false),
        quarter(2026, 3, true),
        quarter(2026, 4, false),
    ];
    assert_eq!(quartale, expected);
    assert_eq!(zm.is(200)["zeilen"][0]["summe_euro"], 50_000);

    server.set(&mill, &[("abschluss_bei_anlage", "")]);
    let open = sale("2026-10-05", "70000", json!({}));
    let report = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
    assert_eq!(rows(&report), [(41, Some(5_000_000), Some(50_000), None, None)]);
    let other = report.is(200)["anderer_monat"].clone();
    assert_eq!(
        (&other[0]["beleg_nummer"], &other[0]["leistungsdatum"]),
        (&moved["beleg_nummer"], &json!("2026-09-30"))
    );
    assert_eq!(report.is(200)["anderer_monat_anzahl"], 1);
    assert_eq!(report.hint_codes().into_iter().collect::<Vec<_>>(), ["OFFENE_BELEGE"]);
    let said = report.is(200)["hinweise"][0]["message"].as_str().unwrap().to_owned();
    assert!(said.contains(open["beleg_nummer"].as_str().unwrap()), "{said}");
    // The storno document has the delivery date of the cancelled one, but counts in its own month.
    let cancel = format!("{BELEGE}/{}/storno", moved["id"].as_str().unwrap());
    mill.post(&cancel, json!({"grund": "Falscher Preis"})).is(200);
    let report = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
    assert_eq!(rows(&report), [(41, Some(0), Some(0), None, None)]);
    assert_eq!(report.is(200)["anderer_monat_anzahl"], 1);
}

#[test]
fn a_period_is_whole_known_and_at_most_a_year() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    for name in ["umsatzsteuer", "zm", "intrastat"] {
        bericht(&mill, name, "2026-01-01", "2026-12-31").is(200);
        let late = bericht(&mill, name, "2026-10-02", "2026-10-01");
        assert_eq!(late.refused(400, "ZEITRAUM_UNGUELTIG")["feld"], "bis");
        let long = bericht(&mill, name, "2026-01-01", "2027-01-01");
        long.refused(400, "ZEITRAUM_UNGUELTIG");
        let missing = mill.get(&format!("/api/v1/berichte/{name}?von=2026-10-01"));
        assert_eq!(missing.refused(400, "PARAMETER_FEHLT")["feld"], "bis");
    }
    let unknown = bericht(&mill, "umsatzsteuer", "2025-12-01", "2025-12-31");
    assert_eq!(unknown.refused(400, "ZEITRAUM_UNGUELTIG")["feld"], "von");
    bericht(&mill, "zm", "2025-12-01", "2025-12-31").is(200);
}

#[test]
fn a_kleinunternehmer_deducts_nothing_and_declares_no_sales() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = worked_company(&server);
    server.set(&mill, &[("kleinunternehmer", "true")]);
    let sale = json!({"beleg_typ": "RE", "kundennummer": "23", "beleg_datum": "2026-10-12",
        "items": [{"artikelnr": "A", "menge": 1, "ep_netto": "100"}]});
    mill.post(BELEGE, sale).is(201);
    let purchase = |kunde: &str, satz: &str, kategorie: &str| {
        let item = json!({"artikelnr": "A", "menge": 1, "ep_netto": "100", "mwst_satz": satz,
            "steuer_kategorie": kategorie});
        let body = json!({"beleg_typ": "ER", "kundennummer": kunde, "beleg_datum": "2026-10-12", "items": [item],
            "fremdbelegnummer": kunde});
        mill.post(BELEGE, body).is(201);
    };
    purchase("12", "7", "S");
    purchase("15", "0", "K");
    let report = bericht(&mill, "umsatzsteuer", "2026-10-01", "2026-10-31");
    assert_eq!(rows(&report), [(93, Some(10_000), Some(100), Some(700), Some(700))]);
}

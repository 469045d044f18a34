//! Batches: their contents, and that each document is handed over exactly once (D32).

use std::thread;

use serde_json::json;

use super::{BELEGE, STAPEL, advised, files, kunde, re, stapel, unzipped};
use crate::datev;
use crate::harness::Server;
use crate::leitstand::person;

/// The numbers in column 11 of the booking files of a batch.
fn numbers(files: &[(String, Vec<u8>)]) -> Vec<String> {
    let bookings = files.iter().filter(|(name, _)| name.contains("Buchungsstapel"));
    let of_file = |(_, bytes): &(String, Vec<u8>)| {
        let file = datev::check(bytes, &[]).unwrap();
        file.records.iter().map(|record| record.get(11).to_owned()).collect::<Vec<_>>()
    };
    bookings.flat_map(of_file).collect()
}

#[test]
fn what_the_adviser_has_not_said_and_a_day_that_is_not_over_are_refused() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = server.company("Mühle");
    for (setting, value) in [("datev_berater", "1001"), ("datev_mandant", "1"), ("datev_ab", "2026-03-01")] {
        let refused = stapel(&mill, "2026-10-27");
        assert_eq!(refused.refused(400, "DATEV_EINSTELLUNG_FEHLT")["feld"], setting);
        server.set(&mill, &[(setting, value)]);
    }
    for bis in ["2026-10-28", "2026-10-29", "2026-02-28"] {
        assert_eq!(stapel(&mill, bis).refused(400, "ZEITRAUM_UNGUELTIG")["feld"], "bis", "{bis}");
    }
    mill.post(STAPEL, json!({})).refused(400, "FELD_FEHLT");
    let nothing = stapel(&mill, "2026-10-27");
    assert_eq!(nothing.is(200)["nr"], json!(null));
    assert!(mill.get(STAPEL).is(200)["data"].as_array().unwrap().is_empty());
}

#[test]
fn each_document_is_handed_over_once_and_late_ones_are_named() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let first = re(&mill, &kunde, "2026-10-05", "100");
    // Never included: documents from before the first day, from the previous year, and deliveries.
    server.set(&mill, &[("datev_ab", "2026-02-01")]);
    re(&mill, &kunde, "2026-01-31", "100");
    re(&mill, &kunde, "2025-12-31", "100");
    let items = json!([{"artikelnr": "A", "menge": 1, "ep_netto": 1}]);
    mill.post(
        BELEGE,
        json!({"beleg_typ": "LS", "kunden_id": kunde, "beleg_datum": "2026-10-05", "items": items}),
    )
    .is(201);
    server.set_clock("2026-11-02T10:00:00Z");
    let checked = mill.post(STAPEL, json!({"bis": "2026-10-31", "pruefen": true}));
    assert_eq!((&checked.is(200)["nr"], &checked.body["belege"]), (&json!(null), &json!(1)));
    let saldo: Vec<_> =
        checked.body["konten"].as_array().unwrap().iter().map(|k| k["saldo"].clone()).collect();
    assert_eq!(saldo, ["-107.00", "107.00"]);
    assert!(mill.get(STAPEL).is(200)["data"].as_array().unwrap().is_empty());

    let made = stapel(&mill, "2026-10-31");
    let number =
        |answer: &crate::harness::Answer| answer.is(201)["beleg_nummer"].as_str().unwrap().to_owned();
    assert_eq!(numbers(&files(&mill, &made.id())), [number(&first)]);
    assert_eq!(stapel(&mill, "2026-10-31").is(200)["nr"], json!(null));
    // A late one of October, and one of November: two files, and the late one is reported.
    let late = re(&mill, &kunde, "2026-10-31", "50");
    let new = re(&mill, &kunde, "2026-11-01", "60");
    let second = stapel(&mill, "2026-11-01");
    assert_eq!(second.is(201)["dateien"].as_array().unwrap().len(), 2);
    let said = second.body["hinweise"][0].clone();
    assert_eq!(said["code"], "NACHZUEGLER", "{}", second.body);
    let said = said["message"].as_str().unwrap();
    assert!(said.contains(&number(&late)) && !said.contains(&number(&new)), "{said}");
    assert_eq!(numbers(&files(&mill, &second.id())), [number(&late), number(&new)]);
}

/// An invoice of the old year that became final after its last batch is in none of the new year's.
#[test]
fn what_lies_before_the_fiscal_year_is_named_until_its_batch_is_made() {
    let server = Server::start_at("2026-02-02T10:00:00Z");
    let mill = advised(&server);
    server.set(&mill, &[("datev_ab", "2025-01-01")]);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2025-12-30", "100");
    let number =
        |answer: &crate::harness::Answer| answer.is(201)["beleg_nummer"].as_str().unwrap().to_owned();
    stapel(&mill, "2025-12-31").is(201);
    server.set(&mill, &[("abschluss_bei_anlage", "")]);
    let late = re(&mill, &kunde, "2025-12-31", "200");
    let open = stapel(&mill, "2025-12-31").hints("OFFENE_BELEGE")["hinweise"].to_string();
    assert!(open.contains("bis spätestens zum 31.12.2025"), "{open}");
    mill.post(&format!("{BELEGE}/{}/abschliessen", late.id()), json!({})).is(200);
    server.set(&mill, &[("abschluss_bei_anlage", "RE,ER")]);
    re(&mill, &kunde, "2026-01-05", "300");
    for body in [json!({"bis": "2026-01-31", "pruefen": true}), json!({"bis": "2026-01-31"})] {
        let said = mill.post(STAPEL, body).hints("NACHZUEGLER_VORJAHR")["hinweise"].to_string();
        assert!(said.contains(&number(&late)) && said.contains("bis zum 31.12.2025"), "{said}");
    }
    let page = |name: &str| {
        let mut browser = person(&server, &[name, "--role", "buero"]);
        browser.get(&format!("/leitstand/f/{}/steuerberater", mill.tenant)).is(200).text.clone()
    };
    let shown = page("Paul");
    assert!(shown.contains("?bis=2025-12-31#neu") && shown.contains(&number(&late)), "{shown}");
    let made = stapel(&mill, "2025-12-31");
    assert_eq!(numbers(&files(&mill, &made.id())), [number(&late)]);
    let next = mill.post(STAPEL, json!({"bis": "2026-02-01", "pruefen": true}));
    assert!(!next.hint_codes().contains(&"NACHZUEGLER_VORJAHR".to_owned()), "{}", next.body);
    assert!(!page("Eva").contains("Aus früheren Wirtschaftsjahren"));
}

#[test]
fn with_nur_earlier_documents_wait() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2026-09-30", "100");
    re(&mill, &kunde, "2026-10-05", "100");
    let only = mill.post(STAPEL, json!({"bis": "2026-10-31", "von": "2026-10-01", "nur": true}));
    assert_eq!(only.is(201)["belege"], 1);
    let check = server.cli(&["check"]);
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success() && said.contains("1 sind es nicht, als erste RE-2026-00001"), "{said}");
    let rest = mill.post(STAPEL, json!({"bis": "2026-10-31", "von": "2026-10-01"}));
    assert_eq!(rest.is(201)["belege"], 1);
    assert!(rest.hint_codes().contains(&"FELD_IGNORIERT".to_owned()), "{}", rest.body);
}

#[test]
fn what_is_open_is_named_or_refused_and_a_period_is_locked_with_its_batch() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2026-10-05", "100");
    server.set(&mill, &[("abschluss_bei_anlage", "")]);
    let open = re(&mill, &kunde, "2026-10-06", "100");
    let strict = mill.post(STAPEL, json!({"bis": "2026-10-31", "streng": true}));
    let nummer = open.is(201)["beleg_nummer"].as_str().unwrap();
    assert!(strict.refused(400, "OFFENE_BELEGE")["message"].as_str().unwrap().contains(nummer));
    let made = mill.post(STAPEL, json!({"bis": "2026-10-31", "sperren": true}));
    assert_eq!(made.is(201)["belege"], 1);
    assert!(made.hint_codes().contains(&"OFFENE_BELEGE".to_owned()), "{}", made.body);
    let items = json!([{"artikelnr": "A", "menge": 1, "ep_netto": 1}]);
    let body = |day: &str| json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": day, "items": items});
    mill.post(BELEGE, body("2026-10-31")).refused(400, "ZEITRAUM_GESPERRT");
    let noted: String = server.sql("select tat || nachher from verwaltung order by nr desc limit 1");
    assert_eq!(noted, r#"angelegt{"gesperrt_bis":"2026-10-31"}"#);
    // If there is nothing new, only the lock is reported.
    let later = mill.post(STAPEL, json!({"bis": "2026-11-01", "sperren": true}));
    assert_eq!(later.is(200)["nr"], json!(null));
    let noted: String =
        server.sql("select tat || vorher || nachher from verwaltung order by nr desc limit 1");
    assert_eq!(noted, r#"geaendert{"gesperrt_bis":"2026-10-31"}{"gesperrt_bis":"2026-11-01"}"#);
    mill.post(STAPEL, json!({"bis": "2026-10-31", "sperren": true})).is(200);
    let by_key = "select count(*) from verwaltung v join api_key k on k.id = v.akteur ->> 'schluessel'";
    assert_eq!(server.sql::<i64>(by_key), 2);
    assert_eq!(server.sql::<String>("select gesperrt_bis from tenant"), "2026-11-01");
    mill.post(BELEGE, body("2026-11-02")).is(201);
}

#[test]
fn a_discarded_batch_stays_and_its_documents_are_new_again() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2026-10-05", "100");
    server.set_clock("2026-11-02T10:00:00Z");
    let first = stapel(&mill, "2026-10-31");
    let bytes = files(&mill, &first.id());
    re(&mill, &kunde, "2026-11-01", "100");
    let second = stapel(&mill, "2026-11-01");
    let discard =
        |id: &str| mill.post(&format!("{STAPEL}/{id}/verwerfen"), json!({"grund": "Falsches Konto"}));
    discard(&first.id()).refused(400, "STAPEL_NICHT_VERWERFBAR");
    mill.post(&format!("{STAPEL}/{}/verwerfen", second.id()), json!({})).refused(400, "FELD_FEHLT");
    discard(&second.id()).is(200);
    discard(&second.id()).refused(400, "STAPEL_NICHT_VERWERFBAR");
    let gone = discard(&first.id());
    assert_eq!(gone.is(200)["verworfen_grund"], "Falsches Konto");
    assert_eq!(files(&mill, &first.id()), bytes, "what left the house stays");
    let again = stapel(&mill, "2026-10-31");
    assert_eq!((&again.is(201)["nr"], &again.body["belege"]), (&json!(3), &json!(1)));
    let lines = |files: &[(String, Vec<u8>)]| -> Vec<Vec<u8>> {
        let all = files.iter().flat_map(|(_, bytes)| bytes.split_inclusive(|byte| *byte == b'\n'));
        all.filter(|line| !line.starts_with(b"\"EXTF\"")).map(<[u8]>::to_vec).collect()
    };
    // The master data are sent again, too: nobody has imported those of the discarded batch.
    assert_eq!(lines(&files(&mill, &again.id())), lines(&bytes));
}

#[test]
fn fifty_at_once_make_one_batch() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    for _ in 0..20 {
        re(&mill, &kunde, "2026-10-05", "100");
    }
    server.set_clock("2026-11-02T10:00:00Z");
    let askers: Vec<_> = (0..50)
        .map(|_| {
            let mill = mill.clone();
            thread::spawn(move || stapel(&mill, "2026-10-31"))
        })
        .collect();
    let answers: Vec<_> = askers.into_iter().map(|asker| asker.join().unwrap()).collect();
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].body["belege"], 20);
    assert!(answers.iter().all(|answer| answer.status == 201 || answer.body["nr"].is_null()));
}

#[test]
fn another_company_sees_none_of_it() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2026-10-05", "100");
    let made = stapel(&mill, "2026-10-31");
    let other = server.company_with("Andere", super::ADVISED);
    assert_eq!(stapel(&other, "2026-10-31").is(200)["belege"], 0);
    let path = format!("{STAPEL}/{}", made.id());
    other.get(&path).refused(404, "NICHT_GEFUNDEN");
    other.post(&format!("{path}/verwerfen"), json!({"grund": "x"})).refused(404, "NICHT_GEFUNDEN");
    assert!(other.get("/api/v1/datev/konten").is(200).as_array().unwrap().is_empty());
    let konto = json!({"fall": "erloes", "satz": "7", "artikelgruppe": "B", "konto": 8300});
    other.put("/api/v1/datev/konten", konto).refused(400, "FELD_UNGUELTIG");
}

#[test]
fn the_command_line_writes_one_file_and_never_over_another() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let first = re(&mill, &kunde, "2026-10-05", "100");
    let folder = server.database.parent().unwrap().to_str().unwrap().to_owned();
    let tenant = mill.tenant.to_string();
    let run = |more: &[&str]| {
        let output = server.cli(&[&["export", "datev", "--tenant", &tenant], more].concat());
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out, err)
    };
    let (code, out, err) = run(&["--bis", "2026-10-31", "--pruefen"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("8300") && err.contains("Der Stapel enthielte: 1 Belege, 1 Zeilen, 107,00 EUR."),
        "{out}{err}"
    );
    let (code, out, err) = run(&["--bis", "31.10.2026", "--out", &folder]);
    assert_eq!(code, Some(0), "{err}");
    let written = unzipped(&std::fs::read(out.trim()).unwrap());
    assert_eq!(numbers(&written), [first.is(201)["beleg_nummer"].as_str().unwrap()]);
    let (code, _, err) = run(&["--stapel", "1", "--out", &folder]);
    assert!(code == Some(1) && err.contains("gibt es schon"), "{err}");
    let (code, _, err) = run(&["--bis", "2026-10-31", "--out", &folder]);
    assert!(code == Some(0) && err.contains("Nichts ist neu"), "{err}");
    // Without the folder no batch is made; if writing its file fails, the batch remains and the file can be
    // written again.
    let (code, ..) = run(&["--verwerfen", "1", "--grund", "Probe"]);
    assert_eq!(code, Some(0));
    let (code, _, err) = run(&["--bis", "2026-10-31", "--out", &format!("{folder}/nirgends")]);
    assert!(code == Some(1) && err.contains("nirgends gibt es nicht"), "{err}");
    let (_, out, _) = run(&["--liste"]);
    assert_eq!(out.lines().filter(|line| line.contains("107,00")).count(), 1, "{out}");
    let in_the_way = format!("{folder}/DATEV_Stapel_2.zip");
    std::fs::write(&in_the_way, "another").unwrap();
    let (code, _, err) = run(&["--bis", "2026-10-31", "--sperren", "--out", &folder]);
    assert!(code == Some(1) && err.contains("Stapel 2 ist angelegt") && err.contains("--stapel 2"), "{err}");
    assert_eq!(std::fs::read_to_string(&in_the_way).unwrap(), "another");
    std::fs::remove_file(&in_the_way).unwrap();
    let (code, out, err) = run(&["--stapel", "2", "--out", &folder]);
    assert!(code == Some(0) && out.contains("DATEV_Stapel_2.zip"), "{out}{err}");
    let noted: String = server.sql("select nachher from verwaltung order by nr desc limit 1");
    assert_eq!(noted, r#"{"gesperrt_bis":"2026-10-31"}"#);
    for wrong in [&["--bis", "gestern"][..], &["--liste", "--stapel", "1"], &["--verwerfen", "1"], &[]] {
        assert_eq!(run(wrong).0, Some(2), "{wrong:?}");
    }
}

#[test]
fn batches_are_read_and_made_with_their_own_scopes() {
    use partnerd::rules::scope::Scope;
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let reader = server.key(mill.tenant, &[Scope::BuchhaltungRead]);
    let writer = server.key(mill.tenant, &[Scope::BuchhaltungWrite]);
    reader.get(STAPEL).is(200);
    reader.get("/api/v1/datev/konten").is(200);
    stapel(&reader, "2026-10-31").refused(403, "SCOPE_FEHLT");
    stapel(&writer, "2026-10-31").is(200);
    writer.get(STAPEL).refused(403, "SCOPE_FEHLT");
}

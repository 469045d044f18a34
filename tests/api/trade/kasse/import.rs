//! `import barverkaeufe`: keys, amounts, reversals, and refusals (D7, D22).

use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use super::{PATH, column, counts, list, row, rows};
use crate::harness::{Client, Server};
use crate::platform::import::{Import, import, import_with};

const K1: &str = "22a9caa3-e529-595e-bdab-a48a634915df";
const BON: &str = "d78e5ede-85b1-5251-8708-ac3fed68c4f1";
const OTHER: &str = "1d3ff00d-a881-5003-824d-64a00af86daa";
const STORNO: &str = "334a92a3-ef23-58b4-a2e9-fcc19b9019a2";
const REST: &str = "8035c408-b709-5d28-965a-4fcda25b3ac3";

fn take(server: &Server, mill: &Client, different: &[Value]) -> Import {
    import(server, mill, "barverkaeufe", &rows(different))
}

#[test]
fn amounts_that_a_line_leaves_out_are_computed_and_its_own_are_kept() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let table = [
        // The line of the file, then gesamt, steuer, netto.
        (json!({}), ["3.80", "0.61", "3.19"]),
        (json!({"menge": 3, "einzelpreis": "0.333333", "mwst_satz": 7}), ["1.00", "0.07", "0.93"]),
        (json!({"menge": "-1.5", "einzelpreis": "2.47"}), ["-3.71", "-0.59", "-3.12"]),
        (json!({"menge": "0.5", "einzelpreis": "0.01", "mwst_satz": 0}), ["0.01", "0.00", "0.01"]),
        (json!({"gesamt": "3.70"}), ["3.70", "0.59", "3.11"]),
        (json!({"steuer": "0.60"}), ["3.80", "0.60", "3.20"]),
        (json!({"netto": "3.18"}), ["3.80", "0.62", "3.18"]),
        (json!({"gesamt": 10, "netto": "9.00", "steuer": 1}), ["10.00", "1.00", "9.00"]),
        (json!({"menge": -1, "einzelpreis": "33.50", "mwst_satz": 7}), ["-33.50", "-2.19", "-31.31"]),
        (json!({"gesamt": "9.99", "mwst_satz": "7.8", "menge": 0}), ["9.99", "0.72", "9.27"]),
        (json!({"gesamt": "7.07692307692307737600000000", "mwst_satz": 7}), ["7.08", "0.46", "6.62"]),
    ];
    let lines: Vec<Value> = table.iter().map(|(line, _)| line.clone()).collect();
    let imported = take(&server, &mill, &lines);
    counts(&imported, [11, 0, 0]);
    assert!(imported.said().contains("gesamt: Der Wert wurde auf 2 Nachkommastellen gerundet"));
    for (at, (line, expected)) in table.iter().enumerate() {
        let shown = list(&mill, "")[at].clone();
        assert_eq!(json!([shown["gesamt"], shown["steuer"], shown["netto"]]), json!(expected), "{line}");
    }
    counts(&take(&server, &mill, &lines), [0, 0, 11]);
}

#[test]
fn a_line_is_found_by_its_place_and_changes_only_in_what_is_sent() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let receipt = [json!({"kasse_id": K1, "zahlart": "bar"}), json!({"kasse_id": K1, "bezeichnung": "Brot"})];
    counts(&take(&server, &mill, &receipt), [2, 0, 0]);
    counts(&take(&server, &mill, &receipt), [0, 0, 2]);
    let before = list(&mill, "");
    assert_eq!(json!([before[0]["id"], before[1]["id"], before[1]["zahlart"]]), json!([1, 2, "bar"]));
    assert_eq!(before[0]["bon_id"], before[1]["bon_id"]);
    // A price without a total makes a new total and a new tax; the second line stays.
    let cheaper = [json!({"kasse_id": K1, "einzelpreis": 1}), json!({"kasse_id": K1, "bezeichnung": "Brot"})];
    counts(&take(&server, &mill, &cheaper), [0, 1, 1]);
    let after = list(&mill, "");
    assert_eq!(json!([after[0]["gesamt"], after[0]["steuer"]]), json!(["1.00", "0.16"]));
    assert_eq!((&after[0]["zahlart"], &after[1]), (&json!("bar"), &before[1]));
    // Another register or number makes another receipt; a third line is added to the first.
    let file = [
        json!({"kasse_id": K1}),
        json!({"kasse_id": K1, "bezeichnung": "Brot"}),
        json!({"kasse_id": K1, "bezeichnung": "Käse"}),
        json!({"kasse_id": OTHER}),
        json!({"kasse_id": K1, "bon_nr": "2"}),
    ];
    counts(&take(&server, &mill, &file), [3, 1, 1]);
    assert_eq!(
        column(&mill, &format!("bon_nr=1&kasse_id={K1}"), "bezeichnung"),
        json!(["Bier", "Brot", "Käse"])
    );
    assert_eq!(mill.get(&format!("{PATH}?limit=0")).body["count"], 5);
}

#[test]
fn a_line_is_found_by_its_id_wherever_it_stands() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let line =
        |id: i64, bon: &str, text: &str| json!({"id": id, "bon_id": bon, "bon_nr": bon, "bezeichnung": text});
    // Lines with ids need not be consecutive.
    let file = [line(5, BON, "a"), line(7, OTHER, "b"), line(2, BON, "c")];
    counts(&take(&server, &mill, &file), [3, 0, 0]);
    let again = [line(2, BON, "c"), line(5, BON, "a"), line(7, OTHER, "B")];
    counts(&take(&server, &mill, &again), [0, 1, 2]);
    // A known line needs only its id.
    let text = json!([{"id": 5, "bezeichnung": "neu", "steuer": "0.50"}]).to_string();
    counts(&import(&server, &mill, "barverkaeufe", &text), [0, 1, 0]);
    let changed = list(&mill, &format!("bon_nr={BON}"))[1].clone();
    assert_eq!(
        json!([changed["bezeichnung"], changed["steuer"], changed["gesamt"]]),
        json!(["neu", "0.50", "3.80"])
    );
    // The next line without an id gets the next number.
    counts(&take(&server, &mill, &[json!({"bon_nr": "neu"})]), [1, 0, 0]);
    assert_eq!(column(&mill, "bon_nr=neu", "id"), json!([8]));
    for (file, column) in [
        (vec![line(5, OTHER, "a")], "id"),
        (vec![json!({"id": 5, "bon_nr": "anders"})], "id"),
        (vec![json!({"id": 5, "bon_nr": BON, "kasse_id": K1})], "id"),
        (vec![line(9, BON, "a"), line(9, BON, "b")], "id"),
    ] {
        let refused = take(&server, &mill, &file);
        refused.refused(&[column, "FELD_WIDERSPRUCH"]);
    }
    let unknown = json!([{"id": 6, "bezeichnung": "neu"}]).to_string();
    import(&server, &mill, "barverkaeufe", &unknown).refused(&["Zeile 1", "bon_nr", "FELD_FEHLT"]);
}

#[test]
fn a_receipt_is_reversed_when_its_reversals_add_up_to_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let sale = |satz: i64, preis: &str| json!({"bon_id": BON, "bon_nr": "1", "mwst_satz": satz, "einzelpreis": preis});
    let storno = |bon: &str, satz: i64, preis: &str| {
        json!({"bon_id": bon, "bon_nr": bon, "art": "storno", "storno_von_bon_id": BON, "menge": -1,
            "mwst_satz": satz, "einzelpreis": preis})
    };
    let reversed = || column(&mill, "bon_nr=1", "storniert");
    // The reversal comes first.
    counts(&take(&server, &mill, &[storno(STORNO, 7, "2.00"), sale(7, "2.00"), sale(19, "3.00")]), [3, 0, 0]);
    assert_eq!(reversed(), json!([false, false]));
    // The total is 0, but not the sum of each rate.
    counts(&take(&server, &mill, &[storno(REST, 7, "3.00")]), [1, 0, 0]);
    assert_eq!(reversed(), json!([false, false]));
    counts(&take(&server, &mill, &[storno(REST, 19, "3.00")]), [0, 1, 0]);
    assert_eq!(reversed(), json!([true, true]));
    assert_eq!(column(&mill, &format!("bon_nr={REST}"), "storniert"), json!([false]));
    counts(&take(&server, &mill, &[storno(REST, 19, "3.00")]), [0, 0, 1]);
    // It no longer counts as reversed once the receipt grows, or the reversal refers to another one.
    let grown = [sale(7, "2.00"), sale(19, "3.00"), sale(19, "1.00")];
    counts(&take(&server, &mill, &grown), [1, 0, 2]);
    assert_eq!(reversed(), json!([false, false, false]));
    let free = [sale(7, "2.00"), sale(19, "3.00"), sale(19, "0.00")];
    counts(&take(&server, &mill, &free), [0, 1, 2]);
    assert_eq!(reversed(), json!([true, true, true]));
    let mut elsewhere = storno(REST, 19, "3.00");
    elsewhere["storno_von_bon_id"] = json!(OTHER);
    counts(&take(&server, &mill, &[elsewhere]), [0, 1, 0]);
    assert_eq!(reversed(), json!([false, false, false]));
    // A sale with a negative quantity takes goods back and reverses nothing.
    counts(&take(&server, &mill, &[json!({"bon_nr": "9", "menge": -1})]), [1, 0, 0]);
    assert_eq!(column(&mill, "bon_nr=9", "art"), json!(["verkauf"]));
}

#[test]
fn a_receipt_that_is_reversed_once_more_stays_reversed_and_the_import_says_so() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let sale = json!({"bon_id": BON, "bon_nr": "1", "mwst_satz": 19, "einzelpreis": "9.99", "menge": 3});
    let storno = |bon: &str, menge: i64| {
        json!({"bon_id": bon, "bon_nr": bon, "art": "storno", "storno_von_bon_id": BON, "menge": menge,
            "mwst_satz": 19, "einzelpreis": "9.99"})
    };
    let reversed = || column(&mill, "bon_nr=1", "storniert");
    counts(&take(&server, &mill, &[sale, storno(STORNO, -1)]), [2, 0, 0]);
    assert_eq!(reversed(), json!([false]));
    let rest = take(&server, &mill, &[storno(REST, -2)]);
    assert!(reversed() == json!([true]) && !rest.said().contains("mehr zurück"), "{}", rest.said());
    let again = take(&server, &mill, &[storno(OTHER, -2)]);
    assert_eq!(reversed(), json!([true]));
    assert!(again.said().contains(&format!("Der Stornobon {OTHER} nimmt mehr zurück")), "{}", again.said());
}

#[test]
fn what_contradicts_itself_or_is_missing_is_refused_by_its_line() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let without = |field: &str| {
        let mut line = row(json!({}));
        line.as_object_mut().unwrap().remove(field);
        line
    };
    let table = [
        (vec![without("bon_nr")], "Zeile 1", "bon_nr", "FELD_FEHLT"),
        (vec![without("kassiert_at")], "Zeile 1", "kassiert_at", "FELD_FEHLT"),
        (vec![without("bezeichnung")], "Zeile 1", "bezeichnung", "FELD_FEHLT"),
        (vec![without("menge")], "Zeile 1", "menge", "FELD_FEHLT"),
        (vec![without("einzelpreis")], "Zeile 1", "einzelpreis", "FELD_FEHLT"),
        (vec![row(json!({})), without("mwst_satz")], "Zeile 2", "mwst_satz", "FELD_FEHLT"),
        (vec![row(json!({"kassiert_at": "2026-07-01"}))], "Zeile 1", "kassiert_at", "DATUM_UNGUELTIG"),
        (
            vec![row(json!({"kassiert_at": "2026-07-01T12:00:00"}))],
            "Zeile 1",
            "kassiert_at",
            "DATUM_UNGUELTIG",
        ),
        (vec![row(json!({"art": "rückgabe"}))], "Zeile 1", "art", "WERT_UNGUELTIG"),
        (vec![row(json!({"mwst_satz": 101}))], "Zeile 1", "mwst_satz", "WERT_UNGUELTIG"),
        (vec![row(json!({"menge": "viel"}))], "Zeile 1", "menge", "FELD_UNGUELTIG"),
        (vec![row(json!({"kasse_id": "1"}))], "Zeile 1", "kasse_id", "FELD_UNGUELTIG"),
        (vec![row(json!({"id": 0}))], "Zeile 1", "id", "WERT_UNGUELTIG"),
        (vec![row(json!({"kunde": "X-1"}))], "Zeile 1", "kunde", "PARTNER_NICHT_GEFUNDEN"),
        (vec![row(json!({"netto": 3, "steuer": "0.60"}))], "Zeile 1", "steuer", "FELD_WIDERSPRUCH"),
        (
            vec![row(json!({"gesamt": 4, "netto": "3.19", "steuer": "0.61"}))],
            "Zeile 1",
            "steuer",
            "FELD_WIDERSPRUCH",
        ),
        (vec![row(json!({"storno_von_bon_id": BON}))], "Zeile 1", "storno_von_bon_id", "FELD_WIDERSPRUCH"),
        (
            vec![row(json!({"bon_id": BON, "art": "storno", "storno_von_bon_id": BON}))],
            "Zeile 1",
            "storno_von_bon_id",
            "FELD_WIDERSPRUCH",
        ),
        (vec![row(json!({"menge": 999_999_999, "einzelpreis": 999_999}))], "Zeile 1", "", "BETRAG_ZU_GROSS"),
    ];
    let each_line = |lines: &[Value]| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    for (lines, line, column, code) in table {
        let refused = import(&server, &mill, "barverkaeufe", &each_line(&lines));
        refused.refused(&[line, column, code]);
    }
    // The lines of a receipt must agree; a field omitted in one is taken from the others.
    for (field, one, other) in [
        ("kassiert_at", "2026-07-01T12:00:00Z", "2026-07-01T14:00:01+02:00"),
        ("art", "verkauf", "storno"),
        ("zahlart", "bar", "ec"),
    ] {
        let lines = [row(json!({field: one})), row(json!({})), row(json!({field: other}))];
        let refused = import(&server, &mill, "barverkaeufe", &each_line(&lines));
        refused.refused(&["Zeile 3", field, "FELD_WIDERSPRUCH"]);
    }
    // Lines without id are identified by their place, so they must be consecutive.
    let apart = [row(json!({})), row(json!({"bon_nr": "2"})), row(json!({}))];
    import(&server, &mill, "barverkaeufe", &each_line(&apart)).refused(&["Zeile 3", "beieinander"]);
    let named_in_two_ways = [row(json!({"bon_id": BON})), row(json!({}))];
    import(&server, &mill, "barverkaeufe", &each_line(&named_in_two_ways)).refused(&["Zeile 2", "bon_id"]);
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
    // The same instant in two spellings is no contradiction.
    let agreed = [json!({}), json!({"kassiert_at": "2026-07-01T14:00:00+02:00", "zahlart": null})];
    counts(&take(&server, &mill, &agreed), [2, 0, 0]);
    // One number for several receipts of a register: only the id distinguishes them.
    let same = [json!({"bon_id": BON, "bon_nr": "7"}), json!({"bon_id": OTHER, "bon_nr": "7"})];
    counts(&take(&server, &mill, &same), [2, 0, 0]);
    take(&server, &mill, &[json!({"bon_nr": "7"})]).refused(&["Zeile 1", "bon_id", "mehrere Bons"]);
}

#[test]
fn a_receipt_whose_register_is_named_only_once_is_the_same() {
    let server = Server::start();
    let unnamed = [json!({}), json!({"bezeichnung": "Brot"})];
    let named = [json!({"kasse_id": K1}), json!({"kasse_id": K1, "bezeichnung": "Brot"})];
    for (name, first, second, changed) in
        [("later", &unnamed, &named, [0, 2, 0]), ("earlier", &named, &unnamed, [0, 0, 2])]
    {
        let mill = server.company(name);
        counts(&take(&server, &mill, first), [2, 0, 0]);
        counts(&take(&server, &mill, second), changed);
        for file in [first, second] {
            counts(&take(&server, &mill, file), [0, 0, 2]);
        }
        assert_eq!(column(&mill, "", "kasse_id"), json!([K1, K1]), "{name}");
        // Two registers may use the same number; then the number is not enough.
        counts(&take(&server, &mill, &[json!({"kasse_id": OTHER})]), [1, 0, 0]);
        take(&server, &mill, &unnamed).refused(&["Zeile 1", "bon_id", "mehrere Bons"]);
    }
}

#[test]
fn a_number_that_comes_again_at_another_moment_is_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let (old, new) = ("2026-07-01T12:00:00Z", "2027-07-01T12:00:00Z");
    let receipt = [json!({"kasse_id": K1}), json!({"kasse_id": K1, "bezeichnung": "Brot"})];
    counts(&take(&server, &mill, &receipt), [2, 0, 0]);
    let before = list(&mill, "");
    for at in [new, "2026-07-02T12:00:00Z", "2026-06-30T21:59:59Z"] {
        for more in [json!({}), json!({"kasse_id": K1})] {
            let again = crate::trade::lager::and(json!({"kassiert_at": at, "bezeichnung": "Wein"}), more);
            take(&server, &mill, &[again]).refused(&["Zeile 1", "kassiert_at", "FELD_WIDERSPRUCH", "bon_id"]);
        }
    }
    assert_eq!(list(&mill, ""), before);
    // With an id, or at another register, it is a separate receipt; the old one is found again.
    let by_id = json!({"bon_id": BON, "kassiert_at": new, "kasse_id": K1});
    let elsewhere = json!({"kassiert_at": new, "kasse_id": OTHER});
    counts(&take(&server, &mill, &[by_id]), [1, 0, 0]);
    counts(&take(&server, &mill, &[elsewhere]), [1, 0, 0]);
    counts(&take(&server, &mill, &receipt), [0, 0, 2]);
    let days = ["2026-07-01", "2026-07-01", "2027-07-01", "2027-07-01"];
    assert_eq!(column(&mill, "", "datum"), json!(days));
    assert_eq!(column(&mill, &format!("von={old}&bis={old}"), "bezeichnung"), json!(["Bier", "Brot"]));
}

#[test]
fn a_tax_is_never_more_than_the_amount() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for line in [
        json!({"steuer": "3.81"}),
        json!({"steuer": "-3.81"}),
        json!({"gesamt": 1, "steuer": 999}),
        json!({"gesamt": 0, "steuer": "0.01"}),
        json!({"menge": -1, "steuer": "-3.81"}),
        json!({"gesamt": 1, "netto": -998}),
        json!({"menge": -1, "netto": "0.01"}),
        json!({"gesamt": 1, "netto": -998, "steuer": 999}),
    ] {
        take(&server, &mill, std::slice::from_ref(&line)).refused(&["Zeile 1", "steuer", "FELD_WIDERSPRUCH"]);
    }
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
    let largest = [json!({"steuer": "3.80"}), json!({"menge": -1, "steuer": "-3.80"})];
    counts(&take(&server, &mill, &largest), [2, 0, 0]);
    assert_eq!(column(&mill, "", "netto"), json!(["0.00", "0.00"]));
}

#[test]
fn after_the_largest_id_a_line_needs_an_id_of_its_own() {
    let server = Server::start();
    let mill = server.company("Mühle");
    counts(&take(&server, &mill, &[json!({"id": i32::MAX})]), [1, 0, 0]);
    let next = json!({"bon_nr": "2"});
    take(&server, &mill, std::slice::from_ref(&next)).refused(&["Zeile 1", "id", "FELD_FEHLT", "größten id"]);
    counts(&take(&server, &mill, &[crate::trade::lager::and(next, json!({"id": 5}))]), [1, 0, 0]);
    assert_eq!(column(&mill, "", "id"), json!([i32::MAX, 5]));
}

#[test]
fn an_unknown_article_is_said_once_and_found_later() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let lines = [
        json!({"artikelnummer": "A"}),
        json!({"artikelnummer": "A"}),
        json!({"artikelnummer": "B"}),
        json!({"artikelnummer": "a"}),
        json!({}),
    ];
    let first = take(&server, &mill, &lines);
    counts(&first, [5, 0, 0]);
    for name in ["Artikel A ", "Artikel B ", "Artikel a "] {
        assert_eq!(first.said().matches(name).count(), 1, "{}", first.said());
    }
    assert_eq!(column(&mill, "", "artikel_id"), json!([null, null, null, null, null]));
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nA;Mehl\n");
    let second = take(&server, &mill, &lines);
    counts(&second, [0, 3, 2]);
    assert!(!second.said().contains("Artikel A "), "{}", second.said());
    let id = mill.get("/api/v1/artikel").body["data"][0]["id"].clone();
    assert_eq!(column(&mill, "", "artikel_id"), json!([id, id, null, id, null]));
    counts(&take(&server, &mill, &lines), [0, 0, 5]);
    // Too many mistakes to list are counted.
    let many: Vec<Value> =
        (0..153).map(|at| json!({"bon_nr": "9", "artikelnummer": format!("N{at}")})).collect();
    let imported = take(&server, &mill, &many);
    assert!(
        imported
            .said()
            .contains("N0 gibt es nicht; die Bonzeilen haben keine artikel_id. (und 3 weitere dieser Art)"),
        "{}",
        imported.said()
    );
}

#[test]
fn a_table_may_be_german_and_of_windows() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let table = "Bon_Nr;kassiert_at;Bezeichnung;Menge;Einheit;Einzelpreis;mwst_satz;gesamt;datum\r\n\
        0017;2026-10-24T22:30:00Z;Müsli geröstet;1.234,5;kg;0,45;7,0;555,53;x\r\n\
        0017;2026-10-24T22:30:00Z;Käse;2;;1,5;7;;\r\n";
    let bytes: Vec<u8> = table.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let imported = import_with(&server, &mill, "barverkaeufe", &bytes, &[]);
    counts(&imported, [2, 0, 0]);
    // Fields that the service computes may be in the file; they are ignored, with a message.
    assert_eq!(imported.said().matches("datum").count(), 1, "{}", imported.said());
    let shown = list(&mill, "bon_nr=0017");
    let fields = |at: usize| {
        ["bezeichnung", "menge", "einheit", "einzelpreis", "mwst_satz", "gesamt", "datum"]
            .map(|field| shown[at][field].clone())
    };
    let first = json!(["Müsli geröstet", "1234.500", "kg", "0.4500", "7.00", "555.53", "2026-10-25"]);
    assert_eq!(json!(fields(0)), first);
    assert_eq!(json!(fields(1)), json!(["Käse", "2.000", null, "1.5000", "7.00", "3.00", "2026-10-25"]));
    let again = import_with(&server, &mill, "barverkaeufe", &bytes, &[]);
    counts(&again, [0, 0, 2]);
}

#[test]
fn a_dry_run_counts_and_parts_do_not_cut_a_receipt() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let dry = import_with(&server, &mill, "barverkaeufe", rows(&[json!({})]).as_bytes(), &["--dry-run"]);
    counts(&dry, [1, 0, 0]);
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
    // 20,000 rows make a part; the next row is in the middle of a receipt of three.
    let lines: Vec<Value> = (0..20_004)
        .map(|at| json!({"bon_nr": format!("{}", at / 3), "bezeichnung": format!("{at}")}))
        .collect();
    let file = rows(&lines);
    for expected in [[20_004, 0, 0], [0, 0, 20_004]] {
        let parts = import_with(&server, &mill, "barverkaeufe", file.as_bytes(), &["--in-parts"]);
        counts(&parts, expected);
    }
    assert_eq!(column(&mill, "bon_nr=6666", "bezeichnung"), json!(["19998", "19999", "20000"]));
    assert_eq!(server.sql::<i64>("select count(*) from bon where zeilen <> 3"), 0);
}

#[test]
fn check_finds_receipts_that_were_tampered_with() {
    let server = Server::start();
    let mill = server.company("Mühle");
    counts(&take(&server, &mill, &[json!({"bon_id": BON}), json!({"bon_id": BON, "menge": 2})]), [2, 0, 0]);
    for (rule, tamper, undo) in [
        ("gezählt ab 1", "update bon set zeilen = 3", "update bon set zeilen = 2"),
        (
            "gezählt ab 1",
            "update barverkauf set position = 3 where id = 2",
            "update barverkauf set position = 2 where id = 2",
        ),
        ("Bons sind storniert", "update bon set storniert = 1", "update bon set storniert = 0"),
    ] {
        let change = |sql: &str| open_writer(&server.database).unwrap().execute_batch(sql).unwrap();
        change(tamper);
        let output = server.cli(&["check"]);
        let found = String::from_utf8(output.stdout).unwrap();
        let broken: Vec<_> = found.lines().filter(|line| line.trim_end().ends_with(" 1")).collect();
        assert!(
            !output.status.success() && broken.len() == 1 && broken[0].contains(rule),
            "{tamper}: {found}"
        );
        change(undo);
    }
}

#[test]
fn a_reversal_takes_back_what_its_original_sold() {
    let server = Server::start();
    let mill = server.company("Mühle");
    // The second line returned a deposit; its reversal takes it again.
    let sold = |menge: i64| json!({"bon_id": BON, "bon_nr": "1", "menge": menge});
    counts(&take(&server, &mill, &[sold(3), sold(-2)]), [2, 0, 0]);
    let line = |menge: i64| {
        json!({"bon_id": STORNO, "bon_nr": "2", "art": "storno", "storno_von_bon_id": BON,
        "menge": menge})
    };
    let mut unnamed = line(-3);
    unnamed.as_object_mut().unwrap().remove("storno_von_bon_id");
    for (file, named) in [
        (vec![line(3)], ["Zeile 1", "menge", "MENGE_UNGUELTIG"]),
        (vec![line(-3), line(1)], ["Zeile 2", "menge", "MENGE_UNGUELTIG"]),
        (vec![unnamed], ["Zeile 1", "storno_von_bon_id", "FELD_FEHLT"]),
    ] {
        let lines: Vec<_> = file.into_iter().map(|line| row(line).to_string()).collect();
        import(&server, &mill, "barverkaeufe", &lines.join("\n")).refused(&named);
    }
    assert_eq!(column(&mill, "bon_nr=2", "menge"), json!([]));
    counts(&take(&server, &mill, &[line(-3), line(2)]), [2, 0, 0]);
    assert_eq!(column(&mill, "bon_nr=2", "menge"), json!(["-3.000", "2.000"]));
    assert_eq!(column(&mill, "bon_nr=1", "storniert"), json!([true, true]));
    // A receipt cannot become such a reversal later either, line by line.
    let id = column(&mill, "bon_nr=2", "id")[0].clone();
    let wrong = json!([{"id": id, "menge": 4}]).to_string();
    import(&server, &mill, "barverkaeufe", &wrong).refused(&["Zeile 1", "menge", "MENGE_UNGUELTIG"]);
    counts(&take(&server, &mill, &[line(-3), line(2)]), [0, 0, 2]);
}

//! A batch is computed on a reader; the writer stores the parts that are still valid (D32).

use partnerd::office::buchhaltung::{Entwurf, NewStapel, StapelAngelegt, create};
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::tx::{Tx, WriteTx};
use partnerd::rules::day::{Day, Instant};
use partnerd::rules::error::Hints;
use serde_json::json;

use super::{BELEGE, KONTEN, STAPEL, advised, files, kunde, re, stapel};
use crate::harness::{Client, Server};

/// Computes a batch until the end of October, runs `meanwhile`, then stores the batch; returns whether it had
/// to be computed again.
fn made_after(server: &Server, mill: &Client, meanwhile: impl FnOnce()) -> (StapelAngelegt, bool) {
    let (computed, stored) =
        (Instant::from_millis(1_800_000_000_000), Instant::from_millis(1_800_000_060_000));
    let mut connection = open_writer(&server.database).unwrap();
    let wish = NewStapel { bis: Day::parse("2026-10-31"), ..NewStapel::default() };
    let read = connection.transaction().unwrap();
    let entwurf = Entwurf::of(&Tx::new(&read, mill.tenant, computed), wish, Hints::default()).unwrap();
    drop(read);
    meanwhile();
    let transaction = connection.transaction().unwrap();
    let tx = Tx::new(&transaction, mill.tenant, stored);
    let made = WriteTx::carry_out(tx, None, |tx| create(tx, &entwurf)).unwrap();
    transaction.commit().unwrap();
    let am: Option<i64> = connection
        .query_row("select max(am) from datev_stapel where verworfen_am is null", [], |row| row.get(0))
        .unwrap();
    (made, am == Some(stored.millis()))
}

#[test]
fn a_batch_is_computed_again_where_anything_has_changed_that_it_follows_from() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let partner = kunde(&mill, json!({}));
    server.set_clock("2026-11-02T10:00:00Z");
    let again = |what: &str, meanwhile: &dyn Fn()| {
        re(&mill, &partner, "2026-10-05", "100");
        let (made, is_again) = made_after(&server, &mill, meanwhile);
        assert!(is_again, "{what}");
        made
    };
    let sum = |made: &StapelAngelegt, konto: i64| {
        made.konten.iter().find(|sum| sum.konto == konto).map(|sum| sum.saldo.to_string())
    };
    let account = |konto: i64| {
        mill.put(KONTEN, json!({"fall": "erloes", "satz": "7", "artikelgruppe": "A", "konto": konto}))
            .is(200);
    };
    let made = again("an account", &|| account(8302));
    assert_eq!(sum(&made, 8302).as_deref(), Some("-107.00"));
    again("a partner", &|| drop(mill.put(&format!("/api/v1/kunden/{partner}"), json!({"ort": "Ulm"}))));
    let made = again("an article", &|| drop(server.import(&mill, "artikel", "artikelnummer;gruppe\nA;B\n")));
    assert_eq!(sum(&made, 8301).as_deref(), Some("-107.00"));
    again("a group", &|| drop(server.import(&mill, "artikelgruppen", "name;kuerzel;mwst_satz\nB;B;7\n")));
    again("a setting", &|| server.set(&mill, &[("datev_festschreibung", "true")]));
    again("a rate", &|| {
        server.import(
            &mill,
            "steuersaetze",
            "schluessel;bezeichnung;satz;gueltig_von;kategorie\nneu;Neu;8;2027-01-01;S\n",
        );
    });
    again("what DATEV computes", &|| {
        let ranges = "rahmen;von;bis;ab_jahr;art;satz\n03;9000;9000;2026;frei;\n";
        server.import(&mill, "kontenfunktionen", ranges);
    });
    let made = again("a late invoice", &|| drop(re(&mill, &partner, "2026-10-31", "50")));
    assert_eq!(made.belege, 2);
    let made = again("what stays open", &|| {
        server.set(&mill, &[("abschluss_bei_anlage", "")]);
        re(&mill, &partner, "2026-10-31", "50");
    });
    assert!(made.hinweise.iter().any(|hint| hint.message.contains("Noch offen")));
    server.set(&mill, &[("abschluss_bei_anlage", "RE,ER")]);

    // Another batch contains everything by then.
    re(&mill, &partner, "2026-10-05", "100");
    let (made, _) = made_after(&server, &mill, || drop(stapel(&mill, "2026-10-31")));
    assert_eq!((made.nr, made.belege), (None, 0));
    // A batch discarded in the meantime releases its documents.
    re(&mill, &partner, "2026-10-05", "100");
    let newest = mill.get(STAPEL).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let (made, is_again) = made_after(&server, &mill, || {
        mill.post(&format!("{STAPEL}/{newest}/verwerfen"), json!({"grund": "x"})).is(200);
    });
    assert!(is_again && made.belege == 2);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn other_work_of_the_company_does_not_have_it_computed_again() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let partner = kunde(&mill, json!({}));
    re(&mill, &partner, "2026-10-05", "100");
    server.set_clock("2026-11-02T10:00:00Z");
    let (made, is_again) = made_after(&server, &mill, || {
        re(&mill, &partner, "2026-11-01", "100");
        let items = json!([{"artikelnr": "A", "menge": 1}]);
        let delivery =
            json!({"beleg_typ": "LS", "kunden_id": partner, "beleg_datum": "2026-10-05", "items": items});
        mill.post(BELEGE, delivery).is(201);
        kunde(&server.company("Andere"), json!({}));
    });
    assert_eq!((made.belege, is_again), (1, false));
    assert_eq!(files(&mill, &made.id.unwrap().to_string()).len(), 2);
    assert_eq!(stapel(&mill, "2026-10-31").is(200)["nr"], json!(null));
}

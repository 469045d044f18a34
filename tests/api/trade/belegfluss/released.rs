//! What is named goes before what was proposed, and an invoice that names its delivery moves nothing beyond it.

use serde_json::{Value, json};

use super::{position, sacks};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy, moves, sell};

fn met(mill: &Mill<'_>, id: &str) -> Vec<String> {
    let shown = mill.get(id);
    let met = shown["positionen"][0]["gegenbelege"].as_array().unwrap();
    met.iter().map(|met| met["beleg_nummer"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_invoice_that_names_a_delivery_gets_it_and_the_other_one_looks_for_another() {
    let server = Server::start();
    for is_final in [false, true] {
        let mill = Mill::with(&server, if is_final { "A" } else { "B" }, &[]);
        let deliver = || mill.post("LS", sacks(&[(10, json!({}))]));
        let (first, second) = (deliver(), deliver());
        let guessed = mill.post("RE", sacks(&[(4, json!({}))])).id();
        assert_eq!(met(&mill, &guessed), ["LS-2026-00001"]);
        if is_final {
            mill.finalise(&guessed);
        }
        let line = position(&first.body, 0);
        let named = mill.post("RE", json!({"bezug_position_id": line, "menge": 10}));
        assert_eq!(moves(&named), [""; 0], "both invoices are delivered");
        assert_eq!(met(&mill, &named.id()), ["LS-2026-00001"]);
        assert_eq!(met(&mill, &guessed), ["LS-2026-00002"], "even where it is final: it printed no delivery");
        assert_eq!(mill.get(&second.id())["positionen"][0]["offen"], "6.000");
    }
}

/// What nothing is left for moves by itself; what a final invoice shows stays.
#[test]
fn what_is_released_and_finds_nothing_moves_and_what_is_printed_is_not_released() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("LS", sacks(&[(10, json!({}))]));
    let named = json!({"bezug_position_id": position(&delivery.body, 0), "menge": 10});
    let guessed = mill.post("RE", sacks(&[(10, json!({}))])).id();
    let taken = mill.post("RE", named.clone());
    assert_eq!(moves(&taken), ["-10.000"], "the first one moves its goods now");
    assert_eq!((met(&mill, &guessed), met(&mill, &taken.id())), (vec![], vec!["LS-2026-00001".to_owned()]));
    mill.storno(&guessed).is(200);
    mill.storno(&taken.id()).is(200);
    let shown = mill.post("RE", sacks(&[(10, json!({}))])).id();
    mill.finalise(&shown);
    let late = mill.post("RE", named);
    late.hints("BEZUG_OHNE_MENGE");
    assert_eq!((moves(&late), met(&mill, &shown)), (vec![], vec!["LS-2026-00001".to_owned()]));
}

/// LS 24,863 kg from a batch; RE 24.87 t that names it.
#[test]
fn an_invoice_moves_nothing_beyond_the_delivery_that_it_names() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 100_000);
    let delivery = mill.post("LS", sell(24_863, &charge));
    let tonnes = json!({"bezug_position_id": position(&delivery.body, 0), "menge": "24.87", "einheit": "t"});
    let invoice = mill.post("RE", tonnes);
    let hint = invoice.hints("MENGE_ABWEICHEND")["hinweise"].to_string();
    assert!(hint.contains("24870.000") && hint.contains("24863.000") && hint.contains("7.000"), "{hint}");
    assert_eq!(moves(&invoice), [""; 0]);
    assert_eq!(
        mill.get(&invoice.id())["positionen"][0]["charge_id"],
        charge,
        "its batch is that of the delivery"
    );
    let mut taken_over = moves(&mill.storno(&delivery.id()));
    taken_over.sort();
    assert_eq!(taken_over, ["-24863.000", "24863.000"], "the invoice moves what it had met");
    // A delivery moves what it says.
    let prepaid = mill.post("RE", sacks(&[(5, json!({}))]));
    let more =
        and(sacks(&[(7, json!({}))])[0].clone(), json!({"bezug_position_id": position(&prepaid.body, 0)}));
    let more: Value = more;
    let late = mill.post("LS", more);
    late.hints("MENGE_ABWEICHEND");
    assert_eq!(moves(&late), ["-2.000"]);
}

/// LS 24,863 kg, RE 24.87 t that names it, and a credit of all of the invoice.
#[test]
fn a_credit_takes_back_what_an_invoice_says_beyond_its_delivery() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 100_000);
    let delivery = mill.post("LS", sell(24_863, &charge));
    let tonnes = json!({"bezug_position_id": position(&delivery.body, 0), "menge": "24.87", "einheit": "t"});
    let invoice = mill.post("RE", tonnes);
    let shown = |id: &str, field: &str| mill.get(id)["positionen"][0][field].clone();
    let credit = mill.post("RE", json!({"bezug_position_id": position(&invoice.body, 0)}));
    assert_eq!(moves(&credit), [""; 0]);
    assert_eq!(shown(&credit.id(), "menge"), "-24.870");
    assert_eq!(shown(&credit.id(), "vorgaenger")[0]["menge"], "24.870");
    assert_eq!([shown(&invoice.id(), "offen"), shown(&delivery.id(), "offen")], ["0.000", "24863.000"]);
    assert_eq!(moves(&mill.storno(&credit.id())), [""; 0]);
    assert_eq!([shown(&invoice.id(), "offen"), shown(&delivery.id(), "offen")], ["24.870", "0.000"]);
    let mut taken_over = moves(&mill.storno(&delivery.id()));
    taken_over.sort();
    assert_eq!(taken_over, ["-24863.000", "24863.000"], "not what the invoice says beyond it");
}

/// What somebody else loses because it is named moves, whatever the settings say of who asks for it.
#[test]
fn what_is_released_is_refused_neither_for_a_batch_that_is_empty_nor_for_one_that_is_locked() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("negativbestand", "ablehnen")]);
    let charge = mill.receive("A", 10);
    let delivery = mill.post("LS", sell(10, &charge));
    let guessed = mill.post("RE", json!({"artikelnr": "W", "menge": 10})).id();
    mill.client
        .put(&format!("/api/v1/chargen/{charge}"), json!({"gesperrt": true, "sperrgrund": "Probe"}))
        .is(200);
    let named = mill.post("RE", json!({"bezug_position_id": position(&delivery.body, 0), "menge": 10}));
    named.hints("BESTAND_NEGATIV");
    assert_eq!(moves(&named), ["-10.000"], "{}", named.body);
    assert_eq!((met(&mill, &guessed), met(&mill, &named.id())), (vec![], vec!["LS-2026-00001".to_owned()]));
    let own = mill.post("LS", sell(1, &charge));
    assert_eq!(own.status, 400, "who asks for goods himself is refused: {}", own.body);
}

/// EL 24,863 kg of a note; a final ER 24.86 t that names it: 3 kg are closed.
#[test]
fn what_an_invoice_leaves_of_a_delivery_up_to_one_percent_is_closed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("EL", buy(24_863, "A"));
    let line = position(&delivery.body, 0);
    let bill =
        |menge: &str| mill.post("ER", json!({"bezug_position_id": line, "menge": menge, "einheit": "t"}));
    let rest = |mill: &Mill<'_>| mill.get(&delivery.id())["positionen"][0]["offen"].clone();
    let little = bill("24.6");
    assert!(!little.hint_codes().contains(&"REST_GESCHLOSSEN".to_owned()), "1 % are 248.63 kg");
    assert_eq!(rest(&mill), "263.000");
    mill.storno(&little.id()).is(200);
    let billed = bill("24.86");
    let hint = billed.hints("REST_GESCHLOSSEN")["hinweise"].to_string();
    assert!(hint.contains("EL-2026-00001, Position 1, sind 3.000 kg übrig"), "{hint}");
    assert_eq!(rest(&mill), "0.000");
    mill.finalise(&delivery.id());
    let settled = mill.client.post(&format!("/api/v1/belege/{}/erledigen", delivery.id()), json!({}));
    assert!(settled.is(200).get("hinweise").is_none_or(|hints| !hints.to_string().contains("MENGE_OFFEN")));
    let other = mill.post("ER", json!({"artikelnr": "W", "menge": 5, "fremde_charge_nr": "A"}));
    assert_eq!(moves(&other), ["5.000"], "the rest is met by nobody");
    mill.storno(&other.id()).is(200);
    let exactly = mill.post("ER", json!({"artikelnr": "W", "menge": 3, "fremde_charge_nr": "A"}));
    assert_eq!(moves(&exactly), [""; 0], "but by exactly its quantity");
    mill.storno(&exactly.id()).is(200);
    mill.storno(&billed.id()).is(200);
    assert_eq!(rest(&mill), "24863.000");
}

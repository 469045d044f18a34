//! What may name what, and what a name that does not fit is answered with.

use serde_json::{Value, json};

use super::position;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

/// Each kind of document as it is named here: its type, and whether it takes goods back.
const KINDS: [(&str, &str, i64); 11] = [
    ("AN", "AN", 2),
    ("AU", "AU", 2),
    ("LS", "LS", 2),
    ("RE", "RE", 2),
    ("BS", "BS", 2),
    ("EL", "EL", 2),
    ("ER", "ER", 2),
    ("LS-", "LS", -2),
    ("RE-", "RE", -2),
    ("EL-", "EL", -2),
    ("ER-", "ER", -2),
];

/// What each kind may name (D38).
const MAY_NAME: [(&str, &[&str]); 11] = [
    ("AN", &[]),
    ("AU", &["AN"]),
    ("LS", &["AN", "AU", "RE"]),
    ("RE", &["AN", "AU", "LS"]),
    ("BS", &[]),
    ("EL", &["BS", "ER"]),
    ("ER", &["BS", "EL"]),
    ("LS-", &["LS", "RE", "RE-"]),
    ("RE-", &["RE", "LS-"]),
    ("EL-", &["EL", "ER", "ER-"]),
    ("ER-", &["ER", "EL-"]),
];

fn sack(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge, "ep_netto": 10})
}

#[test]
fn a_kind_names_what_it_may_by_position_and_by_document_and_nothing_else() {
    let server = Server::start();
    for by_position in [true, false] {
        let mill = Mill::with(&server, if by_position { "A" } else { "B" }, &[]);
        for (own, typ, menge) in KINDS {
            let allowed = MAY_NAME.iter().find(|(kind, _)| *kind == own).unwrap().1;
            for (other, other_typ, other_menge) in KINDS {
                let named = mill.post(other_typ, sack(other_menge));
                let bezug = match by_position {
                    true => json!({"bezug_position_id": position(named.is(201), 0)}),
                    false => json!({"bezug_beleg_id": named.id()}),
                };
                let answer = mill.post(typ, super::and(sack(menge), bezug));
                if allowed.contains(&other) {
                    let shown = mill.get(&answer.id());
                    assert_eq!(shown["positionen"][0]["bezug_beleg_id"], named.id(), "{own} {other}");
                    let expected = if by_position { json!(position(&named.body, 0)) } else { Value::Null };
                    assert_eq!(shown["positionen"][0]["bezug_position_id"], expected, "{own} {other}");
                    assert_eq!(shown["vorgaenger_beleg_id"], named.id(), "{own} {other}");
                } else {
                    let field = if by_position { "bezug_position_id" } else { "bezug_beleg_id" };
                    let refused = answer.refused(400, "BEZUG_PASST_NICHT");
                    assert_eq!(refused["feld"], format!("items[0].{field}"), "{own} {other}");
                }
            }
        }
    }
}

#[test]
fn a_name_that_does_not_fit_is_refused() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("LS", sack(2));
    let (id, line) = (delivery.id(), position(&delivery.body, 0));
    let other = mill.post("LS", sack(2));
    let foreign = mill.post_for("Kd2", "LS", sack(2));
    let cancelled = mill.post("LS", sack(2));
    mill.storno(&cancelled.id()).is(200);
    let grain = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5});
    let freight = mill.post("LS", grain.clone());
    let cases = [
        (json!({"bezug_position_id": line, "bezug_beleg_id": other.id()}), "BEZUG_PASST_NICHT"),
        (json!({"bezug_position_id": position(&foreign.body, 0)}), "BEZUG_PASST_NICHT"),
        (json!({"bezug_position_id": position(&cancelled.body, 0)}), "BEZUG_PASST_NICHT"),
        (json!({"bezug_position_id": position(&freight.body, 0)}), "BEZUG_PASST_NICHT"),
        (json!({"bezug_position_id": "00000000-0000-7000-8000-000000000001"}), "BELEG_NICHT_GEFUNDEN"),
    ];
    for (bezug, code) in cases {
        let refused = mill.post("RE", super::and(sack(1), bezug.clone()));
        assert_eq!(refused.refused(400, code)["feld"], "items[0].bezug_position_id", "{bezug}");
    }
    let both = json!({"bezug_position_id": line, "bezug_beleg_id": id});
    mill.post("RE", super::and(sack(1), both)).is(201);
    // "None" is an article, too, and what has none may name any invoice.
    let of_freight = json!({"bezug_position_id": position(&freight.body, 0)});
    mill.post("RE", super::and(grain.clone(), of_freight)).is(201);
    let invoice = mill.post("RE", sack(1));
    mill.post("RE", super::and(grain, json!({"bezug_position_id": position(&invoice.body, 0)}))).is(201);
    // Another company's position is unknown.
    let stranger = Mill::with(&server, "Fremd", &[]);
    let refused = stranger.post("RE", super::and(sack(1), json!({"bezug_position_id": line})));
    refused.refused(400, "BELEG_NICHT_GEFUNDEN");
    // Neither itself nor its own document.
    let order = mill.post("AU", sack(1));
    let own = json!({"bezug_position_id": position(&order.body, 0)});
    mill.put(&order.id(), super::and(sack(1), own)).refused(400, "BEZUG_PASST_NICHT");
}

#[test]
fn a_name_whose_position_is_gone_is_shown_and_accepted_as_it_was() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", json!([sack(1), sack(2)]));
    let line = position(&order.body, 1);
    let named = super::and(sack(2), json!({"bezug_position_id": line}));
    let delivery = mill.post("LS", named.clone());
    let changed = mill.put(&order.id(), sack(1));
    assert!(changed.hints("BEZUG_GELOEST").to_string().contains("LS-2026-00001"), "{}", changed.body);
    assert_eq!(mill.get(&delivery.id())["positionen"][0]["bezug_position_id"], line);
    mill.put(&delivery.id(), named.clone()).is(200);
    mill.put(
        &delivery.id(),
        super::and(sack(2), json!({"bezug_beleg_id": order.id(), "bezug_position_id": line})),
    )
    .is(200);
    assert_eq!(mill.get(&delivery.id())["positionen"][0]["bezug_position_id"], line);
    mill.post("LS", named).refused(400, "BELEG_NICHT_GEFUNDEN");
}

/// A delivery names an invoice; the invoice must not name that delivery then, nor one behind it.
#[test]
fn nothing_is_before_and_after_the_same() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let named = |of: &Answer| and(sack(10), json!({"bezug_position_id": position(&of.body, 0)}));
    let invoice = mill.post("RE", sack(10));
    let delivery = mill.post("LS", named(&invoice));
    let later = mill.post("RE", named(&delivery));
    for document in [&delivery, &later] {
        let refused = mill.put(&invoice.id(), named(document));
        let message = refused.refused(400, "BEZUG_PASST_NICHT")["message"].as_str().unwrap().to_owned();
        if document.id() == delivery.id() {
            assert!(message.contains("LS-2026-00001 nennt selbst diesen Beleg"), "{message}");
        }
    }
    let by_document = mill.put(&invoice.id(), and(sack(10), json!({"bezug_beleg_id": delivery.id()})));
    by_document.refused(400, "BEZUG_PASST_NICHT");
    let other = json!([sack(10), {"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5}]);
    mill.put(&invoice.id(), other).is(200);
}

/// Who names a document that gets another partner names nothing any more, and may repeat that.
#[test]
fn a_document_that_is_handed_over_loses_the_names_that_others_have_on_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("LS", sack(10));
    let named = and(sack(10), json!({"bezug_position_id": position(&delivery.body, 0)}));
    let invoice = mill.post("RE", named.clone());
    let order = mill.post("AU", sack(10));
    let ordered = mill.post("RE", json!({"bezug_position_id": position(&order.body, 0)}));
    for (document, other) in [(&delivery, "RE-2026-00001"), (&order, "RE-2026-00002")] {
        let path = format!("/api/v1/belege/{}", document.id());
        let moved = mill.client.put(&path, json!({"kundennummer": "Kd2"}));
        assert!(moved.hints("BEZUG_GELOEST").to_string().contains(other), "{}", moved.body);
    }
    for id in [invoice.id(), ordered.id()] {
        let shown = &mill.get(&id)["positionen"][0];
        assert_eq!((&shown["vorgaenger"], &shown["offen"]), (&json!([]), &json!("10.000")));
    }
    mill.put(&invoice.id(), named).is(200);
    assert_eq!(mill.get(&invoice.id())["positionen"][0]["gegenbelege"], json!([]));
    mill.client.put(&format!("/api/v1/belege/{}", order.id()), json!({"kundennummer": "Kd"})).is(200);
    let shown = mill.get(&ordered.id());
    assert_eq!(shown["positionen"][0]["vorgaenger"][0]["beleg_nummer"], "AU-2026-00001", "named again");
}

/// An order of 100 with deliveries of 60 and 40 is changed to 50: the younger delivery loses its name, the other one 10.
#[test]
fn below_what_is_named_the_youngest_names_lose() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", sack(100)).is(201).clone();
    let of = |menge: i64| json!({"bezug_position_id": position(&order, 0), "menge": menge});
    let deliveries = [mill.post("LS", of(60)).id(), mill.post("LS", of(40)).id()];
    let id = order["id"].as_str().unwrap();
    let ties = |menge: i64| {
        let answer = mill.put(id, sack(menge));
        let after = mill.get(id)["positionen"][0]["nachfolger"].clone();
        let after = after.as_array().unwrap().iter();
        let named: Vec<_> = after.map(|tie| tie["menge"].as_str().unwrap().to_owned()).collect();
        (answer.hint_codes().iter().filter(|code| *code == "BEZUG_GELOEST").count(), named)
    };
    let shown = |menge: &[&str]| menge.iter().map(|menge| (*menge).to_owned()).collect::<Vec<_>>();
    assert_eq!(ties(120), (0, shown(&["60.000", "40.000"])));
    assert_eq!(ties(100), (0, shown(&["60.000", "40.000"])));
    // What came back is ordered once more: of 60, 20 and 40 are out.
    let back = json!({"bezug_position_id": mill.get(&deliveries[0])["positionen"][0]["id"], "menge": -40});
    let back = mill.post("LS", back).id();
    assert_eq!(ties(60), (0, shown(&["60.000", "40.000"])));
    mill.storno(&back).is(200);
    assert_eq!(ties(50), (2, shown(&["50.000"])));
    assert_eq!(mill.get(&deliveries[1])["positionen"][0]["vorgaenger"], json!([]));
}

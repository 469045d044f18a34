//! What a settlement refuses and names before anybody is paid wrongly (D29b, D29g to D29j).

use serde_json::{Value, json};

use super::{A, Hof, PATH, SCHEMES, sums, wheat};
use crate::harness::{Answer, Server};
use crate::trade::lager::and;

fn has(answer: &Answer, code: &str) -> bool {
    answer.hint_codes().contains(&code.to_owned())
}

#[test]
fn days_and_advances_that_cannot_be_right_are_named_before_and_after() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = |day: &str, charge: &str| {
        hof.with_el(10_000, "", json!({"lieferdatum": day, "preis_je_t": 200, "fremde_charge_nr": charge}))
    };
    let (late, past) = (note("2026-07-27", "C1"), note("2026-07-20", "C2"));
    let early = json!({"beleg_datum": "2026-07-19"});
    for answer in [hof.preview("end", &[&late], json!({})), hof.settle("end", &[&late], json!({}))] {
        assert!(
            has(&answer, "LIEFERDATUM_ZUKUNFT") && !has(&answer, "BELEG_VOR_LIEFERUNG"),
            "{}",
            answer.body
        );
    }
    let advance = |prozent: i64| json!({"abschlag": {"prozent": prozent}});
    for answer in [
        hof.preview("abschlag", &[&past], and(advance(60), early.clone())),
        hof.settle("abschlag", &[&past], advance(60)),
    ] {
        assert!(
            !has(&answer, "ABSCHLAG_UEBERSTEIGT_WARE") && !has(&answer, "LIEFERDATUM_ZUKUNFT"),
            "{}",
            answer.body
        );
    }
    assert!(has(&hof.preview("abschlag", &[&past], and(advance(60), early)), "BELEG_VOR_LIEFERUNG"));
    // 2,000.00, of which 1,200.00 are paid; 900.00 more are too many.
    let seen = hof.preview("abschlag", &[&past], advance(45));
    assert!(has(&seen, "ABSCHLAG_UEBERSTEIGT_WARE"), "{}", seen.body);
    let text = seen.body["hinweise"].to_string();
    assert!(text.contains("2.000,00") && text.contains("1.200,00") && text.contains("900,00"), "{text}");
    // A negative supplement has no advance that it could exceed.
    let minus = json!({"zuschlag_je_t": -5, "negativ_zulassen": true});
    assert!(!has(&hof.preview("nachverguetung", &[&late], minus), "ABSCHLAG_UEBERSTEIGT"));
}

#[test]
fn a_preview_refuses_what_the_settlement_refuses() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(10_000, "", json!({"preis_je_t": 200}));
    server.set(&hof.mill.client, &[("gesperrt_bis", "2026-07-10")]);
    for (day, code) in [("2026-07-10", "ZEITRAUM_GESPERRT"), ("2031-01-01", "DATUM_UNGUELTIG")] {
        let more = json!({"beleg_datum": day});
        hof.preview("end", &[&note], more.clone()).refused(400, code);
        hof.settle("end", &[&note], more).refused(400, code);
    }
    // Nothing is stored, and no number is used.
    let seen = hof.preview("end", &[&note], json!({"abschliessen": true}));
    assert_eq!(sums(seen.is(200))[0], "2000.00");
    assert_eq!(hof.state(&note), "offen");
    assert_eq!(hof.settle("end", &[&note], json!({})).is(201)["beleg_nummer"], "ER-2026-00001");
}

#[test]
fn a_correction_may_end_below_zero_and_states_the_price_of_what_exceeds_its_contract() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(10_000, A, json!({"preis_je_t": 200}));
    hof.settle("abschlag", &[&note], json!({"abschlag": {"preis_je_t": 185}})).is(201);
    let end = hof.settle("end", &[&note], json!({}));
    let correct = |more: Value| {
        hof.post(
            &format!("{PATH}/{}/korrektur", end.is(201)["id"].as_str().unwrap()),
            and(json!({"grund": "x"}), more),
        )
    };
    let values = json!({"quelle": "labor", "werte": [{"merkmal": "besatz", "wert": 9}]});
    hof.post(&format!("/api/v1/annahmescheine/{note}/analysen"), values).is(201);
    correct(json!({})).refused(400, "ABRECHNUNG_NEGATIV");
    let corrected = correct(json!({"negativ_zulassen": true}));
    assert!(corrected.is(201)["summe_netto"].as_str().unwrap().starts_with('-'), "{}", corrected.body);
    assert!(has(&corrected, "ABSCHLAG_UEBERSTEIGT"));
}

#[test]
fn outdated_is_what_a_correction_would_pay_otherwise() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(10_000, A, json!({"preis_je_t": 200}));
    let end = hof.settle("end", &[&note], json!({}));
    let path = format!("{PATH}/{}", end.is(201)["id"].as_str().unwrap());
    let is_outdated = || hof.mill.client.get(&path).is(200)["veraltet"].clone();
    let analyse = |protein: &str| {
        let values = json!({"quelle": "labor", "werte": [{"merkmal": "protein", "wert": protein}]});
        hof.post(&format!("/api/v1/annahmescheine/{note}/analysen"), values).is(201);
    };
    server.set_clock("2026-07-25T11:00:00Z");
    // 11.8 is in the row of 11.6.
    analyse("11.8");
    assert_eq!(is_outdated(), false);
    analyse("13.0");
    assert_eq!(is_outdated(), true);
    assert_eq!(hof.mill.client.get(PATH).is(200)["data"][0]["veraltet"], true);
    analyse("11.6");
    assert_eq!(is_outdated(), false);
    // Another tax is another payment, too.
    let path = format!("/api/v1/kunden/{}", hof.mill.partner_id("Hof"));
    hof.mill.client.put(&path, json!({"steuerart": "regel", "steuerart_ab": "2026-01-01"})).is(200);
    assert_eq!(is_outdated(), true);
    hof.storno(&end).is(200);
    assert_eq!(is_outdated(), false);
}

#[test]
fn a_version_takes_no_day_that_a_settlement_used() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let scheme = hof.post(SCHEMES, wheat(json!({"gueltig_von": "2026-01-01"}))).id();
    let note = hof.note(10_000, A, json!({"preis_je_t": 200, "lieferdatum": "2026-07-20"}));
    let end = hof.settle("end", &[&note], json!({}));
    let next = |more: Value| {
        let more = and(json!({"bezeichnung": "Neu"}), more);
        hof.post(&format!("{SCHEMES}/{scheme}/versionen"), wheat(more))
    };
    let refused = next(json!({"gueltig_von": "2026-07-20"}));
    let message = refused.refused(400, "SCHEMA_ZEITRAUM")["message"].as_str().unwrap();
    assert!(message.contains(end.is(201)["beleg_nummer"].as_str().unwrap()), "{message}");
    let refused = next(json!({"gueltig_von": "2026-07-21", "gueltig_bis": "2026-12-31"}));
    assert_eq!(refused.refused(400, "SCHEMA_ZEITRAUM")["feld"], "gueltig_bis");
    next(json!({"gueltig_von": "2026-07-21"})).is(201);
    // Cancelled, its days are free again.
    hof.storno(&end).is(200);
    next(json!({"gueltig_von": "2026-07-10"})).refused(400, "SCHEMA_UEBERSCHNEIDET");
    let early = json!({"nummer": "FRUEH", "gueltig_von": "2026-01-01", "gueltig_bis": "2026-03-31"});
    let early = hof.post(SCHEMES, wheat(early)).id();
    let later = wheat(json!({"nummer": "FRUEH", "gueltig_von": "2026-05-01"}));
    let made = hof.post(&format!("{SCHEMES}/{early}/versionen"), later);
    let text = made.is(201)["hinweise"].to_string();
    assert!(
        text.contains("SCHEMA_LUECKE") && text.contains("01.04.2026") && text.contains("30.04.2026"),
        "{text}"
    );
}

#[test]
fn a_batch_has_the_price_that_is_paid_for_it_less_costs() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let drying = json!({"nr": 1, "code": "trocknung", "text": "Trocknung", "wirkung": "kosten", "regel": "fest",
        "satz": "-3.43", "einheit": "EUR/t", "bezug": "netto"});
    let scheme = wheat(json!({"schritte": [drying]}));
    hof.post(SCHEMES, scheme).is(201);
    let note = hof.with_el(24_000, "", json!({"preis_je_t": 204}));
    let price = || {
        let all = hof.mill.client.get("/api/v1/chargen/verfuegbar").is(200).clone();
        all.to_string()
    };
    let of_batch = || server.sql::<Option<i64>>("select eingang_ep from charge");
    let end = hof.settle("end", &[&note], json!({}));
    // 24 × 204.00 less 24 × 3.43, by 24,000 kg.
    assert_eq!(of_batch(), Some(200_570), "{} {}", end.is(201), price());
    let more = hof.settle("nachverguetung", &[&note], json!({"zuschlag_je_t": 10}));
    assert_eq!(of_batch(), Some(210_570));
    hof.storno(&more).is(200);
    assert_eq!(of_batch(), Some(200_570));
    hof.storno(&end).is(200);
    assert_ne!(of_batch(), Some(200_570), "nobody pays for it");
}

#[test]
fn batches_that_share_a_receipt_share_what_is_paid_for_it() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(24_000, "", json!({"preis_je_t": 204}));
    let delivery = hof.mill.client.get(&format!("/api/v1/annahmescheine/{note}")).is(200)["el_id"].clone();
    let split = |tonnes: [i64; 2]| {
        let item = |(menge, charge): (i64, &str)| json!({"artikelnr": "W", "menge": menge, "einheit": "t", "fremde_charge_nr": charge});
        let items = tonnes.into_iter().zip(["C1", "C2"]).map(item).collect::<Vec<_>>();
        hof.mill.put(delivery.as_str().unwrap(), json!(items)).is(200);
        server.sql::<String>("select group_concat(eingang_ep) from charge where bestand > 0")
    };
    split([20, 4]);
    hof.settle("end", &[&note], json!({})).is(201);
    assert_eq!(
        server.sql::<String>("select group_concat(eingang_ep) from charge where bestand > 0"),
        "204000,204000"
    );
    assert_eq!(split([6, 18]), "204000,204000");
}

#[test]
fn a_storno_in_a_locked_period_names_the_way_out() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(10_000, "", json!({"preis_je_t": 200}));
    let end = hof.settle("end", &[&note], json!({"abschliessen": false, "beleg_datum": "2026-07-22"}));
    end.is(201);
    server.set(&hof.mill.client, &[("gesperrt_bis", "2026-07-24")]);
    let refused = hof.storno(&end);
    let message = refused.refused(400, "ZEITRAUM_GESPERRT")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("abschließen"), "{message}");
    hof.mill.finalise(end.body["beleg_id"].as_str().unwrap());
    hof.storno(&end).is(200);
}

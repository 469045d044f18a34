//! The requests for steps. They contain names in place of ids.

use serde_json::{Value, json};

use super::calendar::{day_text, days};
use super::model::{STATES, file_text, given_number, partner_name};
use super::money::{price, quantity};
use super::step::{
    Ask, CONTRACT, Deed, Flaw, Goods, Grain, Head, Item, Malformed, Name, Named, PartnerChange, Small, Step,
};

pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub body: Option<Value>,
    /// Not even JSON.
    pub is_broken: bool,
}

/// A name that no record has.
pub const NOBODY: &str = "#0";

fn request(method: &'static str, path: &str, body: Option<Value>) -> Request {
    Request { method, path: format!("/api/v1/{path}"), body, is_broken: false }
}

fn post(path: &str, body: Value) -> Request {
    request("POST", path, Some(body))
}

fn put(path: &str, body: Value) -> Request {
    request("PUT", path, Some(body))
}

fn name(name: Name) -> Value {
    json!(format!("#{name}"))
}

/// The request for a step on this day in Berlin.
pub fn of(step: &Step, today: i64) -> Request {
    let reason = || json!({"grund": "Versehen"});
    match &step.deed {
        Deed::Partner { number, name } => post("kunden", partner(*number, *name)),
        Deed::Partners(names) => {
            let items: Vec<Value> = names.iter().map(|name| partner(None, *name)).collect();
            post("kunden/stapel", json!({"items": items}))
        }
        Deed::ChangePartner { partner, change, .. } => {
            put(&format!("kunden/#{partner}"), changed_partner(*change))
        }
        Deed::Document { typ, partner, items, head, flaw } => {
            document(typ, *partner, items, head, *flaw, today)
        }
        Deed::ChangeDocument { document, items, note, days_back, .. } => {
            let mut body = json!({});
            if let Some(items) = items {
                body["items"] = items.iter().map(item).collect();
            }
            note.iter().for_each(|note| body["notizen"] = json!(format!("Notiz {note}")));
            days_back.iter().for_each(|back| body["beleg_datum"] = json!(day_text(today - back)));
            put(&format!("belege/#{document}"), body)
        }
        Deed::Finish(document) => post(&format!("belege/#{document}/abschliessen"), json!({})),
        Deed::Settle(document) => post(&format!("belege/#{document}/erledigen"), json!({})),
        Deed::Cancel(document) => post(&format!("belege/#{document}/storno"), reason()),
        Deed::Archive { document, content } => {
            let paper = base64(format!("%PDF-1.4 {content}").as_bytes());
            post(&format!("belege/#{document}/pdf"), json!({"datei_base64": paper}))
        }
        Deed::Batch { article, number } => {
            let number = number.map(|number| format!("LAGER-{number}"));
            post("chargen", json!({"artikel_id": name(*article), "charge_nr": number}))
        }
        Deed::LockBatch { batch, is_locked } => put(
            &format!("chargen/#{batch}"),
            json!({"gesperrt": is_locked, "sperrgrund": is_locked.then_some("Käfer")}),
        ),
        Deed::CountBatch { batch, stock } => post(&format!("chargen/#{batch}/inventur"), count(*stock)),
        Deed::CountArticle { article, stock } => post(&format!("artikel/#{article}/inventur"), count(*stock)),
        Deed::Weighing { partner, first } => {
            post("wiegungen", json!({"waage_id": 1, "gewicht_erst_kg": first, "partner_id": name(*partner)}))
        }
        Deed::SecondWeighing { weighing, second } => {
            put(&format!("wiegungen/#{weighing}/zweitwiegung"), json!({"gewicht_zweit_kg": second}))
        }
        Deed::CancelWeighing(weighing) => put(&format!("wiegungen/#{weighing}/storno"), reason()),
        Deed::Attach { partner, content } => {
            let content_64 = base64(file_text(*content).as_bytes());
            let body = json!({"dateiname": format!("{content}.txt"), "inhalt_base64": content_64});
            post(&format!("kunden/#{partner}/dokumente"), body)
        }
        Deed::Receipt { partner, grain } => post("annahmescheine", receipt(*partner, grain)),
        Deed::CancelReceipt(receipt) => put(&format!("annahmescheine/#{receipt}/storno"), reason()),
        Deed::Order(day) => {
            let day = day.map(|day| day_text(today + day));
            post("produktionsauftraege", json!({"produktions_datum": day, "bezeichnung": "Mischung"}))
        }
        Deed::TurnOrder { order, to } => {
            put(&format!("produktionsauftraege/#{order}/status"), json!({"status": STATES[*to]}))
        }
        Deed::Foreign(ask, name) => foreign(*ask, *name),
        Deed::Malformed(malformed) => malformed_request(*malformed),
        Deed::Small(small) => small_request(*small),
        Deed::Again { .. }
        | Deed::Import(_)
        | Deed::ImportCounts(_)
        | Deed::SwitchSmallKey
        | Deed::World(_) => unreachable!("no request of its own"),
    }
}

/// The path of a form below that of the company, and the input of a person.
pub fn form(step: &Step) -> (String, Vec<(&'static str, String)>) {
    let counted =
        |stock: i64| vec![("bestand", quantity(stock).replace('.', ",")), ("grund", "Zählung".to_owned())];
    match step.deed {
        Deed::ChangePartner { partner, change: PartnerChange::Place(place), .. } => {
            (format!("partner/#{partner}/aendern"), vec![("ort", format!("Ort {place}"))])
        }
        Deed::CountBatch { batch, stock } => (format!("chargen/#{batch}/inventur"), counted(stock)),
        Deed::CountArticle { article, stock } => (format!("artikel/#{article}/inventur"), counted(stock)),
        Deed::Cancel(document) => {
            (format!("belege/#{document}/storno"), vec![("grund", "Versehen".to_owned())])
        }
        _ => unreachable!("it has no form"),
    }
}

/// The rows of a file.
pub fn import(rows: &[(u32, Option<u32>)]) -> Value {
    rows.iter()
        .map(|(number, name)| match name {
            Some(_) => partner(Some(*number), *name),
            None => json!({"kundennr": given_number(*number)}),
        })
        .collect()
}

fn partner(number: Option<u32>, name: Option<u32>) -> Value {
    json!({"kundennr": number.map(given_number), "name": name.map(partner_name),
        "partner_typen": ["kunde", "lieferant"]})
}

fn changed_partner(change: PartnerChange) -> Value {
    match change {
        PartnerChange::Name(name) => json!({"name": partner_name(name)}),
        PartnerChange::Place(place) => json!({"ort": format!("Ort {place}")}),
        PartnerChange::Inactive(is) => json!({"status": if is { "inaktiv" } else { "aktiv" }}),
        PartnerChange::Nothing => json!({"staat": "DE"}),
    }
}

fn receipt(partner: Name, grain: &Grain) -> Value {
    let tenths = |number: i64| json!(format!("{}.{}", number / 10, number % 10));
    json!({"partner_id": name(partner), "artikel_id": "#1", "anliefermenge_kg": grain.delivered,
        "feuchte_prozent": tenths(grain.moisture), "basisfeuchte_prozent": tenths(grain.base_moisture),
        "schwundfaktor": tenths(grain.factor), "besatz_prozent": tenths(grain.dirt),
        "basisbesatz_prozent": tenths(grain.base_dirt), "sonstige_abzuege_kg": grain.deducted,
        "preis_je_t": price(grain.price), "el_erzeugen": grain.lot.is_some(),
        "fremde_charge_nr": grain.lot.map(|lot| format!("F-{lot}"))})
}

fn count(stock: i64) -> Value {
    json!({"bestand": quantity(stock), "grund": "Zählung"})
}

fn item(item: &Item) -> Value {
    let mut body = match item.article {
        Some(article) => json!({"artikel_id": name(article)}),
        None => json!({"bezeichnung": "Fracht"}),
    };
    match item.weighing {
        Some(weighing) => body["wiegung_id"] = name(weighing),
        None => body["menge"] = json!(quantity(item.quantity)),
    }
    if item.in_tonnes {
        body["einheit"] = json!("t");
    }
    item.price.iter().for_each(|of| body["ep_netto"] = json!(price(*of)));
    item.rate.iter().for_each(|rate| body["mwst_satz"] = json!(rate));
    if item.discount > 0 {
        body["rabatt_prozent"] = json!(item.discount);
    }
    if item.goods == Goods::StayOut {
        body["lager_buchen"] = json!(false);
    }
    if item.has_contract {
        body["kontrakt_id"] = name(CONTRACT);
    }
    match item.batch {
        Named::Nothing => {}
        Named::Charge(batch) => body["charge_id"] = name(batch),
        Named::Foreign(number) => body["fremde_charge_nr"] = json!(format!("F-{number}")),
        Named::Dated(day) => body["mhd"] = json!(day_text(days(2040, 1, 1) + day)),
    }
    body
}

fn document(
    typ: &str,
    partner: Name,
    items: &[Item],
    head: &Head,
    flaw: Option<Flaw>,
    today: i64,
) -> Request {
    let mut body = json!({"beleg_typ": typ, "kunden_id": name(partner)});
    body["items"] = items.iter().map(item).collect();
    head.reference.iter().for_each(|reference| body["external_ref"] = json!(format!("ref-{reference}")));
    head.note.iter().for_each(|note| body["notizen"] = json!(format!("Notiz {note}")));
    if head.days_back != 0 {
        body["beleg_datum"] = json!(day_text(today - head.days_back));
    }
    if head.is_final {
        body["abschliessen"] = json!(true);
    }
    flaw.iter().for_each(|flaw| spoil(&mut body, *flaw, today));
    Request { is_broken: flaw == Some(Flaw::NoJson), ..post("belege", body) }
}

/// Puts a flaw into the body of a document.
fn spoil(body: &mut Value, flaw: Flaw, today: i64) {
    match flaw {
        Flaw::NoJson => {}
        Flaw::NoItems => body["items"] = json!([]),
        Flaw::NoQuantity => body["items"][0] = json!({"artikel_id": "#3", "menge": 0}),
        Flaw::UnknownArticle => body["items"][0] = json!({"artikelnr": "nie", "menge": 1}),
        Flaw::InactiveArticle => body["items"][0] = json!({"artikel_id": "#4", "menge": 1}),
        Flaw::NoBatch => {
            (body["beleg_typ"], body["items"][0]) = (json!("LS"), json!({"artikel_id": "#1", "menge": 1}));
        }
        Flaw::UnknownPartner => body["kunden_id"] = json!(NOBODY),
        Flaw::ForeignPartner => body["kunden_id"] = json!("#5"),
        Flaw::NoPartner => body["kunden_id"] = Value::Null,
        Flaw::FarDay => body["beleg_datum"] = json!(day_text(today + 400)),
        Flaw::Comma => body["items"][0]["menge"] = json!("1,5"),
        Flaw::HugeDiscount => body["items"][0]["rabatt_prozent"] = json!(101),
        Flaw::Type => body["beleg_typ"] = json!("XY"),
    }
}

fn foreign(ask: Ask, of: Name) -> Request {
    match ask {
        Ask::Partner => request("GET", &format!("kunden/#{of}"), None),
        Ask::ChangePartner => put(&format!("kunden/#{of}"), json!({"ort": "X"})),
        Ask::Document => request("GET", &format!("belege/#{of}"), None),
        Ask::CancelDocument => post(&format!("belege/#{of}/storno"), json!({"grund": "x"})),
        Ask::Batch => request("GET", &format!("chargen/#{of}"), None),
        Ask::CountBatch => post(&format!("chargen/#{of}/inventur"), count(1_000)),
        Ask::Weighing => request("GET", &format!("wiegungen/#{of}"), None),
        Ask::SecondWeighing => put(&format!("wiegungen/#{of}/zweitwiegung"), json!({"gewicht_zweit_kg": 5})),
    }
}

fn malformed_request(malformed: Malformed) -> Request {
    match malformed {
        Malformed::Path => request("GET", "nichts", None),
        Malformed::Method => request("DELETE", "kunden", None),
        Malformed::Parameter => request("GET", "kunden?sucht=a", None),
        Malformed::Limit => request("GET", "belege?limit=-1", None),
        Malformed::Day => request("GET", "belege?von=2026-02-30", None),
        Malformed::Id => request("GET", "belege/17", None),
        Malformed::Status => request("GET", "belege?status=weg", None),
    }
}

fn small_request(small: Small) -> Request {
    match small {
        Small::Countries => request("GET", "laender?limit=1", None),
        Small::Documents => request("GET", "belege?limit=0", None),
        Small::Partners => request("GET", "kunden", None),
        Small::Write => post("kunden", json!({"name": "X"})),
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

//! Batches: the list with its search, a record with its stock, movements and history, and its correction.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::goods::chargen::{self, Auswahl, Charge, Wovon};
use crate::leitstand::kit::akteure::named;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields::{self, elsewhere};
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{
    ROWS, Table, amount, facts, field, in_unit, linked, made_from, moment, optional, or_blank, signed, table,
};
use crate::leitstand::kit::{frame, line};
use crate::master::{artikel, laender};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::day::{Day, DayTime};
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::text::case_key;
use crate::rules::verweis::parse_uuid;
use crate::trade::herkunft::{self, Buchung};

pub const SHELF_LIFE_SOON_DAYS: i64 = 30;

const WHICH: [(&str, &str); 3] = [
    ("bestand", "mit Bestand"),
    ("bald", "mit Bestand, haltbar höchstens noch 30 Tage"),
    ("abgelaufen", "mit Bestand, abgelaufen"),
];

pub fn columns<'t>(today: Day, table: Table<'t, Charge>) -> Table<'t, Charge> {
    table
        .text("Charge", |charge| {
            format!("{}{}", charge.charge_nr, if charge.gesperrt { " (gesperrt)" } else { "" })
        })
        .sorts("charge_nr")
        .text("Nummer des Lieferanten", |charge| or_blank(&charge.fremde_charge_nr))
        .text("Artikel", |charge| charge.artikel_bezeichnung.clone())
        .text("Lieferant", |charge| or_blank(&charge.partner_name))
        .text("Haltbar bis", move |charge| optional(charge.mhd, |mhd| shelf_life(mhd, today)))
        .sorts("mhd")
        .numbers("Bestand", |charge| in_unit(amount(charge.bestand), charge.einheit.as_deref()))
}

fn shelf_life(DayTime(mhd): DayTime, today: Day) -> String {
    format!("{}{}", mhd.german(), if mhd < today { " (abgelaufen)" } else { "" })
}

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let (query, auswahl) = (request.query_of("/api/v1/chargen")?, auswahl(request, db)?);
    if let Some(file) = list_file::asked(&query, "chargen", |page| chargen::list(&db.tx, &auswahl, page))? {
        return Ok(file);
    }
    let found = chargen::list(&db.tx, &auswahl, lists::page_of(request))?;
    let list = List {
        empty: "Keine Chargen gefunden. Chargen entstehen mit Einkaufsbelegen, Annahmen, der Produktion und \
         dem Import; vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "suche", "Nummer, eigene oder fremde", "search"))
            (filter(request, "artikelnr", "Nummer des Artikels", "text"))
            (filter_choice(request, "welche", "Welche", WHICH))
        },
        keeps: &[("artikel_id", "von", "bestand")],
        order: default_order(request),
        ..List::of("chargen", "Chargen", |charge: &Charge| charge.id, &found)
    };
    lists::page(request, db, list, |table| columns(db.tx.today(), table))
}

/// The filter of the list; the number of an unknown article finds nothing.
fn auswahl(request: &PageRequest, db: &Snapshot<'_>) -> Result<Auswahl> {
    let today = db.tx.today();
    let by_number = request.filled_param("artikelnr").map(|number| artikel::find_by_number(&db.tx, number));
    let by_number = by_number.transpose()?;
    let by_number = by_number.map(|found| found.first().map_or(Uuid::nil(), |artikel| artikel.id));
    let mhd_bis = match request.param("welche") {
        "bald" => Some(Day::of_number(today.number() + SHELF_LIFE_SOON_DAYS)),
        "abgelaufen" => Some(Day::of_number(today.number() - 1)),
        _ => None,
    };
    Ok(Auswahl {
        suche: request.filled_param("suche").map(case_key),
        artikel: by_number.or(parse_uuid(request.param("artikel_id"))),
        mit_bestand: !request.param("welche").is_empty(),
        mhd_bis,
        sortierung: lists::sorted(request, chargen::SORTIERUNG).or(Some(default_order(request))),
        ..Auswahl::default()
    })
}

/// The default order: newest first, or by best-before date if only batches in stock are shown.
fn default_order(request: &PageRequest) -> &'static str {
    if request.param("welche").is_empty() { "-created_at" } else { "mhd" }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("chargen", charge.id);
    let begin = Day::in_berlin(charge.created_at);
    let unit = charge.einheit.as_deref().unwrap_or_default();
    let body = html! {
        div.tiles {
            div.tile { "Bestand" @if !unit.is_empty() { " (" (unit) ")" } strong { (amount(charge.bestand)) } }
            @if let Some(grund) = &charge.sperrgrund { div.tile { "Gesperrt" strong { (grund) } } }
            @if let Some(mhd) = charge.mhd { div.tile { "Haltbar bis" strong { (shelf_life(mhd, db.tx.today())) } } }
        }
        (facts(&facts_of(&charge)))
        p.actions {
            a.button href=(format!("{here}/herkunft")) { "Woher und wohin" }
            @if request.may_change() {
                a.button href=(format!("{here}/berichtigen")) { "Berichtigen" }
                a.button href=(format!("{here}/inventur")) { "Bestand zählen" }
                @if charge.gesperrt { a.button href=(format!("{here}/freigeben")) { "Freigeben" } }
                @else { a.button.danger href=(format!("{here}/sperren")) { "Sperren" } }
            }
            (request.links([
                (Some(charge.artikel_id), "bestand", "Artikel"),
                (charge.partner_id, "partner", "Lieferant")
            ]))
        }
        h2 { "Bestand über die Zeit" }
        (line::stock(&db.tx, Wovon::Charge(charge.id), Some(begin), charge.bestand, unit)?)
        (movements(request, db, charge.id, &here, unit)?)
        (history(request, db, charge.id)?)
    };
    Ok(frame::page(request, &format!("Charge {}", charge.charge_nr), body))
}

fn facts_of(charge: &Charge) -> Vec<(&'static str, String)> {
    let came = |menge| in_unit(amount(menge), charge.einheit.as_deref());
    let own = [
        ("artikel_bezeichnung", charge.artikel_bezeichnung.clone()),
        ("partner_name", or_blank(&charge.partner_name)),
        ("eingang_menge", optional(charge.eingang_menge, came)),
        ("eingang_quelle", quelle(charge.eingang_quelle).to_owned()),
    ];
    let tiles =
        elsewhere(["charge_nr", "mhd", "bestand", "einheit", "gesperrt", "sperrgrund", "artikelnummer"]);
    fields::facts_of(charge, &[&own[..], &tiles].concat())
}

fn quelle(quelle: EingangQuelle) -> &'static str {
    match quelle {
        EingangQuelle::Beleg => "Beleg",
        EingangQuelle::Produktion => "Produktion",
        EingangQuelle::Manuell => "Eingabe von Hand oder Import",
    }
}

fn movements(request: &PageRequest, db: &Snapshot<'_>, id: Uuid, here: &str, unit: &str) -> Result<Markup> {
    let found = herkunft::movements(&db.tx, id, ROWS, request.list_page() * ROWS)?;
    let to = |moved: &Buchung| match (moved.beleg_id, moved.pa_id) {
        (Some(beleg), _) => request.page_of("belege", beleg),
        (None, Some(auftrag)) => request.page_of("produktion", auftrag),
        (None, None) => String::new(),
    };
    let what = |moved: &Buchung| match (moved.beleg_typ, moved.pa_id, &moved.inventur) {
        (Some(typ), ..) => typ.bezeichnung(),
        (None, Some(_), _) => "Produktion",
        (None, None, Some(_)) => "Inventur",
        (None, None, None) => "Anfangsbestand",
    };
    let name = |moved: &Buchung| {
        let named = moved.nummer.as_ref().or(moved.inventur.as_ref());
        named.cloned().unwrap_or_else(|| what(moved).to_owned())
    };
    let empty = "Noch keine. Bestand buchen Belege, die Produktion, Inventuren und der Import.";
    Ok(html! {
        h2 { "Bewegungen" }
        (linked("Bewegungen, die neuesten zuerst", empty, &found, to)
            .text("Beleg, Auftrag oder Grund", name)
            .text("Was", |moved| what(moved).to_owned())
            .text("Wann", |moved| moment(moved.am))
            .text("Partner", |moved| or_blank(&moved.partner))
            .numbers("Menge", |moved| in_unit(signed(moved.menge), Some(unit))))
        (pager(request, here, herkunft::count_movements(&db.tx, id)?))
    })
}

/// The values before each correction, newest first.
fn history(request: &PageRequest, db: &Snapshot<'_>, id: Uuid) -> Result<Markup> {
    let found = chargen::corrections(&db.tx, id, Page { limit: Some(ROWS), offset: 0 })?;
    let found = named(request, db, found.rows, |before| before.key_id.as_deref())?;
    Ok(html! {
        h2 { "Verlauf" }
        (table("Frühere Angaben, die neuesten zuerst", "Es ist nichts berichtigt worden.", &found)
            .text("Berichtigt am", |(before, _)| moment(before.am))
            .text("Von", |(_, who)| who.clone())
            .text("Haltbar bis vorher", |(before, _)| optional(before.mhd, Day::german))
            .text("Nummer des Lieferanten vorher", |(before, _)| or_blank(&before.fremde_charge_nr))
            .text("Herkunftsland vorher", |(before, _)| {
                optional(before.herkunftsland.as_deref(), laender::name_de).to_owned()
            })
            .text("Gesperrt vorher", |(before, _)| or_blank(&before.sperrgrund)))
    })
}

pub fn show_correct(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let asked: Vec<_> = fields::asked(Some(&charge)).collect();
    let names: Vec<_> = asked.iter().map(|field| field.name).collect();
    let inside = html! {
        (made_from(request, "version", charge.version))
        p { "Was über " (charge.charge_nr) " falsch notiert war. Der Bestand bleibt, wie er ist; die Angaben von "
            "vorher bleiben im Verlauf. Abgeschlossene Belege ändern sich nicht." }
        (fields::groups(&[chargen::ANGABEN], &asked, |field| fields::input(request, field, &charge)))
    };
    frame::form_page(request, "Charge berichtigen", &names, inside, "Berichtigen", false)
}

pub fn correct(request: &PageRequest) -> Result<FirmaChange> {
    put(request, &Value::Object(fields::body_of::<Charge>(request)), "Die Charge ist berichtigt.")
}

pub fn show_lock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", charge.version))
        p {
            "Aus " (charge.charge_nr) " (" (charge.artikel_bezeichnung) ", "
            (in_unit(amount(charge.bestand), charge.einheit.as_deref())) ") kann dann nichts mehr "
            "geliefert, verkauft oder verarbeitet werden, und kein Beleg nimmt sie von selbst. Rücknahmen, \
             Stornos und Inventuren bleiben "
            "möglich; was schon ausgeliefert ist, zeigt „Woher und wohin“."
        }
        (field(request, "sperrgrund", "Grund der Sperre", "text", "", "off"))
    };
    frame::form_page(request, "Charge sperren", &["sperrgrund"], inside, "Sperren", true)
}

pub fn lock(request: &PageRequest) -> Result<FirmaChange> {
    put(
        request,
        &json!({"gesperrt": true, "sperrgrund": request.filled("sperrgrund")}),
        "Die Charge ist gesperrt.",
    )
}

pub fn show_unlock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", charge.version))
        p {
            (charge.charge_nr) " ist gesperrt: " strong { (or_blank(&charge.sperrgrund)) }
            ". Danach kann sie wieder hinaus; der Grund bleibt im Verlauf."
        }
    };
    frame::form_page(request, "Charge freigeben", &[], inside, "Freigeben", false)
}

pub fn unlock(request: &PageRequest) -> Result<FirmaChange> {
    put(request, &json!({"gesperrt": false}), "Die Charge ist wieder frei.")
}

fn put(request: &PageRequest, body: &Value, note: &'static str) -> Result<FirmaChange> {
    request.change_record(Method::Put, "chargen/{id}", body, "chargen", note)
}

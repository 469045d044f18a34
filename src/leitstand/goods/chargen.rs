//! Batches: the list with its search, one with its stock, movements and history, and its correction.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::goods::chargen::{self, Auswahl, Charge, Wovon};
use crate::leitstand::kit::akteure::named;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{Ask, Snapshot};
use crate::leitstand::kit::parts::{
    ROWS, Table, amount, choice, facts, field, in_unit, linked, made_from, moment, optional, or_blank, pager,
    price, signed, table,
};
use crate::leitstand::kit::{frame, line};
use crate::master::{artikel, laender};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
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

pub fn list(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let found = chargen::list(&db.tx, &auswahl(ask, db)?, lists::page_of(ask))?;
    let list = List {
        empty: "Keine Chargen gefunden. Chargen entstehen mit Einkaufsbelegen, Annahmen, der Produktion und dem Import; vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(ask, "suche", "Nummer, eigene oder fremde", "search"))
            (filter(ask, "artikelnr", "Nummer des Artikels", "text"))
            (filter_choice(ask, "welche", "Welche", WHICH))
        },
        keeps: &[("artikel_id", "von", "bestand")],
        order: default_order(ask),
        ..List::of("chargen", "Chargen", |charge: &Charge| charge.id, &found)
    };
    let body = lists::body(ask, db, list, |table| columns(db.tx.today(), table))?;
    Ok(frame::page(ask, "Chargen", body))
}

/// What the list is filtered by; a number that no article has finds nothing.
fn auswahl(ask: &Ask, db: &Snapshot<'_>) -> Result<Auswahl> {
    let today = db.tx.today();
    let by_number = ask.filled_param("artikelnr").map(|number| artikel::find_by_number(&db.tx, number));
    let by_number = by_number.transpose()?;
    let by_number = by_number.map(|found| found.first().map_or(Uuid::nil(), |artikel| artikel.id));
    let mhd_bis = match ask.param("welche") {
        "bald" => Some(Day::of_number(today.number() + SHELF_LIFE_SOON_DAYS)),
        "abgelaufen" => Some(Day::of_number(today.number() - 1)),
        _ => None,
    };
    let order = ask.filled_param("sortierung").unwrap_or(default_order(ask));
    Ok(Auswahl {
        suche: ask.filled_param("suche").map(case_key),
        artikel: by_number.or(parse_uuid(ask.param("artikel_id"))),
        mit_bestand: !ask.param("welche").is_empty(),
        mhd_bis,
        sortierung: chargen::SORTIERUNG.iter().copied().find(|known| *known == order),
        ..Auswahl::default()
    })
}

/// The order where none was chosen: the newest, or what has to leave first.
fn default_order(ask: &Ask) -> &'static str {
    if ask.param("welche").is_empty() { "-created_at" } else { "mhd" }
}

pub fn show(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, ask.uuid(0)?)?;
    let here = ask.page_of("chargen", charge.id);
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
            @if ask.may_change() {
                a.button href=(format!("{here}/berichtigen")) { "Berichtigen" }
                a.button href=(format!("{here}/inventur")) { "Bestand zählen" }
                @if charge.gesperrt { a.button href=(format!("{here}/freigeben")) { "Freigeben" } }
                @else { a.button.danger href=(format!("{here}/sperren")) { "Sperren" } }
            }
            (ask.links([(Some(charge.artikel_id), "bestand", "Artikel"), (charge.partner_id, "partner", "Lieferant")]))
        }
        h2 { "Bestand über die Zeit" }
        (line::stock(&db.tx, Wovon::Charge(charge.id), Some(begin), charge.bestand, unit)?)
        (movements(ask, db, charge.id, &here, unit)?)
        (history(ask, db, charge.id)?)
    };
    Ok(frame::page(ask, &format!("Charge {}", charge.charge_nr), body))
}

fn facts_of(charge: &Charge) -> Vec<(&'static str, String)> {
    let came = |menge| in_unit(amount(menge), charge.einheit.as_deref());
    let id = |id: Option<i64>| optional(id, |id| id.to_string());
    vec![
        ("Artikel", charge.artikel_bezeichnung.clone()),
        ("Nummer des Artikels", or_blank(&charge.artikelnr)),
        ("Nummer des Lieferanten", or_blank(&charge.fremde_charge_nr)),
        ("Lieferant", or_blank(&charge.partner_name)),
        ("Herkunftsland", optional(charge.herkunftsland.as_deref(), laender::name_de).to_owned()),
        ("Eingang", optional(charge.eingang_menge, came)),
        ("Einkaufspreis (EUR)", optional(charge.eingang_ep, price)),
        ("Entstanden durch", quelle(charge.eingang_quelle).to_owned()),
        ("Angelegt", moment(charge.created_at)),
        ("Biozertifikat", id(charge.biozertifikat_id)),
        ("Niederlassung", id(charge.niederlassung_id)),
        ("Lagerhalle", id(charge.lagerhalle_id)),
    ]
}

fn quelle(quelle: EingangQuelle) -> &'static str {
    match quelle {
        EingangQuelle::Beleg => "Beleg",
        EingangQuelle::Produktion => "Produktion",
        EingangQuelle::Manuell => "Eingabe von Hand oder Import",
    }
}

fn movements(ask: &Ask, db: &Snapshot<'_>, id: Uuid, here: &str, unit: &str) -> Result<Markup> {
    let found = herkunft::movements(&db.tx, id, ROWS, ask.list_page() * ROWS)?;
    let to = |moved: &Buchung| match (moved.beleg_id, moved.pa_id) {
        (Some(beleg), _) => ask.page_of("belege", beleg),
        (None, Some(auftrag)) => ask.page_of("produktion", auftrag),
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
        (linked("Bewegungen, die neuesten zuerst", empty, &found, to).text("Beleg, Auftrag oder Grund", name).text("Was", |moved| what(moved).to_owned()).text("Wann", |moved| moment(moved.am)).text("Partner", |moved| or_blank(&moved.partner)).numbers("Menge", |moved| in_unit(signed(moved.menge), Some(unit))))
        (pager(ask, here, herkunft::count_movements(&db.tx, id)?))
    })
}

/// What it was before each correction, the newest first.
fn history(ask: &Ask, db: &Snapshot<'_>, id: Uuid) -> Result<Markup> {
    let found = chargen::corrections(&db.tx, id, Page { limit: Some(ROWS), offset: 0 })?;
    let found = named(ask, db, found.rows, |before| before.key_id.as_deref())?;
    Ok(html! {
        h2 { "Verlauf" }
        (table("Frühere Angaben, die neuesten zuerst", "Es ist nichts berichtigt worden.", &found).text("Berichtigt am", |(before, _)| moment(before.am)).text("Von", |(_, who)| who.clone()).text("Haltbar bis vorher", |(before, _)| optional(before.mhd, Day::german)).text("Nummer des Lieferanten vorher", |(before, _)| or_blank(&before.fremde_charge_nr)).text("Herkunftsland vorher", |(before, _)| {
                optional(before.herkunftsland.as_deref(), laender::name_de).to_owned()
            }).text("Gesperrt vorher", |(before, _)| or_blank(&before.sperrgrund)))
    })
}

pub fn show_correct(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, ask.uuid(0)?)?;
    let countries = laender::all().iter().map(|land| (land.iso2.as_str(), land.name_de.as_str()));
    let countries = [("", "nicht bekannt")].into_iter().chain(countries);
    let inside = html! {
        (made_from(ask, "version", charge.version))
        p { "Was über " (charge.charge_nr) " falsch notiert war. Der Bestand bleibt, wie er ist; die Angaben von "
            "vorher bleiben im Verlauf. Abgeschlossene Belege ändern sich nicht." }
        (field(ask, "mhd", "Haltbar bis", "date", &optional(charge.mhd, |day| day.0.to_string()), "off"))
        (field(ask, "fremde_charge_nr", "Nummer des Lieferanten", "text", &or_blank(&charge.fremde_charge_nr), "off"))
        (choice(ask, "herkunftsland", "Herkunftsland", countries, &or_blank(&charge.herkunftsland)))
    };
    let fields = ["mhd", "fremde_charge_nr", "herkunftsland"];
    frame::form_page(ask, "Charge berichtigen", &fields, inside, "Berichtigen", false)
}

pub fn correct(ask: &Ask) -> Result<FirmaChange> {
    let body = json!({
        "mhd": ask.filled("mhd"),
        "fremde_charge_nr": ask.filled("fremde_charge_nr"),
        "herkunftsland": ask.filled("herkunftsland"),
    });
    put(ask, &body, "Die Charge ist berichtigt.")
}

pub fn show_lock(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, ask.uuid(0)?)?;
    let inside = html! {
        (made_from(ask, "version", charge.version))
        p { "Aus " (charge.charge_nr) " (" (charge.artikel_bezeichnung) ", " (in_unit(amount(charge.bestand), charge.einheit.as_deref())) ") kann dann nichts mehr "
            "geliefert, verkauft oder verarbeitet werden, und kein Beleg nimmt sie von selbst. Rücknahmen, Stornos und Inventuren bleiben "
            "möglich; was schon ausgeliefert ist, zeigt „Woher und wohin“." }
        (field(ask, "sperrgrund", "Grund der Sperre", "text", "", "off"))
    };
    frame::form_page(ask, "Charge sperren", &["sperrgrund"], inside, "Sperren", true)
}

pub fn lock(ask: &Ask) -> Result<FirmaChange> {
    put(ask, &json!({"gesperrt": true, "sperrgrund": ask.filled("sperrgrund")}), "Die Charge ist gesperrt.")
}

pub fn show_unlock(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, ask.uuid(0)?)?;
    let inside = html! {
        (made_from(ask, "version", charge.version))
        p { (charge.charge_nr) " ist gesperrt: " strong { (or_blank(&charge.sperrgrund)) } ". Danach kann sie wieder hinaus; der Grund bleibt im Verlauf." }
    };
    frame::form_page(ask, "Charge freigeben", &[], inside, "Freigeben", false)
}

pub fn unlock(ask: &Ask) -> Result<FirmaChange> {
    put(ask, &json!({"gesperrt": false}), "Die Charge ist wieder frei.")
}

fn put(ask: &Ask, body: &Value, note: &'static str) -> Result<FirmaChange> {
    ask.change_record(Method::Put, "chargen/{id}", body, "chargen", note)
}

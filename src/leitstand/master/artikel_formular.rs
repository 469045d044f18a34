//! The form of an article with its tiers, to create or to change one.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::artikel::{Feld, groups_of};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    choice, field, form, json_number, lines, made_from, optional, or_blank, plain, plain_price, refusal,
    with_way_back, yes_or_no,
};
use crate::master::artikel::{self, Artikel};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::price::Tier;
use crate::rules::stammdaten::ArtikelStatus;

/// Blank rows for further tiers.
const BLANK_TIERS: usize = 3;

/// Most rows of tiers that are read: the interface takes 100 and refuses one more.
const TIER_ROWS_MAX: usize = 101 + BLANK_TIERS;

/// Number fields, with the values of an article.
const NUMBERS: [Feld; 3] = [
    ("preis", "Verkaufspreis netto (EUR)", |artikel| optional(artikel.preis, plain_price)),
    ("ep_netto", "Einkaufspreis netto (EUR)", |artikel| optional(artikel.ep_netto, plain_price)),
    ("mwst_satz", "Steuersatz (%)", |artikel| optional(artikel.mwst_satz, plain)),
];

const LINES: [Feld; 6] = [
    ("artikelnummer", "Nummer", |artikel| artikel.artikelnummer.clone()),
    ("bezeichnung", "Bezeichnung", |artikel| artikel.bezeichnung.clone()),
    ("bezeichnung2", "Zusatz", |artikel| or_blank(&artikel.bezeichnung2)),
    ("einheit", "Einheit", |artikel| or_blank(&artikel.einheit)),
    ("artikelnr", "Zweite Nummer", |artikel| or_blank(&artikel.artikelnr)),
    ("ean", "EAN", |artikel| or_blank(&artikel.ean)),
];

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let form = form(request, fields(request, db, &Artikel::default(), &[])?, "Anlegen", false);
    Ok(frame::page(request, "Neuer Artikel", with_way_back(form, request.of_firma("artikel"))))
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let to = request.of_firma("artikel/{id}");
    request.change(Method::Post, "/api/v1/artikel", &body(request), to, "Der Artikel ist angelegt.")
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, request.uuid(0)?)?;
    let tiers = artikel::tiers(&db.tx, artikel.id)?;
    let inside = html! {
        (made_from(request, "version", artikel::VERLAUF.version(&db.tx, artikel.id)?))
        (fields(request, db, &artikel, &tiers)?)
    };
    let form = form(request, inside, "Speichern", false);
    let back = request.page_of("artikel", artikel.id);
    Ok(frame::page(request, &format!("{} ändern", artikel.bezeichnung), with_way_back(form, back)))
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    request.change_record(Method::Put, "artikel/{id}", &body(request), "artikel", "Der Artikel ist geändert.")
}

fn fields(request: &PageRequest, db: &Snapshot<'_>, artikel: &Artikel, tiers: &[Tier]) -> Result<Markup> {
    let none = [(String::new(), "keine".to_owned())];
    let groups = none.into_iter().chain(groups_of(db)?);
    let group = optional(artikel.artikelgruppe_id, |id| id.to_string());
    let states = ArtikelStatus::ALL.iter().map(|status| (status.text(), status.text()));
    let tiers = tiers_shown(request, tiers);
    let names: Vec<String> =
        names().map(str::to_owned).chain((0..tiers.len()).flat_map(tier_names)).collect();
    Ok(html! {
        (refusal(request, &names.iter().map(String::as_str).collect::<Vec<_>>()))
        p.soft { "Nummer und Bezeichnung braucht jeder Artikel; alles andere kann leer bleiben." }
        fieldset.fields { legend { "Artikel" }
            @for (name, label, value) in LINES { (field(request, name, label, "text", &value(artikel), "off")) }
            (choice(request, "artikelgruppe_id", "Gruppe", groups, &group))
            (choice(request, "status", "Status", states, artikel.status.text()))
            (choice(
                request,
                "chargenpflichtig",
                "Chargenpflichtig",
                [("nein", "nein"), ("ja", "ja")],
                &yes_or_no(artikel.chargenpflichtig)
            ))
        }
        fieldset.fields { legend { "Preise" }
            @for (name, label, value) in NUMBERS { (field(request, name, label, "text", &value(artikel), "off")) }
        }
        fieldset.pairs { legend { "Staffelpreise" }
            @for (at, (ab_menge, preis)) in tiers.iter().enumerate() {
                @let [ab, eur] = tier_names(at);
                (field(request, &ab, &format!("Ab Menge ({})", at + 1), "text", ab_menge, "off"))
                (field(request, &eur, &format!("Preis netto (EUR, {})", at + 1), "text", preis, "off"))
            }
        }
        (lines(request, "langtext", "Beschreibung", &or_blank(&artikel.langtext)))
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    let others = ["artikelgruppe_id", "status", "chargenpflichtig", "langtext"];
    LINES.iter().chain(&NUMBERS).map(|feld| feld.0).chain(others)
}

/// The fields of a tier, as refusals of the interface name them.
fn tier_names(at: usize) -> [String; 2] {
    ["ab_menge", "preis"].map(|name| format!("staffelpreise[{at}].{name}"))
}

/// The tiers in the form, followed by blank rows.
fn tiers_shown(request: &PageRequest, stored: &[Tier]) -> Vec<(String, String)> {
    let shown = match request.is_sent("token") {
        true => tiers_sent(request),
        false => stored.iter().map(|tier| (plain(tier.ab_menge), plain_price(tier.preis))).collect(),
    };
    shown.into_iter().chain(std::iter::repeat_n(Default::default(), BLANK_TIERS)).collect()
}

/// The tiers of the form in which something was typed.
fn tiers_sent(request: &PageRequest) -> Vec<(String, String)> {
    let rows = (0..TIER_ROWS_MAX).map(tier_names).take_while(|[ab_menge, _]| request.is_sent(ab_menge));
    let typed = rows.map(|row| row.map(|name| request.field(&name).to_owned()));
    typed.filter(|row| row.iter().any(|typed| !typed.is_empty())).map(|[ab, preis]| (ab, preis)).collect()
}

/// The body of the request.
fn body(request: &PageRequest) -> Value {
    let mut body = Map::new();
    for name in names().filter(|name| request.is_sent(name)) {
        let value = match (name, request.field(name)) {
            ("chargenpflichtig", typed) => json!(typed == "ja"),
            (_, "") => Value::Null,
            (name, typed) if NUMBERS.iter().any(|feld| feld.0 == name) => json_number(typed),
            (_, typed) => json!(typed),
        };
        body.insert(name.to_owned(), value);
    }
    if request.is_sent(&tier_names(0)[0]) {
        let tiers = tiers_sent(request).into_iter();
        let tiers =
            tiers.map(|(ab, preis)| json!({"ab_menge": json_number(&ab), "preis": json_number(&preis)}));
        body.insert("staffelpreise".to_owned(), tiers.collect());
    }
    Value::Object(body)
}

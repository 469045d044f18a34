//! The form of an article with its tiers, to create or to change one.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::artikel::groups_of;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    choice, field, form, json_number, made_from, optional, plain, plain_price, refusal, with_way_back,
};
use crate::leitstand::kit::{fields, frame};
use crate::master::artikel::{self, Artikel};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::price::Tier;

/// The field of the group, which is chosen from those that there are.
const GRUPPE: &str = "artikelgruppe_id";

/// Blank rows for further tiers.
const BLANK_TIERS: usize = 3;

/// Most rows of tiers that are read: the interface takes 100 and refuses one more.
const TIER_ROWS_MAX: usize = 101 + BLANK_TIERS;

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let form = form(request, form_fields(request, db, &Artikel::default(), &[])?, "Anlegen", false);
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
        (form_fields(request, db, &artikel, &tiers)?)
    };
    let form = form(request, inside, "Speichern", false);
    let back = request.page_of("artikel", artikel.id);
    Ok(frame::page(request, &format!("{} ändern", artikel.bezeichnung), with_way_back(form, back)))
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    request.change_record(Method::Put, "artikel/{id}", &body(request), "artikel", "Der Artikel ist geändert.")
}

fn form_fields(
    request: &PageRequest,
    db: &Snapshot<'_>,
    artikel: &Artikel,
    tiers: &[Tier],
) -> Result<Markup> {
    let none = [(String::new(), "keine".to_owned())];
    let groups = none.into_iter().chain(groups_of(db)?);
    let group = optional(artikel.artikelgruppe_id, |id| id.to_string());
    let tiers = tiers_shown(request, tiers);
    let declared = fields::asked(Some(artikel)).map(|field| field.name);
    let names = declared.chain([GRUPPE]).map(str::to_owned);
    let names: Vec<String> = names.chain((0..tiers.len()).flat_map(tier_names)).collect();
    let asked: Vec<_> = fields::asked(Some(artikel)).collect();
    let within = |group| fields::groups(&[group], &asked, |field| fields::input(request, field, artikel));
    Ok(html! {
        (refusal(request, &names.iter().map(String::as_str).collect::<Vec<_>>()))
        p.soft { "Nummer und Bezeichnung braucht jeder Artikel; alles andere kann leer bleiben." }
        (within(artikel::STAMM))
        fieldset.fields { legend { "Gruppe" }
            (choice(request, GRUPPE, "Gruppe", groups, &group))
        }
        (within(artikel::PREISE))
        fieldset.pairs { legend { "Staffelpreise" }
            @for (at, (ab_menge, preis)) in tiers.iter().enumerate() {
                @let [ab, eur] = tier_names(at);
                (field(request, &ab, &format!("Ab Menge ({})", at + 1), "text", ab_menge, "off"))
                (field(request, &eur, &format!("Preis netto (EUR, {})", at + 1), "text", preis, "off"))
            }
        }
        (within(artikel::TEXT))
    })
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
    let mut body = fields::body_of::<Artikel>(request);
    if request.is_sent(GRUPPE) {
        body.insert(GRUPPE.to_owned(), json!(Some(request.field(GRUPPE)).filter(|id| !id.is_empty())));
    }
    if request.is_sent(&tier_names(0)[0]) {
        let tiers = tiers_sent(request).into_iter();
        let tiers =
            tiers.map(|(ab, preis)| json!({"ab_menge": json_number(&ab), "preis": json_number(&preis)}));
        body.insert("staffelpreise".to_owned(), tiers.collect());
    }
    Value::Object(body)
}

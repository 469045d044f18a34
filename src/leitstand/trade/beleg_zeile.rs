//! A position in the form of a document: its fields, the meaning of its words, its options, and its result.

use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::entwurf::{self, ARTIKEL, BOUND, OF_ARTIKEL, name};
use crate::goods::chargen::{self, Charge};
use crate::goods::kontrakte::Kontrakt;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, choice, field, in_unit, joined, number, price};
use crate::leitstand::master::artikel::name_of;
use crate::master::artikel::{self, Artikel, ArtikelZeile, Auswahl};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::listing::{PageOf, Records};
use crate::rules::document::{BelegTyp, Lagerrolle, Seite};
use crate::rules::fixed::Quantity;
use crate::rules::price::tier_price;
use crate::rules::verweis::parse_uuid;

/// Most records shown that the typed words may mean.
pub const FOUND: Page = Page { limit: Some(8), offset: 0 };

/// Most batches of an article, and most contracts of a partner, on offer.
pub const CHOICES: Page = Page { limit: Some(50), offset: 0 };

/// A position of the form.
pub struct Row<'r> {
    pub at: usize,
    pub typ: BelegTyp,
    pub kontrakte: &'r [Kontrakt],
    /// The rows that are not blank.
    pub filled: &'r [usize],
}

pub fn row(request: &PageRequest, db: &Snapshot<'_>, row: &Row<'_>) -> Result<Markup> {
    let Row { at, typ, .. } = *row;
    let artikel = entwurf::artikel(request, &db.tx, at)?;
    let artikel = artikel.as_deref();
    let text = |of: &str, label: &str| field(request, &name(at, of), label, "text", "", "off");
    let hidden = BOUND.into_iter().chain([OF_ARTIKEL, "position"]).map(|of| name(at, of));
    let is_weighed = request.filled(&name(at, "wiegung_id")).is_some();
    let has_more = ["bezeichnung", "mwst_satz"].iter().any(|of| request.filled(&name(at, of)).is_some());
    Ok(html! {
        fieldset.row id=(format!("position-{at}")) {
            legend { "Position " (at + 1) }
            @for name in hidden {
                @if let Some(value) = request.filled(&name) { input type="hidden" name=(name) value=(value); }
            }
            div.wide { (text(ARTIKEL, "Artikel")) (article_meant(request, db, at, artikel)?) }
            (text("menge", if is_weighed { "Menge (leer: wie gewogen)" } else { "Menge" }))
            (text("einheit", "Einheit"))
            (text("ep_netto", "Preis netto"))
            (text("rabatt_prozent", "Rabatt (%)"))
            div.wide.stock id=(format!("vorrat-{at}")) data-rechnet-teil { @if let Some(artikel) = artikel {
                (batch(request, db, at, typ, artikel)?)
                (contract(request, at, artikel, row.kontrakte))
            } }
            @if typ.seite() == Seite::Einkauf && typ.lagerrolle() != Lagerrolle::Keine {
                (text("fremde_charge_nr", "Charge des Lieferanten"))
                (field(request, &name(at, "mhd"), "Haltbar bis", "date", "", "off"))
            }
            details open[has_more] { summary { "Text und Steuer" }
                (text("bezeichnung", "Text statt der Bezeichnung"))
                (text("mwst_satz", "Steuersatz (%)"))
            }
            (outcome(request, db, row)?)
            @if row.filled.contains(&at) { div.wide {
                button.second type="submit" name="schritt" value=(format!("weg={at}")) {
                    "Position " (at + 1) " entfernen"
                }
            } }
        }
    })
}

/// The article that the words of a row mean.
fn article_meant(
    request: &PageRequest,
    db: &Snapshot<'_>,
    at: usize,
    artikel: Option<&Artikel>,
) -> Result<Markup> {
    let meant = artikel.map(|artikel| (artikel.id, artikel.bezeichnung.as_str()));
    let found = if meant.is_some() { Records::empty(0) } else { articles_found(request, db, at)? };
    let one = |ArtikelZeile { artikel, .. }: &ArtikelZeile| {
        (format!("{ARTIKEL}={at}={}", artikel.id), format!("{} {}", artikel.artikelnummer, name_of(artikel)))
    };
    Ok(meant_by(request, &name(at, ARTIKEL), meant, &found, one))
}

/// The articles that the words of a row may mean.
pub fn articles_found(request: &PageRequest, db: &Snapshot<'_>, at: usize) -> Result<Records<ArtikelZeile>> {
    let auswahl = Auswahl { suche: request.filled(&name(at, ARTIKEL)), ..Auswahl::default() };
    match auswahl.suche {
        Some(_) => artikel::list(&db.tx, &auswahl, FOUND),
        None => Ok(Records::empty(0)),
    }
}

/// The record that words mean, or a choice of those that they may mean: the step of each, and its label.
pub fn meant_by<T>(
    request: &PageRequest,
    field: &str,
    meant: Option<(Uuid, &str)>,
    found: &Records<T>,
    one: impl Fn(&T) -> (String, String),
) -> Markup {
    let typed = request.field(field);
    let more = found.count - found.rows.len() as i64;
    html! {
        div.meant id=(format!("gemeint-{field}")) data-rechnet-teil {
            @if let Some((id, name)) = meant {
                input type="hidden" name=(format!("{field}_id")) value=(id);
                input type="hidden" name=(format!("{field}_text")) value=(typed);
                span.unseen { "Gemeint ist " (name) }
            } @else if !found.rows.is_empty() {
                p { "Bitte auswählen:" }
                @for (step, label) in found.rows.iter().map(one) {
                    button.second type="submit" name="schritt" value=(step) { (label) }
                }
                @if more > 0 { p { "und " (more) " mehr; bitte mehr eintippen." } }
            } @else if !typed.is_empty() { p.refused { "Dazu ist nichts gefunden." } }
        }
    }
}

/// A choice of batches for an article that goes out; the one that should leave first comes first.
fn batch(
    request: &PageRequest,
    db: &Snapshot<'_>,
    at: usize,
    typ: BelegTyp,
    artikel: &Artikel,
) -> Result<Markup> {
    if typ.seite() == Seite::Einkauf || typ.lagerrolle() == Lagerrolle::Keine {
        return Ok(html! {});
    }
    let auswahl = chargen::Auswahl {
        artikel: Some(artikel.id),
        mit_bestand: true,
        sortierung: Some("mhd"),
        ..chargen::Auswahl::default()
    };
    let found: Records<Charge> = chargen::list(&db.tx, &auswahl, CHOICES)?;
    let (name, mut charges) = (name(at, "charge_id"), found.rows);
    if let Some(named) =
        parse_uuid(request.field(&name)).filter(|id| charges.iter().all(|charge| charge.id != *id))
    {
        charges.extend(chargen::find(&db.tx, named)?);
    }
    if charges.is_empty() {
        return Ok(html! {});
    }
    let today = db.tx.today();
    let words = |charge: &Charge| {
        let mhd = charge.mhd.map(|mhd| format!("haltbar bis {}", mhd.0.german()));
        let expired = charge.is_expired(today).then(|| "abgelaufen".to_owned());
        let locked = charge.gesperrt.then(|| "GESPERRT".to_owned());
        let stock = in_unit(amount(charge.bestand), charge.einheit.as_deref());
        joined([&Some(charge.charge_nr.clone()), &Some(stock), &mhd, &expired, &locked], ", ")
    };
    let none = [(String::new(), "keine genannt".to_owned())];
    let options = none.into_iter().chain(charges.iter().map(|charge| (charge.id.to_string(), words(charge))));
    Ok(choice(request, &name, "Charge (die älteste zuerst)", options, ""))
}

/// A choice of contract positions for the article.
fn contract(request: &PageRequest, at: usize, artikel: &Artikel, kontrakte: &[Kontrakt]) -> Markup {
    let of_article = kontrakte.iter().flat_map(|kontrakt| {
        let here = kontrakt.positionen.iter().filter(|position| position.artikel_id == Some(artikel.id));
        here.map(move |position| (kontrakt, position))
    });
    let options: Vec<_> = of_article
        .map(|(kontrakt, position)| {
            let open = kontrakt.offen.map(|open| {
                format!("offen {}", in_unit(amount(open), kontrakt.gesamtmenge_einheit.as_deref()))
            });
            let agreed = position.preis.map(|preis| format!("{} €", price(preis)));
            (position.id.to_string(), joined([&Some(kontrakt.kontrakt_nr.clone()), &open, &agreed], ", "))
        })
        .collect();
    let (name, none) = (name(at, "kontrakt_position_id"), (String::new(), "keiner".to_owned()));
    let named = request.filled(&name).filter(|named| options.iter().all(|(id, _)| id != named));
    let named = named.map(|named| (named.to_owned(), "der bisherige".to_owned()));
    let options: Vec<_> = [none].into_iter().chain(named).chain(options).collect();
    html! { @if options.len() > 1 { (choice(request, &name, "Kontrakt", options, "")) } }
}

pub fn text_of<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// The result of a position: its price and where that comes from, its rate and the reason, its sum and its
/// hints.
pub fn outcome(request: &PageRequest, db: &Snapshot<'_>, row: &Row<'_>) -> Result<Markup> {
    let Row { at, typ, filled, .. } = *row;
    let artikel = entwurf::artikel(request, &db.tx, at)?;
    let number_of = filled.iter().position(|filled| *filled == at);
    let tried = request
        .tried
        .as_ref()
        .zip(number_of)
        .and_then(|(tried, number)| tried["beleg"]["positionen"].get(number));
    let is_free = request.filled(&name(at, "ep_netto")).is_none()
        && !hints(request, filled).any(|(field, _)| field == name(at, "ep_netto"));
    let source = match tried.zip(artikel.as_deref()).filter(|_| is_free && typ.seite() == Seite::Verkauf) {
        Some((tried, artikel)) if is_tier_price(db, artikel, tried)? => " (Staffelpreis)",
        _ => "",
    };
    let is_here = |field: &str| {
        entwurf::parts(field).is_some_and(|(of, _)| of == at) || field == format!("items[{at}]")
    };
    Ok(html! {
        div.wide.outcome id=(format!("ergebnis-{at}")) data-rechnet-teil aria-live="polite" {
            @if let Some(tried) = tried {
                p {
                    (in_unit(amount(text_of(tried, "menge")), tried["einheit"].as_str())) " × "
                    (price(text_of(tried, "ep_netto"))) " €" (source)
                    @if text_of(tried, "rabatt_prozent") != "0.00" {
                        " − " (amount(text_of(tried, "rabatt_prozent"))) " %"
                    }
                    " = " strong { (number(text_of(tried, "gesamtpreis"))) " €" } " netto, Steuer "
                    (amount(text_of(tried, "mwst_satz"))) " %"
                    (tax_reason(text_of(tried, "steuer_kategorie")))
                }
                @for met in tried["gegenbelege"].as_array().into_iter().flatten() {
                    p.soft { "trifft " (text_of(met, "beleg_nummer")) ": " (amount(text_of(met, "menge"))) }
                }
            }
            @for (_, message) in hints(request, filled).filter(|(field, _)| is_here(field)) { p.hinweis { (message) } }
        }
    })
}

/// Whether the price of a position is that of the tier that its quantity reaches.
fn is_tier_price(db: &Snapshot<'_>, artikel: &Artikel, tried: &Value) -> Result<bool> {
    let is_own_unit = tried["einheit"].as_str() == artikel.einheit.as_deref();
    let menge = Quantity::parse(text_of(tried, "menge")).ok().filter(|_| is_own_unit);
    let tiers = artikel::tiers(&db.tx, artikel.id)?;
    let tier = menge.and_then(|menge| tier_price(&tiers, menge.value));
    Ok(tier.is_some_and(|tier| tier.to_string() == text_of(tried, "ep_netto")))
}

fn tax_reason(kategorie: &str) -> &'static str {
    match kategorie {
        "E" => ", steuerfrei",
        "AE" => ", der Kunde schuldet die Steuer",
        "K" => ", innergemeinschaftlich",
        "G" => ", Ausfuhr",
        "O" => ", nicht steuerbar",
        _ => "",
    }
}

/// The hints of a trial: the field of the form, and the sentence.
pub fn hints<'a>(request: &'a PageRequest, filled: &'a [usize]) -> impl Iterator<Item = (String, &'a str)> {
    let hints = request.tried.as_deref().and_then(|tried| tried["hinweise"].as_array());
    hints.into_iter().flatten().map(|hint| {
        let field = hint["feld"].as_str().unwrap_or_default();
        (entwurf::in_form(filled, field), text_of(hint, "message"))
    })
}

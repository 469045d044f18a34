//! A collective invoice: the deliveries of a partner that nobody has invoiced yet, ticked for the form of one invoice (D27).

use maud::{Markup, Render, html};
use uuid::Uuid;

use super::entwurf::ROWS_MAX;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::filter;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, in_unit, linked, number, optional, or_blank};
use crate::master::kunden;
use crate::platform::db::list::Page;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::document::BelegTyp;
use crate::rules::verweis::parse_uuid;
use crate::trade::annahmescheine;
use crate::trade::belege::{self, Auswahl, Beleg};

/// Most deliveries on the page: the form of the invoice has no more positions.
const DELIVERIES_MAX: u32 = ROWS_MAX as u32;

/// Most positions of a delivery that its row names.
const GOODS_MAX: usize = 3;

/// A delivery to tick.
struct Lieferung {
    beleg: Beleg,
    /// What is left of its positions, in words.
    goods: String,
    /// The goods-receipt note that made it: that is paid by a settlement.
    annahmeschein: Option<String>,
}

/// The type of the invoice, and that of the deliveries.
fn types(request: &PageRequest) -> (BelegTyp, BelegTyp) {
    match request.param("typ") {
        "ER" => (BelegTyp::Er, BelegTyp::El),
        _ => (BelegTyp::Re, BelegTyp::Ls),
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let body = match parse_uuid(request.param("kunden_id")) {
        Some(partner) => deliveries(request, db, partner)?,
        None => partners(request, db)?,
    };
    Ok(frame::page(request, "Sammelrechnung", body))
}

/// The partners with deliveries that are not invoiced.
fn partners(request: &PageRequest, db: &Snapshot<'_>) -> Result<Markup> {
    let (rechnung, lieferung) = types(request);
    let found = belege::uninvoiced(&db.tx, lieferung)?;
    let to = |of: &belege::Unberechnet| address(request, rechnung, Some(of.kunde_id));
    let empty = "Alle Lieferungen sind berechnet.";
    Ok(html! {
        p { "Mehrere Lieferungen eines Partners auf einer Rechnung: bitte den Partner wählen." }
        (linked("Partner mit Lieferungen ohne Rechnung", empty, &found, to)
            .text("Partner", |of| of.name.clone())
            .numbers("Lieferungen", |of| number(of.count))
            .text("Älteste", |of| of.ab.0.german()))
    })
}

/// The page for deliveries of one partner, or to choose the partner.
pub fn address(request: &PageRequest, rechnung: BelegTyp, partner: Option<Uuid>) -> String {
    let partner = optional(partner, |id| format!("&kunden_id={id}"));
    request.of_firma(&format!("belege/sammelrechnung?typ={}{partner}", rechnung.as_str()))
}

fn deliveries(request: &PageRequest, db: &Snapshot<'_>, partner: Uuid) -> Result<Markup> {
    let (rechnung, lieferung) = types(request);
    let kunde = kunden::find(&db.tx, partner)?.ok_or_else(|| Failure::not_found("Diesen Partner"))?;
    let Records { rows, count } = oldest(request, db, lieferung, partner)?;
    let table = linked("Lieferungen ohne Rechnung", "Hier ist alles berechnet.", &rows, |row| {
        request.page_of("belege", row.beleg.id)
    });
    let table = table
        .text("Nummer", |row| row.beleg.beleg_nummer.clone())
        .text("Geliefert", |row| row.beleg.liefertag().german())
        .text("Offen", |row| row.goods.clone())
        .with("Berechnen", false, |row| tick(request, row));
    Ok(html! {
        p { "Lieferungen " (if lieferung == BelegTyp::Ls { "an" } else { "von" }) " "
            a href=(request.page_of("partner", partner)) { (kunde.name) } ", die noch nicht berechnet sind." }
        form.filter method="get" {
            input type="hidden" name="typ" value=(rechnung.as_str());
            input type="hidden" name="kunden_id" value=(partner);
            (filter(request, "von", "Von", "date")) (filter(request, "bis", "Bis", "date"))
            button.second type="submit" { "Zeitraum wählen" }
        }
        @if count > rows.len() as i64 {
            p.note { "Gezeigt sind die ältesten " (number(rows.len())) " von " (number(count))
                ". Die übrigen kommen auf die nächste Rechnung." }
        }
        @if rows.is_empty() || !request.may_change() { (table.render()) } @else {
            (ticked(request, rechnung, &table.render()))
        }
    })
}

/// The oldest deliveries of a partner of which something is left to invoice, within the days of the page.
fn oldest(
    request: &PageRequest,
    db: &Snapshot<'_>,
    lieferung: BelegTyp,
    partner: Uuid,
) -> Result<Records<Lieferung>> {
    let day = |name: &str| Day::parse_plain(request.param(name));
    let auswahl = Auswahl {
        typen: vec![lieferung.as_str()],
        kunde: Some(partner),
        offen: true,
        von: day("von"),
        bis: day("bis"),
        sortierung: Some("beleg_datum"),
        ..Auswahl::default()
    };
    let page = Page { limit: Some(DELIVERIES_MAX), offset: 0 };
    let Records { rows, count } = belege::list::<Records<Beleg>>(&db.tx, &auswahl, page)?;
    let rows = rows.into_iter().map(|beleg| Lieferung::of(db, beleg)).collect::<Result<_>>()?;
    Ok(Records { rows, count })
}

fn ticked(request: &PageRequest, rechnung: BelegTyp, table: &Markup) -> Markup {
    let words = if rechnung == BelegTyp::Re { "Rechnung schreiben" } else { "Eingangsrechnung erfassen" };
    html! {
        form method="get" action=(request.of_firma("belege/neu")) {
            input type="hidden" name="typ" value=(rechnung.as_str());
            (table)
            p { "Auf eine Rechnung passen hier " (ROWS_MAX) " Positionen. Preise, Steuersätze und Chargen bleiben die "
                "der Lieferungen; die nächste Seite zeigt sie, gespeichert ist noch nichts." }
            button type="submit" { (words) }
        }
    }
}

fn tick(request: &PageRequest, row: &Lieferung) -> Markup {
    let label = format!("{} berechnen", row.beleg.beleg_nummer);
    html! {
        @if request.may_change() {
            input type="checkbox" name="aus" value=(row.beleg.id) aria-label=(label)
                checked[row.annahmeschein.is_none()];
        }
        @if let Some(nummer) = &row.annahmeschein { " " span.soft { (nummer) ": wird abgerechnet" } }
    }
}

impl Lieferung {
    fn of(db: &Snapshot<'_>, beleg: Beleg) -> Result<Lieferung> {
        let beleg = belege::with_positions(&db.tx, beleg.id)?;
        let left = beleg.positionen.iter().flatten().filter_map(|position| {
            let left = position.offen.flatten().filter(|left| !left.is_zero())?;
            let menge = in_unit(amount(left), position.einheit.as_deref());
            Some(format!("{menge} {}", or_blank(&position.bezeichnung)))
        });
        let left: Vec<String> = left.collect();
        let more = left.len().saturating_sub(GOODS_MAX);
        let goods = left.into_iter().take(GOODS_MAX).collect::<Vec<_>>().join(", ");
        let goods = if more > 0 { format!("{goods} und {more} weitere") } else { goods };
        let schein = annahmescheine::find_by_delivery(&db.tx, beleg.id)?;
        Ok(Lieferung { goods, annahmeschein: schein.map(|schein| schein.belegnummer), beleg })
    }
}

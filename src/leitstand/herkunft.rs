//! Where a batch came from and where it went: as a picture, as tables with the same content, as CSV for the authority.

use maud::{Markup, html};
use uuid::Uuid;

use super::page::{Ask, Seen};
use super::parts::{Cells, Column, day_text, number, table, with_unit};
use super::{frame, graph};
use crate::failure::{Failure, Result};
use crate::herkunft::{self, Beteiligter, Herkunft, Knoten};
use crate::http::reply::Reply;

/// Production orders that are walked through each way.
const DEPTH: i64 = 20;

/// Rows of a table; the CSV has all.
const ROWS: usize = 500;

const BATCH: [Column; 6] = [
    Column("Charge", false),
    Column("Artikel", false),
    Column("Stufe", true),
    Column("Auftrag", false),
    Column("Tag", false),
    Column("Menge", true),
];

const PARTNER: [Column; 6] = [
    Column("Partner", false),
    Column("Anschrift", false),
    Column("Beleg", false),
    Column("Tag", false),
    Column("Charge", false),
    Column("Menge", true),
];

fn found(ask: &Ask, seen: &Seen<'_>) -> Result<Herkunft> {
    let not_found = || Failure::not_found("Diese Charge");
    let id = Uuid::try_parse(ask.id(0)?).map_err(|_| not_found())?;
    herkunft::both_ways(&seen.tx, id, DEPTH)?.ok_or_else(not_found)
}

/// GET /leitstand/f/{firma}/chargen/{id}/herkunft
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let herkunft = found(ask, seen)?;
    let here = ask.of_firma(&format!("chargen/{}", herkunft.charge.id));
    let batches =
        |knoten: &[Knoten]| knoten.iter().take(ROWS).map(|knoten| batch(ask, knoten)).collect::<Vec<_>>();
    let partners =
        |all: &[Beteiligter]| all.iter().take(ROWS).map(|one| partner(ask, one)).collect::<Vec<_>>();
    let bilanz = &herkunft.bilanz;
    let unit = herkunft.charge.einheit.as_deref();
    let body = html! {
        p.actions {
            a.button href=(here) { "Zur Charge" }
            a.button href=(format!("{here}/csv")) { "CSV für die Behörde" }
        }
        p { "Eingang " (with_unit(bilanz.eingang, unit)) ", Abgang " (with_unit(bilanz.abgang, unit)) ", Bestand " (with_unit(bilanz.bestand, unit)) "." }
        @for hint in herkunft.hinweise.iter() { p.note { (hint.message) } }
        (graph::picture(ask, &herkunft))
        (section("Lieferanten", &PARTNER, &partners(&herkunft.lieferanten), herkunft.lieferanten.len(), "Von keinem Lieferanten."))
        (section("Woraus sie entstand", &BATCH, &batches(&herkunft.rueckwaerts), herkunft.rueckwaerts.len(), "Aus keiner anderen Charge."))
        (section("Was daraus wurde", &BATCH, &batches(&herkunft.vorwaerts), herkunft.vorwaerts.len(), "In keine andere Charge gegangen."))
        (section("Empfänger", &PARTNER, &partners(&herkunft.empfaenger), herkunft.empfaenger.len(), "An niemanden geliefert."))
    };
    Ok(frame::page(ask, &format!("Herkunft von {}", herkunft.charge.charge_nr), body))
}

fn section(title: &str, columns: &[Column], rows: &[Cells], all: usize, empty: &str) -> Markup {
    html! {
        h2 { (title) }
        (table(title, columns, rows, empty))
        @if all > rows.len() { p { "Gezeigt sind " (rows.len()) " von " (number(&all.to_string())) "; die CSV hat alle." } }
    }
}

fn batch(ask: &Ask, knoten: &Knoten) -> Cells {
    let to = ask.of_firma(&format!("chargen/{}", knoten.charge_id));
    let day = knoten.ueber.datum.map(day_text).unwrap_or_default();
    let amount = with_unit(knoten.menge, knoten.einheit.as_deref());
    let (article, order) = (knoten.artikel_bezeichnung.clone(), knoten.ueber.nummer.clone());
    Cells(to, vec![knoten.charge_nr.clone(), article, knoten.tiefe.to_string(), order, day, amount])
}

fn partner(ask: &Ask, partner: &Beteiligter) -> Cells {
    let to = ask.of_firma(&format!("partner/{}", partner.partner_id));
    let plz_ort = [&partner.plz, &partner.ort].map(|text| text.as_deref().unwrap_or_default()).join(" ");
    let address = [partner.strasse.as_deref().unwrap_or_default(), plz_ort.trim()];
    let address = address.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    let beleg = partner.beleg_nummer.clone().unwrap_or_else(|| "Anfangsbestand".to_owned());
    let day = partner.datum.map(day_text).unwrap_or_default();
    let amount = with_unit(partner.menge, partner.einheit.as_deref());
    Cells(to, vec![partner.name.clone(), address, beleg, day, partner.charge_nr.clone(), amount])
}

/// GET /leitstand/f/{firma}/chargen/{id}/csv
pub fn csv(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let path = format!("/api/v1/chargen/{}/herkunft?format=csv&tiefe=50", ask.id(0)?);
    Ok(frame::guarded(ask.get_reply(seen, &path, &[])?))
}

//! The initial values of a document's form: from the document to change, or from another document or a
//! weighing.

use uuid::Uuid;

use super::entwurf::{ARTIKEL, OF_ARTIKEL, PARTNER, ROWS_MAX, name};
use crate::goods::waage;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{optional, or_blank, plain, plain_price};
use crate::master::artikel::{self, Artikel};
use crate::master::kunden::{self, Kunde};
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Quantity;
use crate::rules::verweis::parse_uuid;
use crate::trade::belege::{self, Beleg, BelegPosition};

/// Fields of a form, as pairs of name and value.
pub type Fields = Vec<(String, String)>;

/// The `art` in the address of a new document that reverses an invoice.
pub const KORREKTUR: &str = "korrektur";

/// A document in the address that the new one follows; there may be several.
const FORMER: &str = "aus";

/// The numbers of documents in the address that the form has no room for.
pub const LEFT_OUT: &str = "uebrig";

/// The fields of a chosen partner.
pub fn partner(kunde: &Kunde) -> Fields {
    chosen(PARTNER, kunde.id, &label_of(kunde))
}

pub fn label_of(kunde: &Kunde) -> String {
    format!("{} {}", kunde.kundennr, kunde.name)
}

/// The fields of the article chosen for a row.
pub fn artikel(at: usize, artikel: &Artikel) -> Fields {
    in_place(at, in_row_of(artikel)).collect()
}

fn in_row_of(artikel: &Artikel) -> Fields {
    chosen(ARTIKEL, artikel.id, &format!("{} {}", artikel.artikelnummer, artikel.bezeichnung))
}

fn chosen(field: &str, id: Uuid, label: &str) -> Fields {
    let fields = [("", label.to_owned()), ("_id", id.to_string()), ("_text", label.to_owned())];
    fields.map(|(end, value)| (format!("{field}{end}"), value)).into()
}

fn of_partner(db: &Snapshot<'_>, id: Uuid) -> Result<Fields> {
    Ok(optional(kunden::find(&db.tx, id)?, |kunde| partner(&kunde)))
}

/// The fields of an open document to change.
pub fn of_beleg(db: &Snapshot<'_>, beleg: &Beleg) -> Result<Fields> {
    let days = [
        ("beleg_datum", Some(beleg.beleg_datum)),
        ("lieferdatum", beleg.lieferdatum),
        ("liefertermin", beleg.liefertermin),
        ("gueltig_bis", beleg.gueltig_bis),
    ];
    let days = days.map(|(name, day)| (name, optional(day, |day| day.0.to_string())));
    let texts = [
        ("fremdbelegnummer", or_blank(&beleg.fremdbelegnummer)),
        ("kontaktperson", or_blank(&beleg.kontaktperson)),
        ("notizen", or_blank(&beleg.notizen)),
        ("zahlungsziel_tage", optional(beleg.zahlungsziel_tage, |days| days.to_string())),
        ("skonto_tage", optional(beleg.skonto_tage, |days| days.to_string())),
        ("skonto_prozent", optional(beleg.skonto_prozent, plain)),
        ("vorgaenger_beleg_id", optional(beleg.vorgaenger_beleg_id, |id| id.to_string())),
    ];
    let mut fields = of_partner(db, beleg.kunde_id)?;
    fields.extend(days.into_iter().chain(texts).map(|(name, value)| (name.to_owned(), value)));
    for (at, position) in beleg.positionen.iter().flatten().enumerate() {
        fields.extend(in_place(at, of_artikel(db, position)?));
        fields.extend(of_position(position).into_iter().map(|(field, value)| (name(at, field), value)));
    }
    Ok(fields)
}

fn of_position(position: &BelegPosition) -> Vec<(&'static str, String)> {
    let id = |id: Option<Uuid>| optional(id, |id| id.to_string());
    let more = [
        ("position", position.position.to_string()),
        ("ep_netto", plain_price(position.ep_netto)),
        ("rabatt_prozent", discount(position)),
        ("mwst_satz", rate(position)),
        ("charge_id", id(position.charge_id.filter(|_| position.charge_gesendet))),
        ("fremde_charge_nr", or_blank(&position.fremde_charge_nr)),
        ("mhd", optional(position.mhd, |day| day.0.to_string())),
        ("bezug_beleg_id", id(position.bezug_beleg_id)),
        ("bezug_position_id", id(position.bezug_position_id)),
        ("wiegung_id", id(position.wiegung_id)),
        (OF_ARTIKEL, id(position.artikel_id)),
    ];
    in_row(position, position.menge).into_iter().chain(more).collect()
}

/// The tax rate if somebody set it; blank if it was derived.
fn rate(position: &BelegPosition) -> String {
    if position.satz_gesendet { plain(position.mwst_satz) } else { String::new() }
}

fn discount(position: &BelegPosition) -> String {
    if position.rabatt_prozent.is_zero() { String::new() } else { plain(position.rabatt_prozent) }
}

fn of_artikel(db: &Snapshot<'_>, position: &BelegPosition) -> Result<Fields> {
    let known = position.artikel_id.map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
    Ok(optional(known, |known| in_row_of(&known)))
}

/// The fields of a row, as the form names them.
fn in_place(at: usize, row: Fields) -> impl Iterator<Item = (String, String)> {
    row.into_iter().map(move |(field, value)| (name(at, &field), value))
}

/// The values of a position that carry over to the next document, with the quantity `menge`.
fn in_row(position: &BelegPosition, menge: Quantity) -> [(&'static str, String); 4] {
    let is_own_text = position.bezeichnung != position.artikel_name;
    [
        ("menge", plain(menge)),
        ("einheit", or_blank(&position.einheit)),
        ("bezeichnung", if is_own_text { or_blank(&position.bezeichnung) } else { String::new() }),
        ("kontrakt_position_id", optional(position.kontrakt_position_id, |id| id.to_string())),
    ]
}

/// The fields of a new document, from the document, weighing or partner in its address, if any.
pub fn of_query(request: &PageRequest, db: &Snapshot<'_>, typ: BelegTyp) -> Result<Fields> {
    let today = [("beleg_datum".to_owned(), db.tx.today().to_string())];
    let former = request.query.iter().filter(|(name, _)| name == FORMER);
    let former: Vec<Uuid> = former.filter_map(|(_, id)| parse_uuid(id)).collect();
    let fields = if !former.is_empty() {
        of_several(request, db, typ, &former)?
    } else if let Some(id) = parse_uuid(request.param("wiegung")) {
        of_weighing(db, id)?
    } else {
        parse_uuid(request.param("partner_id")).map(|id| of_partner(db, id)).transpose()?.unwrap_or_default()
    };
    Ok(fields.into_iter().chain(today).collect())
}

/// The fields of a document that follows others of one partner, in as many rows as the form has; documents that have no
/// room in it are named, and wait for the next one.
fn of_several(request: &PageRequest, db: &Snapshot<'_>, typ: BelegTyp, former: &[Uuid]) -> Result<Fields> {
    let (mut fields, mut left_out, mut rows, mut partner) = (Fields::new(), Vec::new(), 0, None);
    for id in former {
        let beleg = belege::with_positions(&db.tx, *id)?;
        let of_beleg = of_former(request, db, typ, &beleg)?;
        let is_of_partner = *partner.get_or_insert(beleg.kunde_id) == beleg.kunde_id;
        if !is_of_partner || rows > 0 && rows + of_beleg.len() > ROWS_MAX {
            left_out.push(beleg.beleg_nummer);
            continue;
        }
        for row in of_beleg {
            fields.extend(in_place(rows, row));
            rows += 1;
        }
    }
    fields.extend(partner.map(|id| of_partner(db, id)).transpose()?.unwrap_or_default());
    if let [id] = former {
        fields.push(("vorgaenger_beleg_id".to_owned(), id.to_string()));
    }
    if !left_out.is_empty() {
        fields.push((LEFT_OUT.to_owned(), left_out.join(", ")));
    }
    Ok(fields)
}

/// The rows of a document that follows another: what is left of each of its positions, bound to it, so that the rest
/// is taken over from there (D38); with negative quantities, the reversal of an invoice.
fn of_former(request: &PageRequest, db: &Snapshot<'_>, typ: BelegTyp, former: &Beleg) -> Result<Vec<Fields>> {
    let takes_back = request.param("art") == KORREKTUR;
    let positions = former.positionen.as_deref().unwrap_or_default();
    let left = belege::left_for(&db.tx, former, positions, typ, takes_back)?;
    let left = positions.iter().filter_map(|position| Some((position, *left.get(&position.position)?)));
    let left = left.filter(|(position, left)| !left.is_zero() && !position.menge.is_negative());
    let row = |(position, menge): (&BelegPosition, Quantity)| {
        let of = optional(position.artikel_id, |id| id.to_string());
        let bound = [("bezug_position_id", position.id.to_string()), (OF_ARTIKEL, of)];
        let goods = in_row(position, if takes_back { -menge } else { menge });
        let fields = goods.into_iter().chain(bound).map(|(field, value)| (field.to_owned(), value));
        Ok(of_artikel(db, position)?.into_iter().chain(fields).collect())
    };
    left.map(row).collect()
}

fn of_weighing(db: &Snapshot<'_>, id: Uuid) -> Result<Fields> {
    let wiegung = waage::found(&db.tx, id)?;
    let mut fields = of_partner(db, wiegung.partner_id)?;
    let known = wiegung.artikel_id.map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
    fields.extend(optional(known, |known| artikel(0, &known)));
    fields.push((name(0, "wiegung_id"), wiegung.id.to_string()));
    fields.push((name(0, OF_ARTIKEL), optional(wiegung.artikel_id, |id| id.to_string())));
    Ok(fields)
}

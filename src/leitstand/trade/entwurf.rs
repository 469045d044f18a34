//! Reads the form of a document: its head, its positions, and the body of the request that they make.
//!
//! The fields of a position are named `items[3].…`, as in refusals. A partner or an article is typed in
//! words. Beside them stand the record that they mean and the words for which it was found: if the words
//! change, that record no longer counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::leitstand::kit::page::PageRequest;
use crate::leitstand::kit::parts::{json_number, plain};
use crate::master::artikel::{self, Artikel};
use crate::master::kunden::{self, Kunde};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::wire::FromJson;
use crate::rules::error::{Code, Message, Refusal};
use crate::rules::verweis::parse_uuid;
use crate::trade::belege::{Beleg, BelegPosition, NewItem};

/// Most positions of a form.
pub const ROWS_MAX: usize = 100;

pub const PARTNER: &str = "partner";
pub const ARTIKEL: &str = "artikel";

/// A row in which all of these are blank is ignored.
const FILLED: [&str; 4] = [ARTIKEL, "bezeichnung", "menge", "ep_netto"];

/// Fields that bind a row to the goods of another document or a weighing; they count only while the row has
/// its original article.
pub const BOUND: [&str; 3] = ["bezug_beleg_id", "bezug_position_id", "wiegung_id"];
pub const OF_ARTIKEL: &str = "von_artikel";

const ITEM_TEXTS: [&str; 9] = [
    "einheit",
    "bezeichnung",
    "charge_id",
    "fremde_charge_nr",
    "mhd",
    "kontrakt_position_id",
    "bezug_beleg_id",
    "bezug_position_id",
    "wiegung_id",
];
const ITEM_NUMBERS: [&str; 4] = ["menge", "ep_netto", "rabatt_prozent", "mwst_satz"];

pub const HEAD_TEXTS: [&str; 8] = [
    "beleg_datum",
    "lieferdatum",
    "liefertermin",
    "gueltig_bis",
    "fremdbelegnummer",
    "kontaktperson",
    "notizen",
    "vorgaenger_beleg_id",
];
pub const HEAD_NUMBERS: [&str; 3] = ["zahlungsziel_tage", "skonto_tage", "skonto_prozent"];

/// The name of a field of the row `at`, from 0.
pub fn name(at: usize, field: &str) -> String {
    format!("items[{at}].{field}")
}

/// The row and the field that a name stands for.
pub fn parts(name: &str) -> Option<(usize, &str)> {
    let (at, field) = name.strip_prefix("items[")?.split_once("].")?;
    Some((at.parse().ok().filter(|at| *at < ROWS_MAX)?, field))
}

/// The rows that are not blank.
pub fn rows(request: &PageRequest) -> BTreeSet<usize> {
    let filled = request.form.fields.iter().filter(|(_, value)| !value.trim().is_empty());
    let filled = filled.filter_map(|(name, _)| parts(name)).filter(|(_, field)| FILLED.contains(field));
    filled.map(|(at, _)| at).collect()
}

/// The record that the words of a field mean, if it was chosen for these words.
fn chosen(request: &PageRequest, field: &str) -> Option<Uuid> {
    let is_meant = request.field(field) == request.field(&format!("{field}_text"));
    parse_uuid(request.field(&format!("{field}_id"))).filter(|_| is_meant)
}

pub fn partner(request: &PageRequest, tx: &Tx<'_>) -> Result<Option<Kunde>> {
    match (chosen(request, PARTNER), request.filled(PARTNER)) {
        (_, None) => Ok(None),
        (Some(id), _) => kunden::find(tx, id),
        (None, Some(typed)) => kunden::find_by_kundennr(tx, typed),
    }
}

/// The article of a row: the chosen one, or the only one with the typed number.
pub fn artikel(request: &PageRequest, tx: &Tx<'_>, at: usize) -> Result<Option<Arc<Artikel>>> {
    let field = name(at, ARTIKEL);
    match (chosen(request, &field), request.filled(&field)) {
        (_, None) => Ok(None),
        (Some(id), _) => artikel::find(tx, id),
        (None, Some(typed)) => {
            let mut found = artikel::find_by_number(tx, typed)?;
            Ok(found.pop().filter(|_| found.is_empty()))
        }
    }
}

/// The body of POST or PUT /belege. `stored` is the document to change; its positions keep the values that
/// the form does not show.
pub fn body(request: &PageRequest, tx: &Tx<'_>, stored: Option<&Beleg>) -> Result<Value> {
    let mut body = Map::new();
    for field in HEAD_TEXTS.into_iter().chain(HEAD_NUMBERS).filter(|field| request.is_sent(field)) {
        body.insert(field.to_owned(), value(request, field, HEAD_NUMBERS.contains(&field)));
    }
    if stored.is_none() {
        body.retain(|_, value| !value.is_null());
    }
    let message = "Bitte den Partner auswählen, oder noch einmal „Prüfen“, wenn der gefundene stimmt.";
    let partner = partner(request, tx)?.ok_or_else(|| Refusal::field(Code::KundeFehlt, PARTNER, message))?;
    body.insert("kunden_id".to_owned(), json!(partner.id));
    let items =
        rows(request).into_iter().map(|at| item(request, tx, at, stored)).collect::<Result<Vec<_>>>()?;
    body.insert("items".to_owned(), Value::Array(items));
    Ok(Value::Object(body))
}

fn value(request: &PageRequest, field: &str, is_number: bool) -> Value {
    match request.field(field) {
        typed if is_number => json_number(typed),
        "" => Value::Null,
        typed => json!(typed),
    }
}

/// An item of the body. If the form names another contract position, the stored contract goes, too; likewise the
/// reason of a tax rate with the rate.
fn item(request: &PageRequest, tx: &Tx<'_>, at: usize, stored: Option<&Beleg>) -> Result<Value> {
    let artikel = artikel(request, tx, at)?;
    let field = name(at, ARTIKEL);
    if artikel.is_none() && request.filled(&field).is_some() {
        let message = "Welcher Artikel ist gemeint? Bitte auswählen, oder noch einmal „Prüfen“, wenn der \
             gefundene stimmt.";
        return Err(Refusal::field(Code::ArtikelNichtGefunden, field, message).into());
    }
    let artikel_id = artikel.map(|artikel| artikel.id);
    let number: Option<i64> = request.field(&name(at, "position")).parse().ok();
    let was =
        stored.and_then(|beleg| beleg.positionen.as_deref()?.iter().find(|was| Some(was.position) == number));
    let mut item = match was.filter(|was| was.artikel_id == artikel_id) {
        Some(was) => as_sent(was)?,
        None => Map::new(),
    };
    let says_another = |field: &str, was: Option<String>| {
        let name = name(at, field);
        request.is_sent(&name) && request.field(&name) != was.unwrap_or_default()
    };
    if says_another(
        "kontrakt_position_id",
        was.and_then(|was| was.kontrakt_position_id).map(|id| id.to_string()),
    ) {
        item.remove("kontrakt_id");
    }
    if says_another("mwst_satz", was.map(|was| plain(was.mwst_satz))) {
        item.remove("steuer_kategorie");
    }
    item.insert("artikel_id".to_owned(), json!(artikel_id));
    for field in ITEM_TEXTS.into_iter().chain(ITEM_NUMBERS) {
        let name = name(at, field);
        if request.is_sent(&name) && !is_of_another(request, at, field, artikel_id) {
            item.insert(field.to_owned(), value(request, &name, ITEM_NUMBERS.contains(&field)));
        }
    }
    Ok(Value::Object(item))
}

/// Whether a field binds a row to goods of another article than it has now. What was bound without an article, such as
/// freight, stays without one; a weighing may get its article here.
fn is_of_another(request: &PageRequest, at: usize, field: &str, artikel: Option<Uuid>) -> bool {
    BOUND.contains(&field)
        && match parse_uuid(request.field(&name(at, OF_ARTIKEL))) {
            Some(of) => Some(of) != artikel,
            None => field != "wiegung_id" && artikel.is_some(),
        }
}

/// Rebuilds a position as its request may have named it, with the fields that a request has. A batch that nobody named is left out, so that it is
/// chosen again.
fn as_sent(position: &BelegPosition) -> Result<Map<String, Value>> {
    let Value::Object(mut item) = serde_json::to_value(position)? else {
        return Err(Failure::Broken("a position is no object".into()));
    };
    item.retain(|field, _| NewItem::FIELDS.contains(&field.as_str()));
    if !position.charge_gesendet {
        item.remove("charge_id");
    }
    // Goods at a negative price book no stock by default; nobody has declined to.
    if position.ep_netto.is_negative() {
        item.remove("lager_buchen");
    }
    Ok(item)
}

/// Renames the fields of a refusal to those of the form. The request counted only the rows that are not
/// blank.
pub fn refused(request: &PageRequest, failure: Failure) -> Failure {
    let Failure::Refused(mut refusal) = failure else { return failure };
    let rows: Vec<_> = rows(request).into_iter().collect();
    let in_form = |feld: &str| in_form(&rows, feld);
    refusal.feld = refusal.feld.as_deref().map(in_form);
    say(refusal.code, &mut refusal.message);
    for mistake in &mut refusal.fehler {
        mistake.feld = in_form(&mistake.feld);
        say(mistake.error, &mut mistake.message);
    }
    Failure::Refused(refusal)
}

/// Puts a refusal in the words of the form, if its own tell a program what to send.
fn say(code: Code, message: &mut Message) {
    let own = match code {
        Code::FeldFehlt => "Bitte ausfüllen.",
        Code::ArtikelFehlt => "Bitte einen Artikel eintragen oder einen Text.",
        Code::PreisFehlt => "Der Artikel hat keinen Preis. Bitte eintragen.",
        Code::KeinPdf => {
            "Das Blatt entsteht erst, wenn in der Verwaltung unter „Firma“ Name, Anschrift und USt-IdNr. \
             oder Steuernummer stehen."
        }
        Code::ChargeFehlt => "Der Artikel wird in Chargen geführt. Bitte die Charge angeben.",
        _ => return,
    };
    *message = own.into();
}

/// The field of the form for a field of the request.
pub fn in_form(rows: &[usize], feld: &str) -> String {
    let row = |number: usize| rows.get(number).copied().unwrap_or(number);
    let whole = feld.strip_prefix("items[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
    if let Some(number) = whole {
        return format!("items[{}]", row(number));
    }
    match (parts(feld), feld) {
        (Some((number, "artikel_id" | "artikelnr")), _) => name(row(number), ARTIKEL),
        (Some((number, "kontrakt_id")), _) => name(row(number), "kontrakt_position_id"),
        (Some((number, "steuer_kategorie")), _) => name(row(number), "mwst_satz"),
        (Some((number, field)), _) => name(row(number), field),
        (None, "kunden_id" | "kundennummer") => PARTNER.to_owned(),
        (None, feld) => feld.to_owned(),
    }
}

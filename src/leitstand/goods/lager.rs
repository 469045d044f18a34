//! Stocktaking of the store: the items to count, as a list on paper and as a form; then the differences,
//! before they are booked.

use maud::{Markup, html};
use serde_json::json;
use uuid::Uuid;

use crate::goods::chargen::{self, Lagerposten};
use crate::leitstand::kit::done::{Done, FirmaChange, Response};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::{self, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{
    ROWS, TOO_MANY, amount, cell, field, form, form_to, in_unit, joined, number, optional, refusal, signed,
    table, typed_number,
};
use crate::leitstand::master::artikel::groups_of;
use crate::master::artikel;
use crate::platform::db::list::{MAX_LIMIT, Page};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::error::{Code, Refusal, required};
use crate::rules::fixed::Quantity;
use crate::rules::verweis::parse_uuid;

const HERE: &str = "bestand/inventur";

/// Prefix of the field with the booked stock that the differences were shown against.
const SEEN: &str = "gebucht-";

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let (gruppe, on_paper) = (request.param("gruppe_id").parse().ok(), request.param("druck") == "ja");
    let page = if on_paper { Page { limit: Some(MAX_LIMIT), offset: 0 } } else { lists::page_of(request) };
    let Records { rows, count } = chargen::lager(&db.tx, gruppe, page)?;
    let here = request.of_firma(HERE);
    let is_form = request.may_change() && !on_paper && !rows.is_empty();
    let body = html! {
        form.filter method="get" {
            (filter_choice(request, "gruppe_id", "Gruppe", groups_of(db)?))
            button type="submit" { "Zeigen" }
        }
        @if on_paper {
            p { "Stand " (db.tx.today().german()) ", " (number(count))
                " Posten. Gezählt von: ____________________ am: ____________" }
            @if count > i64::from(MAX_LIMIT) {
                p { "Gezeigt sind die ersten " (number(MAX_LIMIT)) "; bitte nach Gruppen zählen." }
            }
        } @else {
            p.actions {
                a.button href=(format!("{here}?druck=ja&gruppe_id={}", optional(gruppe, |id: i64| id.to_string()))) {
                    "Liste zum Ausdrucken"
                }
            }
        }
        @if is_form {
            p { "Wo nichts eingetragen ist, wird nichts gebucht. Vor dem Buchen werden die Unterschiede \
                 gezeigt; gebucht wird eine Seite auf einmal." }
            (form(request, html! {
                (refusal(request, &rows.iter().map(name_of).chain(["grund".to_owned()]).collect::<Vec<_>>()
                    .iter().map(String::as_str).collect::<Vec<_>>()))
                (field(request, "grund", "Grund, etwa: Inventur zum Jahresende", "text", "", "off"))
                (sheet(request, &rows, true))
            }, "Unterschiede zeigen", false))
        } @else { (sheet(request, &rows, false)) }
        @if !on_paper { (pager(request, &here, count)) }
    };
    Ok(frame::page(request, "Inventur", body))
}

/// The name of the field for a count: `charge-` or `artikel-` with the id.
fn name_of(posten: &Lagerposten) -> String {
    posten.charge_id.map_or_else(|| format!("artikel-{}", posten.artikel_id), |id| format!("charge-{id}"))
}

/// The list, with a field or a blank line in each row.
fn sheet(request: &PageRequest, rows: &[Lagerposten], is_form: bool) -> Markup {
    if rows.is_empty() {
        return html! { p.empty { "Nichts zu zählen: Kein Artikel hat hier einen Bestand." } };
    }
    html! {
        div.scroll.sheet tabindex="0" role="region" aria-label="Zu zählen" { table {
            caption.unseen { "Zu zählen" }
            thead {
                tr {
                    @for head in ["Gruppe", "Nummer", "Artikel", "Charge", "Haltbar bis"] {
                        th scope="col" { (head) }
                    }
                    th.n scope="col" { "Gebucht" }
                    th scope="col" { "Gezählt" }
                }
            }
            tbody { @for posten in rows { tr {
                td data-head="Gruppe" { (optional(posten.gruppe.as_deref(), str::to_owned)) }
                td data-head="Nummer" { (posten.artikelnummer) }
                td data-head="Artikel" { (posten.bezeichnung) }
                td data-head="Charge" {
                    (optional(posten.charge_nr.as_deref(), str::to_owned))
                    @if posten.gesperrt { " (gesperrt)" }
                }
                td data-head="Haltbar bis" { (optional(posten.mhd, |day| day.0.german())) }
                td.n data-head="Gebucht" { (in_unit(amount(posten.bestand), posten.einheit.as_deref())) }
                td data-head="Gezählt" { @if is_form { (count_field(request, posten)) } @else { span.blank {} } }
            } } }
        } }
    }
}

fn count_field(request: &PageRequest, posten: &Lagerposten) -> Markup {
    let what = joined([&Some(posten.bezeichnung.clone()), &posten.charge_nr], ", ");
    cell(request, &name_of(posten), &format!("Gezählt: {what}"), "decimal")
}

/// A count of a batch or of an article: its field, its name, its unit, and the booked and counted quantities.
struct Gezaehlt {
    name: String,
    what: String,
    einheit: Option<String>,
    gebucht: Quantity,
    gezaehlt: Quantity,
}

/// Shows the differences. If they were shown before and the stock is unchanged, books every count, all or
/// none.
pub fn count(request: &PageRequest) -> Result<FirmaChange> {
    required(request.filled("grund"), "grund")?;
    let mut counts = Vec::new();
    for (name, typed) in
        request.form.fields.iter().map(|(name, typed)| (name.clone(), typed_number(typed.trim())))
    {
        let Some((path, id)) = path_of(&name).filter(|_| !typed.is_empty()) else { continue };
        let body = json!({"bestand": typed, "grund": request.filled("grund")});
        let change = request.change(Method::Post, &path, &body, String::new(), "");
        let gezaehlt = Quantity::parse(&typed).map(|parsed| parsed.value).unwrap_or_default();
        counts.push((change.map_err(|failure| at_field(failure, &name))?, id, gezaehlt, name));
    }
    if counts.len() > ROWS as usize {
        return Err(Refusal::new(Code::AnfrageUngueltig, TOO_MANY).into());
    }
    let message = "Es ist nichts gezählt. Bitte mindestens eine Menge eintragen.";
    if counts.is_empty() {
        return Err(Refusal::new(Code::FeldFehlt, message).into());
    }
    let request = request.clone();
    Ok(Box::new(move |tx| {
        let row =
            |(_, id, gezaehlt, name): &(FirmaChange, Uuid, Quantity, String)| row(tx, *id, *gezaehlt, name);
        let rows = counts.iter().map(row).collect::<Result<Vec<_>>>()?;
        let is_seen =
            |row: &Gezaehlt| request.field(&format!("{SEEN}{}", row.name)) == row.gebucht.to_string();
        if !rows.iter().all(is_seen) {
            return Ok(Done::of(Response::Once("Unterschiede", differences(&request, &rows))));
        }
        let mut notes = vec![format!("Gezählt und gebucht: {} Posten.", counts.len())];
        for (change, .., name) in &counts {
            let done = change(tx).map_err(|failure| at_field(failure, name))?;
            notes.extend(done.notes.into_iter().filter(|note| !note.is_empty()));
        }
        Ok(Done { notes, ..Done::of(Response::Redirect(request.of_firma(HERE))) })
    }))
}

/// The route that books the count of a field, and the id in it.
fn path_of(name: &str) -> Option<(String, Uuid)> {
    let (api, id) = name
        .strip_prefix("charge-")
        .map(|id| ("chargen", id))
        .or(name.strip_prefix("artikel-").map(|id| ("artikel", id)))?;
    let id = parse_uuid(id)?;
    Some((format!("/api/v1/{api}/{id}/inventur"), id))
}

/// Moves the refusal of a count to its field.
fn at_field(failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Refused(mut refusal) if refusal.feld.as_deref() != Some("grund") => {
            refusal.feld = Some(name.to_owned());
            Failure::Refused(refusal)
        }
        failure => failure,
    }
}

fn row(tx: &Tx<'_>, id: Uuid, gezaehlt: Quantity, name: &str) -> Result<Gezaehlt> {
    let (what, einheit, gebucht) = if name.starts_with("charge-") {
        let charge = chargen::found(tx, id)?;
        let einheit = artikel::must_have(tx, charge.artikel_id)?.einheit.clone();
        (format!("{}, {}", charge.artikel_bezeichnung, charge.charge_nr), einheit, charge.bestand)
    } else {
        let artikel = artikel::found(tx, id)?;
        (artikel.bezeichnung.clone(), artikel.einheit.clone(), artikel::stock(tx, id)?)
    };
    Ok(Gezaehlt { name: name.to_owned(), what, einheit, gebucht, gezaehlt })
}

/// The counts against the booked stock, with the button that books them.
fn differences(request: &PageRequest, rows: &[Gezaehlt]) -> Markup {
    let unit = |row: &Gezaehlt, menge: String| in_unit(menge, row.einheit.as_deref());
    let difference =
        |row: &Gezaehlt| optional(row.gezaehlt.minus(row.gebucht).ok(), |menge| unit(row, signed(menge)));
    let equal = rows.iter().filter(|row| row.gezaehlt == row.gebucht).count();
    let inside = html! {
        input type="hidden" name="grund" value=(request.field("grund"));
        @for row in rows {
            input type="hidden" name=(row.name) value=(request.field(&row.name));
            input type="hidden" name=(format!("{SEEN}{}", row.name)) value=(row.gebucht);
        }
    };
    html! {
        p {
            "Grund: " (request.field("grund")) ". Noch ist nichts gebucht; " (equal) " von " (rows.len())
            " Posten stimmen."
        }
        (table("Gezählt gegen gebucht", "", rows)
            .text("Was", |row| row.what.clone())
            .numbers("Gebucht", |row| unit(row, amount(row.gebucht)))
            .numbers("Gezählt", |row| unit(row, amount(row.gezaehlt)))
            .numbers("Unterschied", difference))
        (form_to(request, "", inside, "So buchen", false))
        p { "Stimmt etwas nicht, führt der Browser mit „Zurück“ zur Liste, mit allem, was eingetragen war." }
    }
}

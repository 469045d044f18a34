//! The form of a contract with its positions, to create or to change one. Partner and articles are chosen in
//! earlier steps.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::goods::abrechnungsschemata::{self, Kopf};
use crate::goods::kontrakte::{self, Kontrakt, VERLAUF};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    choice, field, form, json_number, made_from, optional, or_blank, plain, plain_price, refusal,
    with_way_back,
};
use crate::leitstand::kit::{fields, frame, wahl};
use crate::master::{artikel, kunden};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::day::DayTime;
use crate::rules::field::Field;
use crate::rules::verweis::parse_uuid;

/// Blank rows for further positions.
const BLANK_ROWS: usize = 3;

/// Most rows of positions. A contract with more shows none of them.
const ROWS_MAX: usize = 100;

/// The field of the partner, who is chosen in a step of his own.
const PARTNER: &str = "partner_id";

/// Parameters set by the steps before the form.
const KEEPS: [&str; 3] = [PARTNER, "artikel_id", "waehlen"];

/// The fields of a position, as the interface names them; the first two are not typed.
const ROW: [&str; 5] = ["id", "position", "artikelnr", "menge", "preis"];

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kontrakt = Kontrakt { erfassungsdatum: Some(DayTime(db.tx.today())), ..Kontrakt::default() };
    show(request, db, &kontrakt, "Neuer Kontrakt", html! {})
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let to = request.of_firma("kontrakte/{id}");
    request.change(Method::Post, "/api/v1/kontrakte", &body(request), to, "Der Kontrakt ist angelegt.")
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kontrakt = kontrakte::complete(&db.tx, request.uuid(0)?)?;
    let version = made_from(request, "version", VERLAUF.version(&db.tx, kontrakt.id)?);
    show(request, db, &kontrakt, &format!("Kontrakt {} ändern", kontrakt.kontrakt_nr), version)
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    request.change_record(
        Method::Put,
        "kontrakte/{id}",
        &body(request),
        "kontrakte",
        "Der Kontrakt ist geändert.",
    )
}

fn show(
    request: &PageRequest,
    db: &Snapshot<'_>,
    kontrakt: &Kontrakt,
    title: &str,
    version: Markup,
) -> Result<Reply> {
    let step = match request.param("waehlen") {
        "partner_id" => Some(html! { h2 { "Mit wem?" } (wahl::partner(request, db, "partner_id", &KEEPS)?) }),
        "artikel_id" => Some(html! { h2 { "Worüber?" } (wahl::artikel(request, db, "artikel_id", &KEEPS)?) }),
        _ => None,
    };
    if let Some(step) = step {
        return Ok(frame::page(request, title, step));
    }
    let chosen = |name: &str| parse_uuid(request.param(name));
    let partner = chosen("partner_id").or(kontrakt.partner_id);
    let partner = partner.map(|id| kunden::find(&db.tx, id)).transpose()?.flatten();
    let kept = KEEPS[..2].iter().filter_map(|name| Some(format!("&{name}={}", chosen(name)?)));
    let kept = kept.collect::<String>();
    let inside = html! {
        (version)
        p { "Partner: " strong { @if let Some(partner) = &partner { (partner.name) } @else { "keiner" } }
            " (" a href=(format!("?waehlen=partner_id{kept}")) { "wählen" } ")" br;
            "Einen Artikel für eine Position " a href=(format!("?waehlen=artikel_id{kept}")) { "suchen" }
            ", bevor das Formular ausgefüllt wird; oder seine Nummer unten eintragen." }
        input type="hidden" name="partner_id" value=(optional(partner.as_ref(), |partner| partner.id.to_string()));
        (form_fields(request, &db.tx, kontrakt, chosen("artikel_id"))?)
    };
    let back = if kontrakt.kontrakt_nr.is_empty() {
        request.of_firma("kontrakte")
    } else {
        request.page_of("kontrakte", kontrakt.id)
    };
    Ok(frame::page(request, title, with_way_back(form(request, inside, "Speichern", false), back)))
}

fn form_fields(
    request: &PageRequest,
    tx: &Tx<'_>,
    kontrakt: &Kontrakt,
    chosen: Option<Uuid>,
) -> Result<Markup> {
    let rows = rows(request, tx, kontrakt, chosen)?;
    let asked: Vec<_> = fields::asked(Some(kontrakt)).collect();
    let names: Vec<_> = (0..rows.len()).flat_map(names_of_row).collect();
    let names: Vec<_> =
        names.iter().map(String::as_str).chain(asked.iter().map(|field| field.name)).collect();
    let typ = or_blank(&kontrakt.kontrakt_typ);
    let schemes = schemes(tx, kontrakt)?;
    let input = |field: &Field<Kontrakt>| match field.name {
        name @ "kontrakt_typ" => choice(request, name, field.said.label, types(&typ), &typ),
        name @ "schema" => {
            let schemes = schemes.iter().map(|(nummer, words)| (nummer, words));
            choice(request, name, field.said.label, schemes, &or_blank(&kontrakt.schema))
        }
        _ => fields::input(request, field, kontrakt),
    };
    Ok(html! {
        (refusal(request, &names))
        (fields::groups(&[kontrakte::KOPF], &asked, input))
        @if rows.is_empty() { p { "Dieser Kontrakt hat so viele Positionen, dass sie nur ein Import ändert." } }
        @for (at, [id, position, values @ ..]) in rows.iter().enumerate() {
            @let [id_name, position_name, names @ ..] = names_of_row(at);
            fieldset.fields { legend { "Position " (at + 1) }
                input type="hidden" name=(id_name) value=(id);
                input type="hidden" name=(position_name) value=(position);
                @for ((name, value), label) in
                    names.iter().zip(values).zip(["Artikelnummer", "Menge", "Preis netto (EUR je Einheit)"])
                {
                    (field(request, name, label, "text", value, "off"))
                }
            }
        }
        (fields::groups(&[kontrakte::NOTIZEN], &asked, input))
    })
}

/// The kinds that a contract may have, including its own.
fn types(own: &str) -> impl Iterator<Item = (&str, &str)> {
    let known = [("", "nicht gesagt"), ("einkauf", "Einkauf"), ("verkauf", "Verkauf")];
    let is_known = known.iter().any(|(typ, _)| *typ == own);
    known.into_iter().chain((!is_known).then_some((own, own)))
}

/// The schemes that a contract may name, including its own.
fn schemes(tx: &Tx<'_>, kontrakt: &Kontrakt) -> Result<Vec<(String, String)>> {
    let named = |kopf: Kopf| (kopf.nummer.clone(), format!("{} – {}", kopf.nummer, kopf.bezeichnung));
    let mut schemes = vec![(String::new(), "nicht gesagt: das des Artikels".to_owned())];
    schemes.extend(abrechnungsschemata::choice(tx, None, None)?.into_iter().map(named));
    let own = kontrakt.schema.iter().filter(|own| !schemes.iter().any(|(nummer, _)| nummer == *own));
    let own: Vec<_> = own.map(|own| (own.clone(), own.clone())).collect();
    schemes.extend(own);
    Ok(schemes)
}

fn names_of_row(at: usize) -> [String; 5] {
    ROW.map(|name| format!("positionen[{at}].{name}"))
}

/// The rows of the form: the stored positions, the chosen article and blank rows, as many as were sent
/// before. Empty if a contract has more positions than a form holds.
fn rows(
    request: &PageRequest,
    tx: &Tx<'_>,
    kontrakt: &Kontrakt,
    chosen: Option<Uuid>,
) -> Result<Vec<[String; 5]>> {
    let number = |id: Uuid| -> Result<String> { Ok(artikel::must_have(tx, id)?.artikelnummer.clone()) };
    let mut rows = Vec::new();
    for position in &kontrakt.positionen {
        let artikel = position.artikel_id.map(number).transpose()?.unwrap_or_default();
        let (menge, preis) = (optional(position.menge, plain), optional(position.preis, plain_price));
        rows.push([position.id.to_string(), position.position.to_string(), artikel, menge, preis]);
    }
    if let Some(artikel) = chosen.map(|id| artikel::find(tx, id)).transpose()?.flatten() {
        rows.push(["", "", &artikel.artikelnummer, "", ""].map(str::to_owned));
    }
    let count = if request.is_sent("token") { sent(request).len() } else { rows.len() + BLANK_ROWS };
    rows.resize(count, Default::default());
    Ok(if kontrakt.positionen.len() > ROWS_MAX { Vec::new() } else { rows })
}

/// The rows that were sent, including blank ones.
fn sent(request: &PageRequest) -> Vec<[String; 5]> {
    let rows = (0..ROWS_MAX + 1 + BLANK_ROWS).map(names_of_row).take_while(|row| request.is_sent(&row[2]));
    rows.map(|row| row.map(|name| request.field(&name).to_owned())).collect()
}

/// The body of the request. A blank row is no position.
fn body(request: &PageRequest) -> Value {
    let text = |typed: &str| Some(typed.to_owned()).filter(|typed| !typed.is_empty());
    let mut body = fields::body_of::<Kontrakt>(request);
    if request.is_sent(PARTNER) {
        body.insert(PARTNER.to_owned(), json!(text(request.field(PARTNER))));
    }
    let rows = sent(request);
    if !rows.is_empty() {
        let typed = rows.iter().filter(|row| row[2..].iter().any(|typed| !typed.is_empty()));
        let position = |[id, position, artikelnr, menge, preis]: &[String; 5]| {
            json!({
                "id": text(id),
                "position": text(position),
                "artikelnr": text(artikelnr),
                "menge": json_number(menge),
                "preis": json_number(preis)
            })
        };
        body.insert("positionen".to_owned(), typed.map(position).collect());
    }
    Value::Object(body)
}

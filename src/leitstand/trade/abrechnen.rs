//! Settlement in the browser: lists what is owed to each supplier, lets a person tick Annahmescheine, and shows all
//! rows before anything is written. Also a calculator, for questions on the telephone.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::goods::abrechnungsschemata::{self, Gueltig, Kopf};
use crate::goods::kontrakte;
use crate::leitstand::kit::done::{Done, FirmaChange, Response, TRY, sentences, tried};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::filter;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    ROWS, TOO_MANY, amount, choice, field, form, json_number, lines, number, optional, or_blank,
    other_params, price, refusal, settled, table,
};
use crate::master::kunden;
use crate::papers::blatt::settled as rows;
use crate::platform::db::list::Page;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::error::{Code, Message, Refusal};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::settlement::{AbrechnungsPosten, Abrechnungsart, Rechnung};
use crate::rules::verweis::parse_uuid;
use crate::trade::abrechnungen::{self, Geschuldet};
use crate::trade::annahmescheine::{self, Annahmeschein, Auswahl};

/// Prefix of the name of an Annahmeschein's checkbox; its id follows.
const TICK: &str = "schein-";

/// Names of the form's checkboxes.
const FINAL: &str = "abschliessen";
const NEGATIVE: &str = "negativ_zulassen";

/// The price fields for a kind of settlement: the name of each in the interface, and its label.
fn prices(art: Abrechnungsart) -> &'static [(&'static str, &'static str)] {
    match art {
        Abrechnungsart::End => &[
            ("preis_je_t", "Preis je t (EUR); leer: wie im Kontrakt oder Annahmeschein"),
            ("rest_preis_je_t", "Preis je t (EUR) für das, was über den Kontrakt hinausgeht"),
        ],
        Abrechnungsart::Abschlag => &[
            ("abschlag.preis_je_t", "Abschlag je t (EUR)"),
            ("abschlag.prozent", "oder Abschlag in % des Wertes"),
            ("preis_je_t", "Preis je t (EUR) für diesen Wert; leer: wie im Kontrakt oder Annahmeschein"),
        ],
        Abrechnungsart::Nachverguetung => {
            &[("zuschlag_je_t", "Zuschlag je t (EUR); unter 0 eine Nachbelastung")]
        }
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let Some(partner) = parse_uuid(request.param("partner_id")) else { return suppliers(request, db) };
    let kunde = kunden::by_id(&db.tx, partner)?;
    let art = art_of(request);
    let status = match art {
        Abrechnungsart::Nachverguetung => AnnahmescheinStatus::Abgerechnet,
        _ => AnnahmescheinStatus::Offen,
    };
    let (partner, status) = (Some(kunde.id), vec![status.as_str()]);
    let kontrakt = parse_uuid(request.param("kontrakt_id"));
    let [von, bis] = ["von", "bis"].map(|name| Day::parse(request.param(name)));
    let auswahl = Auswahl { status, von, bis, partner, kontrakt, ..Auswahl::default() };
    let page = Page { limit: Some(ROWS), offset: 0 };
    let scheine: Records<Annahmeschein> = annahmescheine::list(&db.tx, &auswahl, page)?;
    let shown = &scheine.rows;
    let to = |art: Abrechnungsart| format!("?art={}{}", art.as_str(), other_params(request, &["art"]));
    let body = html! {
        p.actions { @for one in Abrechnungsart::ALL { a.button href=(to(*one)) aria-current=[(*one == art).then_some("page")] { (word(*one)) } } }
        (restriction(request, db, kontrakt)?)
        @if scheine.count > i64::from(ROWS) { p.note { "Es sind mehr \
             als " (number(ROWS)) " Annahmescheine; gezeigt sind die neuesten. Andere zeigt ein Zeitraum." } }
        (result(request))
        @if shown.is_empty() { p { "Hier gibt es nichts abzurechnen." } }
        @else if request.may_change() { (settle_form(request, art, shown)) }
        @else { (notes(request, shown)) }
    };
    Ok(frame::page(request, &format!("{}: {}", word(art), kunde.name), body))
}

/// The filter of the list: one contract, and the days of delivery.
fn restriction(request: &PageRequest, db: &Snapshot<'_>, kontrakt: Option<Uuid>) -> Result<Markup> {
    let nummer = kontrakt.map(|id| kontrakte::number(&db.tx, id)).transpose()?.flatten();
    let kept = ["partner_id", "art", "kontrakt_id"].into_iter();
    let kept = kept.filter_map(|name| Some((name, request.filled_param(name)?)));
    Ok(html! {
        @if let Some(nummer) = nummer { p { "Nur Annahmescheine auf den Kontrakt " (nummer) ". "
            a href=(format!("?{}", other_params(request, &["kontrakt_id"]).trim_start_matches('&'))) { "Alle des Lieferanten" } } }
        form.filter method="get" {
            (filter(request, "von", "Geliefert von", "date"))
            (filter(request, "bis", "bis", "date"))
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Suchen" }
        }
    })
}

fn art_of(request: &PageRequest) -> Abrechnungsart {
    Abrechnungsart::parse(request.param("art")).unwrap_or(Abrechnungsart::End)
}

fn word(art: Abrechnungsart) -> &'static str {
    match art {
        Abrechnungsart::End => "Endabrechnung",
        Abrechnungsart::Abschlag => "Abschlag",
        Abrechnungsart::Nachverguetung => "Nachvergütung",
    }
}

/// Lists what is still to be settled, by supplier and contract.
fn suppliers(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let owed = abrechnungen::owed(&db.tx, ROWS)?;
    let to = |row: &Geschuldet| {
        let kontrakt = row.kontrakt_id.map(|id| format!("&kontrakt_id={id}")).unwrap_or_default();
        format!("?partner_id={}{kontrakt}", row.partner_id.unwrap_or_default())
    };
    let body = html! {
        p.actions { a.button href=(request.of_firma("annahme/rechner")) { "Probeweise rechnen" } }
        (crate::leitstand::kit::parts::linked("Offene Annahmescheine", "Alle Annahmescheine sind \
             abgerechnet.", &owed, to)
            .text("Lieferant", |row| or_blank(&row.partner_name))
            .text("Kontrakt", |row| or_blank(&row.kontrakt_nr))
            .numbers("Scheine", |row| number(row.anzahl))
            .numbers("davon gesperrt", |row| number(row.gesperrt))
            .numbers("Netto (kg)", |row| amount(row.netto_menge_kg))
            .numbers("Wert (EUR)", |row| number(row.netto_betrag))
            .numbers("Abschläge (EUR)", |row| number(row.abschlaege)))
    };
    Ok(frame::page(request, "Annahmescheine abrechnen", body))
}

fn notes(request: &PageRequest, scheine: &[Annahmeschein]) -> Markup {
    let columns = |schein: &Annahmeschein| match annahmescheine::locks(schein) {
        Some(reasons) => html! { "gesperrt: " (reasons) },
        None => html! { @if schein.vorlaeufig { "vorläufig" } },
    };
    html! { (table("Annahmescheine", "", scheine)
    .with("Abrechnen", false, |schein| tick(request, schein))
    .text("Nummer", |schein| schein.belegnummer.clone())
    .text("Lieferdatum", |schein| optional(schein.lieferdatum, |day| day.0.german()))
    .text("Artikel", |schein| or_blank(&schein.artikel_bezeichnung))
    .numbers("Angeliefert (kg)", |schein| optional(schein.anliefermenge_kg, amount))
    .numbers("Netto (kg)", |schein| optional(schein.abgerechnet_kg.or(schein.netto_menge_kg), amount))
    .numbers("Preis je t (EUR)", |schein| optional(schein.preis_je_t, price))
    .numbers("Betrag (EUR)", |schein| optional(schein.netto_betrag, number))
    .with("Steht an", false, columns)) }
}

/// The checkbox of an Annahmeschein: ticked at first, unless it is locked until a person decides.
fn tick(request: &PageRequest, schein: &Annahmeschein) -> Markup {
    let name = format!("{TICK}{}", schein.id);
    let is_ticked = if request.is_sent("token") { request.is_sent(&name) } else { !schein.gesperrt };
    let label = format!("{} abrechnen", schein.belegnummer);
    html! { @if request.may_change() { input type="checkbox" name=(name) value="ja" aria-label=(label) checked[is_ticked]; } }
}

fn settle_form(request: &PageRequest, art: Abrechnungsart, scheine: &[Annahmeschein]) -> Markup {
    let text = |name: &str, label: &str| field(request, name, label, "text", "", "off");
    let mut fields = vec!["zahlungsziel_tage", "notizen"];
    fields.extend(prices(art).iter().map(|(name, _)| name));
    let inside = html! {
        (refusal(request, &fields))
        (notes(request, scheine))
        @for (name, label) in prices(art) { (text(name, label)) }
        (text("zahlungsziel_tage", "Zahlungsziel in Tagen; leer: wie beim Partner"))
        (lines(request, "notizen", "Text auf der Gutschrift", ""))
        label.tick { input type="checkbox" name=(NEGATIVE) value="ja" checked[request.is_sent(NEGATIVE)];
            "Es darf unter 0 enden: Der Lieferant zahlt zurück." }
        label.tick { input type="checkbox" name=(FINAL) value="ja" checked[request.is_sent(FINAL)];
            "Gleich abschließen; dann lässt sie sich nur noch stornieren." }
        button type="submit" name="schritt" value=(TRY) { "Vorschau" } " "
    };
    form(request, inside, "Abrechnen", false)
}

/// The result of a trial: its sums, and all rows of each Annahmeschein.
fn result(request: &PageRequest) -> Markup {
    let Some(tried) = request.tried.as_deref() else { return html! {} };
    let text = |field: &str| tried[field].as_str().unwrap_or_default().to_owned();
    let posten: Vec<AbrechnungsPosten> =
        serde_json::from_value(tried["annahmescheine"].clone()).unwrap_or_default();
    let hints: Vec<&str> = sentences(&tried["hinweise"]).collect();
    html! {
        section.tried {
            h2 { "Vorschau: noch ist nichts gespeichert" }
            div.tiles {
                div.tile { "netto (EUR)" strong { (number(text("summe_netto"))) } }
                div.tile { "Umsatzsteuer (EUR)" strong { (number(text("summe_mwst"))) } }
                div.tile { "Gutschrift (EUR)" strong { (number(text("summe_brutto"))) } }
            }
            @if !hints.is_empty() { ul.sorgen.hints { @for hint in hints { li { (hint) } } } }
            @for one in &posten { (settled(&rows::posten(one))) }
            @if posten.len() > 1 { @if let Ok(all) = rows::together(&posten.iter().collect::<Vec<_>>()) { (settled(&all)) } }
        }
    }
}

/// The body of the request that settles these receipts with the form's options.
fn body_of(request: &PageRequest, ids: &[Uuid]) -> Value {
    let art = art_of(request);
    let mut body = json!({
        "art": art,
        "annahmeschein_ids": ids,
        NEGATIVE: request.is_sent(NEGATIVE),
        FINAL: request.is_sent(FINAL),
        "notizen": request.filled("notizen"),
        "zahlungsziel_tage": request.filled("zahlungsziel_tage"),
    });
    for (name, _) in prices(art) {
        let typed = request.filled(name).map_or(Value::Null, json_number);
        match name.split_once('.') {
            Some((outer, inner)) => body[outer][inner] = typed,
            None => body[*name] = typed,
        }
    }
    body
}

pub fn settle(request: &PageRequest) -> Result<FirmaChange> {
    let ids: Vec<Uuid> = request
        .form
        .fields
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(TICK).and_then(parse_uuid))
        .collect();
    if ids.len() > ROWS as usize {
        return Err(Refusal::new(Code::AnfrageUngueltig, TOO_MANY).into());
    }
    if ids.is_empty() {
        return Err(Refusal::new(Code::FeldFehlt, "Bitte ankreuzen, was abgerechnet wird.").into());
    }
    let body = body_of(request, &ids);
    let is_trial = request.step().is_some();
    let to = request.of_firma("annahme");
    let write =
        request.change(Method::Post, "/api/v1/abrechnungen", &body, to, "Die Gutschrift ist angelegt.")?;
    let document = request.page_of("belege", "");
    Ok(Box::new(move |tx| {
        let write = |tx| write(tx).map_err(for_the_form);
        if is_trial {
            return tried(tx, || Ok(write(tx)?.answer));
        }
        to_document(write(tx)?, &document)
    }))
}

const REST: &str = "rest_preis_je_t";

/// Asks for confirmation before a settlement is cancelled and created again with the newest measurements.
pub fn show_correct(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, request.uuid(0)?)?;
    let gone = || Failure::not_found("Diese Abrechnung");
    let (id, nummer) = schein.abrechnung_id.zip(schein.abrechnung_beleg_nummer).ok_or_else(gone)?;
    let inside = html! {
        p { (nummer) " wird storniert und neu angelegt: über dieselben Annahmescheine und zu denselben \
             Preisen, mit den neuesten Messwerten. Beides geschieht, oder keines." }
        input type="hidden" name="abrechnung" value=(id);
        (field(request, "grund", "Grund", "text", "", "off"))
        (field(request, REST, "Preis je t für das, was den Kontrakt übersteigt; leer: wie bisher", "text", "", "off"))
        label.tick { input type="checkbox" name=(NEGATIVE) value="ja" checked[request.is_sent(NEGATIVE)];
            "Es darf unter 0 enden: Der Lieferant zahlt zurück." }
    };
    frame::form_page(
        request,
        "Abrechnung korrigieren",
        &["grund", REST],
        inside,
        "Stornieren und neu abrechnen",
        true,
    )
}

pub fn correct(request: &PageRequest) -> Result<FirmaChange> {
    let id = parse_uuid(request.field("abrechnung")).ok_or_else(|| Failure::not_found("Diese Abrechnung"))?;
    let path = format!("/api/v1/abrechnungen/{id}/korrektur");
    let body = json!({
        "grund": request.filled("grund"),
        REST: request.filled(REST).map_or(Value::Null, json_number),
        NEGATIVE: request.is_sent(NEGATIVE).then_some(true),
    });
    let write = request.change(
        Method::Post,
        &path,
        &body,
        request.of_firma("annahme"),
        "Die neue Gutschrift ist angelegt.",
    )?;
    let document = request.page_of("belege", "");
    Ok(Box::new(move |tx| to_document(write(tx).map_err(for_the_form)?, &document)))
}

/// Redirects to the document that was created.
fn to_document(done: Done, page: &str) -> Result<Done> {
    let to = format!("{page}{}", done.answer["beleg_id"].as_str().unwrap_or_default());
    Ok(Done { response: Response::Redirect(to), ..done })
}

/// Adapts a refusal of the interface to this form: its advice names the form's checkboxes and fields instead of
/// JSON. Indexes of `annahmeschein_ids` become "Annahmeschein", because the message says which one it is.
fn for_the_form(failure: Failure) -> Failure {
    let Failure::Refused(mut refusal) = failure else { return failure };
    let advise = |code: Code, message: &mut Message| {
        let advice = match code {
            Code::AbrechnungNegativ => "Soll das so sein, bitte unten ankreuzen.",
            Code::PreisFehlt => "Bitte ihn hier eintragen.",
            Code::KontraktUeberliefert => "Bitte hier einen Preis dafür eintragen.",
            _ => return,
        };
        message.advice = Some(advice.to_owned());
    };
    advise(refusal.code, &mut refusal.message);
    for mistake in &mut refusal.fehler {
        advise(mistake.error, &mut mistake.message);
        if mistake.feld.starts_with("annahmeschein_ids") {
            mistake.feld = "Annahmeschein".to_owned();
        }
    }
    Failure::Refused(refusal)
}

/// The chosen scheme in the version valid today or, if there is none, in its newest version.
fn chosen(request: &PageRequest, db: &Snapshot<'_>) -> Result<Option<Gueltig>> {
    let Some(id) = parse_uuid(request.param("schema")) else { return Ok(None) };
    match abrechnungsschemata::on_day(&db.tx, id, db.tx.today())? {
        None => abrechnungsschemata::found(&db.tx, id, None).map(Some),
        held => Ok(held),
    }
}

/// The options for the scheme: those valid today, and the chosen one.
fn schemes(db: &Snapshot<'_>, chosen: Option<&Gueltig>) -> Result<Vec<(String, String)>> {
    let mut schemes = abrechnungsschemata::choice(&db.tx, Some(db.tx.today()), None)?;
    let other = chosen.map(|gueltig| gueltig.kopf.clone());
    schemes.extend(other.filter(|other| !schemes.iter().any(|kopf| kopf.id == other.id)));
    let named = |kopf: Kopf| (kopf.id.to_string(), format!("{} – {}", kopf.nummer, kopf.bezeichnung));
    let first = (String::new(), "bitte wählen".to_owned());
    Ok(std::iter::once(first).chain(schemes.into_iter().map(named)).collect())
}

/// The calculator: computes all rows from a scheme, a weight, a price and values.
pub fn calculate(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let gueltig = chosen(request, db)?;
    let options = schemes(db, gueltig.as_ref())?;
    let asked = gueltig.as_ref().map(|gueltig| gueltig.schema.asked()).unwrap_or_default();
    let merkmale = abrechnungsschemata::merkmale(&db.tx)?;
    let named = |code: &str| {
        merkmale.get(code).map_or_else(
            || code.to_owned(),
            |merkmal| format!("{} ({})", merkmal.bezeichnung, merkmal.einheit),
        )
    };
    let input = |name: &str, label: String| {
        html! {
            div.field { label for=(format!("feld-{name}")) { (label) }
                input id=(format!("feld-{name}")) name=(name) type="text" inputmode="decimal" autocomplete="off" value=(request.param(name)); }
        }
    };
    let body = html! {
        form.filters method="get" {
            (choice(request, "schema", "Schema", options, request.param("schema")))
            @if gueltig.is_some() {
                (input("menge_kg", "Gewicht (kg)".to_owned()))
                (input("preis_je_t", "Preis je t (EUR)".to_owned()))
                @for code in &asked { (input(code, named(code))) }
            }
            button type="submit" { "Rechnen" }
        }
        @if let Some(gueltig) = &gueltig {
            @if request.param("menge_kg").is_empty() { p { "Gerechnet wird, sobald ein Gewicht dasteht. Leer \
                 bleibt, was nicht gemessen wurde." } }
            @else { (calculated(request, db, gueltig, &asked)?) }
        }
    };
    Ok(frame::page(request, "Probeweise rechnen", body))
}

fn calculated(
    request: &PageRequest,
    db: &Snapshot<'_>,
    gueltig: &Gueltig,
    asked: &[String],
) -> Result<Markup> {
    let filled = |name: &str| Some(request.param(name)).filter(|typed| !typed.is_empty()).map(json_number);
    let werte = asked.iter().filter_map(|code| Some(json!({"merkmal": code, "wert": filled(code)?})));
    let kopf = &gueltig.kopf;
    let body = json!({
        "version": kopf.version,
        "menge_kg": filled("menge_kg"),
        "preis_je_t": filled("preis_je_t"),
        "werte": werte.collect::<Vec<_>>(),
    });
    let path = format!("/api/v1/abrechnungsschemata/{}/probe", kopf.id);
    let answer = match request.asked(db, &path, &body) {
        Ok(answer) => answer,
        Err(Failure::Refused(refusal)) => {
            return Ok(html! { p.refused role="alert" { (refusal.message) } });
        }
        Err(failure) => return Err(failure),
    };
    let rechnung: Option<Rechnung> = serde_json::from_value(answer).ok();
    Ok(html! { @if let Some(rechnung) = rechnung {
        @for befund in &rechnung.befunde { p.refused { (annahmescheine::said(befund)) } }
        (settled(&rows::note(format!("{}, Version {} von {}", kopf.bezeichnung, kopf.version, kopf.nummer), &rechnung)))
    } })
}

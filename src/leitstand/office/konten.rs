//! The accounts on which invoices are booked (D31): the list with what DATEV computes on each, setting and
//! removing one, and a proposal for a company without any. Each change leaves a row in the administration
//! log.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::leitstand::kit::done::{Done, FirmaChange, changes_of_firma};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot, encoded};
use crate::leitstand::kit::parts::{
    amount, choice, field, form, json_number, optional, or_blank, refusal, table, tick,
};
use crate::leitstand::master::artikel::groups_of;
use crate::master::tenants;
use crate::office::buchhaltung::{self, Gezeigt, KontoZeile};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::changed::Changed;
use crate::rules::choice::Choice;
use crate::rules::datev::{Automatik, Fall, Funktionsart, Rahmen};
use crate::rules::error::Hints;
use crate::rules::fixed::Percent;

/// Fields of the form, as refusals of the interface name them.
const FELDER: [&str; 5] = ["fall", "satz", "artikelgruppe", "konto", "bu"];

/// Prefix of an account's field in the administration log.
const LOGGED: &str = "konto ";

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let konten = buchhaltung::shown(&db.tx)?;
    let body = html! {
        p {
            "Auf diese Konten werden Rechnungen und Gutschriften für den Steuerberater gebucht. Nennt eine \
             Zeile Satz und Artikelgruppe, gilt sie vor einer mit dem Satz allein, diese vor einer mit der \
             Artikelgruppe allein; zuletzt gilt die ohne beides."
        }
        @if konten.is_empty() { (beginning(request, db)?) } @else { (accounts(request, &konten)) }
        @if request.may_manage() {
            h2 { "Konto setzen" }
            p {
                "Ein Konto für denselben Vorgang, Satz und dieselbe Artikelgruppe tritt an die Stelle des \
                 bisherigen. Stapel, die schon angelegt sind, bleiben, wie sie sind."
            }
            (form(request, fields(request, db)?, "Speichern", false))
        } @else { p.empty { "Konten ändert, wer diese Firma verwaltet." } }
        p.actions { a.button href=(request.of_firma("steuerberater")) { "Zu den Stapeln" } }
    };
    Ok(frame::page(request, "Konten", body))
}

fn accounts(request: &PageRequest, konten: &[Gezeigt]) -> Markup {
    let shown = table("Konten", "", konten)
        .text("Vorgang", |row| row.konto.fall.in_words(None))
        .numbers("Satz (%)", |row| optional(row.konto.satz, amount))
        .text("Artikelgruppe", |row| or_blank(&row.artikelgruppe))
        .numbers("Konto", |row| row.konto.konto.to_string())
        .text("In DATEV", computes);
    match request.may_manage() {
        true => html! { (shown
        .with("Ändern", false, |row| html! { a href=(to_form(row)) { "ändern" (which(row)) } })
        .with("Entfernen", false, |row| html! { a href=(to_removal(request, row)) { "entfernen" (which(row)) } })) },
        false => html! { (shown) },
    }
}

fn feld_of(row: &Gezeigt) -> String {
    buchhaltung::feld(row.konto.fall, row.konto.satz, row.artikelgruppe.as_deref())
}

fn which(row: &Gezeigt) -> Markup {
    html! { span.unseen { ": " (in_words(&feld_of(row))) } }
}

/// What DATEV computes when this account is booked.
fn computes(row: &Gezeigt) -> String {
    let Some(Automatik { art, satz }) = row.automatik else {
        return match &row.konto.bu {
            Some(bu) => format!("Schlüssel {bu}"),
            None => "rechnet nichts von selbst".to_owned(),
        };
    };
    let satz = optional(satz, |satz| format!("{} % ", amount(satz)));
    match art {
        Funktionsart::Frei => "ohne Steuer".to_owned(),
        Funktionsart::Umsatzsteuer => format!("rechnet {satz}Umsatzsteuer"),
        Funktionsart::Vorsteuer => format!("rechnet {satz}Vorsteuer"),
        Funktionsart::Sonder => format!("rechnet {satz}als Steuer, die die Firma selbst schuldet"),
    }
}

/// A link to the form on this page, filled with the account.
fn to_form(row: &Gezeigt) -> String {
    let konto = &row.konto;
    let automatik = if konto.automatik { "ja" } else { "" }.to_owned();
    let rest = [("konto", konto.konto.to_string()), ("bu", or_blank(&konto.bu)), ("automatik", automatik)];
    format!("?{}&{}#feld-konto", key_of(row), query(&rest))
}

/// A link to the page that asks before it removes the account.
fn to_removal(request: &PageRequest, row: &Gezeigt) -> String {
    format!("{}?{}", request.of_firma("steuerberater/konten/entfernen"), key_of(row))
}

/// The query that identifies an account.
fn key_of(row: &Gezeigt) -> String {
    query(&[
        ("fall", row.konto.fall.as_str().to_owned()),
        ("satz", optional(row.konto.satz, amount)),
        ("artikelgruppe", or_blank(&row.artikelgruppe)),
    ])
}

fn query(pairs: &[(&str, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn fields(request: &PageRequest, db: &Snapshot<'_>) -> Result<Markup> {
    let text = |name, label| field(request, name, label, "text", request.param(name), "off");
    let faelle = Fall::ALL.iter().map(|known| (known.as_str(), known.in_words(None)));
    let groups = groups_of(db)?.into_iter().map(|(_, name)| (name.clone(), name));
    let groups = std::iter::once((String::new(), "alle Artikelgruppen".to_owned())).chain(groups);
    let automatik =
        if request.is_sent("token") { request.field("automatik") } else { request.param("automatik") };
    Ok(html! {
        (refusal(request, &FELDER))
        (choice(request, "fall", "Vorgang", faelle, request.param("fall")))
        (text("satz", "Steuersatz in %; leer: jeder"))
        (choice(request, "artikelgruppe", "Artikelgruppe", groups, request.param("artikelgruppe")))
        (text("konto", "Konto"))
        (text("bu", "BU-Schlüssel; auf einem Automatikkonto leer"))
        (tick("automatik", automatik == "ja",
            "Automatikkonto, das hier nicht bekannt ist: Es rechnet seine Steuer in DATEV von selbst."))
    })
}

/// What to do if there are no accounts yet.
fn beginning(request: &PageRequest, db: &Snapshot<'_>) -> Result<Markup> {
    let rahmen = tenants::load(&db.tx)?.datev_rahmen;
    let (name, option) = match rahmen {
        Rahmen::Skr04 => ("SKR04", "skr04"),
        _ => ("SKR03", "skr03"),
    };
    Ok(html! {
        p { "Noch ist kein Konto eingetragen. So geht es:" }
        ol.schritte {
            li {
                "Den Steuerberater nach Beraternummer, Mandantennummer, Kontenrahmen, Wirtschaftsjahr und \
                 Stellen der Sachkonten fragen und alles unter "
                a href=(request.of_firma("einstellungen#feld-datev_berater")) { "Einstellungen" }
                " eintragen."
            }
            @if rahmen == Rahmen::Keiner {
                li {
                    "Die Firma hat einen eigenen Kontenrahmen; dafür gibt es keinen Vorschlag. Die Konten \
                     nennt der Steuerberater. Unten eintragen, oder als Datei "
                    a href=(request.of_firma("import")) { "importieren" } "."
                }
            } @else {
                li {
                    "Einen Vorschlag für " (name)
                    " ansehen und eintragen, oder ihn dem Steuerberater als Datei geben: Sie entsteht mit \
                     dem Befehl "
                    code { "partnerd import konten --template FILE --rahmen " (option) }
                    " und lässt sich danach " a href=(request.of_firma("import")) { "importieren" } "."
                }
            }
        }
        @if rahmen != Rahmen::Keiner && request.may_manage() {
            p.actions {
                a.button href=(request.of_firma("steuerberater/konten/vorschlag")) {
                    "Vorschlag für " (name) " ansehen"
                }
            }
        }
    })
}

pub fn set(request: &PageRequest) -> Result<FirmaChange> {
    let body = json!({
        "fall": request.filled("fall"),
        "satz": json_number(request.field("satz")),
        "artikelgruppe": request.filled("artikelgruppe"),
        "konto": request.filled("konto"),
        "bu": request.filled("bu"),
        "automatik": request.is_sent("automatik"),
    });
    let write = put(request, &body)?;
    let to = request.of_firma("steuerberater/konten");
    Ok(Box::new(move |tx| {
        noted(tx, || {
            write(tx)?;
            Ok(Done::to(to.clone(), "Das Konto ist gespeichert."))
        })
    }))
}

/// Sets an account through the interface.
pub fn put(request: &PageRequest, body: &Value) -> Result<FirmaChange> {
    request.change(Method::Put, "/api/v1/datev/konten", body, String::new(), "")
}

/// Finds the account that the query names.
fn named(request: &PageRequest, tx: &Tx<'_>) -> Result<Gezeigt> {
    let satz = match json_number(request.param("satz")) {
        Value::String(typed) => Percent::parse(&typed).ok().map(|parsed| parsed.value),
        _ => None,
    };
    let (fall, gruppe) = (Fall::parse(request.param("fall")), request.filled_param("artikelgruppe"));
    let is_it = |row: &Gezeigt| {
        (Some(row.konto.fall), row.konto.satz, row.artikelgruppe.as_deref()) == (fall, satz, gruppe)
    };
    let found = buchhaltung::shown(tx)?.into_iter().find(is_it);
    found.ok_or_else(|| Failure::not_found("Dieses Konto"))
}

pub fn show_remove(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let found = named(request, &db.tx)?;
    let (konto, what) = (&found.konto, in_words(&feld_of(&found)));
    let inside = html! {
        p {
            "Das Konto " (konto.konto) " für " (what)
            " wird entfernt. Gebucht wird dann auf das nächste, das passt; passt keines, nennt die Prüfung \
             es als fehlend. Stapel, die schon angelegt sind, bleiben, wie sie sind."
        }
    };
    let title = format!("Konto {} entfernen", konto.konto);
    frame::form_page(request, &title, &[], inside, "Entfernen", true)
}

pub fn remove(request: &PageRequest) -> Result<FirmaChange> {
    let (request, to) = (request.clone(), request.of_firma("steuerberater/konten"));
    Ok(Box::new(move |tx| {
        noted(tx, || {
            buchhaltung::delete_konto(tx, &named(&request, tx)?.konto)?;
            Ok(Done::to(to.clone(), "Das Konto ist entfernt."))
        })
    }))
}

pub fn show_proposal(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let missing = buchhaltung::missing_proposed(&db.tx)?;
    let what = |zeile: &KontoZeile| {
        optional(zeile.fall, |known| in_words(&buchhaltung::feld(known, zeile.satz, None)))
    };
    let body = html! {
        @if missing.is_empty() {
            p.empty { "Der Vorschlag ist schon eingetragen, oder zum Kontenrahmen der Firma gibt es keinen." }
        } @else {
            (refusal(request, &[]))
            div.refused {
                p {
                    "Der Steuerberater muss diese Konten gelesen haben, bevor der erste Stapel hinausgeht. \
                     Üblich sind sie, aber jede Firma bucht anders: Handelt sie mit mehreren Waren, haben \
                     diese oft eigene Konten."
                }
            }
            (table("Vorschlag", "", &missing)
                .text("Wofür", what)
                .numbers("Konto", |zeile| optional(zeile.konto, |konto| konto.to_string())))
            @if request.may_manage() {
                (form(
                    request,
                    html! {
                        p {
                            "Jedes lässt sich danach ändern und entfernen. Was schon eingetragen ist, bleibt."
                        }
                    },
                    "Diese Konten eintragen",
                    false
                ))
            }
        }
        p { a href=(request.of_firma("steuerberater/konten")) { "Zu den Konten" } }
    };
    Ok(frame::page(request, "Vorschlag für die Konten", body))
}

pub fn take_proposal(request: &PageRequest) -> Result<FirmaChange> {
    let to = request.of_firma("steuerberater/konten");
    Ok(Box::new(move |tx| {
        noted(tx, || {
            for zeile in buchhaltung::missing_proposed(tx)? {
                buchhaltung::enter(tx, zeile, &mut Hints::default())?;
            }
            Ok(Done::to(to.clone(), "Die Konten sind eingetragen. Bitte den Steuerberater sie lesen lassen."))
        })
    }))
}

/// Runs `work`, which changes accounts, and adds the administration event with the old and new value of each.
pub fn noted(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Done>) -> Result<Done> {
    let before = booked_on(tx)?;
    let done = work()?;
    let after = booked_on(tx)?;
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let of = |accounts: &BTreeMap<String, String>, key| accounts.get(key).cloned().unwrap_or_default();
    let changed: Vec<_> =
        keys.into_iter().filter_map(|key| Changed::of(key, of(&before, key), of(&after, key))).collect();
    Ok(Done { event: changes_of_firma(changed), ..done })
}

/// Each account as the log describes it.
fn booked_on(tx: &Tx<'_>) -> Result<BTreeMap<String, String>> {
    let logged = |row: Gezeigt| {
        let key = format!("{LOGGED}{}", feld_of(&row));
        let konto = row.konto;
        let bu = optional(konto.bu, |bu| format!(" BU {bu}"));
        let automatik = if konto.automatik { " Automatik" } else { "" };
        (key, format!("{}{bu}{automatik}", konto.konto))
    };
    Ok(buchhaltung::shown(tx)?.into_iter().map(logged).collect())
}

/// An account's name in the log, in words; `None` for any other name.
pub fn logged_in_words(name: &str) -> Option<String> {
    Some(format!("Konto für {}", in_words(name.strip_prefix(LOGGED)?)))
}

/// The case, rate and group of an account in words: `Erlöse 19 %, Artikelgruppe Büro`.
pub fn in_words(feld: &str) -> String {
    let Some((known, satz, gruppe)) = buchhaltung::of_feld(feld) else { return feld.to_owned() };
    let gruppe = optional(gruppe, |gruppe| format!(", Artikelgruppe {gruppe}"));
    format!("{}{gruppe}", known.in_words(satz))
}

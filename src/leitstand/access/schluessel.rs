//! API keys of a company: the list with their use, a page for each, creating, changing and deactivating one.

use maud::{Markup, html};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::rechte;
use crate::leitstand::kit::bars::{BarPair, BarWords, bars};
use crate::leitstand::kit::done::{Done, Hashed, InstallationChange, Response};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{ROWS, facts, field, form, linked, made_from, moment, number, refusal};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::key::{self, Grant, KeyState, NewKey, StoredKey};
use crate::platform::gate::access::key_changes::{self, Changes, LABEL_CHARS_MAX};
use crate::platform::gate::access::quota::DAILY_LIMIT;
use crate::platform::gate::audit::{DayUse, by_day};
use crate::platform::http::reply::Reply;
use crate::rules::bytes::hex;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Refusal, Refusals};

const DAYS_IN_PICTURE: i64 = 14;

const FIELDS_WITH_REFUSALS: [&str; 4] = ["bezeichnung", rechte::SCOPE, "gueltig_bis", "tageslimit"];

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let keys = key::of_tenant(db.connection, request.firma_id(), request.now)?;
    let first = ((request.list_page() * ROWS) as usize).min(keys.len());
    let shown = &keys[first..keys.len().min(first + ROWS as usize)];
    let empty = "Noch kein Schlüssel. Jedes Programm, das angeschlossen wird, bekommt einen eigenen: „Neuer \
         Schlüssel“.";
    let to = |key: &StoredKey| request.page_of("schluessel", &key.id);
    let count = i64::try_from(keys.len()).unwrap_or(i64::MAX);
    let body = html! {
        p { "Mit einem Schlüssel liest und schreibt ein Programm für diese Firma, etwa der Shop oder die Waage." }
        @if request.may_manage() {
            p.actions { a.button href=(request.of_firma("schluessel/neu")) { "Neuer Schlüssel" } }
        }
        (linked("Schlüssel", empty, shown, to)
            .text("Schlüssel", |key| key.label.clone())
            .text("Darf", |key| rechte::in_words(key.scopes))
            .text("Stand", state)
            .text("Zuletzt benutzt", last_use)
            .numbers("Anfragen heute", today))
        (pager(request, &request.of_firma("schluessel"), count))
        h2 { "Anfragen je Tag" }
        (picture(&by_day(db.connection, request.firma_id(), None, DAYS_IN_PICTURE, request.now)?))
    };
    Ok(frame::page(request, "Schlüssel", body))
}

fn state(key: &StoredKey) -> String {
    match (key.state, key.valid_until) {
        (KeyState::Deactivated, _) => "gesperrt".to_owned(),
        (KeyState::Expired, Some(last)) => format!("abgelaufen am {}", last.german()),
        (KeyState::Active, Some(last)) => format!("aktiv bis {}", last.german()),
        (KeyState::Expired, None) | (KeyState::Active, None) => "aktiv".to_owned(),
    }
}

fn last_use(key: &StoredKey) -> String {
    key.last_used.map_or("noch nie".to_owned(), moment)
}

fn today(key: &StoredKey) -> String {
    let [today, limit] = [key.today, key.daily_limit].map(number);
    format!("{today} von {limit}")
}

/// A chart of the requests of each day, executed and refused.
fn picture(days: &[DayUse]) -> Markup {
    if days.is_empty() {
        return html! {
            p.empty {
                "An einem Tag gibt es hier so viele Anfragen, dass das Zählen zu lange dauert. Was heute \
                 war, steht bei jedem Schlüssel."
            }
        };
    }
    let pair = |day: &DayUse| BarPair {
        label: day.day.german().chars().take(6).collect(),
        says: format!(
            "{} (UTC): {} ausgeführt, {} abgelehnt",
            day.day.german(),
            number(day.done),
            number(day.refused)
        ),
        left: day.done,
        right: day.refused,
    };
    let pairs: Vec<_> = days.iter().map(pair).collect();
    let most = days.iter().map(|day| day.done.max(day.refused)).max().unwrap_or(0);
    let (done, refused) = days.iter().fold((0, 0), |sum, day| (sum.0 + day.done, sum.1 + day.refused));
    let caption = format!(
        "Je Tag (UTC) ausgeführte (grün) und abgelehnte Anfragen (rot). In {} Tagen {} ausgeführte, {} \
         abgelehnte. Höchster Balken: {}.",
        days.len(),
        number(done),
        number(refused),
        number(most)
    );
    let words = BarWords {
        title: "Anfragen je Tag, ausgeführte und abgelehnte",
        classes: ["now", "bad"],
        caption,
        empty: "Noch keine Anfragen. Das Bild füllt sich, wenn ein Programm den Schlüssel benutzt.",
    };
    bars(&pairs, &words)
}

fn of_firma(connection: &Connection, firma: i64, id: &str, now: Instant) -> Result<StoredKey> {
    let found = key::find(connection, id, now)?.filter(|key| key.tenant_id == firma);
    found.ok_or_else(|| Failure::not_found("Dieser Schlüssel"))
}

fn found(request: &PageRequest, db: &Snapshot<'_>) -> Result<StoredKey> {
    of_firma(db.connection, request.firma_id(), request.id(0)?, request.now)
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let key = found(request, db)?;
    let here = request.page_of("schluessel", &key.id);
    let body = html! {
        (facts(&[
            ("Stand", state(&key)),
            ("Zuletzt benutzt", last_use(&key)),
            ("Anfragen heute (UTC)", today(&key)),
            ("Beginnt mit", format!("ak_{}_", key.id)),
        ]))
        h2 { "Darf" }
        ul { @for scope in rechte::each(key.scopes) { li { (scope) } } }
        p.actions {
            @if request.may_manage() {
                a.button href=(format!("{here}/aendern")) { "Ändern" }
                @if key.state == KeyState::Deactivated {
                    a.button href=(format!("{here}/freigeben")) { "Wieder freigeben" }
                }
                @else { a.button.danger href=(format!("{here}/sperren")) { "Sperren" } }
            }
            a.button href=(request.of_firma(&format!("protokoll?wer=schluessel-{}", key.id))) {
                "Protokoll dieses Schlüssels"
            }
            a.button href=(request.of_firma(&format!("protokoll?ergebnis=aenderungen&wer=schluessel-{}", key.id))) {
                "Wer ihn änderte"
            }
        }
        h2 { "Anfragen je Tag" }
        (picture(&by_day(db.connection, request.firma_id(), Some(&key.id), DAYS_IN_PICTURE, request.now)?))
    };
    Ok(frame::page(request, &format!("Schlüssel {}", key.label), body))
}

/// The fields of a key with the stored or typed values.
fn fields(request: &PageRequest, key: Option<&StoredKey>) -> Markup {
    let label = key.map_or("", |key| key.label.as_str());
    let until = key.and_then(|key| key.valid_until).map(|day| day.to_string()).unwrap_or_default();
    let usual = || DAILY_LIMIT.min(most(request).unwrap_or(DAILY_LIMIT));
    let limit = key.map_or_else(usual, |key| key.daily_limit).to_string();
    html! {
        (refusal(request, &FIELDS_WITH_REFUSALS))
        (field(request, "bezeichnung", "Bezeichnung: welches Programm, wo", "text", label, "off"))
        (rechte::fields(request, key.map(|key| key.scopes)))
        (field(request, "gueltig_bis", "Gilt bis zu diesem Tag (leer: bis er gesperrt wird)", "date", &until, "off"))
        (field(request, "tageslimit", "Anfragen je Tag, höchstens", "number", &limit, "off"))
    }
}

/// Most requests a day that a key may be granted here.
fn most(request: &PageRequest) -> Option<u32> {
    request.app.gate.policy.leitstand.max_daily_limit
}

/// Parses the rights that the form grants; refuses with all mistakes at once.
fn grant_of(request: &PageRequest) -> Result<Grant> {
    let refused = |feld, message: String| Refusal::field(Code::WertUngueltig, feld, message);
    let mut mistakes = Refusals::default();
    let label = mistakes.keep(key_changes::label(request.field("bezeichnung")).ok_or_else(|| {
        refused(
            "bezeichnung",
            format!("Die Bezeichnung braucht 1 bis {LABEL_CHARS_MAX} Zeichen in einer Zeile."),
        )
    }));
    let no_scope = || refused(rechte::SCOPE, "Bitte ankreuzen, wofür der Schlüssel ist.".to_owned());
    let scopes = mistakes.keep(rechte::read(request).ok_or_else(no_scope));
    let no_day = || refused("gueltig_bis", "Das ist kein Tag. Erwartet wird etwa 31.12.2027.".to_owned());
    let day = |text| Day::parse_plain(text).or_else(|| Day::parse_german(text)).ok_or_else(no_day);
    let no_limit =
        || refused("tageslimit", format!("Erwartet wird eine ganze Zahl von 1 bis {}.", number(u32::MAX)));
    let limit = |text: &str| text.parse().ok().filter(|limit| *limit > 0).ok_or_else(no_limit);
    let valid_until = mistakes.keep(request.filled("gueltig_bis").map(day).transpose()).flatten();
    let daily_limit = mistakes.keep(request.filled("tageslimit").map(limit).transpose()).flatten();
    mistakes.into_result()?;
    let missing = || Failure::Broken("a form without mistakes lacks something".into());
    let (label, scopes) = label.zip(scopes).ok_or_else(missing)?;
    Ok(Grant { label, scopes, valid_until, daily_limit })
}

fn check_end(last: Option<Day>, now: Instant) -> Result<()> {
    if last.is_none_or(|last| key_changes::may_end(last, now)) {
        return Ok(());
    }
    let message = "Dieser Tag ist vorbei. „Sperren“ beendet einen Schlüssel sofort.";
    Err(Refusal::field(Code::WertUngueltig, "gueltig_bis", message).into())
}

/// Refuses a daily limit above the setting; only the command line may grant more. A key that already has the
/// limit keeps it.
fn check_limit(most: Option<u32>, grant: &Grant, old: Option<&StoredKey>) -> Result<()> {
    let limit = grant.daily_limit.unwrap_or(DAILY_LIMIT);
    match most {
        Some(most) if limit > most && old.is_none_or(|old| old.daily_limit != limit) => {
            let most = number(most);
            let message = format!(
                "Höchstens {most} Anfragen je Tag. Mehr gibt, wer partnerd verwaltet (max_daily_limit)."
            );
            Err(Refusal::field(Code::WertUngueltig, "tageslimit", message).into())
        }
        _ => Ok(()),
    }
}

/// A digest that changes when the company gets another key.
fn stand_of_all(connection: &Connection, firma: i64, now: Instant) -> Result<String> {
    let keys = key::of_tenant(connection, firma, now)?;
    let ids: String = keys.iter().map(|key| format!("{}\n", key.id)).collect();
    Ok(hex(&Sha256::digest(ids)))
}

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let stand = stand_of_all(db.connection, request.firma_id(), request.now)?;
    let inside = html! { (made_from(request, "stand", stand)) (fields(request, None)) };
    let body = html! {
        p {
            "Jedes Programm bekommt einen eigenen Schlüssel: So ist im Protokoll zu sehen, wer was tat, und \
             einer lässt sich sperren, ohne die anderen zu stören."
        }
        (form(request, inside, "Schlüssel anlegen", false))
    };
    Ok(frame::page(request, "Neuer Schlüssel", body))
}

/// Creates a key. It is generated and hashed before the writer's turn.
pub fn create(request: &PageRequest, db: &Snapshot<'_>) -> Result<Hashed> {
    let grant = grant_of(request)?;
    check_end(grant.valid_until, request.now)?;
    check_limit(most(request), &grant, None)?;
    let (firma, now, secret) = (request.firma_id(), request.now, key::mac_secret(db.connection)?);
    let (here, sent) = (request.of_firma("schluessel"), request.field("stand").to_owned());
    Ok(Box::new(move || {
        let key = key::generate(&secret)?;
        let change: InstallationChange = Box::new(move |connection| {
            if stand_of_all(connection, firma, now)? != sent {
                let message = format!(
                    "Inzwischen ist ein Schlüssel angelegt worden: Dieses Formular wurde zweimal gesendet, \
                     oder jemand anderes war schneller. Ein weiterer entstand nicht. Steht „{}“ unter \
                     „Schlüssel“ und ist nirgends eingetragen, ihn sperren und einen neuen anlegen.",
                    grant.label
                );
                return Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into());
            }
            let event = key_changes::create(connection, firma, &key, &grant, now)?;
            let response = Response::Once("Der neue Schlüssel", once(&key, &grant, &here));
            Ok(Done { event: Some(event), ..Done::of(response) })
        });
        Ok(change)
    }))
}

/// The key, which is shown only this once, and what to do with it.
fn once(key: &NewKey, grant: &Grant, here: &str) -> Markup {
    html! {
        p {
            "Das ist der Schlüssel „" (grant.label)
            "“. Er wird nur dieses eine Mal gezeigt und ist nirgends aufgeschrieben: bitte jetzt in das \
             Programm eintragen."
        }
        (frame::to_copy(&key.text))
        ul {
            li { "Das Programm sendet ihn mit jeder Anfrage im Header " code { "X-API-Key" } "." }
            li {
                "Ausprobieren lässt er sich auf der Seite " a href="/docs" { "/docs" } ", oder mit "
                code { "curl -H \"X-API-Key: SCHLÜSSEL\" ADRESSE/api/v1/kunden" } "."
            }
            li {
                "Wer den Schlüssel kennt, kann alles, was er erlaubt: nicht per E-Mail verschicken. Ist er \
                 verloren, einen neuen anlegen und diesen sperren."
            }
        }
        p.actions { a.button href=(format!("{here}/{}", key.id)) { "Ich habe ihn eingetragen" } }
    }
}

/// A digest of a key's settings, without its usage data.
fn stand(key: &StoredKey) -> String {
    let text = format!("{:?} {:?} {:?} {}", key.label, key.scopes, key.valid_until, key.daily_limit);
    hex(&Sha256::digest(text))
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let key = found(request, db)?;
    let inside = html! {
        (made_from(request, "stand", stand(&key)))
        (fields(request, Some(&key)))
        p { "Es gilt ab der nächsten Anfrage. Der Schlüssel selbst bleibt, wie er ist." }
    };
    Ok(frame::page(
        request,
        &format!("Schlüssel {} ändern", key.label),
        form(request, inside, "Speichern", false),
    ))
}

pub fn change(request: &PageRequest) -> Result<InstallationChange> {
    let (firma, id, now, most) = (request.firma_id(), request.id(0)?.to_owned(), request.now, most(request));
    let (grant, sent, to) =
        (grant_of(request)?, request.field("stand").to_owned(), request.page_of("schluessel", &id));
    Ok(Box::new(move |connection| {
        let old = of_firma(connection, firma, &id, now)?;
        if stand(&old) != sent {
            let message = "Inzwischen hat jemand anderes den Schlüssel geändert. Bitte die Seite neu laden \
                 und noch einmal eintragen.";
            return Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into());
        }
        if grant.valid_until != old.valid_until {
            check_end(grant.valid_until, now)?;
        }
        check_limit(most, &grant, Some(&old))?;
        let changes = Changes {
            label: Some(grant.label.clone()),
            scopes: Some(grant.scopes),
            valid_until: Some(grant.valid_until),
            daily_limit: Some(grant.daily_limit.unwrap_or(DAILY_LIMIT)),
        };
        let event = key_changes::change(connection, &old, &changes)?;
        let note = match event {
            None => "Es war schon so.",
            Some(_) => "Gespeichert; es gilt ab der nächsten Anfrage.",
        };
        Ok(Done { event, ..Done::to(to.clone(), note) })
    }))
}

pub fn show_lock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let key = found(request, db)?;
    let what = html! {
        p {
            "Das Programm mit dem Schlüssel „" (key.label)
            "“ wird ab der nächsten Anfrage abgewiesen (401 API_KEY_DEAKTIVIERT). "
            "Was es gespeichert hat, bleibt. Das Sperren lässt sich rückgängig machen."
        }
        p { "Zuletzt benutzt: " (last_use(&key)) }
    };
    frame::form_page(request, "Schlüssel sperren", &[], what, "Sperren", true)
}

pub fn show_unlock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let key = found(request, db)?;
    let what = html! {
        p {
            "Der Schlüssel „" (key.label)
            "“ wird ab der nächsten Anfrage wieder angenommen, mit denselben Rechten wie zuvor."
        }
    };
    frame::form_page(request, "Schlüssel freigeben", &[], what, "Freigeben", false)
}

/// Activates or deactivates the key in the path.
pub fn set_active(request: &PageRequest, active: bool) -> Result<InstallationChange> {
    let (firma, id, now) = (request.firma_id(), request.id(0)?.to_owned(), request.now);
    let to = request.page_of("schluessel", &id);
    Ok(Box::new(move |connection| {
        let key = of_firma(connection, firma, &id, now)?;
        let event = key_changes::set_active(connection, &key, active)?;
        let note = match (active, of_firma(connection, firma, &id, now)?.state) {
            (true, KeyState::Expired) => {
                "Der Schlüssel ist frei, aber abgelaufen: „Ändern“ gibt ihm einen neuen letzten Tag."
            }
            (true, _) => "Der Schlüssel ist frei.",
            (false, _) => "Der Schlüssel ist gesperrt.",
        };
        Ok(Done { event, ..Done::to(to.clone(), note) })
    }))
}

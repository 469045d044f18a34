//! Setting up a company: a new one, its master data (D24) and its settings.

use maud::{Markup, html};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::leitstand::kit::done::{Done, InstallationChange, check_stand};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{choice, field, form, lines, made_from, refusal, tick};
use crate::master::tenants::firma::{self, ANGABEN};
use crate::master::tenants::{self, CurrentSetting, Logo, SETTINGS, Setting};
use crate::platform::db::TenantId;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::bytes::hex;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal, Refusals};
use crate::rules::plausible::{WRONG_IBAN, has_wrong_check_digits};

const LOGO: &str = "logo";
const LOGO_SAYS_NAME: &str = "logo_mit_name";

/// The settings of one form: how the program works ([`SETTINGS`]), or the data on documents ([`ANGABEN`]).
type Group = &'static [Setting];

pub fn show_new(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let inside = html! {
        (refusal(request, &["name"]))
        (field(request, "name", "Name der Firma", "text", "", "organization"))
        (tick("test", false, "Nur zum Ausprobieren: was darin entsteht, ist als Test gekennzeichnet, und sie lässt \
            sich leeren. Das bleibt so."))
    };
    let body = html! {
        p { "Danach kommen ihre Angaben für Belege, der erste Schlüssel für ein Programm und der erste Import." }
        (form(request, inside, "Firma anlegen", false))
    };
    Ok(frame::page(request, "Neue Firma", body))
}

pub fn create(request: &PageRequest) -> Result<InstallationChange> {
    let refuse = |message| Refusal::field(Code::WertUngueltig, "name", message);
    let (name, test, now) = (request.field("name").to_owned(), request.field("test") == "ja", request.now);
    if !tenants::is_name(&name) {
        return Err(refuse("Der Name braucht 1 bis 255 Zeichen in einer Zeile.").into());
    }
    Ok(Box::new(move |connection| {
        if tenants::find(connection, &name)?.is_some() {
            return Err(
                refuse("Eine Firma mit diesem Namen gibt es schon. Bitte einen anderen wählen.").into()
            );
        }
        let id = tenants::create(connection, &name, test, now)?;
        let done = Done::to(
            format!("/leitstand/f/{id}/firma"),
            "Die Firma ist angelegt. Jetzt ihre Angaben für Belege:",
        );
        Ok(Done { firma: Some(id), event: Some(tenants::created(&name, test)), ..done })
    }))
}

pub fn show_data(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let stand = stand(db.connection, request.firma_id(), request.now, ANGABEN)?;
    let logo = stand.iter().any(|stand| stand.setting.name == LOGO && !stand.value.is_empty());
    let missing = firma::load(&db.tx)?.missing();
    let inside = html! {
        (refusal(request, &names(ANGABEN)))
        (made_from(request, "stand", digest(&stand)))
        div.fields {
            @for stand in stand.iter().filter(|stand| !is_further(stand.setting.name)) {
                (input(request, stand))
            }
        }
        @if logo {
            p { img src=(request.of_firma("firma/logo")) alt="Das jetzige Logo" width="160"; }
            (tick("ohne_logo", false, "Logo entfernen"))
        }
        (field(request, LOGO, "Logo (PNG oder JPEG, bis 200 KiB)", "file", "", "off"))
        @for stand in stand.iter().filter(|stand| stand.setting.name == LOGO_SAYS_NAME) { (input(request, stand)) }
        details open[request.refusal.is_some()] {
            summary { "Texte auf den Belegen" }
            @for stand in stand.iter().filter(|stand| is_text(stand.setting.name)) { (input(request, stand)) }
        }
    };
    let body = html! {
        @if !missing.is_empty() {
            p.refused { "Belege bekommen erst ein Blatt (PDF), wenn diese Angaben da sind: " (in_words(&missing)) "." }
        }
        p {
            "Diese Angaben stehen auf Belegen und E-Rechnungen. Abgeschlossene Belege behalten, was galt, \
             als sie abgeschlossen wurden."
        }
        (form(request, inside, "Speichern", false))
    };
    Ok(frame::page(request, "Firma", body))
}

/// Whether it is a text on documents in the company's own words.
fn is_text(name: &str) -> bool {
    ["anrede", "gruss"].contains(&name) || name.starts_with("text_")
}

fn is_further(name: &str) -> bool {
    [LOGO, LOGO_SAYS_NAME].contains(&name) || is_text(name)
}

/// The missing data of the company, by their labels, which say more than the names.
pub fn in_words(missing: &[&str]) -> String {
    let word = |name| match name {
        "firma" => "Name der Firma",
        "strasse" => "Straße",
        "plz" => "Postleitzahl",
        "ort" => "Ort",
        "ust_id oder steuernummer" => "USt-IdNr. oder Steuernummer",
        name => name,
    };
    missing.iter().copied().map(word).collect::<Vec<_>>().join(", ")
}

pub fn change_data(request: &PageRequest) -> Result<InstallationChange> {
    let logo = match (request.file(LOGO), request.field("ohne_logo") == "ja") {
        (Ok(file), _) => Some(Some(file.content.to_vec())),
        (Err(_), true) => Some(None),
        (Err(_), false) => None,
    };
    change(request, ANGABEN, "firma", logo)
}

pub fn logo(_: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let sha256 = firma::load(&db.tx)?.logo.ok_or_else(|| Failure::not_found("Das Logo"))?;
    let picture = firma::logo(&db.tx, &sha256)?.ok_or_else(|| Failure::not_found("Das Logo"))?;
    let kind = if picture.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
    let reply = Reply { status: 200, body: picture, ..Reply::default() };
    Ok(frame::guarded(reply.with("content-type", kind)))
}

pub fn show_settings(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let stand = stand(db.connection, request.firma_id(), request.now, SETTINGS)?;
    let inside = html! {
        (refusal(request, &names(SETTINGS)))
        (made_from(request, "stand", digest(&stand)))
        @for stand in stand.iter().filter(|stand| !is_of_adviser(stand)) { (input(request, stand)) }
        fieldset {
            legend { "Für den Steuerberater (DATEV)" }
            p {
                "Diese Angaben kommen vom Steuerberater. Was ihm übergeben wird, steht unter "
                a href=(request.of_firma("steuerberater")) { "Steuerberater" } "."
            }
            @for stand in stand.iter().filter(|stand| is_of_adviser(stand)) { (input(request, stand)) }
        }
    };
    let body = html! {
        p { "Wie das Programm für diese Firma arbeitet. Wer was wann geändert hat, steht im Protokoll." }
        (form(request, inside, "Speichern", false))
    };
    Ok(frame::page(request, "Einstellungen", body))
}

fn is_of_adviser(stand: &CurrentSetting) -> bool {
    stand.setting.name.starts_with("datev_")
}

pub fn change_settings(request: &PageRequest) -> Result<InstallationChange> {
    change(request, SETTINGS, "einstellungen", None)
}

fn names(group: Group) -> Vec<&'static str> {
    group.iter().map(|setting| setting.name).collect()
}

fn stand(
    connection: &Connection,
    firma: TenantId,
    now: Instant,
    group: Group,
) -> Result<Vec<CurrentSetting>> {
    let is_shown = |stand: &CurrentSetting| names(group).contains(&stand.setting.name);
    Ok(tenants::show(connection, firma, now)?.into_iter().filter(is_shown).collect())
}

/// A digest that differs between two states of a form's settings.
fn digest(stand: &[CurrentSetting]) -> String {
    let lines: String =
        stand.iter().map(|stand| format!("{}={:?}\n", stand.setting.name, stand.value)).collect();
    hex(&Sha256::digest(lines))
}

/// The field of a setting, with its meaning, its possible values and its default.
fn input(request: &PageRequest, stand: &CurrentSetting) -> Markup {
    let Setting { name, meaning, values, .. } = *stand.setting;
    let label = meaning.trim_end_matches('.');
    // Days and types as people write them, if the setting accepts that.
    let shown = (stand.setting.in_words)(&stand.value).filter(|words| stand.setting.takes(words));
    let shown = shown.unwrap_or_else(|| stand.value.clone());
    match stand.setting.choices() {
        Some(choices) => html! { (choice(request, name, label, choices, &stand.value)) (hint(stand)) },
        None if values().contains("mehrere Zeilen") => lines(request, name, label, &stand.value),
        None => html! {
            (field(request, name, label, "text", &shown, "off"))
            @if names(SETTINGS).contains(&name) { (hint(stand)) }
        },
    }
}

/// The possible values of a setting, its default, and how the command line writes it.
fn hint(stand: &CurrentSetting) -> Markup {
    let Setting { name, values, default, in_words, .. } = *stand.setting;
    let said = |value: &str| match in_words(value).unwrap_or_default() {
        words if words.is_empty() => "nichts".to_owned(),
        words => words,
    };
    html! {
        p.hint {
            @if stand.setting.choices().is_none() { "Möglich: " (values().trim_end_matches('.')) ". " }
            "Üblich: " (said(default).trim_end_matches('.')) ". In Befehlen: " code { (name) "=" (stand.value) }
        }
    }
}

fn not_taken(setting: &Setting, text: &str) -> Box<Refusal> {
    if has_wrong_check_digits(text) {
        return Refusal::field(Code::WertUngueltig, setting.name, WRONG_IBAN);
    }
    let quoted = |(_, words): (String, String)| format!("„{words}“");
    let expected = match setting.choices() {
        Some(choices) => choices.into_iter().map(quoted).collect::<Vec<_>>().join(" oder "),
        None => (setting.values)(),
    };
    let message = format!("Das geht hier nicht. Erwartet wird: {expected}.");
    Refusal::field(Code::WertUngueltig, setting.name, message)
}

/// Changes the settings of a form; an invalid value is refused at its field.
fn change(
    request: &PageRequest,
    group: Group,
    page: &str,
    logo: Option<Option<Vec<u8>>>,
) -> Result<InstallationChange> {
    let (mut changes, mut mistakes) = (Vec::new(), Refusals::default());
    for setting in group.iter().filter(|setting| setting.name != LOGO && request.is_sent(setting.name)) {
        let text = request.field(setting.name).to_owned();
        mistakes.keep(if setting.takes(&text) { Ok(()) } else { Err(not_taken(setting, &text)) });
        changes.push((setting.name, text));
    }
    let refused = |_| {
        let message = "Das Logo muss ein PNG oder JPEG mit höchstens 200 KiB sein.";
        Refusal::field(Code::WertUngueltig, LOGO, message)
    };
    let logo = logo.map(|logo| logo.map(Logo::of_file).transpose()).transpose().map_err(refused);
    let logo = mistakes.keep(logo).flatten();
    mistakes.into_result()?;
    let (firma, now, sent) = (request.firma_id(), request.now, request.field("stand").to_owned());
    let to = request.of_firma(page);
    Ok(Box::new(move |connection| {
        check_stand(&digest(&stand(connection, firma, now, group)?), &sent)?;
        let texts: Vec<_> = changes.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let mut changed = tenants::set(connection, firma, &texts, now)?;
        if let Some(logo) = &logo {
            changed.extend(tenants::set_logo(connection, firma, logo.as_ref(), now)?);
        }
        Ok(Done::saved(changed, to.clone()))
    }))
}

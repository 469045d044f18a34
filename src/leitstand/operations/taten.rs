//! The administration log on the page: the events of people and the command line, in German.

use maud::{Markup, Render};

use super::suchfelder::COMMANDS;
use crate::leitstand::access::people::{Person, name_of};
use crate::leitstand::access::rechte;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{ROWS, linked, number, to_second};
use crate::leitstand::office::konten;
use crate::master::tenants;
use crate::office::buchhaltung::LOCKED_UNTIL;
use crate::platform::failure::Result;
use crate::platform::gate::administration::{Akteur, Entry, Selection, TAKEN_BACK, entries};
use crate::platform::gate::audit::{Filter, Who};
use crate::platform::import::parts::FEED_ROWS;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::day::Day;
use crate::rules::scope::ScopeSet;

/// The caption of the table in either log.
pub const CAPTION: &str = "Protokoll, das Neueste zuerst";

/// Most rows read for a page.
const LOG_ROWS_LOOKED_AT: i64 = 50_000;

/// The matching rows of a page of the log, and the number before which the next page begins.
pub fn page(request: &PageRequest, db: &Snapshot<'_>, filter: &Filter) -> Result<(Vec<Entry>, Option<i64>)> {
    let before = request.param("vor").parse::<i64>().ok().filter(|before| *before > 0);
    let newest = || entries(db.connection, &Selection { limit: Some(1), ..Selection::default() });
    let before = before.map_or_else(|| newest().map(|rows| rows.first().map_or(1, |row| row.nr + 1)), Ok)?;
    let (by, key_id, person) = match (&filter.who, request.param("wer")) {
        (Some(Who::Person(id)), _) => (None, None, Some(*id)),
        (Some(Who::Key(id)), _) => (None, Some(id.clone()), None),
        (_, "leute") => (Some("person"), None, None),
        (_, COMMANDS) => (Some("befehl"), None, None),
        (_, "programme") => (Some("schluessel"), None, None),
        // Whoever has no valid key changes nothing.
        (_, "fremde") => (Some("fremde"), None, None),
        _ => (None, None, None),
    };
    let selection = Selection {
        firma: filter.tenant_id,
        key_id,
        by,
        person,
        from: filter.from,
        until: filter.until,
        before: Some(before),
        looked_at: Some(LOG_ROWS_LOOKED_AT),
        limit: Some(i64::from(ROWS) + 1),
    };
    let mut found = entries(db.connection, &selection)?;
    let next = match found.len() > ROWS as usize {
        true => found.drain(ROWS as usize..).next().map(|row| row.nr + 1),
        false => Some(before - LOG_ROWS_LOOKED_AT).filter(|before| *before > 1),
    };
    Ok((found, next))
}

/// The table of a page; a row links to its subject if that has a page.
pub fn rows(request: &PageRequest, found: &[Entry], people: &[Person], empty: &str) -> Markup {
    let to = |entry: &Entry| {
        let gegenstand = &entry.event.gegenstand;
        match (gegenstand.art, gegenstand.firma, &gegenstand.id) {
            (Art::Schluessel, Some(firma), Some(id)) => format!("/leitstand/f/{firma}/schluessel/{id}"),
            (Art::Partner, Some(firma), Some(id)) => format!("/leitstand/f/{firma}/partner/{id}"),
            (Art::DatevStapel, Some(firma), Some(id)) => format!("/leitstand/f/{firma}/steuerberater/{id}"),
            (Art::Zugang, _, Some(id)) => format!("/leitstand/zugaenge/{id}"),
            _ => String::new(),
        }
    };
    let who = |entry: &Entry| match &entry.akteur {
        Akteur::Person(id) => name_of(*id, people),
        Akteur::Schluessel(id) => format!("Schlüssel {id}"),
        Akteur::Befehl { name, konto } => format!("Kommandozeile: {name} ({konto})"),
    };
    let mut table =
        linked(CAPTION, empty, found, to).text("Wann", |entry| to_second(entry.am)).text("Wer", who);
    if request.firma.is_none() {
        table = table.text("Firma", |entry| {
            let firma = request.firmen.iter().find(|firma| Some(firma.id) == entry.event.gegenstand.firma);
            firma.map(|firma| firma.name.clone()).unwrap_or_default()
        });
    }
    table.text("Was", |entry| words(&entry.event)).render()
}

/// An event in words.
fn words(event: &AdminEvent) -> String {
    let told = event.changed().filter(|changed| changed.name != FEED_ROWS);
    let mut fields: Vec<_> = told.map(|changed| field(event, &changed)).collect();
    if (event.tat, event.gegenstand.art) == (AdminAction::Angelegt, Art::Zugang)
        && !event.nachher.contains_key("companies")
    {
        fields.push("alle Firmen".to_owned());
    }
    let done = match (subject(event), happened(event.tat)) {
        (subject, None) => subject,
        (subject, Some(happened)) => format!("{subject} {happened}"),
    };
    match (done.as_str(), fields.is_empty()) {
        ("", _) => fields.join("; "),
        (_, true) => done,
        (_, false) => format!("{done}: {}", fields.join("; ")),
    }
}

/// The subject of an event; blank if the fields say it.
fn subject(event: &AdminEvent) -> String {
    let gegenstand = &event.gegenstand;
    let (id, name) =
        (gegenstand.id.as_deref().unwrap_or_default(), gegenstand.name.as_deref().unwrap_or_default());
    let art = gegenstand.art.in_words();
    match gegenstand.art {
        Art::Firma if event.tat == AdminAction::Geaendert => String::new(),
        Art::Firma | Art::Zugang | Art::Sicherung | Art::Zertifikat => format!("{art} „{name}“"),
        Art::Schluessel => format!("{art} „{name}“ ({id})"),
        Art::Import => format!("{art} {id} aus „{name}“"),
        Art::Beleg | Art::DatevStapel => format!("{art} {name}"),
        Art::Partner => art.to_owned(),
        Art::Ueberlassung => format!("{art} ({name})"),
    }
}

/// What happened to the subject; `None` if the fields say it.
fn happened(tat: AdminAction) -> Option<&'static str> {
    Some(match tat {
        AdminAction::Geaendert | AdminAction::Importiert => return None,
        AdminAction::LinkErzeugt => "hat einen neuen Link",
        AdminAction::PasswortGesetzt => "hat ein neues Passwort",
        AdminAction::Vergessen => "vergessen (DSGVO)",
        tat => tat.in_words(),
    })
}

/// Fields other than settings, with their German names.
const FIELDS: [(&str, &str); 25] = [
    (LOCKED_UNTIL, "gesperrt bis"),
    ("label", "Bezeichnung"),
    ("scopes", "Rechte"),
    ("expires", "letzter Tag"),
    ("daily-limit", "Anfragen je Tag"),
    ("role", "Rolle"),
    ("companies", "Firmen"),
    ("created", "angelegt"),
    ("changed", "geändert"),
    ("unchanged", "schon so da"),
    ("deleted", "gelöscht"),
    ("put-back", "zurückgestellt"),
    (TAKEN_BACK, "Nummer"),
    ("secret", "mit dem Geheimnis"),
    ("names", "gilt für"),
    ("test", "Testfirma"),
    ("mail-server", "Mailserver"),
    ("mail-user", "Benutzer des Mailservers"),
    ("mail-password", "Passwort des Mailservers"),
    ("mail-from", "Absender der E-Mails"),
    ("mail-reply-to", "Antworten gehen an"),
    ("mail-certificate", "Zertifikat des Mailservers"),
    ("mail-words", "Text der E-Mails"),
    ("file", "Datei"),
    ("sha256", "Prüfsumme (sha256)"),
];

/// The German name of a field other than a setting.
pub fn named(field: &str) -> &str {
    FIELDS.iter().find(|(name, _)| *name == field).map_or(field, |(_, german)| german)
}

/// A field with its new value, and with its old value if the event is a change.
fn field(event: &AdminEvent, Changed { name, before, after }: &Changed) -> String {
    let setting = tenants::all_settings().find(|setting| setting.name == name);
    let setting = setting.filter(|_| event.gegenstand.art == Art::Firma);
    let words = |value: &str| match (name.as_str(), setting) {
        (_, _) if value.is_empty() => "nichts".to_owned(),
        // The log has only a checksum of the logo.
        ("logo", Some(_)) => "vorhanden".to_owned(),
        (_, Some(setting)) => (setting.in_words)(value).unwrap_or_else(|| value.to_owned()),
        ("scopes", None) => rechte::in_words(ScopeSet::from_stored(value)),
        ("expires" | LOCKED_UNTIL, None) => {
            Day::parse_plain(value).map_or_else(|| value.to_owned(), Day::german)
        }
        ("daily-limit" | "created" | "changed" | "unchanged" | "deleted" | "put-back", None) => number(value),
        (_, None) if value == "true" => "ja".to_owned(),
        (_, None) => value.to_owned(),
    };
    let known = || konten::logged_in_words(name).unwrap_or_else(|| named(name).to_owned());
    let name = setting.map_or_else(known, |setting| setting.meaning.trim_end_matches('.').to_owned());
    match event.tat {
        AdminAction::Geaendert => format!("{name}: bisher {}, jetzt {}", words(before), words(after)),
        _ => format!("{name}: {}", words(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(tat: AdminAction, art: Art, changed: &[(&str, &str, &str)]) -> AdminEvent {
        let changed = changed.iter().filter_map(|(name, before, after)| Changed::of(name, *before, *after));
        AdminEvent::new(tat, art).id("a1").name("shop").changing(changed)
    }

    #[test]
    fn each_deed_is_said_in_german() {
        for (event, german) in [
            (
                event(AdminAction::Geaendert, Art::Firma, &[("negativbestand", "hinweis", "ablehnen")]),
                "Was geschieht, wenn von einer Charge mehr verkauft wird, als da ist: \
                 bisher annehmen, mit Hinweis, jetzt ablehnen",
            ),
            (
                event(
                    AdminAction::Geaendert,
                    Art::Firma,
                    &[("plz", "84028", ""), ("logo", "", "sha256 00ff"), ("older", "1", "2")],
                ),
                "Bild auf den Belegen: bisher nichts, jetzt vorhanden; older: bisher 1, jetzt 2; Postleitzahl: bisher \
                 84028, jetzt nichts",
            ),
            (
                event(AdminAction::Geaendert, Art::Firma, &[("gesperrt_bis", "", "2026-06-30")]),
                "Belege mit Datum bis zu diesem Tag werden weder angelegt noch geändert: bisher nichts, \
                 jetzt 30.06.2026",
            ),
            (event(AdminAction::Angelegt, Art::Firma, &[]), "Firma „shop“ angelegt"),
            (
                event(AdminAction::Angelegt, Art::Firma, &[("test", "", "true")]),
                "Firma „shop“ angelegt: Testfirma: ja",
            ),
            (event(AdminAction::Geleert, Art::Firma, &[]), "Firma „shop“ geleert"),
            (
                event(
                    AdminAction::Angelegt,
                    Art::Schluessel,
                    &[("scopes", "", "belege:read kunden:read"), ("expires", "", "2027-01-31")],
                ),
                "Schlüssel „shop“ (a1) angelegt: letzter Tag: 31.01.2027; Rechte: Partner lesen, Belege lesen",
            ),
            (
                event(
                    AdminAction::Geaendert,
                    Art::Schluessel,
                    &[
                        ("daily-limit", "5000", "10000"),
                        ("label", "Shop", "shop"),
                        ("scopes", "belege:read", "kunden:read"),
                        ("expires", "", "2027-01-31"),
                    ],
                ),
                "Schlüssel „shop“ (a1): Anfragen je Tag: bisher 5.000, jetzt 10.000; letzter Tag: bisher nichts, jetzt \
                 31.01.2027; Bezeichnung: bisher Shop, jetzt shop; Rechte: bisher Belege lesen, jetzt Partner lesen",
            ),
            (event(AdminAction::Freigegeben, Art::Schluessel, &[]), "Schlüssel „shop“ (a1) freigegeben"),
            (event(AdminAction::Gesperrt, Art::Schluessel, &[]), "Schlüssel „shop“ (a1) gesperrt"),
            (
                event(
                    AdminAction::Angelegt,
                    Art::Zugang,
                    &[("role", "", "ansehen"), ("companies", "", "Mühle, Hof")],
                ),
                "Zugang „shop“ angelegt: Firmen: Mühle, Hof; Rolle: ansehen",
            ),
            (
                event(AdminAction::Angelegt, Art::Zugang, &[("role", "", "ansehen")]),
                "Zugang „shop“ angelegt: Rolle: ansehen; alle Firmen",
            ),
            (event(AdminAction::LinkErzeugt, Art::Zugang, &[]), "Zugang „shop“ hat einen neuen Link"),
            (event(AdminAction::PasswortGesetzt, Art::Zugang, &[]), "Zugang „shop“ hat ein neues Passwort"),
            (
                event(
                    AdminAction::Importiert,
                    Art::Import,
                    &[("created", "", "1200"), ("changed", "", "0"), ("unchanged", "", "1")],
                ),
                "Import a1 aus „shop“: geändert: 0; angelegt: 1.200; schon so da: 1",
            ),
            (
                event(
                    AdminAction::Geaendert,
                    Art::Firma,
                    &[("konto erloes/7/Öle", "", "8301"), ("konto aufwand_ig/19", "3425", "")],
                ),
                "Konto für Einkauf aus der EU 19 %: bisher 3425, jetzt nichts; Konto für Erlöse 7 %, \
                 Artikelgruppe Öle: bisher nichts, jetzt 8301",
            ),
            (
                event(AdminAction::Angelegt, Art::DatevStapel, &[("gesperrt_bis", "", "2026-10-31")]),
                "DATEV-Stapel shop angelegt: gesperrt bis: 31.10.2026",
            ),
            (event(AdminAction::Erledigt, Art::Beleg, &[]), "Beleg shop erledigt"),
            (event(AdminAction::Vergessen, Art::Partner, &[]), "Partner vergessen (DSGVO)"),
            (
                event(AdminAction::Angelegt, Art::Ueberlassung, &[("file", "", "z3.zip")]),
                "Daten für die Betriebsprüfung (shop) angelegt: Datei: z3.zip",
            ),
            (
                event(AdminAction::Angelegt, Art::Sicherung, &[("secret", "", "true")]),
                "Sicherung „shop“ angelegt: mit dem Geheimnis: ja",
            ),
            (event(AdminAction::Geloescht, Art::Sicherung, &[]), "Sicherung „shop“ gelöscht"),
            (
                event(AdminAction::Angelegt, Art::Zertifikat, &[("names", "", "a, b")]),
                "Zertifikat „shop“ angelegt: gilt für: a, b",
            ),
        ] {
            assert_eq!(words(&event), german);
        }
    }
}

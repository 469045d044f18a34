//! What somebody changed, as the log says it, in German.

use super::parts::{day_text, number};
use super::rechte;
use crate::gate::audit::Entry;
use crate::rules::changed::Changed;
use crate::rules::day::Day;
use crate::rules::deed::{Deed, Event};
use crate::rules::scope::ScopeSet;
use crate::tenants;

/// What a row of changes says.
pub fn of(entry: &Entry) -> String {
    words(&Deed::read(&entry.path, entry.command.as_deref()))
}

fn words(deed: &Deed) -> String {
    match deed {
        Deed::Setting(changed) => setting(changed),
        Deed::Company { name, is_test, is_new } => {
            let kind = if *is_test { "Testfirma" } else { "Firma" };
            format!("{kind} „{name}“ {}", if *is_new { "angelegt" } else { "geleert" })
        }
        Deed::NewKey { id, label, scopes, until } => {
            let until = until.as_ref().map(|last| format!(", gilt bis {}", day(last))).unwrap_or_default();
            format!("Schlüssel „{label}“ ({id}) angelegt: {}{until}", scopes_in_words(scopes))
        }
        Deed::Key { id, label, event } => format!("Schlüssel „{label}“ ({id}): {}", happened(event)),
        Deed::NewUser { name, role, companies, .. } => {
            let companies = companies.as_deref().unwrap_or("alle Firmen");
            format!("Zugang „{name}“ angelegt: darf {role}, {companies}")
        }
        Deed::User { name, event, .. } => format!("Zugang „{name}“: {}", happened(event)),
        Deed::Import { kind, file, counts } => {
            let kind = kind.as_ref().map(|kind| format!(" {kind}")).unwrap_or_default();
            let [created, changed, unchanged] = counts.map(number);
            format!(
                "Import{kind} aus „{file}“: {created} angelegt, {changed} geändert, {unchanged} schon so da"
            )
        }
        Deed::Document(number) => format!("Beleg {number}"),
        Deed::Backup { file, with_secret } => {
            format!("Sicherung „{file}“ gemacht{}", if *with_secret { ", mit dem Geheimnis" } else { "" })
        }
        Deed::PartnerForgotten(number) => format!("Partner {number} vergessen (DSGVO)"),
        Deed::BackupDeleted(file) => format!("Sicherung „{file}“ gelöscht"),
        Deed::Certificate { file, names } => format!("Zertifikat „{file}“ gemacht für {names}"),
        Deed::Unknown(text) => text.clone(),
    }
}

fn happened(event: &Event) -> String {
    match event {
        Event::Activated => "freigegeben".to_owned(),
        Event::Deactivated => "gesperrt".to_owned(),
        Event::LinkMade => "neuer Link".to_owned(),
        Event::PasswordSet => "Passwort gesetzt".to_owned(),
        Event::Changed(changed) => of_key(changed),
    }
}

/// What was changed of a key.
fn of_key(changed: &Changed) -> String {
    match changed.name.as_str() {
        "label" => from_to("Bezeichnung", changed, str::to_owned),
        "scopes" => from_to("Rechte", changed, scopes_in_words),
        "expires" => from_to("letzter Tag", changed, day),
        "daily-limit" => from_to("Anfragen je Tag", changed, |count| number(count)),
        other => from_to(other, changed, str::to_owned),
    }
}

fn setting(changed: &Changed) -> String {
    match tenants::all_settings().find(|setting| setting.name == changed.name) {
        // Of the logo the log has a checksum.
        Some(setting) if setting.name == "logo" => {
            from_to(setting.meaning, changed, |_| "vorhanden".to_owned())
        }
        Some(setting) => from_to(setting.meaning, changed, |value| {
            (setting.in_words)(value).unwrap_or_else(|| value.to_owned())
        }),
        None => from_to(&changed.name, changed, str::to_owned),
    }
}

/// The sentence of a change.
fn from_to(what: &str, changed: &Changed, words: impl Fn(&str) -> String) -> String {
    let [before, after] = [&changed.before, &changed.after].map(|value| match value.as_str() {
        "" => "nichts".to_owned(),
        value => words(value),
    });
    format!("{}: bisher {before}, jetzt {after}", what.trim_end_matches('.'))
}

fn day(text: &str) -> String {
    Day::parse_plain(text).map_or_else(|| text.to_owned(), day_text)
}

fn scopes_in_words(stored: &str) -> String {
    rechte::in_words(ScopeSet::from_stored(stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_of_the_log_is_said_in_german() {
        for (written, command, german) in [
            (
                "negativbestand: hinweis -> ablehnen",
                None,
                "Was geschieht, wenn von einer Charge oder einem Artikel ohne Chargen mehr verkauft wird, als da ist: \
                 bisher annehmen, mit Hinweis, jetzt ablehnen",
            ),
            (
                "gesperrt_bis: nothing -> 2026-06-30",
                Some("tenant set (root)"),
                "Belege mit Datum bis zu diesem Tag werden weder angelegt noch geändert: bisher nichts, jetzt 30.06.2026",
            ),
            ("plz: 84028 -> nothing", None, "Postleitzahl: bisher 84028, jetzt nichts"),
            (
                "logo: nothing -> a picture (sha256 00ff)",
                None,
                "Bild auf den Belegen: bisher nichts, jetzt vorhanden",
            ),
            ("older: 1 -> 2", None, "older: bisher 1, jetzt 2"),
            ("company \"Mühle\" created", None, "Firma „Mühle“ angelegt"),
            ("test company \"Mühle\" created", None, "Testfirma „Mühle“ angelegt"),
            ("test company \"Mühle\" emptied", Some("tenant reset (root)"), "Testfirma „Mühle“ geleert"),
            (
                "key a1 \"shop\" created: belege:read kunden:read, until 2027-01-31",
                None,
                "Schlüssel „shop“ (a1) angelegt: Partner lesen, Belege lesen, gilt bis 31.01.2027",
            ),
            ("key a1 \"shop\" activated", None, "Schlüssel „shop“ (a1): freigegeben"),
            ("key a1 \"shop\" deactivated", None, "Schlüssel „shop“ (a1): gesperrt"),
            (
                "key a1 \"shop\" label: Shop -> shop",
                None,
                "Schlüssel „shop“ (a1): Bezeichnung: bisher Shop, jetzt shop",
            ),
            (
                "key a1 \"shop\" scopes: belege:read -> kunden:read",
                None,
                "Schlüssel „shop“ (a1): Rechte: bisher Belege lesen, jetzt Partner lesen",
            ),
            (
                "key a1 \"shop\" expires: nothing -> 2027-01-31",
                None,
                "Schlüssel „shop“ (a1): letzter Tag: bisher nichts, jetzt 31.01.2027",
            ),
            (
                "key a1 \"shop\" daily-limit: 5000 -> 10000",
                None,
                "Schlüssel „shop“ (a1): Anfragen je Tag: bisher 5.000, jetzt 10.000",
            ),
            (
                "user 2 \"Paul\" created: ansehen, all companies",
                None,
                "Zugang „Paul“ angelegt: darf ansehen, alle Firmen",
            ),
            (
                "user 2 \"Paul\" created: verwalten, Mühle",
                None,
                "Zugang „Paul“ angelegt: darf verwalten, Mühle",
            ),
            ("user \"Leitung\" link made", Some("serve (root)"), "Zugang „Leitung“: neuer Link"),
            ("user 2 \"Paul\" password set", None, "Zugang „Paul“: Passwort gesetzt"),
            (
                "import kunden a.csv: created 1200, changed 0, unchanged 1",
                None,
                "Import kunden aus „a.csv“: 1.200 angelegt, 0 geändert, 1 schon so da",
            ),
            (
                "a.csv: created 2, changed 0, unchanged 1",
                Some("import kunden (root)"),
                "Import aus „a.csv“: 2 angelegt, 0 geändert, 1 schon so da",
            ),
            ("RE-2026-00001", Some("beleg erledigen (root)"), "Beleg RE-2026-00001"),
            ("x.db with its secret", Some("backup (root)"), "Sicherung „x.db“ gemacht, mit dem Geheimnis"),
            ("backup x.db deleted", None, "Sicherung „x.db“ gelöscht"),
            ("c.pem for a, b", Some("tls self-signed (root)"), "Zertifikat „c.pem“ gemacht für a, b"),
            ("something else", None, "something else"),
        ] {
            assert_eq!(words(&Deed::read(written, command)), german, "{written}");
        }
    }
}

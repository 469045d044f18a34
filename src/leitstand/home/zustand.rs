//! Health issues: of a company its data and open weighings; of the installation its disk, its backups, its
//! certificate.

use maud::{Markup, html};

use crate::goods::waage::{self, Auswahl, Wiegung};
use crate::leitstand::kit::health::HealthIssue;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{moment, number};
use crate::leitstand::operations::sicherung::gigabytes;
use crate::leitstand::operations::upkeep::Upkeep;
use crate::master::kunden;
use crate::master::tenants::firma;
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::gate::access::key::{KeyState, StoredKey};
use crate::platform::listing::Records;
use crate::rules::day::{Day, Instant};

/// Free bytes of the disk below which there is an issue, and below which it is urgent.
const LITTLE_FREE_BYTES: u64 = 5_000_000_000;
const HARDLY_ANY_FREE_BYTES: u64 = 1_000_000_000;

/// Hours after which the newest backup is too old: one night was skipped.
const BACKUP_AGE_HOURS_MAX: i64 = 36;

/// Days before the end of the certificate at which a new one is requested.
const CERTIFICATE_ENDS_SOON_DAYS: i64 = 30;

/// Percent of its daily limit at which a key is near it.
const NEAR_LIMIT_PERCENT: u64 = 80;

/// A list of health issues, urgent ones first; empty without any.
pub fn shown(issues: &[HealthIssue]) -> Markup {
    let (urgent, soon): (Vec<_>, Vec<_>) = issues.iter().partition(|issue| issue.is_urgent);
    let item = |issue: &&HealthIssue| {
        html! { li { @match &issue.to { Some(to) => a href=(to) { (issue.text) }, None => (issue.text) } } }
    };
    html! {
        @if !urgent.is_empty() { ul.sorgen.refused { @for issue in &urgent { (item(issue)) } } }
        @if !soon.is_empty() { ul.sorgen { @for issue in &soon { (item(issue)) } } }
    }
}

pub const CANNOT_WRITE: &str = "Der Dienst kann gerade nicht speichern. Ist die Platte voll?";

/// The health issues of the company, and those of the installation, `upkeep`, if this person manages it.
pub fn issues(
    request: &PageRequest,
    db: &Snapshot<'_>,
    keys: &[StoredKey],
    upkeep: Option<&Upkeep>,
) -> Result<Vec<HealthIssue>> {
    let mut found = Vec::new();
    if request.manages_installation() && request.app.gate.writer.watch.has_failed() {
        found.push(HealthIssue::urgent(CANNOT_WRITE.to_owned()).at("/leitstand/sicherung"));
    }
    found.extend(upkeep.into_iter().flat_map(|upkeep| installation_issues(upkeep, request.now)));
    let missing = firma::load(&db.tx)?.missing();
    if !missing.is_empty() {
        let text = format!(
            "Belege bekommen kein Blatt (PDF): Es fehlen Angaben zur Firma ({}).",
            crate::leitstand::master::firma::in_words(&missing)
        );
        let to = request.sees_management().then(|| request.of_firma("firma"));
        found.push(HealthIssue { to, ..HealthIssue::soon(text) });
    }
    let yesterday = Day::of_number(db.tx.today().number() - 1);
    let open = Auswahl { status: Some("offen"), bis: Some(yesterday), ..Auswahl::default() };
    let open: Records<Wiegung> = waage::list(&db.tx, &open, Page { limit: Some(1), offset: 0 })?;
    if !open.rows.is_empty() {
        let text = "Von gestern oder früher sind Wiegungen offen: zweite Wiegung oder Storno fehlt.";
        let list = format!("wiegungen?status=offen&bis={yesterday}");
        found.push(HealthIssue::soon(text.to_owned()).at(request.of_firma(&list)));
    }
    if request.sees_management() {
        found.extend(keys_near_their_limit(request, keys));
    }
    Ok(found)
}

/// Issues of the keys that have used most of today's requests.
fn keys_near_their_limit(request: &PageRequest, keys: &[StoredKey]) -> Vec<HealthIssue> {
    let is_near = |key: &StoredKey| {
        key.state == KeyState::Active
            && u64::from(key.today) * 100 >= u64::from(key.daily_limit) * NEAR_LIMIT_PERCENT
    };
    let again = day_over(request.now);
    let issue = |key: &StoredKey| {
        let ([today, limit], label) = ([key.today, key.daily_limit].map(number), &key.label);
        let issue = match key.today >= key.daily_limit {
            true => HealthIssue::urgent(format!(
                "Der Schlüssel „{label}“ hat seine {limit} Anfragen für heute verbraucht und wird bis \
                 {again} abgewiesen."
            )),
            false => HealthIssue::soon(format!(
                "Der Schlüssel „{label}“ hat heute {today} von {limit} Anfragen verbraucht; danach wird er \
                 bis {again} abgewiesen."
            )),
        };
        issue.at(request.page_of("schluessel", &key.id))
    };
    keys.iter().filter(|key| is_near(key)).map(issue).collect()
}

/// When the UTC day ends, in Berlin time.
fn day_over(now: Instant) -> String {
    let minute = Instant::from_millis((now.utc_day() + 1) * Instant::MILLIS_PER_DAY).minute_in_berlin();
    format!("{:02}:{:02} Uhr", minute / 60, minute % 60)
}

fn installation_issues(upkeep: &Upkeep, now: Instant) -> Vec<HealthIssue> {
    let certificate = upkeep.certificate.and_then(|until| of_certificate(until, now));
    [upkeep.free.and_then(disk), backup(upkeep, now), certificate].into_iter().flatten().collect()
}

fn disk(free: u64) -> Option<HealthIssue> {
    let megabytes = number(free / 1_000_000);
    let text =
        format!("Auf der Platte der Datenbank sind nur noch {megabytes} MB frei. Bitte Platz schaffen.");
    (free < LITTLE_FREE_BYTES).then(|| {
        if free < HARDLY_ANY_FREE_BYTES { HealthIssue::urgent(text) } else { HealthIssue::soon(text) }
    })
}

fn backup(upkeep: &Upkeep, now: Instant) -> Option<HealthIssue> {
    let text = match upkeep.backup {
        None => format!("Der Ordner der Sicherungen ist nicht zu lesen: {}", upkeep.folder.display()),
        Some(None) => "Es gibt noch keine Sicherung.".to_owned(),
        Some(Some(made)) if hours(made, now) <= BACKUP_AGE_HOURS_MAX => return None,
        Some(Some(made)) => format!("Die letzte gute Sicherung ist vom {}.", moment(made)),
    };
    Some(HealthIssue::urgent(text).at("/leitstand/sicherung"))
}

fn hours(then: Instant, now: Instant) -> i64 {
    (now.millis() - then.millis()) / 3_600_000
}

fn of_certificate(until: Instant, now: Instant) -> Option<HealthIssue> {
    let left = Day::in_berlin(until).number() - Day::in_berlin(now).number();
    let (end, advice) = (moment(until), "Bitte ein neues einsetzen.");
    if until < now {
        return Some(HealthIssue::urgent(format!("Das Zertifikat ist am {end} abgelaufen. {advice}")));
    }
    (left < CERTIFICATE_ENDS_SOON_DAYS)
        .then(|| HealthIssue::soon(format!("Das Zertifikat gilt nur noch bis {end}. {advice}")))
}

/// The state of disk, backups and certificate, and the version: a line for people who manage the
/// installation, with or without issues.
pub fn installation_in_words(upkeep: &Upkeep, now: Instant) -> Markup {
    let folder = upkeep.folder.display();
    let backup = match upkeep.backup {
        None => format!("Sicherungen in {folder}: nicht zu lesen"),
        Some(None) => format!("Letzte Sicherung: noch keine in {folder}"),
        Some(Some(made)) => format!("Letzte Sicherung: {}, {}, in {folder}", moment(made), age(made, now)),
    };
    let free = upkeep.free.map(|free| format!("frei auf der Platte: {}", gigabytes(free)));
    let certificate = upkeep.certificate.map(|until| format!("Zertifikat bis {}", moment(until)));
    html! {
        p { small {
            a href="/leitstand/sicherung" { (backup) }
            @for fact in [free, certificate].into_iter().flatten() { " · " (fact) }
            " · " (VERSION) ", Stand " (moment(upkeep.at))
        } }
    }
}

pub const VERSION: &str = concat!("partnerd ", env!("CARGO_PKG_VERSION"));

fn age(then: Instant, now: Instant) -> String {
    match hours(then, now) {
        ..1 => "vor weniger als einer Stunde".to_owned(),
        1 => "vor einer Stunde".to_owned(),
        hours @ 2..48 => format!("vor {hours} Stunden"),
        hours => format!("vor {} Tagen", number(hours / 24)),
    }
}

/// The steps that a new company still needs before it can work; `None` once all are done.
pub fn first_steps(request: &PageRequest, db: &Snapshot<'_>, keys: &[StoredKey]) -> Result<Option<Markup>> {
    let has_key = !keys.is_empty();
    let has_data = firma::load(&db.tx)?.missing().is_empty();
    if !request.may_manage() || has_key && has_data {
        return Ok(None);
    }
    let has_partners = kunden::count(&db.tx)? > 0;
    let steps = [
        (has_data, "firma", "Angaben der Firma eintragen", "Sie stehen auf Belegen und E-Rechnungen."),
        (
            has_partners,
            "import",
            "Artikel und Partner importieren",
            "Aus Excel oder CSV; Vorlagen gibt es dort.",
        ),
        (
            has_key,
            "schluessel",
            "Ersten Schlüssel anlegen",
            "Damit liest und schreibt das erste Programm, etwa die Waage.",
        ),
    ];
    Ok(Some(html! {
        h2 { "Erste Schritte" }
        ol.schritte { @for (is_done, path, name, why) in steps {
            li {
                a href=(request.of_firma(path)) { (name) }
                @if is_done { " – erledigt" } @else { br; small { (why) } }
            }
        } }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_keys_ends_at_one_in_winter_and_at_two_in_summer() {
        for (now, words) in [
            ("2026-07-10T23:59:59Z", "02:00 Uhr"),
            ("2026-12-10T00:00:00Z", "01:00 Uhr"),
            // The clocks change in the night after this day.
            ("2026-10-24T22:30:00Z", "02:00 Uhr"),
            ("2026-10-25T22:30:00Z", "01:00 Uhr"),
        ] {
            assert_eq!(day_over(Instant::parse(now).unwrap()), words, "{now}");
        }
    }

    #[test]
    fn ages_are_said_in_hours_and_days() {
        let now = Instant::parse("2026-07-10T12:00:00Z").unwrap();
        for (then, words) in [
            ("2026-07-10T12:30:00Z", "vor weniger als einer Stunde"),
            ("2026-07-10T11:00:01Z", "vor weniger als einer Stunde"),
            ("2026-07-10T11:00:00Z", "vor einer Stunde"),
            ("2026-07-10T00:15:00Z", "vor 11 Stunden"),
            ("2026-07-08T12:00:01Z", "vor 47 Stunden"),
            ("2026-07-08T12:00:00Z", "vor 2 Tagen"),
        ] {
            assert_eq!(age(Instant::parse(then).unwrap(), now), words, "{then}");
        }
    }
}

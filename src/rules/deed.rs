//! What a person or the command line changed, as a row of the log says it (D27): an English sentence, which is sealed
//! with its row and never changes. [`Deed::read`] reads it again, so that the pages can say it in German.

use std::fmt::{Display, Formatter};

use super::changed::{Changed, NOTHING};

/// One thing that was changed. Whatever writes a row of changes writes one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A setting of a company, or of its master data.
    Setting(Changed),
    /// A company.
    Company {
        /// Its name.
        name: String,
        /// Whether it is a test company.
        is_test: bool,
        /// It was created; else its data were deleted.
        is_new: bool,
    },
    /// A new key.
    NewKey {
        /// Its public part.
        id: String,
        /// What it is for.
        label: String,
        /// What it may do, as it is stored.
        scopes: String,
        /// Its last day, as YYYY-MM-DD; none: until it is deactivated.
        until: Option<String>,
    },
    /// A key that was there before.
    Key {
        /// Its public part.
        id: String,
        /// What it is for.
        label: String,
        /// What happened to it.
        event: Event,
    },
    /// A new person.
    NewUser {
        /// The number.
        id: i64,
        /// The name.
        name: String,
        /// What they may do.
        role: String,
        /// The companies they see, separated by commas; none: all.
        companies: Option<String>,
    },
    /// A person who was there before.
    User {
        /// The number; none for the first one, whose link was made with them.
        id: Option<i64>,
        /// The name.
        name: String,
        /// What happened to them.
        event: Event,
    },
    /// Rows of a file.
    Import {
        /// What rows they are; none where the command says it.
        kind: Option<String>,
        /// The name of the file.
        file: String,
        /// Records created, changed and left as they were.
        counts: [usize; 3],
    },
    /// Of a document its number; the command says what it did.
    Document(String),
    /// A partner who was forgotten: its number.
    PartnerForgotten(String),
    /// A backup.
    Backup {
        /// Its file.
        file: String,
        /// Whether it came with the secret of the seals.
        with_secret: bool,
    },
    /// A backup that was deleted: its file.
    BackupDeleted(String),
    /// A certificate that the program signed itself.
    Certificate {
        /// Its file.
        file: String,
        /// The names it is for, separated by commas.
        names: String,
    },
    /// What no version of the program is known to have written.
    Unknown(String),
}

/// What happened to a key or a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Activated,
    Deactivated,
    LinkMade,
    PasswordSet,
    Changed(Changed),
}

/// The events that have no value.
const EVENTS: [(Event, &str); 4] = [
    (Event::Activated, "activated"),
    (Event::Deactivated, "deactivated"),
    (Event::LinkMade, "link made"),
    (Event::PasswordSet, "password set"),
];

const ALL_COMPANIES: &str = "all companies";
const UNTIL: &str = ", until ";
const WITH_SECRET: &str = " with its secret";
const FOR: &str = " for ";

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match (self, EVENTS.iter().find(|(event, _)| event == self)) {
            (Event::Changed(changed), _) => changed.fmt(f),
            (_, known) => f.write_str(known.map_or("", |(_, words)| words)),
        }
    }
}

impl Event {
    fn read(text: &str) -> Option<Event> {
        let known = EVENTS.iter().find(|(_, words)| *words == text).map(|(event, _)| event.clone());
        known.or_else(|| changed(text).map(Event::Changed))
    }
}

impl Display for Deed {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Deed::Setting(changed) => changed.fmt(f),
            Deed::Company { name, is_test, is_new } => {
                let kind = if *is_test { "test company" } else { "company" };
                write!(f, "{kind} {name:?} {}", if *is_new { "created" } else { "emptied" })
            }
            Deed::NewKey { id, label, scopes, until } => {
                write!(f, "key {id} {label:?} created: {scopes}")?;
                until.as_ref().map_or(Ok(()), |until| write!(f, "{UNTIL}{until}"))
            }
            Deed::Key { id, label, event } => write!(f, "key {id} {label:?} {event}"),
            Deed::NewUser { id, name, role, companies } => {
                write!(
                    f,
                    "user {id} {name:?} created: {role}, {}",
                    companies.as_deref().unwrap_or(ALL_COMPANIES)
                )
            }
            Deed::User { id: Some(id), name, event } => write!(f, "user {id} {name:?} {event}"),
            Deed::User { id: None, name, event } => write!(f, "user {name:?} {event}"),
            Deed::Import { kind, file, counts } => {
                kind.as_ref().map_or(Ok(()), |kind| write!(f, "import {kind} "))?;
                write!(f, "{file}: {}", tally(*counts))
            }
            Deed::Backup { file, with_secret } => {
                write!(f, "{file}{}", if *with_secret { WITH_SECRET } else { "" })
            }
            Deed::PartnerForgotten(number) => write!(f, "partner {number} forgotten"),
            Deed::BackupDeleted(file) => write!(f, "backup {file} deleted"),
            Deed::Certificate { file, names } => write!(f, "{file}{FOR}{names}"),
            Deed::Document(text) | Deed::Unknown(text) => f.write_str(text),
        }
    }
}

/// How many records an import created, changed and left as they were.
pub fn tally([created, changed, unchanged]: [usize; 3]) -> String {
    format!("created {created}, changed {changed}, unchanged {unchanged}")
}

impl Deed {
    /// Reads what a row says; `command` is the one that changed it, none where a person did on a page. Files and
    /// numbers are told apart by it.
    pub fn read(text: &str, command: Option<&str>) -> Deed {
        let found = match command.and_then(|command| command.split(' ').next()).unwrap_or_default() {
            "beleg" => Some(Deed::Document(text.to_owned())),
            "backup" => Some(backup(text)),
            "tls" => text
                .rsplit_once(FOR)
                .map(|(file, names)| Deed::Certificate { file: file.to_owned(), names: names.to_owned() }),
            "import" => import(None, text),
            _ => None,
        };
        found.or_else(|| on_page(text)).unwrap_or_else(|| Deed::Unknown(text.to_owned()))
    }
}

fn backup(text: &str) -> Deed {
    let file = text.strip_suffix(WITH_SECRET);
    Deed::Backup { file: file.unwrap_or(text).to_owned(), with_secret: file.is_some() }
}

fn import(kind: Option<&str>, text: &str) -> Option<Deed> {
    let (file, counts) = text.rsplit_once(": created ")?;
    let (created, counts) = counts.split_once(", changed ")?;
    let (changed, unchanged) = counts.split_once(", unchanged ")?;
    let counts = [created.parse().ok()?, changed.parse().ok()?, unchanged.parse().ok()?];
    Some(Deed::Import { kind: kind.map(str::to_owned), file: file.to_owned(), counts })
}

/// What pages change, and what commands change that have no sentence of their own.
fn on_page(text: &str) -> Option<Deed> {
    if let Some(text) = text.strip_prefix("import ") {
        let (kind, text) = text.split_once(' ')?;
        return import(Some(kind), text);
    }
    if let Some(text) = text.strip_prefix("key ") {
        return key(text);
    }
    if let Some(text) = text.strip_prefix("user ") {
        return user(text);
    }
    if let Some(text) = text.strip_prefix("backup ") {
        return text.strip_suffix(" deleted").map(|file| Deed::BackupDeleted(file.to_owned()));
    }
    if let Some(text) = text.strip_prefix("partner ") {
        return text.strip_suffix(" forgotten").map(|number| Deed::PartnerForgotten(number.to_owned()));
    }
    let (is_test, name) = match text.strip_prefix("test company ") {
        Some(name) => (true, Some(name)),
        None => (false, text.strip_prefix("company ")),
    };
    if let Some(name) = name {
        let (name, event) = quoted(name)?;
        let is_new = event == "created";
        return (is_new || event == "emptied").then_some(Deed::Company { name, is_test, is_new });
    }
    changed(text).map(Deed::Setting)
}

fn key(text: &str) -> Option<Deed> {
    let (id, text) = text.split_once(' ')?;
    let (id, (label, event)) = (id.to_owned(), quoted(text)?);
    let Some(scopes) = event.strip_prefix("created: ") else {
        return Some(Deed::Key { id, label, event: Event::read(event)? });
    };
    let (scopes, until) = match scopes.split_once(UNTIL) {
        Some((scopes, until)) => (scopes, Some(until.to_owned())),
        None => (scopes, None),
    };
    Some(Deed::NewKey { id, label, scopes: scopes.to_owned(), until })
}

fn user(text: &str) -> Option<Deed> {
    if text.starts_with('"') {
        let (name, event) = quoted(text)?;
        return Some(Deed::User { id: None, name, event: Event::read(event)? });
    }
    let (id, text) = text.split_once(' ')?;
    let (id, (name, event)) = (id.parse().ok()?, quoted(text)?);
    let Some(created) = event.strip_prefix("created: ") else {
        return Some(Deed::User { id: Some(id), name, event: Event::read(event)? });
    };
    let (role, companies) = created.split_once(", ")?;
    let companies = Some(companies.to_owned()).filter(|companies| companies != ALL_COMPANIES);
    Some(Deed::NewUser { id, name, role: role.to_owned(), companies })
}

/// `name: before -> after`. Where a value holds an arrow itself, the first one parts them.
fn changed(text: &str) -> Option<Changed> {
    let (name, values) = text.split_once(": ")?;
    let (before, after) = values.split_once(" -> ")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '-');
    let value = |value: &str| if value == NOTHING { String::new() } else { value.to_owned() };
    is_name.then(|| Changed { name: name.to_owned(), before: value(before), after: value(after) })
}

/// A text in quotation marks as `{:?}` writes it, and what follows after a blank.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.char_indices();
    let mut read = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((read, text.get(at + 2..)?.strip_prefix(' ')?)),
            '\\' => read.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let digits: String =
                        letters.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                }
                other => other,
            }),
            other => read.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each, with the command that writes it and the sentence in the log.
    fn all() -> Vec<(Deed, Option<&'static str>, &'static str)> {
        let change = |name: &str, before: &str, after: &str| Changed::of(name, before, after).unwrap();
        let key = |event| Deed::Key { id: "a1".into(), label: "Waage \"Süd\"".into(), event };
        let user = |event| Deed::User { id: Some(2), name: "Paul\u{200b}\\".into(), event };
        let company = |is_test, is_new| Deed::Company { name: "M, \"A\"".into(), is_test, is_new };
        let import = |kind: Option<&str>, file: &str| Deed::Import {
            kind: kind.map(str::to_owned),
            file: file.into(),
            counts: [2, 0, 1],
        };
        let new_key = |until: Option<&str>| Deed::NewKey {
            id: "a1".into(),
            label: "shop".into(),
            scopes: "belege:read kunden:write".into(),
            until: until.map(str::to_owned),
        };
        let new_user = |companies: Option<&str>| Deed::NewUser {
            id: 2,
            name: "Paul".into(),
            role: "ansehen".into(),
            companies: companies.map(str::to_owned),
        };
        let backup = |with_secret| Deed::Backup { file: "/b/x for y.db".into(), with_secret };
        vec![
            (Deed::Setting(change("plz", "", "84028")), None, "plz: nothing -> 84028"),
            (
                Deed::Setting(change("abschluss_tagesende", "RE", "")),
                Some("tenant set (root)"),
                "abschluss_tagesende: RE -> nothing",
            ),
            (company(false, true), None, r#"company "M, \"A\"" created"#),
            (Deed::PartnerForgotten("K 1".into()), Some("kunde vergessen (root)"), "partner K 1 forgotten"),
            (company(true, true), Some("tenant create (root)"), r#"test company "M, \"A\"" created"#),
            (company(true, false), Some("tenant reset (root)"), r#"test company "M, \"A\"" emptied"#),
            (new_key(None), None, r#"key a1 "shop" created: belege:read kunden:write"#),
            (
                new_key(Some("2027-01-31")),
                Some("key create (root)"),
                r#"key a1 "shop" created: belege:read kunden:write, until 2027-01-31"#,
            ),
            (key(Event::Activated), None, r#"key a1 "Waage \"Süd\"" activated"#),
            (key(Event::Deactivated), None, r#"key a1 "Waage \"Süd\"" deactivated"#),
            (
                key(Event::Changed(change("daily-limit", "5", "6"))),
                None,
                r#"key a1 "Waage \"Süd\"" daily-limit: 5 -> 6"#,
            ),
            (new_user(None), None, r#"user 2 "Paul" created: ansehen, all companies"#),
            (new_user(Some("A, B")), None, r#"user 2 "Paul" created: ansehen, A, B"#),
            (user(Event::LinkMade), None, r#"user 2 "Paul\u{200b}\\" link made"#),
            (user(Event::PasswordSet), None, r#"user 2 "Paul\u{200b}\\" password set"#),
            (
                Deed::User { id: None, name: "Leitung".into(), event: Event::LinkMade },
                Some("serve (root)"),
                r#"user "Leitung" link made"#,
            ),
            (
                import(Some("kunden"), "a: b.csv"),
                None,
                "import kunden a: b.csv: created 2, changed 0, unchanged 1",
            ),
            (
                import(None, "key x.csv"),
                Some("import kunden (root)"),
                "key x.csv: created 2, changed 0, unchanged 1",
            ),
            (Deed::Document("RE-2026-00001".into()), Some("beleg erledigen (root)"), "RE-2026-00001"),
            (backup(false), Some("backup (root)"), "/b/x for y.db"),
            (backup(true), Some("backup (root)"), "/b/x for y.db with its secret"),
            (
                Deed::Certificate { file: "/c.pem".into(), names: "a, b".into() },
                Some("tls self-signed (root)"),
                "/c.pem for a, b",
            ),
            (Deed::BackupDeleted("/b/x y.db".into()), None, "backup /b/x y.db deleted"),
            (Deed::Unknown("what else".into()), None, "what else"),
        ]
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (deed, command, text) in all() {
            assert_eq!(deed.to_string(), text);
            assert_eq!(Deed::read(text, command), deed, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_cut_or_strange_is_unknown() {
        for text in [
            "",
            "key",
            "key a1",
            "key a1 \"x",
            "key a1 \"\\u{zz}\" activated",
            "user x \"y\" activated",
            "company \"x\"",
            "import kunden x.csv: created 1",
            "Plz: 1 -> 2",
            "plz: 1",
        ] {
            assert_eq!(Deed::read(text, None), Deed::Unknown(text.to_owned()));
        }
    }
}

//! Settings of a company. The table below defines the columns that are read and written, the values that
//! `tenant set` accepts, and the list in the documentation.
//!
//! A new setting needs a row here, a column of the same name in a migration, and code that uses it. Tests
//! fail for a column without a row, a default that differs from the column's, and a row missing from the
//! documentation.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, named_params};

use super::value::{Jahrestag, Monate, Nummer, SettingValue, Tage, Worded};
use crate::choice;
use crate::platform::db::TenantId;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::datev::{Aufteilung, Rahmen};
use crate::rules::day::{Day, Instant};
use crate::rules::document::{BelegTyp, Tagesabschluss};
use crate::rules::error::{Code, refuse_if};
use crate::rules::plausible::{WRONG_IBAN, has_wrong_check_digits};

/// Declares a choice with the text and the German words of each value.
macro_rules! worded {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal, $words:literal;)+
    }) => {
        choice! { $(#[$meta])* pub enum $name { $($(#[$doc])* $variant = $text),+ } }

        impl Worded for $name {
            fn words(self) -> &'static str {
                match self { $($name::$variant => $words),+ }
            }
        }
    };
}

worded! {
    /// Which documents move stock (D8).
    pub enum Lagerbuchung {
        Beleg = "beleg", "Lieferungen, und Rechnungen ohne Lieferung";
        Lieferung = "lieferung", "nur Lieferungen";
    }
}

worded! {
    /// How to choose the batch of a sales item that names none (D8).
    pub enum ChargeAutomatik {
        Aus = "aus", "keine";
        Fefo = "fefo", "die zuerst abläuft (FEFO)";
    }
}

worded! {
    /// How to treat doubtful input (D8, D18).
    pub enum Strenge {
        Hinweis = "hinweis", "annehmen, mit Hinweis";
        Ablehnen = "ablehnen", "ablehnen";
    }
}

worded! {
    /// How to treat unknown query parameters (D18).
    pub enum UnbekannteParameter {
        Ablehnen = "ablehnen", "die Anfrage ablehnen";
        Ignorieren = "ignorieren", "übergehen";
    }
}

worded! {
    /// What to do if an e-invoice cannot be created (D26).
    pub enum ERechnungspflicht {
        Aus = "aus", "es wird nie eine gemacht";
        Hinweis = "hinweis", "ohne E-Rechnung abschließen, mit Hinweis";
        Pflicht = "pflicht", "nicht abschließen";
    }
}

/// A setting as the command line and the documentation present it.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name on the command line and of the column in the table `tenant`.
    pub name: &'static str,
    /// Description of the accepted input.
    pub values: fn() -> String,
    /// Default for a new company, as a user would type it.
    pub default: &'static str,
    /// Its effect, in one sentence.
    pub meaning: &'static str,
    /// Returns the meaning of a value, in German, for the pages; `None` if the value is not valid.
    pub in_words: fn(&str) -> Option<String>,
    /// Converts a text to the value of its column; `None` if the text is not valid.
    pub(super) stored: fn(&str) -> Option<Value>,
}

impl Worded for Rahmen {
    fn words(self) -> &'static str {
        match self {
            Rahmen::Skr03 => "SKR03",
            Rahmen::Skr04 => "SKR04",
            Rahmen::Keiner => "keiner von beiden",
        }
    }
}

impl Worded for Aufteilung {
    fn words(self) -> &'static str {
        match self {
            Aufteilung::Exakt => "auf den Cent genau, mit Umbuchungen ohne Steuer",
            Aufteilung::Brutto => "eine Zeile je Konto, das größte trägt die Cent",
        }
    }
}

impl Setting {
    pub fn takes(&self, text: &str) -> bool {
        (self.stored)(text).is_some()
    }

    /// Returns its values as typed, each with its meaning in words; `None` if it is not a short list of
    /// values.
    pub fn choices(&self) -> Option<Vec<(String, String)>> {
        let values = (self.values)();
        let worded = |value: &str| Some((value.to_owned(), (self.in_words)(value)?));
        let choices: Vec<_> = values.split(", ").map(worded).collect::<Option<_>>()?;
        (choices.len() > 1 && !self.takes("?")).then_some(choices)
    }

    /// Describes the accepted input; if it is a list of values, each with its meaning.
    pub fn explained(&self) -> String {
        let Some(choices) = self.choices() else { return (self.values)() };
        let worded = |(value, words): &(String, String)| format!("{value} ({words})");
        choices.iter().map(worded).collect::<Vec<_>>().join("; ")
    }

    /// Returns the value of its column for a text, or an error if the text is not valid.
    pub(super) fn value_of(&self, text: &str) -> Result<Value> {
        (self.stored)(text).ok_or_else(|| self.refusal(text))
    }

    pub(super) fn refusal(&self, text: &str) -> Failure {
        let why = match has_wrong_check_digits(text) {
            true => WRONG_IBAN.to_owned(),
            false => format!("möglich ist: {}", (self.values)()),
        };
        Failure::Broken(format!("{} kann nicht {text:?} sein; {why}", self.name))
    }
}

/// Declares the table of settings: name, type, default, meaning.
macro_rules! settings {
    ($($name:ident: $type:ty = $default:literal, $meaning:literal;)+) => {
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Einstellungen {
            $(#[doc = $meaning] pub $name: $type,)+
            /// Whether it is a test company: its documents are marked. Never changes.
            pub test: bool,
        }

        /// Settings of the program's behaviour for a company (D4, D7, D8, D18, D24, D26).
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            values: <$type as SettingValue>::values,
            default: $default,
            meaning: $meaning,
            in_words: |text| <$type as SettingValue>::typed(text).map(|value| value.in_words()),
            stored: |text| <$type as SettingValue>::typed(text).map(|value| value.stored()),
        },)+];

        impl Einstellungen {
            /// Returns the values in the order of [`SETTINGS`], as a user would type them.
            pub fn texts(&self) -> Vec<String> {
                vec![$(self.$name.as_typed(),)+]
            }
        }

        const SELECT: &str =
            concat!("select ", $(stringify!($name), ", ",)+ "test from tenant where id = :tenant");

        fn einstellungen(row: &Row<'_>) -> rusqlite::Result<Einstellungen> {
            Ok(Einstellungen {
                $($name: <$type as SettingValue>::read(row.get_ref(stringify!($name))?)?,)+
                test: row.get("test")?,
            })
        }
    };
}

settings! {
    steuer_ausland_automatik: bool = "false",
        "Verkäufe ins Ausland sind von selbst steuerfrei, wo das Gesetz es vorsieht.";
    bestellung_ohne_charge: bool = "false",
        "Bestellungen chargenpflichtiger Artikel brauchen keine Angaben zur Charge.";
    lagerbuchung: Lagerbuchung = "beleg",
        "Welche Belege Bestand bewegen.";
    charge_automatik: ChargeAutomatik = "aus",
        "Welche Charge eine Verkaufsposition nimmt, die keine nennt.";
    negativbestand: Strenge = "hinweis",
        "Was geschieht, wenn von einer Charge mehr verkauft wird, als da ist.";
    paarung_monate: Monate = "12",
        "Lieferungen und Rechnungen, deren Datum weiter auseinander liegt, \
         treffen sich nur mit bezug_beleg_id; 0: in jedem Alter.";
    kontrakt_toleranz_prozent: Nummer<0, 100> = "5",
        "Um so viel Prozent darf ein Kontrakt mit Mengenart circa überliefert werden, zu seinem Preis.";
    gesperrt_bis: Option<Day> = "",
        "Belege mit Datum bis zu diesem Tag werden weder angelegt noch geändert.";
    abschluss_bei_anlage: Vec<BelegTyp> = "",
        "Belege dieser Typen sind mit ihrer Anlage abgeschlossen.";
    abschluss_tagesende: Vec<Tagesabschluss> = "RE,GS",
        "Belege dieser Typen werden am Ende des Berliner Tages abgeschlossen, an dem sie angelegt wurden.";
    unbekannte_parameter: UnbekannteParameter = "ablehnen",
        "Was mit Parametern der Adresse geschieht, die niemand kennt.";
    unbekannte_felder: Strenge = "hinweis",
        "Was mit Feldern einer Anfrage geschieht, die niemand kennt.";
    e_rechnung: ERechnungspflicht = "hinweis",
        "Was geschieht, wenn Angaben für die E-Rechnung fehlen.";
    kleinunternehmer: bool = "false",
        "Kleinunternehmer nach § 19 UStG: alle Verkäufe ohne Steuer.";
    kleinunternehmer_ab: Tage = "",
        "Tage, an denen die Firma Kleinunternehmer wurde oder es nicht mehr war; ab dem letzten gilt kleinunternehmer.";
    datev_berater: Option<Nummer<1_001, 9_999_999>> = "",
        "Beraternummer des Steuerberaters, für DATEV.";
    datev_mandant: Option<Nummer<1, 99_999>> = "",
        "Mandantennummer, unter der der Steuerberater die Firma führt.";
    datev_ab: Option<Day> = "",
        "Erster Tag, dessen Rechnungen an DATEV gehen.";
    datev_wj_beginn: Jahrestag = "01-01",
        "Erster Tag des Wirtschaftsjahrs.";
    datev_rahmen: Rahmen = "03",
        "Kontenrahmen: nach ihm ist bekannt, was ein Konto von selbst rechnet.";
    datev_sachkontenlaenge: Nummer<4, 8> = "4",
        "Stellen der Sachkonten; Personenkonten haben eine mehr.";
    datev_festschreibung: bool = "false",
        "Stapel sind in DATEV festgeschrieben, und der Steuerberater kann kein Konto mehr ändern.";
    datev_aufteilung: Aufteilung = "exakt",
        "Wie eine Rechnung auf mehrere Konten verteilt wird, wo deren Steuern zusammen um Cent abweichen.";
}

impl Einstellungen {
    /// Whether the company is a Kleinunternehmer on a day: what it is at last, turned once by each change that is still to come
    /// (D29).
    pub fn is_kleinunternehmer(&self, day: Day) -> bool {
        let to_come = self.kleinunternehmer_ab.0.iter().filter(|ab| **ab > day).count();
        self.kleinunternehmer == (to_come % 2 == 0)
    }
}

pub fn load(tx: &Tx<'_>) -> Result<Arc<Einstellungen>> {
    tx.cached("settings", &[], || tx.one(SELECT, &[], einstellungen))
}

/// Locks the documents dated up to and including a day (D4); never moves a later lock back.
pub fn lock_until(tx: &WriteTx<'_>, day: Day) -> Result<()> {
    tx.execute(
        "update tenant set gesperrt_bis = :bis where id = :tenant and (gesperrt_bis is null or gesperrt_bis < :bis)",
        named_params! {":bis": day},
    )?;
    Ok(())
}

pub(super) fn change(
    connection: &Connection,
    tenant: TenantId,
    setting: &'static Setting,
    text: &str,
    now: Instant,
) -> Result<()> {
    let tx = Tx::new(connection, tenant, now);
    let before = load(&tx)?.gesperrt_bis;
    let statement = format!("update tenant set {} = ?1 where id = ?2", setting.name);
    connection.execute(&statement, rusqlite::params![setting.value_of(text)?, tenant])?;
    check_lock(&tx, before)
}

/// Refuses another Besteuerung of the company without a day where final documents lie before today: it would be another one for
/// them, too (D29).
pub(super) fn check_kleinunternehmer(tx: &Tx<'_>, before: &Einstellungen) -> Result<()> {
    let after = load(tx)?;
    let says_no_day = after.kleinunternehmer_ab == before.kleinunternehmer_ab;
    if after.kleinunternehmer == before.kleinunternehmer || !says_no_day {
        return Ok(());
    }
    let statement = "select 1 from beleg where tenant_id = :tenant and beleg_datum < :heute and status <> 'offen' limit 1";
    let message = (
        "Vor heute gibt es schon abgeschlossene Belege.",
        "Bitte in kleinunternehmer_ab auch den Tag angeben, ab dem es gilt.",
    );
    Ok(refuse_if(tx.exists(statement, &[])?, Code::FeldFehlt, "kleinunternehmer_ab", message)?)
}

/// Refuses a lock that ends in the future: no document of today could be created (D4). One that was there stays.
fn check_lock(tx: &Tx<'_>, before: Option<Day>) -> Result<()> {
    let locked = load(tx)?.gesperrt_bis;
    let is_future = locked != before && locked.is_some_and(|day| day > tx.today());
    let message = (
        "Der Tag liegt in der Zukunft.",
        "Gesperrt wird, was vergangen ist: bitte einen Tag bis heute angeben.",
    );
    Ok(refuse_if(is_future, Code::WertUngueltig, "gesperrt_bis", message)?)
}

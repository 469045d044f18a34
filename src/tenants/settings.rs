//! Settings of a company: one table that the command line and the rules read.

use std::sync::Arc;

use rusqlite::{Connection, Row};

use crate::db::error::{Failure, Result};
use crate::db::tx::{TenantId, Tx};
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::document::BelegTyp;

/// What a setting can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// true or false.
    Bool,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// A day, or nothing.
    Day,
    /// Types of documents, separated by commas, or nothing.
    BelegTypen,
}

/// A setting; its name is the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Name on the command line and in the table `tenant`.
    pub name: &'static str,
    /// What it can be.
    pub kind: Kind,
    /// What it does.
    pub summary: &'static str,
}

/// Every setting (D4, D7, D8, D18).
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "steuer_ausland_automatik",
        kind: Kind::Bool,
        summary: "sales abroad are free of tax by themselves (default false)",
    },
    Setting {
        name: "bestellung_ohne_charge",
        kind: Kind::Bool,
        summary: "purchase orders of batch-tracked articles need no batch information (default false)",
    },
    Setting {
        name: "lagerbuchung",
        kind: Kind::OneOf(&["beleg", "lieferung"]),
        summary: "lieferung: invoices never move stock (default beleg)",
    },
    Setting {
        name: "charge_automatik",
        kind: Kind::OneOf(&["aus", "fefo"]),
        summary: "fefo: sales items without a batch take those that expire first (default aus)",
    },
    Setting {
        name: "negativbestand",
        kind: Kind::OneOf(&["hinweis", "ablehnen"]),
        summary: "what happens when more of a batch is sold than there is (default hinweis)",
    },
    Setting {
        name: "gesperrt_bis",
        kind: Kind::Day,
        summary: "documents dated up to this day are neither created nor changed (default none)",
    },
    Setting {
        name: "abschluss_bei_anlage",
        kind: Kind::BelegTypen,
        summary: "types of documents that are final when they are created (default none)",
    },
    Setting {
        name: "abschluss_tagesende",
        kind: Kind::BelegTypen,
        summary: "types of documents that become final at the end of their day (default RE)",
    },
    Setting {
        name: "unbekannte_parameter",
        kind: Kind::OneOf(&["ablehnen", "ignorieren"]),
        summary: "what happens to query parameters that nobody knows (default ablehnen)",
    },
    Setting {
        name: "unbekannte_felder",
        kind: Kind::OneOf(&["hinweis", "ablehnen"]),
        summary: "what happens to fields of a body that nobody knows (default hinweis)",
    },
];

/// The settings that the rules of documents ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Einstellungen {
    pub steuer_ausland_automatik: bool,
    pub bestellung_ohne_charge: bool,
    /// Invoices never move stock.
    pub lager_nur_lieferung: bool,
    /// Sales items without a batch take those that expire first.
    pub fefo: bool,
    /// Selling more of a batch than there is is refused.
    pub negativbestand_ablehnen: bool,
    pub gesperrt_bis: Option<Day>,
    pub abschluss_bei_anlage: Vec<BelegTyp>,
    pub abschluss_tagesende: Vec<BelegTyp>,
}

/// The settings of the company.
pub fn load(tx: &Tx<'_>) -> Result<Arc<Einstellungen>> {
    let statement = "select steuer_ausland_automatik, bestellung_ohne_charge, lagerbuchung = 'lieferung',
           charge_automatik = 'fefo', negativbestand = 'ablehnen', gesperrt_bis, abschluss_bei_anlage,
           abschluss_tagesende
         from tenant where id = :tenant";
    tx.cached("settings", &[], || tx.one(statement, &[], einstellungen))
}

fn einstellungen(row: &Row<'_>) -> rusqlite::Result<Einstellungen> {
    let typen = |at| -> rusqlite::Result<Vec<BelegTyp>> {
        Ok(row.get::<_, String>(at)?.split(' ').filter_map(BelegTyp::parse).collect())
    };
    Ok(Einstellungen {
        steuer_ausland_automatik: row.get(0)?,
        bestellung_ohne_charge: row.get(1)?,
        lager_nur_lieferung: row.get(2)?,
        fefo: row.get(3)?,
        negativbestand_ablehnen: row.get(4)?,
        gesperrt_bis: row.get(5)?,
        abschluss_bei_anlage: typen(6)?,
        abschluss_tagesende: typen(7)?,
    })
}

/// Changes a setting of a company.
pub fn set(connection: &Connection, tenant: TenantId, name: &str, value: &str) -> Result<()> {
    let names = || SETTINGS.iter().map(|setting| setting.name).collect::<Vec<_>>().join(", ");
    let setting = SETTINGS.iter().find(|setting| setting.name == name);
    let setting = setting
        .ok_or_else(|| Failure::Broken(format!("there is no setting {name}; known are: {}", names())))?;
    let stored = stored_value(setting.kind, value)
        .map_err(|expected| Failure::Broken(format!("{name} cannot be {value:?}: expected is {expected}")))?;
    let statement = format!("update tenant set {} = ?1 where id = ?2", setting.name);
    connection.execute(&statement, rusqlite::params![stored, tenant])?;
    Ok(())
}

/// The value as its column holds it, or what would have been right.
fn stored_value(kind: Kind, value: &str) -> std::result::Result<rusqlite::types::Value, String> {
    use rusqlite::types::Value;
    match kind {
        Kind::Bool => match value {
            "true" => Ok(Value::Integer(1)),
            "false" => Ok(Value::Integer(0)),
            _ => Err("true or false".to_owned()),
        },
        Kind::OneOf(allowed) if allowed.contains(&value) => Ok(Value::Text(value.to_owned())),
        Kind::OneOf(allowed) => Err(allowed.join(" or ")),
        Kind::Day if value.is_empty() => Ok(Value::Null),
        Kind::Day => match Day::parse_plain(value) {
            Some(day) => Ok(Value::Text(day.to_string())),
            None => Err("a day such as 2026-06-30, or nothing".to_owned()),
        },
        Kind::BelegTypen => {
            let names = value.split([',', ' ']).filter(|name| !name.is_empty());
            let typen: Option<Vec<_>> =
                names.map(|name| BelegTyp::parse_alias(name).map(BelegTyp::as_str)).collect();
            typen
                .map(|typen| Value::Text(typen.join(" ")))
                .ok_or_else(|| format!("some of {}", BelegTyp::texts()))
        }
    }
}

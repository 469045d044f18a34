//! Accounts of partners in the tax adviser's books: assigned once, never changed, never reused for another
//! partner (D34).

use super::model::Kunde;
use super::sql;
use crate::master::tenants;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::change::Change;
use crate::rules::datev::Personenkonto;
use crate::rules::error::{Code, refuse_if};

impl Personenkonto {
    /// Name of its column and field.
    pub fn feld(self) -> &'static str {
        match self {
            Personenkonto::Debitor => "debitor_konto",
            Personenkonto::Kreditor => "kreditor_konto",
        }
    }

    pub fn of_kunde(self, kunde: &mut Kunde) -> &mut Option<i64> {
        match self {
            Personenkonto::Debitor => &mut kunde.debitor_konto,
            Personenkonto::Kreditor => &mut kunde.kreditor_konto,
        }
    }
}

pub fn digits(tx: &Tx<'_>) -> Result<u32> {
    Ok(u32::try_from(tenants::load(tx)?.datev_sachkontenlaenge.0).unwrap_or_default())
}

/// Sets the account that was sent; refuses to change an existing one.
pub fn apply(tx: &Tx<'_>, kunde: &mut Kunde, art: Personenkonto, change: Change<i64>) -> Result<()> {
    let known = *art.of_kunde(kunde);
    let new = change.apply(known);
    if new == known {
        return Ok(());
    }
    let refuse = |is_so, message: std::fmt::Arguments<'_>| {
        refuse_if(is_so, Code::PersonenkontoUngueltig, art.feld(), message)
    };
    if let Some(known) = known {
        let message =
            format_args!("Das Konto {known} ist schon vergeben und bleibt. Bitte das Feld weglassen.");
        refuse(true, message)?;
    }
    if let Some(konto) = new {
        let range = art.range(digits(tx)?);
        let (first, last) = (range.start(), range.end());
        let message =
            format_args!("Das Konto {konto} liegt nicht zwischen {first} und {last}. Bitte prüfen.");
        refuse(!range.contains(&konto), message)?;
        let message =
            format_args!("Das Konto {konto} hat schon ein anderer Partner. Bitte ein anderes wählen.");
        refuse(sql::is_konto_taken(tx, art.feld(), konto)?, message)?;
    }
    *art.of_kunde(kunde) = new;
    Ok(())
}

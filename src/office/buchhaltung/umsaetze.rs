//! Final invoices as the reports count them (D35): the groups of their lines (D33), regardless of their
//! accounts.

use super::belege::{Rechnung, vorgaenge};
use super::sql::{self, InvoiceFilter};
use crate::master::{laender, steuersaetze, tenants};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::datev::{Gruppe, Kontierung, gruppen};
use crate::rules::day::Day;
use crate::rules::error::{Code, refuse_if};
use crate::rules::umsatzsteuer::Umsatz;

/// Most invoices of one report.
const BELEGE_MAX: i64 = 50_000;

/// Returns the final invoices dated in a period, by date and number, each with its groups.
///
/// # Errors
///
/// `ZEITRAUM_UNGUELTIG` if there are too many.
pub fn umsaetze(
    tx: &Tx<'_>,
    von: Day,
    bis: Day,
    welche: InvoiceFilter,
) -> Result<Vec<(Rechnung, Vec<Umsatz>)>> {
    let count = sql::count_rechnungen(tx, von, bis, welche)?;
    let message = format_args!(
        "Ein Bericht umfasst höchstens {BELEGE_MAX} Rechnungen, es sind {count}. Bitte einen kürzeren Zeitraum wählen."
    );
    refuse_if(count > BELEGE_MAX, Code::ZeitraumUngueltig, "bis", message)?;
    let saetze = steuersaetze::all(tx)?;
    let einstellungen = tenants::load(tx)?;
    let rechnungen = sql::rechnungen(tx, von, bis, welche)?;
    let groups = |rechnung: Rechnung| {
        // The sums of a group do not depend on accounts, so a report needs none.
        let anywhere = || Kontierung { konto: 0, bu: None, automatik: None };
        let positionen = sql::positionen(tx, rechnung.id)?;
        let vorgaenge = vorgaenge(&rechnung, positionen, &saetze, &einstellungen);
        let gebucht = rechnung.gebucht(vorgaenge.into_iter().map(|vorgang| (vorgang, anywhere())).collect());
        let gebiet = laender::gebiet(&rechnung.kunden_staat);
        let umsatz = |gruppe: Gruppe| Umsatz {
            datum: rechnung.beleg_datum,
            fall: gruppe.fall,
            satz: gruppe.satz,
            is_kleinunternehmer: gruppe.is_kleinunternehmer,
            gebiet,
            basis: gruppe.netto,
            steuer: gruppe.steuer,
        };
        let umsaetze = gruppen(&gebucht)?.into_iter().map(umsatz).collect();
        Ok((rechnung, umsaetze))
    };
    rechnungen.into_iter().map(groups).collect()
}

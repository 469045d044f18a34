//! The period of a hand-over, and the conditions for one.

use crate::master::tenants::firma;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::error::{Code, refuse_if};

/// Most years of a period: as long as books must be kept (AO § 147 (3)).
const YEARS_MAX: i64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zeitraum {
    pub von: Day,
    pub bis: Day,
}

impl Zeitraum {
    /// Refuses an invalid period, and a company without a name or place, which the standard requires.
    pub fn check(self, tx: &Tx<'_>) -> Result<()> {
        let Zeitraum { von, bis } = self;
        let (wrong, day) = (Code::WertUngueltig, Code::DatumUngueltig);
        refuse_if(bis < von, wrong, "bis", "Der letzte Tag liegt vor dem ersten. Bitte von und bis prüfen.")?;
        let message = "Dieser Tag kommt erst. Bitte als letzten höchstens den heutigen angeben.";
        refuse_if(bis > tx.today(), day, "bis", message)?;
        let message =
            format!("Auf einmal gehen höchstens {YEARS_MAX} Jahre. Bitte einen kürzeren Zeitraum wählen.");
        refuse_if(von.plus_months(12 * YEARS_MAX) <= bis, wrong, "von", message)?;
        let firma = firma::load(tx)?;
        let message = "Die Firma hat noch keinen Namen oder keinen Ort. Bitte unter „Firma“ eintragen, oder mit \
                   `partnerd tenant set FIRMA firma=… ort=…`.";
        refuse_if(firma.firma.is_none() || firma.ort.is_none(), Code::FirmaUnvollstaendig, "firma", message)?;
        Ok(())
    }
}

//! The period of a report.

use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, refuse_if};

/// The days whose documents a report counts.
#[derive(Debug, Clone, Copy)]
pub struct Zeitraum {
    pub von: Day,
    pub bis: Day,
}

impl Zeitraum {
    pub fn of(von: Day, bis: Day) -> Checked<Zeitraum> {
        let message = "bis liegt vor von. Bitte den Zeitraum prüfen.";
        refuse_if(bis < von, Code::ZeitraumUngueltig, "bis", message)?;
        let message = "Ein Bericht umfasst höchstens ein Jahr. Bitte einen kürzeren Zeitraum wählen.";
        refuse_if(bis >= von.next_year(), Code::ZeitraumUngueltig, "bis", message)?;
        Ok(Zeitraum { von, bis })
    }

    pub fn contains(self, day: Day) -> bool {
        (self.von..=self.bis).contains(&day)
    }
}

//! Hints and refusals for positions that remain open: other documents name another batch, or the referenced
//! document has nothing open (D8).

use super::booking::Booking;
use super::change::Gruppe;
use super::{search, sql};
use crate::platform::failure::Result;
use crate::rules::error::{Code, HintCode, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Role, SentPosition};
use crate::trade::belege;

impl Booking<'_> {
    /// Adds a hint if a position remains partly open because other documents name, or have their goods in,
    /// another batch. Refuses if the position references one of these documents explicitly.
    pub fn check_contradiction(&mut self, gruppe: Gruppe, entry: &SentPosition) -> Result<()> {
        if entry.named.id().is_none() || self.unmet.meets_nothing || entry.role == Role::Return {
            return Ok(());
        }
        let others = if self.is_left(gruppe, entry)? {
            search::in_other_batches(self.tx, gruppe, entry)?
        } else {
            Vec::new()
        };
        let Some(first) = others.first() else { return Ok(()) };
        let (nummer, _) = belege::sql::number_and_type(self.tx, *first)?;
        if !entry.role.takes_back() && entry.bezug.is_some_and(|bezug| bezug.beleg == *first) {
            let message = format!(
                "{nummer} nennt eine andere Charge. Bitte charge_id oder fremde_charge_nr angleichen oder \
                 bezug_beleg_id weglassen."
            );
            let refusal = Refusal::field(Code::ChargeWiderspruch, "bezug_beleg_id", message);
            let path = self.change.source.path(entry.place.position);
            self.errors.keep::<()>(Err(refusal.below(&path)));
            return Ok(());
        }
        let further = match others.len() - 1 {
            0 => String::new(),
            1 => " und ein weiterer Beleg".to_owned(),
            more => format!(" und {more} weitere Belege"),
        };
        let message = format!(
            "Was von der Position offen ist, könnte zu {nummer}{further} gehören, aber in einer anderen Charge. Bitte \
             prüfen, welche Charge stimmt."
        );
        self.hint(entry, HintCode::ChargeWiderspruch, "charge_id", &message);
        Ok(())
    }

    /// Adds a hint if a position remains partly open because a candidate document is closed or too far away
    /// in time.
    pub fn hint_passed_over(&mut self, gruppe: Gruppe, entry: &SentPosition) -> Result<()> {
        if self.unmet.meets_nothing || entry.role.takes_back() || !self.is_left(gruppe, entry)? {
            return Ok(());
        }
        let [closed, old] = search::passed_over(self.tx, gruppe, entry)?;
        let passed_over = [
            (closed, HintCode::GegenbelegGeschlossen, "ist ohne Gegenbeleg erledigt"),
            (old, HintCode::GegenbelegZuAlt, "liegt zu weit zurück oder voraus (paarung_monate)"),
        ];
        for (nummer, code, why) in passed_over {
            let Some(nummer) = nummer else { continue };
            let message =
                format!("{nummer} {why} und wurde übergangen. Gehört er dazu, bitte bezug_beleg_id angeben.");
            self.hint(entry, code, "bezug_beleg_id", &message);
        }
        Ok(())
    }

    /// Adds a hint if a position is not paired with the document that it references.
    pub fn hint_unmet_bezug(&mut self, entry: &SentPosition) -> Result<()> {
        let Some(bezug) = entry.bezug else { return Ok(()) };
        if !sql::has_met(self.tx, entry, bezug.beleg)? {
            let (nummer, _) = belege::sql::number_and_type(self.tx, bezug.beleg)?;
            let message = format!(
                "Von {nummer} ist für diese Position nichts mehr offen; sie steht für sich. Bitte den Bezug prüfen."
            );
            self.hint(entry, HintCode::BezugOhneMenge, "bezug_beleg_id", &message);
        }
        Ok(())
    }

    /// Adds a hint if a position says more than what it names has left. What an invoice says more moves nothing.
    pub fn hint_beyond(&mut self, entry: &SentPosition, menge: Quantity, beyond: Quantity) -> Result<()> {
        let Some(bezug) = entry.bezug else { return Ok(()) };
        let (nummer, _) = belege::sql::number_and_type(self.tx, bezug.beleg)?;
        let what = match entry.role {
            Role::Invoice => "bewegt nichts",
            Role::Return => "ist dazu noch zurückgekommen",
            _ => "ist dazu noch geliefert",
        };
        let message = format!(
            "Die Position sagt {}, von {nummer} waren es {}; {beyond} mehr {what}. Bitte die Mengen vergleichen.",
            menge.abs(),
            menge.abs().minus(beyond)?
        );
        self.hint(entry, HintCode::MengeAbweichend, "menge", &message);
        Ok(())
    }

    /// Whether part of an entered position is not paired.
    fn is_left(&self, gruppe: Gruppe, entry: &SentPosition) -> Result<bool> {
        Ok(!self.unmet.batches_of(entry.place).is_empty()
            || sql::is_left(self.tx, gruppe, entry.role, entry.place)?)
    }
}

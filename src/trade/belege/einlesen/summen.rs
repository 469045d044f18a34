//! Compares the sums of a proposal with those printed on the invoice.

use super::model::{GedruckteSummen, Summenvergleich, VorschlagSteuergruppe, VorschlagSummen};
use crate::papers::erechnung::lesen::{Gelesen, Posten};
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};
use crate::rules::fixed::{Money, Percent, TooLarge};
use crate::rules::tax::{self, Gedruckt, GedruckteGruppe, Gruppe, Summen};
use crate::trade::belege::model::{Beleg, BelegPosition};

/// Maximum difference between the gross totals of an ER and its source invoice.
const GROSS_TOLERANCE: Money = Money::from_units(5);

impl VorschlagSummen {
    /// Sums items whose rates may be partly unknown; uses the printed groups if they are close.
    pub fn of_posten(posten: &[Posten], printed: Option<&Gedruckt>) -> Result<VorschlagSummen, TooLarge> {
        let lines = posten.iter().map(|posten| (posten.mwst_satz, posten.netto()));
        let gruppen = tax::groups(lines.map(|(satz, netto)| (satz, satz.unwrap_or_default(), netto)))?;
        let is_near = |printed: &&Gedruckt| printed.differs(&gruppen).is_none_or(|rate| !rate.is_too_large);
        match printed.filter(is_near) {
            Some(printed) => VorschlagSummen::printed(printed),
            None => VorschlagSummen::computed(gruppen),
        }
    }

    pub fn of_beleg(beleg: &Beleg, positions: &[BelegPosition]) -> Result<VorschlagSummen, TooLarge> {
        let lines = positions.iter().map(|line| (Some(line.mwst_satz), line.mwst_satz, line.gesamtpreis));
        match &beleg.steuergruppen {
            Some(printed) => VorschlagSummen::printed(printed),
            None => VorschlagSummen::computed(tax::groups(lines)?),
        }
    }

    fn printed(printed: &Gedruckt) -> Result<VorschlagSummen, TooLarge> {
        let group = |group: &GedruckteGruppe| VorschlagSteuergruppe {
            mwst_satz: Some(group.mwst_satz),
            basis: group.basis,
            steuer: group.steuer,
        };
        Ok(VorschlagSummen::of(printed.summen()?, printed.0.iter().map(group).collect()))
    }

    fn computed(gruppen: Vec<Gruppe<Option<Percent>>>) -> Result<VorschlagSummen, TooLarge> {
        let summen = Summen::of_groups(&gruppen)?;
        let group = |group: Gruppe<Option<Percent>>| VorschlagSteuergruppe {
            mwst_satz: group.merkmal,
            basis: group.netto,
            steuer: group.steuer,
        };
        Ok(VorschlagSummen::of(summen, gruppen.into_iter().map(group).collect()))
    }

    fn of(summen: Summen, steuergruppen: Vec<VorschlagSteuergruppe>) -> VorschlagSummen {
        let Summen { netto, mwst, brutto } = summen;
        VorschlagSummen { summe_netto: netto, summe_mwst: mwst, summe_brutto: brutto, steuergruppen }
    }
}

impl GedruckteSummen {
    pub fn of(gelesen: &Gelesen) -> GedruckteSummen {
        let signed = |sum: Option<Money>| if gelesen.ist_gutschrift { sum.map(|sum| -sum) } else { sum };
        let printed = &gelesen.summen;
        GedruckteSummen {
            summe_netto: signed(printed.netto),
            summe_mwst: signed(printed.mwst),
            summe_brutto: signed(printed.brutto),
            rundung: signed(printed.rundung),
        }
    }

    /// Adds the rounding, which is an item of the ER (BT-114), to a total.
    fn rounded(&self, sum: Option<Money>) -> Option<Money> {
        sum?.plus(self.rundung.unwrap_or_default()).ok()
    }
}

/// Refuses to create an ER whose gross total differs from the invoice.
pub fn check_gross(gelesen: &Gelesen, own: Money) -> Checked<()> {
    let rechnung = GedruckteSummen::of(gelesen);
    let Some(printed) = rechnung.rounded(rechnung.summe_brutto) else { return Ok(()) };
    if own.minus(printed).is_ok_and(|more| more.abs() <= GROSS_TOLERANCE) {
        return Ok(());
    }
    let message = format!(
        "Die Rechnung hat die Bruttosumme {printed}, der Beleg hätte {own}. Bitte den Vorschlag prüfen, \
         berichtigen und mit POST /belege anlegen."
    );
    Err(Refusal::field(Code::WertUngueltig, "summen", message))
}

/// Returns the printed sums beside those of the proposal, with a hint if they differ by a cent or more.
pub fn compared(gelesen: &Gelesen, own: VorschlagSummen, hints: &mut Hints) -> Summenvergleich {
    let rechnung = GedruckteSummen::of(gelesen);
    let pairs = [
        ("Netto", rechnung.rounded(rechnung.summe_netto), own.summe_netto),
        ("Steuer", rechnung.summe_mwst, own.summe_mwst),
        ("Brutto", rechnung.rounded(rechnung.summe_brutto), own.summe_brutto),
    ];
    let differing = |(name, printed, own): (&str, Option<Money>, Money)| {
        printed.filter(|printed| *printed != own).map(|printed| format!("{name} {own} statt {printed}"))
    };
    let named: Vec<_> = pairs.into_iter().filter_map(differing).collect();
    if !named.is_empty() {
        let message = format!(
            "Der Vorschlag weicht von der Rechnung ab: {}. Bitte die Positionen prüfen.",
            named.join(", ")
        );
        hints.add_field(HintCode::SummeAbweichend, "summen", message);
    }
    Summenvergleich { rechnung, vorschlag: own }
}

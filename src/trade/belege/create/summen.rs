//! The sums of a document: computed from its positions, or as printed on a supplier's invoice (D7, D18).

use crate::platform::failure::Result;
use crate::rules::change::Change;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, required};
use crate::rules::tax::{self, Abweichung, Gedruckt, GedruckteGruppe, Gruppe, Summen};
use crate::trade::belege::eingabe::SteuergruppeEingabe;
use crate::trade::belege::model::{Beleg, BelegPosition, ist_gutschrift};

const FELD: &str = "steuergruppen";

/// Returns the printed tax groups after a change; only a supplier's invoice has them.
pub fn printed(
    beleg: &Beleg,
    said: Change<Vec<SteuergruppeEingabe>>,
    hints: &mut Hints,
) -> Checked<Option<Gedruckt>> {
    let is_theirs = beleg.beleg_typ.ist_fremdrechnung() && !beleg.is_written_for_supplier();
    let before = beleg.steuergruppen.clone();
    match said {
        Change::Keep if is_theirs => Ok(before),
        Change::Set(groups) if is_theirs => read(groups),
        Change::Clear => Ok(None),
        Change::Keep if before.is_none() => Ok(None),
        Change::Keep | Change::Set(_) => {
            hints.add_ignored(FELD);
            Ok(None)
        }
    }
}

fn read(groups: Vec<SteuergruppeEingabe>) -> Checked<Option<Gedruckt>> {
    let group = |(at, group): (usize, SteuergruppeEingabe)| {
        Ok(GedruckteGruppe {
            mwst_satz: required(group.mwst_satz, &format!("{FELD}[{at}].mwst_satz"))?,
            basis: required(group.basis, &format!("{FELD}[{at}].basis"))?,
            steuer: required(group.steuer, &format!("{FELD}[{at}].steuer"))?,
        })
    };
    let groups = groups.into_iter().enumerate().map(group).collect::<Checked<Vec<_>>>()?;
    Ok((!groups.is_empty()).then_some(Gedruckt(groups)))
}

/// Adds to a document the sums of these positions, or the printed ones if they are close.
pub fn with_sums(
    beleg: Beleg,
    positions: &[BelegPosition],
    is_said: bool,
    hints: &mut Hints,
) -> Result<Beleg> {
    let lines = positions.iter().map(|position| ((), position.mwst_satz, position.gesamtpreis));
    let computed = tax::groups(lines)?;
    let steuergruppen = match beleg.steuergruppen {
        Some(printed) => near(printed, &computed, is_said, hints)?,
        None => None,
    };
    let summen = match &steuergruppen {
        Some(printed) => printed.summen()?,
        None => Summen::of_groups(&computed)?,
    };
    Ok(Beleg {
        summe_netto: summen.netto,
        summe_mwst: summen.mwst,
        summe_brutto: summen.brutto,
        ist_gutschrift: ist_gutschrift(beleg.beleg_typ, summen.netto, None),
        steuergruppen,
        ..beleg
    })
}

/// Returns the printed groups if they are close to the computed ones. If not, refuses groups that were sent,
/// and drops stored ones, because the positions no longer match the print.
fn near(
    printed: Gedruckt,
    computed: &[Gruppe<()>],
    is_said: bool,
    hints: &mut Hints,
) -> Checked<Option<Gedruckt>> {
    let Some(Abweichung { satz, is_too_large }) = printed.differs(computed) else { return Ok(Some(printed)) };
    if is_too_large && is_said {
        let message = format!(
            "Zum Steuersatz {satz} % weichen die gedruckten Beträge um mehr als 0,05 EUR von denen der Positionen ab. \
             Bitte Positionen und steuergruppen prüfen."
        );
        return Err(Refusal::field(Code::WertUngueltig, FELD, message));
    }
    let message = match is_too_large {
        true => {
            "Die Positionen ergeben nicht mehr die gedruckten Beträge; es gelten die gerechneten. Bitte prüfen und \
            steuergruppen mitsenden."
                .to_owned()
        }
        false => format!(
            "Zum Steuersatz {satz} % weichen die gedruckten Beträge von den gerechneten ab; es gelten die gedruckten."
        ),
    };
    hints.add_field(HintCode::SummeAbweichend, FELD, message);
    Ok((!is_too_large).then_some(printed))
}

//! Changing the status of a production order (D13): records inputs and outputs, books them on completion, and
//! reverses them on cancellation after that.

use std::collections::BTreeSet;

use super::model::{
    InputEingabe, OutputEingabe, PaInput, PaOutput, Produktionsauftrag, StatusBestaetigung, StatusChange,
    TeilEingabe,
};
use super::{buchung, sql};
use crate::goods::chargen;
use crate::master::biozertifikate;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Result, keep_refused};
use crate::rules::day::DayTime;
use crate::rules::error::{Checked, Code, Hints, Refusal, Refusals, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::recipe::PaStatus;

pub const REFUSALS: &[Code] = &[
    Code::PaStatusUngueltig,
    Code::PaZeileNichtGefunden,
    Code::MengeUngueltig,
    Code::BetragZuGross,
    Code::ChargeFehlt,
    Code::ChargeGesperrt,
    Code::ChargeNichtGefunden,
    Code::ChargePasstNicht,
    Code::BestandNichtAusreichend,
    Code::NummerReserviert,
    Code::ChargeNrBereitsVergeben,
    Code::ChargeBereitsVerwendet,
    Code::BiozertifikatNichtGefunden,
];

/// Maximum number of input lines per order, parts included.
const LINES_MAX: usize = 2_000;

pub fn change(
    tx: &WriteTx<'_>,
    auftrag: Produktionsauftrag,
    mut change: StatusChange,
    mut hinweise: Hints,
) -> Result<StatusBestaetigung> {
    let next = required(change.status.get().copied(), "status")?;
    let message = format_args!(
        "Der Produktionsauftrag ist {} und kann nicht {} werden.",
        auftrag.status.as_str(),
        next.as_str()
    );
    refuse_if(!auftrag.status.may_become(next), Code::PaStatusUngueltig, "status", message)?;
    if next == PaStatus::Storniert {
        change.inputs.ignore("inputs", &mut hinweise);
        change.outputs.ignore("outputs", &mut hinweise);
    }
    note_quantities(tx, &auftrag, change)?;
    let lagerbewegungen = match (auftrag.status, next) {
        (_, PaStatus::Erledigt) => buchung::complete(tx, &auftrag, &mut hinweise)?,
        (PaStatus::Erledigt, _) => buchung::reverse(tx, &auftrag, &mut hinweise)?,
        _ => Vec::new(),
    };
    let now = Some(tx.now());
    let auftrag = Produktionsauftrag {
        status: next,
        geplant_am: if next == PaStatus::Geplant { now } else { auftrag.geplant_am },
        gestartet_am: if next == PaStatus::InBearbeitung { now } else { auftrag.gestartet_am },
        erledigt_am: if next == PaStatus::Erledigt { now } else { auftrag.erledigt_am },
        version: auftrag.version + 1,
        ..auftrag
    };
    sql::update_status(tx, &auftrag)?;
    let Produktionsauftrag { id, pa_nummer, status, .. } = auftrag;
    Ok(StatusBestaetigung { id, pa_nummer, status, lagerbewegungen, hinweise })
}

/// Records the actual inputs and outputs line by line; reports all errors at once.
fn note_quantities(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag, change: StatusChange) -> Result<()> {
    let mut errors = Refusals::default();
    let (inputs, outputs) = (sql::inputs(tx, auftrag.id)?, sql::outputs(tx, auftrag.id)?);
    check_size(&inputs, &change)?;
    let (mut named, mut split) = (BTreeSet::new(), BTreeSet::new());
    // Split lines come first, so that the request cannot also name a part that the split replaces.
    let mut sent: Vec<_> = change.inputs.value().into_iter().flatten().enumerate().collect();
    sent.sort_by_key(|(_, sent)| sent.teile.get().is_none_or(Vec::is_empty));
    for (index, sent) in sent {
        let line = line_of(&inputs, |line| line.id, sent.id.get().copied(), &mut named);
        let noted = line.and_then(|line| note_input(tx, &inputs, &mut split, line, sent));
        keep_refused(&mut errors, noted, &format!("inputs[{index}]"))?;
    }
    let mut named = BTreeSet::new();
    for (index, sent) in change.outputs.value().into_iter().flatten().enumerate() {
        let line = line_of(&outputs, |line| line.id, sent.id.get().copied(), &mut named);
        let noted = line.and_then(|line| note_output(tx, line, sent));
        keep_refused(&mut errors, noted, &format!("outputs[{index}]"))?;
    }
    Ok(errors.into_result()?)
}

/// Refuses too many lines. New parts replace the line they are sent for and its former parts.
fn check_size(inputs: &[PaInput], change: &StatusChange) -> Checked<()> {
    let sent = change.inputs.get().into_iter().flatten();
    let (mut split, mut lines) = (BTreeSet::new(), 0);
    for (sent, teile) in sent.filter_map(|sent| Some((sent, sent.teile.get()?))) {
        let of_order = |id: &i64| inputs.iter().find(|line| line.id == *id);
        split
            .extend(sent.id.get().and_then(of_order).filter(|_| !teile.is_empty()).map(|line| line.position));
        lines += teile.len();
    }
    lines += inputs.iter().filter(|line| !split.contains(&line.position)).count();
    if lines <= LINES_MAX {
        return Ok(());
    }
    let message = format!("Ein Produktionsauftrag hat höchstens {LINES_MAX} Zeilen. Bitte aufteilen.");
    Err(Refusal::field(Code::WertUngueltig, "inputs", message))
}

/// Finds the named line of this order; refuses to name it twice.
fn line_of<'l, T>(
    lines: &'l [T],
    id_of: impl Fn(&T) -> i64,
    id: Option<i64>,
    named: &mut BTreeSet<i64>,
) -> Result<&'l T> {
    let id = required(id, "id")?;
    let message = "Die Zeile steht zweimal da. Für mehrere Chargen bitte teile angeben.";
    refuse_if(!named.insert(id), Code::WertUngueltig, "id", message)?;
    lines.iter().find(|line| id_of(line) == id).ok_or_else(|| {
        let message = "Diese Zeile hat der Produktionsauftrag nicht. Bitte die id prüfen.";
        Refusal::field(Code::PaZeileNichtGefunden, "id", message).into()
    })
}

/// Records one line. `split` holds the positions whose parts this request has replaced; `inputs` still has the
/// old ones.
fn note_input(
    tx: &WriteTx<'_>,
    inputs: &[PaInput],
    split: &mut BTreeSet<i64>,
    line: &PaInput,
    sent: InputEingabe,
) -> Result<()> {
    let Some(teile) = sent.teile.value().filter(|teile| !teile.is_empty()) else {
        let message = "Diese Zeile ist durch die teile derselben Anfrage ersetzt worden.";
        refuse_if(split.contains(&line.position), Code::PaZeileNichtGefunden, "id", message)?;
        let charge_id = sent.charge_id.apply(line.charge_id);
        chargen::check_named(tx, charge_id, Some(line.artikel_id))?;
        let ist_menge = checked_menge(sent.ist_menge.apply(line.ist_menge))?;
        return sql::update_input(tx, &PaInput { charge_id, ist_menge, ..line.clone() });
    };
    let message = "Bitte entweder teile oder ist_menge und charge_id angeben.";
    let says_both = sent.ist_menge.get().is_some() || sent.charge_id.get().is_some();
    refuse_if(says_both, Code::FeldWiderspruch, "teile", message)?;
    if let Some(first) = inputs.iter().find(|other| other.position == line.position && other.id < line.id) {
        let message = format!("Die Zeile ist ein Teil der Zeile {}. Bitte die teile dort angeben.", first.id);
        return Err(Refusal::field(Code::WertUngueltig, "teile", message).into());
    }
    // The new parts replace the former ones.
    split.insert(line.position);
    sql::delete_parts(tx, line)?;
    for (index, teil) in teile.into_iter().enumerate() {
        let stored = store_part(tx, line, index, teil);
        stored.map_err(|failure| failure.below(&format!("teile[{index}]")))?;
    }
    Ok(())
}

/// Stores the first part in the line itself, each further one as a line of its own (D13).
fn store_part(tx: &WriteTx<'_>, line: &PaInput, index: usize, teil: TeilEingabe) -> Result<()> {
    let charge_id = teil.charge_id;
    chargen::check_named(tx, charge_id, Some(line.artikel_id))?;
    let ist_menge = Some(required(checked_menge(teil.ist_menge)?, "ist_menge")?);
    let part = PaInput { charge_id, ist_menge, ..line.clone() };
    if index == 0 { sql::update_input(tx, &part) } else { sql::insert_part(tx, &part) }
}

fn note_output(tx: &WriteTx<'_>, line: &PaOutput, sent: OutputEingabe) -> Result<()> {
    let charge_nr = sent.charge_nr.apply(line.charge_nr.clone());
    if let Some(charge_nr) = &charge_nr {
        chargen::check_charge_nr(tx, line.artikel_id, charge_nr)?;
    }
    let ist_menge = checked_menge(sent.ist_menge.apply(line.ist_menge))?;
    let mhd = sent.mhd.map(DayTime).apply(line.mhd);
    let biozertifikat_id = sent.biozertifikat_id.apply(line.biozertifikat_id);
    biozertifikat_id.map(|id| biozertifikate::must_have(tx, id)).transpose()?;
    sql::update_output(tx, &PaOutput { ist_menge, charge_nr, mhd, biozertifikat_id, ..line.clone() })
}

fn checked_menge(menge: Option<Quantity>) -> Result<Option<Quantity>> {
    let message = "Die Menge darf nicht unter 0 sein.";
    refuse_if(menge.is_some_and(Quantity::is_negative), Code::MengeUngueltig, "ist_menge", message)?;
    Ok(menge)
}

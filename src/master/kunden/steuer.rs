//! How a partner is taxed from which day on, and the Gutschriften that say otherwise (D29).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::model::Kunde;
use super::sql;
use crate::master::{artikel, steuersaetze};
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::besteuerung::Besteuerungen;
use crate::rules::change::Change;
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::{Klasse, RATE_OF_LAST_RESORT, Satz, Steuerart, Summen, derived_rate, rate_on};

/// Most Besteuerungen of a partner: he may change once a year.
const BESTEUERUNGEN_MAX: usize = 50;

/// Most Gutschriften that a hint names.
const NAMED_MAX: usize = 20;

/// Returns the Besteuerungen after a change: the first one of a partner holds for all days, another from `ab` on, which must be sent
/// where something of his lies before today.
pub fn changed(
    tx: &Tx<'_>,
    old: &Kunde,
    steuerart: &Change<Steuerart>,
    ab: &Change<Day>,
    hints: &mut Hints,
) -> Result<Besteuerungen> {
    let (known, ab) = (&old.besteuerungen, ab.get().copied());
    if steuerart.is_keep() {
        let message = ("Es fehlt, was ab diesem Tag gilt.", "Bitte steuerart mitsenden.");
        refuse_if(ab.is_some(), Code::FeldFehlt, "steuerart", message)?;
        return Ok(known.clone());
    }
    let steuerart = steuerart.get().copied();
    if known.is_empty() {
        if ab.is_some() {
            let message =
                "Die erste Besteuerung eines Partners gilt für alle Tage; steuerart_ab wurde nicht beachtet.";
            hints.add_field(HintCode::FeldIgnoriert, "steuerart_ab", message);
        }
        return Ok(Besteuerungen::always(steuerart));
    }
    let today = tx.today();
    let changed = match ab {
        Some(ab) => known.from(ab, steuerart),
        None if known.on(today) == steuerart => return Ok(known.clone()),
        None if sql::has_past(tx, old.id)? => {
            let what = "Von diesem Partner gibt es schon Annahmescheine oder Belege.";
            let advice =
                "Bitte steuerart_ab senden: den ersten Tag, für dessen Ware die neue Besteuerung gilt.";
            return Err(Refusal::field(Code::FeldFehlt, "steuerart_ab", (what, advice)).into());
        }
        None => known.instead(today, steuerart),
    };
    let message = format_args!("Ein Partner hat höchstens {BESTEUERUNGEN_MAX} Besteuerungen.");
    refuse_if(changed.len() > BESTEUERUNGEN_MAX, Code::WertUngueltig, "steuerart_ab", message)?;
    Ok(changed)
}

/// A final Gutschrift whose tax is not that of the partner's Besteuerung on the days of its goods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abweichend {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    /// A receipt that it settles finally: from there it is corrected.
    pub annahmeschein_id: Option<Uuid>,
    /// By how much its tax would be higher.
    pub differenz: Money,
}

/// Adds a hint if a change reaches back before final Gutschriften.
pub fn hint_reaching_back(tx: &Tx<'_>, old: &Kunde, new: &Kunde, hints: &mut Hints) -> Result<()> {
    if old.besteuerungen == new.besteuerungen {
        return Ok(());
    }
    let before = abweichende(tx, old)?;
    let found: Vec<_> = abweichende(tx, new)?.into_iter().filter(|one| !before.contains(one)).collect();
    if found.is_empty() {
        return Ok(());
    }
    let mut sum = Money::ZERO;
    for one in &found {
        sum = sum.plus(one.differenz)?;
    }
    let named: Vec<_> = found.iter().take(NAMED_MAX).map(|one| one.beleg_nummer.as_str()).collect();
    let more = match found.len() - named.len() {
        0 => String::new(),
        more => format!(" und {more} weitere"),
    };
    let message = format!(
        "Mit anderer Besteuerung abgeschlossen sind {}{more}; die Steuer ändert sich um {} EUR. Bitte sie korrigieren.",
        named.join(", "),
        german(sum, 2)
    );
    hints.add_field(HintCode::SteuerartRueckwirkend, "steuerart_ab", message);
    Ok(())
}

/// What a Gutschrift shows, each amount with its rate, and what it would by the Besteuerungen of its partner.
#[derive(Default)]
struct Zeilen {
    said: Vec<(Money, Percent)>,
    due: Vec<(Money, Percent)>,
}

/// Returns the live final Gutschriften of a partner that show another tax than his Besteuerungen say, by number. Rates that
/// somebody sent by hand stand.
pub fn abweichende(tx: &Tx<'_>, kunde: &Kunde) -> Result<Vec<Abweichend>> {
    let saetze = steuersaetze::all(tx)?;
    let mut found: BTreeMap<String, (Abweichend, Zeilen)> = BTreeMap::new();
    for zeile in sql::gutschrift_positionen(tx, kunde.id)? {
        let satz = match kunde.besteuerungen.on(zeile.satz_datum) {
            Some(Steuerart::Kleinunternehmer) => Percent::ZERO,
            Some(Steuerart::Pauschal24) => {
                rate_on(&saetze, Klasse::Pauschal24, zeile.satz_datum).unwrap_or(zeile.mwst_satz)
            }
            Some(Steuerart::Regel) => of_artikel(tx, &saetze, zeile.artikel_id, zeile.satz_datum)?,
            // Nobody knows what it should be.
            None => zeile.mwst_satz,
        };
        let of_beleg = || {
            let (beleg_id, beleg_nummer) = (zeile.beleg_id, zeile.beleg_nummer.clone());
            let annahmeschein_id = zeile.annahmeschein_id;
            let differenz = Money::ZERO;
            (Abweichend { beleg_id, beleg_nummer, annahmeschein_id, differenz }, Zeilen::default())
        };
        let (_, zeilen) = found.entry(zeile.beleg_nummer.clone()).or_insert_with(of_beleg);
        zeilen.said.push((zeile.gesamtpreis, zeile.mwst_satz));
        zeilen.due.push((zeile.gesamtpreis, satz));
    }
    let mut abweichende = Vec::new();
    for (beleg, Zeilen { said, due }) in found.into_values() {
        if said == due {
            continue;
        }
        let differenz = Summen::of(due)?.mwst.minus(Summen::of(said)?.mwst)?;
        abweichende.push(Abweichend { differenz, ..beleg });
    }
    Ok(abweichende)
}

/// The rate of an article on a day, as a regularly taxed partner sells it (D7).
fn of_artikel(tx: &Tx<'_>, saetze: &[Satz], id: Uuid, day: Day) -> Result<Percent> {
    let artikel = artikel::must_have(tx, id)?;
    let own = match (artikel.mwst_satz, artikel.artikelgruppe_id) {
        (Some(satz), _) => Some(satz),
        (None, Some(gruppe)) => artikel::gruppen_satz(tx, gruppe)?,
        (None, None) => None,
    };
    Ok(derived_rate(saetze, own.unwrap_or(RATE_OF_LAST_RESORT), day))
}

//! What an item takes over from the position that it names (D38).

use uuid::Uuid;

use super::bezug::{Bezug, Meant};
use super::header::Context;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Lagerrolle};
use crate::rules::error::{Code, HintCode, Hints, refuse_if};
use crate::rules::fixed::{Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;
use crate::rules::unit::Conversion;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::fluss::{self, may_name};
use crate::trade::belege::model::{Beleg, BelegPosition, Source};
use crate::trade::belege::sql::NamedPosition;

/// The position whose price, discount and tax an item takes over.
pub struct Taken {
    /// Number of its document.
    pub nummer: String,
    pub line: NamedPosition,
    pub takes_back: bool,
}

impl Taken {
    /// Finds it among what the item names, by its quantity in the unit of the article; a credit of a return takes back
    /// what was invoiced for it.
    pub fn of(
        tx: &Tx<'_>,
        bezug: &Bezug,
        meant: &Meant,
        menge: Quantity,
        item: &NewItem,
    ) -> Result<Option<Taken>> {
        let beleg = &bezug.named.beleg;
        let Some(line) = bezug.terms(tx, meant, menge, item)? else { return Ok(None) };
        let credits_a_return =
            meant.takes_back && meant.typ.ist_rechnung() && beleg.beleg_typ.ist_lieferung();
        let invoiced = if credits_a_return { fluss::invoiced(tx, beleg.id, line)? } else { None };
        let (nummer, line) = invoiced.unwrap_or_else(|| (beleg.beleg_nummer.clone(), line.clone()));
        Ok(Some(Taken { nummer, line, takes_back: meant.takes_back }))
    }

    /// The tax of the position, where the item goes on with it and neither of them sent one.
    pub fn tax_asked_anew(&self, item: &NewItem) -> Option<(Percent, Steuerkategorie)> {
        let is_sent = item.mwst_satz.is_some() || item.steuer_kategorie.is_some();
        let NamedPosition { mwst_satz, steuer_kategorie, satz_gesendet, .. } = self.line;
        (!self.takes_back && !is_sent && !satz_gesendet).then_some((mwst_satz, steuer_kategorie))
    }
}

pub fn names_any(positions: &[BelegPosition]) -> bool {
    positions.iter().any(|position| position.bezug_beleg_id.is_some())
}

/// A document that says nothing of what it was made from follows the one that its positions name, if it is only one.
pub fn with_predecessor(beleg: Beleg, positions: &[BelegPosition]) -> Beleg {
    let mut named = positions.iter().filter_map(|position| position.bezug_beleg_id);
    let first = named.next().filter(|first| named.all(|other| other == *first));
    Beleg { vorgaenger_beleg_id: beleg.vorgaenger_beleg_id.or(first), ..beleg }
}

/// Adds a hint for each position that is taxed otherwise than what it was made from.
pub fn hint_other_tax(positions: &[BelegPosition], hints: &mut Hints) {
    for position in positions {
        let now = (position.mwst_satz, position.steuer_kategorie);
        let Some((satz, kategorie)) = position.steuer_davor.filter(|before| *before != now) else { continue };
        let message = format!(
            "Die Steuer ist hier {} % ({}), in der genannten Position {satz} % ({}). Soll sie bleiben, bitte mwst_satz \
             senden.",
            position.mwst_satz,
            position.steuer_kategorie.as_str(),
            kategorie.as_str()
        );
        let path = Source::Items.path(position.position);
        hints.add_field(HintCode::SatzGeaendert, format!("{path}.mwst_satz"), message);
    }
}

impl Bezug {
    /// Refuses what an item must not name; returns it with what decides which positions the item may mean.
    pub fn checked(
        self,
        context: &Context<'_>,
        item: &NewItem,
        artikel: Option<Uuid>,
    ) -> Result<(Bezug, Meant)> {
        let (typ, other) = (context.beleg.beleg_typ, self.named.beleg.beleg_typ);
        let other_takes_back = self.position().is_some_and(|position| position.menge.is_negative());
        // An item without a quantity goes on with what it names, if it can.
        let takes_back = match item.menge {
            Some(menge) => menge.is_negative(),
            None => !may_name(typ, false, other, other_takes_back),
        };
        let meant = Meant { typ, takes_back, artikel, charge: item.charge_id, own: context.beleg.id };
        let is_goods = artikel.is_some() && !item.ep_netto.is_some_and(Price::is_negative);
        self.check(context, &meant, is_goods)?;
        Ok((self, meant))
    }
}

/// What is left of what an item names, in the unit of the item, with its sign; `conversion` is from there to the unit
/// of the article.
pub fn left_of(
    tx: &Tx<'_>,
    bezug: &Bezug,
    meant: &Meant,
    conversion: Option<Conversion>,
) -> Result<Quantity> {
    let left = bezug.left(tx, meant)?;
    let message = "Von dem, was die Position nennt, ist nichts übrig. Bitte die Menge angeben, wenn sie doch so sein soll.";
    refuse_if(left.is_zero(), Code::BezugOhneMenge, "menge", message)?;
    let left = conversion.unwrap_or(Conversion::NONE).reversed().quantity(left)?;
    Ok(if meant.takes_back { -left } else { left })
}

impl NewItem {
    /// Takes the article of the position that it names, unless it says what it is itself.
    pub fn take_article_of(&mut self, from: &BelegPosition) {
        let has_own = self.artikel_id.is_some() || self.artikelnr.is_some();
        let says_itself =
            self.ep_netto.is_some_and(|price| price.is_negative() || self.bezeichnung.is_some());
        if !has_own && !says_itself {
            self.artikel_id = from.artikel_id;
        }
    }

    /// Takes over from the named position of a document of type `of` whatever it does not send itself, but for price,
    /// quantity and what takes back (D38).
    pub fn take_over_from(&mut self, from: &BelegPosition, of: BelegTyp, meant: &Meant) {
        let is_order = of.lagerrolle() == Lagerrolle::Keine;
        self.bezeichnung = self.bezeichnung.take().or_else(|| from.bezeichnung.clone());
        self.bezeichnung2 = self.bezeichnung2.take().or_else(|| from.bezeichnung2.clone());
        self.langtext = self.langtext.take().or_else(|| from.langtext.clone());
        self.einheit = self.einheit.take().or_else(|| from.einheit.clone());
        self.kostenstelle = self.kostenstelle.take().or_else(|| from.kostenstelle.clone());
        self.niederlassung_id = self.niederlassung_id.or(from.niederlassung_id);
        self.lagerhalle_id = self.lagerhalle_id.or(from.lagerhalle_id);
        let is_same = self.kontrakt_id.is_none_or(|sent| from.kontrakt_id == Some(sent));
        if is_same && self.kontrakt_position_id.is_none() {
            (self.kontrakt_id, self.kontrakt_position_id) = (from.kontrakt_id, from.kontrakt_position_id);
        }
        if !is_order && meant.typ.ist_rechnung() {
            self.lager_buchen = self.lager_buchen.or(Some(from.lager_buchen));
        }
        let says_batch = self.charge_id.is_some()
            || self.fremde_charge_nr.is_some()
            || self.mhd.is_some()
            || self.herkunftsland.is_some()
            || self.biozertifikat_id.is_some();
        if is_order && !says_batch {
            self.charge_id = from.charge_id.filter(|_| from.charge_gesendet);
            self.fremde_charge_nr = from.fremde_charge_nr.clone();
            self.mhd = from.mhd.map(|day| day.0);
            self.herkunftsland = from.herkunftsland.clone();
            self.biozertifikat_id = from.biozertifikat_id;
        }
        if !meant.takes_back
            && from.satz_gesendet
            && self.mwst_satz.is_none()
            && self.steuer_kategorie.is_none()
        {
            (self.mwst_satz, self.steuer_kategorie) = (Some(from.mwst_satz), Some(from.steuer_kategorie));
        }
    }
}

//! The items of a settlement (D29g, D29h): paid goods, unpaid goods, costs, advances.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::rechnen::{Berechnet, Note};
use super::sql::Abschlag;
use crate::papers::blatt::numbers::german;
use crate::papers::blatt::settled;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::receipt::{net_amount, tonnes};
use crate::rules::settlement::{AbrechnungsTeil, Abrechnungsart, Groesse, Wirkung};
use crate::rules::tax::{Steuerkategorie, share};
use crate::trade::belege::NewItem;

/// Maximum number of items per document (D18).
const POSITIONEN_MAX: usize = 1_000;

/// The items of a document.
#[derive(Default)]
pub struct Positionen {
    pub items: Vec<NewItem>,
    /// The rate date of each.
    pub satz_tage: Vec<Day>,
    /// For each receipt the number of its first item.
    pub firsts: Vec<i64>,
}

/// Returns the items of the document.
pub fn items(berechnet: &Berechnet, hints: &mut Hints) -> Result<Positionen> {
    let Positionen { mut items, mut satz_tage, mut firsts } = Positionen::default();
    for (at, note) in berechnet.notes.iter().enumerate() {
        firsts.push(items.len() as i64 + 1);
        match berechnet.art {
            Abrechnungsart::End => end(note, &mut items, hints)?,
            Abrechnungsart::Abschlag => items.push(note.advance()),
            Abrechnungsart::Nachverguetung => items.push(note.supplement()),
        }
        satz_tage.resize(items.len(), note.tag);
        let message = format_args!(
            "Die Abrechnung hätte mehr als {POSITIONEN_MAX} Positionen; so viele Annahmescheine passen: {at}."
        );
        refuse_if(items.len() > POSITIONEN_MAX, Code::ZuVielePositionen, "annahmeschein_ids", message)?;
    }
    if berechnet.art == Abrechnungsart::End {
        for (item, tag) in deducted(&berechnet.notes)? {
            items.push(item);
            satz_tage.push(tag);
        }
        let what =
            format_args!("Mit den Abschlägen hätte die Abrechnung mehr als {POSITIONEN_MAX} Positionen.");
        let message = (what, "Bitte weniger Annahmescheine.");
        refuse_if(items.len() > POSITIONEN_MAX, Code::ZuVielePositionen, "annahmeschein_ids", message)?;
    }
    Ok(Positionen { items, satz_tage, firsts })
}

/// Adds all items of a receipt: the paid goods, delivered goods that are not paid, and costs.
fn end(note: &Note, items: &mut Vec<NewItem>, hints: &mut Hints) -> Result<()> {
    let mut room = note.room()?;
    for teil in &note.posten.teile {
        let within = room.map_or(teil.kg, |room| room.min(teil.kg));
        let over = teil.kg.minus(within)?;
        room = room.map(|room| room.minus(within)).transpose()?;
        if !within.is_zero() {
            items.push(NewItem { ep_netto: Some(teil.preis_je_t), ..note.goods(teil, within) });
        }
        if !over.is_zero() {
            items.push(note.surplus(teil, within, over, hints)?);
        }
    }
    if let (Some(rest), Some(teil)) = (room.filter(|rest| !rest.is_zero()), note.posten.teile.first()) {
        let unpaid = note.goods(teil, rest);
        items.push(NewItem {
            ep_netto: Some(Price::ZERO),
            bezeichnung2: Some(note.unpaid(rest)),
            wiegung_id: None,
            ..unpaid
        });
    }
    items.extend(note.costs());
    Ok(())
}

impl Note {
    /// Returns the quantity of its goods that is in stock or enters it with the settlement; `None`: exactly
    /// the paid quantity.
    fn room(&self) -> Result<Option<Quantity>> {
        if let Some(geliefert) = &self.geliefert {
            return Ok(Some(geliefert.kg));
        }
        let brutto = self.posten.rechnung.brutto_kg;
        Ok(self.brutto_ins_lager.then(|| brutto.max(self.kg())))
    }

    /// Returns an item for the weight paid beyond the delivery: an amount, so that both items add up to the
    /// value of the goods.
    fn surplus(
        &self,
        teil: &AbrechnungsTeil,
        within: Quantity,
        over: Quantity,
        hints: &mut Hints,
    ) -> Result<NewItem> {
        let weight = format!("{} kg × {} €/t", german(over, 0), german(teil.preis_je_t, 2));
        let message = format!(
            "{}: Bezahlt werden {} kg mehr, als {} gebracht hat; sie stehen ohne Bestand.",
            self.posten.belegnummer,
            german(over, 0),
            self.schein.el_beleg_nummer.as_deref().unwrap_or_default()
        );
        hints.add(HintCode::MengeUeberEingang, message);
        let betrag = teil.ware.minus(net_amount(within, teil.preis_je_t)?)?;
        let text = format!("Mehrgewicht {}, {weight}", self.measured());
        Ok(NewItem { bezeichnung: Some(text), ..self.amount(betrag) })
    }

    /// Returns an item for goods of the receipt.
    fn goods(&self, teil: &AbrechnungsTeil, kg: Quantity) -> NewItem {
        let schein = &self.schein;
        let el = self.geliefert.as_ref().and(schein.el_id);
        NewItem {
            menge: Some(tonnes(kg)),
            artikel_id: Some(self.posten.artikel_id),
            einheit: Some("t".to_owned()),
            mwst_satz: Some(self.posten.mwst_satz),
            steuer_kategorie: Some(self.posten.steuer_kategorie),
            bezeichnung: self.posten.artikel_bezeichnung.clone(),
            bezeichnung2: Some(self.named()),
            bezug_beleg_id: el,
            wiegung_id: schein.wiegung_id,
            kontrakt_id: schein.kontrakt_id.filter(|_| teil.kontrakt.is_some()),
            kontrakt_position_id: teil.kontrakt_position_id,
            ..NewItem::default()
        }
    }

    /// Names the receipt for its items.
    fn named(&self) -> String {
        format!("{} vom {}", self.posten.belegnummer, self.tag.german())
    }

    /// Explains why delivered goods are not paid: lists the deductions if they add up to `rest`, else refers
    /// to the new analysis.
    fn unpaid(&self, rest: Quantity) -> String {
        let rows = self.posten.rechnung.zeilen.iter().filter(|zeile| zeile.wirkung == Wirkung::Menge);
        let deducted = rows.filter_map(|zeile| match zeile.ergebnis {
            Groesse::Kg(kg) if !kg.is_zero() => Some(format!("{} {} kg", zeile.text, german(-kg, 0))),
            _ => None,
        });
        let is_all = self.posten.rechnung.brutto_kg.minus(self.kg()) == Ok(rest);
        let why = if is_all { deducted.collect::<Vec<_>>().join(", ") } else { self.measured().to_owned() };
        let text = format!("ohne Vergütung, {}: {why}", self.posten.belegnummer);
        text.chars().take(TEXT_MAX).collect()
    }

    /// What changed the weight since the delivery.
    fn measured(&self) -> &'static str {
        if self.posten.ist_mittel { "nach dem Mittel der Partie" } else { "nach neuer Analyse" }
    }

    fn costs(&self) -> impl Iterator<Item = NewItem> {
        let rows = self.posten.rechnung.zeilen.iter().filter(|zeile| zeile.wirkung == Wirkung::Kosten);
        rows.filter_map(|zeile| match zeile.ergebnis {
            Groesse::Euro(betrag) if !betrag.is_zero() => {
                Some(NewItem { bezeichnung: Some(zeile.text.clone()), ..self.amount(betrag) })
            }
            _ => None,
        })
    }

    /// Returns an item for an amount without goods, at the tax rate of the goods.
    fn amount(&self, betrag: Money) -> NewItem {
        NewItem {
            bezeichnung2: Some(self.named()),
            ..amount(betrag, self.posten.mwst_satz, self.posten.steuer_kategorie)
        }
    }

    fn advance(&self) -> NewItem {
        let artikel = self.posten.artikel_bezeichnung.as_deref().unwrap_or("Rohware");
        let text = format!("Abschlag auf {artikel}, {}", settled::advance(&self.posten).unwrap_or_default());
        NewItem { bezeichnung: Some(text), ..self.amount(self.posten.betrag) }
    }

    fn supplement(&self) -> NewItem {
        let teil = self.posten.teile.first();
        let (kg, preis) = teil.map(|teil| (teil.kg, teil.preis_je_t)).unwrap_or_default();
        let artikel = self.posten.artikel_bezeichnung.as_deref().unwrap_or("Rohware");
        let word = if preis.is_negative() { "Nachbelastung" } else { "Nachvergütung" };
        let text = format!("{word} auf {artikel}, {} kg × {} €/t", german(kg, 0), german(preis, 2));
        NewItem {
            bezeichnung: Some(text),
            bezug_beleg_id: self.endabrechnung,
            ..self.amount(self.posten.betrag)
        }
    }
}

/// Maximum length of an ordinary text field (D18).
const TEXT_MAX: usize = 255;

fn amount(betrag: Money, satz: Percent, kategorie: Steuerkategorie) -> NewItem {
    NewItem {
        menge: Some(Quantity::whole(1)),
        ep_netto: Some(Price::from_units(betrag.units() * CENT)),
        mwst_satz: Some(satz),
        steuer_kategorie: Some(kategorie),
        ..NewItem::default()
    }
}

/// Units of a price, which are millionths of a euro, in one unit of an amount, which is a cent.
const CENT: i64 = 10_000;

/// An advance and a tax rate: each pair is deducted as one item.
type Abzug<'a> = (Day, &'a str, Uuid, Percent, Steuerkategorie);

/// Returns the items that deduct advances, each with the last day of the goods that they were paid on.
fn deducted(notes: &[Note]) -> Result<Vec<(NewItem, Day)>> {
    let mut sums: BTreeMap<Abzug<'_>, (Money, Day)> = BTreeMap::new();
    for (note, abschlag) in
        notes.iter().flat_map(|note| note.abschlaege.iter().map(move |abschlag| (note, abschlag)))
    {
        let Abschlag { beleg_id, beleg_nummer, beleg_datum, betrag, mwst_satz, steuer_kategorie } = abschlag;
        let abzug = (*beleg_datum, beleg_nummer.as_str(), *beleg_id, *mwst_satz, *steuer_kategorie);
        let (sum, last) = sums.entry(abzug).or_insert((Money::ZERO, note.tag));
        (*sum, *last) = (sum.plus(*betrag)?, note.tag.max(*last));
    }
    let item = |(datum, nummer, beleg, satz, kategorie): Abzug<'_>, sum: Money| NewItem {
        bezeichnung: Some(format!("abzüglich Abschlag {nummer} vom {}", datum.german())),
        bezeichnung2: Some(format!("netto {}, USt {}", german(sum, 2), german(share(sum, satz), 2))),
        bezug_beleg_id: Some(beleg),
        ..amount(-sum, satz, kategorie)
    };
    Ok(sums.into_iter().map(|(abzug, (sum, last))| (item(abzug, sum), last)).collect())
}

/// Refuses a negative sum unless the request allows it (D29i).
pub fn check_sum(sum: Money, is_allowed: bool, has_advance: bool, hints: &mut Hints) -> Result<()> {
    if !sum.is_negative() {
        return Ok(());
    }
    if !is_allowed {
        let what = format!("Die Abrechnung ergibt {} EUR: Der Partner müsste zurückzahlen.", german(sum, 2));
        let message = (what, "Soll das so sein, bitte negativ_zulassen: true senden.");
        return Err(Refusal::field(Code::AbrechnungNegativ, "negativ_zulassen", message).into());
    }
    if !has_advance {
        return Ok(());
    }
    let message = format!("Der Partner hat {} EUR zu viel bekommen und zahlt sie zurück.", german(-sum, 2));
    hints.add(HintCode::AbschlagUebersteigt, message);
    Ok(())
}

//! The ledger lines of a document (D33). DATEV extracts the tax from the gross amount of each line. If the
//! taxes of several accounts would not add up to the tax of the document, one line books the whole gross
//! amount on one account, and further lines move net parts of it to the others.

use super::fall::Fall;
use super::konten::Automatik;
use crate::choice;
use crate::rules::document::Seite;
use crate::rules::fixed::{Money, Percent, TooLarge};
use crate::rules::tax::{Gedruckt, contained_tax, share};

/// Tax key that suspends the automatic tax of an account.
const SUSPENDED: &str = "40";

choice! {
    /// How a document is split if the taxes of several accounts do not add up to its tax (D33).
    pub enum Aufteilung {
        /// One line for the whole gross amount, and net lines from its account to the others.
        Exakt = "exakt",
        /// One gross line per account; the largest takes the missing cents.
        Brutto = "brutto",
    }
}

/// A final RE or ER in the form in which it is booked.
#[derive(Debug)]
pub struct Buchungsbeleg {
    pub seite: Seite,
    /// The sums printed on the supplier's invoice (D18).
    pub gedruckt: Option<Gedruckt>,
    pub positionen: Vec<Buchungsposition>,
}

#[derive(Debug)]
pub struct Buchungsposition {
    pub fall: Fall,
    /// Rate of the account; `None` if the case has no rates.
    pub satz: Option<Percent>,
    /// Whether the company was a Kleinunternehmer on its day.
    pub is_kleinunternehmer: bool,
    /// Rate of the position.
    pub mwst_satz: Percent,
    pub konto: Kontierung,
    pub kostenstelle: Option<String>,
    /// Net amount.
    pub betrag: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kontierung {
    pub konto: i64,
    pub bu: Option<String>,
    pub automatik: Option<Automatik>,
}

/// The positions of a document that share case and rate, with their sums.
#[derive(Debug)]
pub struct Gruppe {
    pub fall: Fall,
    pub satz: Option<Percent>,
    pub is_kleinunternehmer: bool,
    mwst_satz: Percent,
    pub netto: Money,
    /// Tax as the document states it.
    pub steuer: Money,
    teile: Vec<Teil>,
}

/// The part of a group that lies on one account and cost centre.
#[derive(Debug)]
struct Teil {
    konto: Kontierung,
    kostenstelle: Option<String>,
    netto: Money,
}

/// A ledger line. Its amount is never 0; a negative amount is booked on the other side, without its sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buchungszeile {
    pub betrag: Money,
    /// Whether the first account is debited.
    pub soll: bool,
    pub fall: Fall,
    pub satz: Option<Percent>,
    /// `None` for the account of the partner.
    pub konto: Option<i64>,
    pub gegenkonto: i64,
    pub bu: Option<String>,
    pub kostenstelle: Option<String>,
}

impl Buchungszeile {
    /// Whether the line moves a net part from one account to another, without touching the partner's account.
    pub fn is_aufteilung(&self) -> bool {
        self.konto.is_some()
    }
}

#[derive(Debug, Default)]
pub struct Zeilen {
    pub zeilen: Vec<Buchungszeile>,
    /// By how much DATEV's tax exceeds the tax of the document.
    pub abweichung: Money,
}

/// Groups the positions of a document, in their order. If the document has printed sums, the groups add up to
/// those.
pub fn gruppen(beleg: &Buchungsbeleg) -> Result<Vec<Gruppe>, TooLarge> {
    let mut gruppen: Vec<Gruppe> = Vec::new();
    for position in &beleg.positionen {
        let key = (position.fall, position.satz, position.is_kleinunternehmer, position.mwst_satz);
        let key_of =
            |gruppe: &Gruppe| (gruppe.fall, gruppe.satz, gruppe.is_kleinunternehmer, gruppe.mwst_satz);
        match gruppen.iter_mut().find(|gruppe| key_of(gruppe) == key) {
            Some(gruppe) => gruppe.add(position)?,
            None => gruppen.push(Gruppe::of(position)),
        }
    }
    for gruppe in &mut gruppen {
        gruppe.steuer = share(gruppe.netto, gruppe.mwst_satz);
    }
    if let Some(gedruckt) = &beleg.gedruckt {
        take_printed(&mut gruppen, gedruckt)?;
    }
    Ok(gruppen)
}

/// Adds the difference between the printed and the computed sums of each rate to the largest group of that
/// rate.
fn take_printed(gruppen: &mut [Gruppe], gedruckt: &Gedruckt) -> Result<(), TooLarge> {
    let of_positions = gruppen.iter().map(|gruppe| gruppe.mwst_satz);
    let mut rates: Vec<_> = gedruckt.0.iter().map(|printed| printed.mwst_satz).chain(of_positions).collect();
    rates.sort_unstable();
    rates.dedup();
    for rate in rates {
        let (mut netto, mut steuer) = (Money::ZERO, Money::ZERO);
        for printed in gedruckt.0.iter().filter(|printed| printed.mwst_satz == rate) {
            netto = netto.plus(printed.basis)?;
            steuer = steuer.plus(printed.steuer)?;
        }
        for gruppe in gruppen.iter().filter(|gruppe| gruppe.mwst_satz == rate) {
            netto = netto.minus(gruppe.netto)?;
            steuer = steuer.minus(gruppe.steuer)?;
        }
        // A printed rate that no position has goes to the largest group of all.
        let largest = gruppen.iter_mut().max_by_key(|gruppe| (gruppe.mwst_satz == rate, gruppe.netto.abs()));
        if let Some(gruppe) = largest {
            gruppe.netto = gruppe.netto.plus(netto)?;
            gruppe.steuer = gruppe.steuer.plus(steuer)?;
            let teil = gruppe.largest();
            gruppe.teile[teil].netto = gruppe.teile[teil].netto.plus(netto)?;
        }
    }
    Ok(())
}

impl Gruppe {
    fn of(position: &Buchungsposition) -> Gruppe {
        Gruppe {
            fall: position.fall,
            satz: position.satz,
            is_kleinunternehmer: position.is_kleinunternehmer,
            mwst_satz: position.mwst_satz,
            netto: position.betrag,
            steuer: Money::ZERO,
            teile: vec![Teil::of(position)],
        }
    }

    fn add(&mut self, position: &Buchungsposition) -> Result<(), TooLarge> {
        self.netto = self.netto.plus(position.betrag)?;
        let is_of = |teil: &&mut Teil| {
            teil.konto.konto == position.konto.konto && teil.kostenstelle == position.kostenstelle
        };
        match self.teile.iter_mut().find(is_of) {
            Some(teil) => teil.netto = teil.netto.plus(position.betrag)?,
            None => self.teile.push(Teil::of(position)),
        }
        Ok(())
    }

    /// Index of the part with the largest amount; of several, the one with the smallest account number.
    fn largest(&self) -> usize {
        let size = |at: &usize| (self.teile[*at].netto.abs(), -self.teile[*at].konto.konto);
        (0..self.teile.len()).max_by_key(size).unwrap_or_default()
    }

    /// Returns the lines in blocks: each line is followed by those that move parts of it to other accounts.
    fn lines(&self, seite: Seite, aufteilung: Aufteilung) -> Result<Vec<Vec<Buchungszeile>>, TooLarge> {
        let steuern: Vec<Money> = self.teile.iter().map(|teil| share(teil.netto, self.mwst_satz)).collect();
        let missing = steuern.iter().copied().try_fold(self.steuer, Money::minus)?;
        // A line between two accounts would count KOST1 on both, and where DATEV computes no tax no cent is
        // missing.
        let has_kostenstelle = self.teile.iter().any(|teil| teil.kostenstelle.is_some());
        let is_exact = self.teile.len() == 1 || missing.is_zero();
        if !is_exact && !has_kostenstelle && aufteilung == Aufteilung::Exakt && self.fall.is_taxed() {
            return Ok(vec![self.divided(seite)?]);
        }
        let largest = self.largest();
        let mut blocks = Vec::with_capacity(self.teile.len());
        for (at, (teil, steuer)) in self.teile.iter().zip(steuern).enumerate() {
            let missing = if at == largest { missing } else { Money::ZERO };
            let betrag = teil.netto.plus(steuer)?.plus(missing)?;
            blocks.extend((!betrag.is_zero()).then(|| vec![self.line(seite, betrag, teil)]));
        }
        Ok(blocks)
    }

    /// One line for the whole amount on the account of the largest part, followed by net lines from there to
    /// the others.
    fn divided(&self, seite: Seite) -> Result<Vec<Buchungszeile>, TooLarge> {
        let largest = self.largest();
        let main = &self.teile[largest];
        let brutto = self.netto.plus(self.steuer)?;
        let mut block: Vec<_> =
            (!brutto.is_zero()).then(|| self.line(seite, brutto, main)).into_iter().collect();
        let is_other = |(at, teil): &(usize, &Teil)| *at != largest && !teil.netto.is_zero();
        let mut others: Vec<_> =
            self.teile.iter().enumerate().filter(is_other).map(|(_, teil)| teil).collect();
        others.sort_by_key(|teil| teil.konto.konto);
        for teil in others {
            let is_suspended = teil.konto.automatik.is_some() || main.konto.automatik.is_some();
            let bu = is_suspended.then(|| SUSPENDED.to_owned());
            let line = self.line(seite, teil.netto, teil);
            block.push(Buchungszeile { konto: Some(main.konto.konto), bu, ..line });
        }
        Ok(block)
    }

    fn line(&self, seite: Seite, betrag: Money, teil: &Teil) -> Buchungszeile {
        Buchungszeile {
            betrag: betrag.abs(),
            soll: (seite == Seite::Verkauf) != betrag.is_negative(),
            fall: self.fall,
            satz: self.satz,
            konto: None,
            gegenkonto: teil.konto.konto,
            bu: teil.konto.bu.clone(),
            kostenstelle: teil.kostenstelle.clone(),
        }
    }

    /// The tax that DATEV extracts from these lines.
    fn datev_tax(&self, seite: Seite, lines: &[Vec<Buchungszeile>]) -> Result<Money, TooLarge> {
        let taxed = lines.iter().flatten().filter(|line| self.fall.is_taxed() && !line.is_aufteilung());
        let signed = |line: &Buchungszeile| {
            let steuer = contained_tax(line.betrag, self.mwst_satz);
            if line.soll == (seite == Seite::Verkauf) { steuer } else { -steuer }
        };
        taxed.map(signed).try_fold(Money::ZERO, Money::plus)
    }
}

impl Teil {
    fn of(position: &Buchungsposition) -> Teil {
        Teil {
            konto: position.konto.clone(),
            kostenstelle: position.kostenstelle.clone(),
            netto: position.betrag,
        }
    }
}

/// Returns the lines of a document by rate and account (D33); none if it leaves all accounts unchanged.
pub fn zeilen(beleg: &Buchungsbeleg, aufteilung: Aufteilung) -> Result<Zeilen, TooLarge> {
    let mut blocks = Vec::new();
    let mut abweichung = Money::ZERO;
    for gruppe in gruppen(beleg)? {
        let lines = gruppe.lines(beleg.seite, aufteilung)?;
        if gruppe.fall.is_taxed() {
            abweichung = abweichung.plus(gruppe.datev_tax(beleg.seite, &lines)?)?.minus(gruppe.steuer)?;
        }
        blocks.extend(lines.into_iter().filter(|block| !block.is_empty()));
    }
    let account = |line: &Buchungszeile| line.konto.unwrap_or(line.gegenkonto);
    let place = |block: &Vec<Buchungszeile>| {
        block.first().map(|line| (line.satz, account(line), line.kostenstelle.clone()))
    };
    blocks.sort_by_key(place);
    Ok(Zeilen { zeilen: blocks.into_iter().flatten().collect(), abweichung })
}

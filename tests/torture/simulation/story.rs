//! Writes random stories, with the model telling which records exist.

use super::model::{Document, Model};
use super::step::{Ask, Deed, Flaw, Head, Malformed, Match, Name, PartnerChange, SALT, Small, Step, WHEAT};
use crate::dice::Dice;

/// Begin of stories: 2008-07-10T10:00:00Z, noon in Berlin. They are in the past, because commands use the
/// clock of the machine, and between two changes of tax rates.
pub const BEGIN: i64 = 1_215_684_000_000;

/// End of stories: 2020-05-01.
pub const END: i64 = 1_588_291_200_000;

/// The company whose invoices move goods.
pub const MEETS: usize = 1;

/// The first step of a story; lower numbers name the initial records of companies.
const FIRST: u32 = 10;

const TYPES: &[&str] = &["AN", "AU", "LS", "LS", "RE", "RE", "RE", "BS", "EL", "EL", "ER"];

/// Only the newest documents are changed again, so that most of them reach a final state.
const NEWEST: usize = 25;

pub fn write(seed: u64, steps: u32) -> Vec<Step> {
    let mut writer = Writer { dice: Dice::new(seed), model: Model::new(BEGIN, None), story: Vec::new() };
    for nr in FIRST..FIRST + steps {
        let step = writer.step(nr);
        if writer.model.allows(&step) {
            writer.model.play(&step);
            writer.story.push(step);
        }
    }
    writer.story
}

pub struct Writer {
    pub dice: Dice,
    pub model: Model,
    pub story: Vec<Step>,
}

impl Writer {
    fn step(&mut self, nr: u32) -> Step {
        let firm = usize::from(self.dice.once_in(3));
        let deed = self.deed(firm);
        let is_post = matches!(
            deed,
            Deed::Partner { .. }
                | Deed::Document { .. }
                | Deed::Weighing { .. }
                | Deed::Batch { .. }
                | Deed::CountBatch { .. }
                | Deed::CountArticle { .. }
                | Deed::Attach { .. }
                | Deed::Cancel(_)
                | Deed::Finish(_)
                | Deed::Archive { .. }
                | Deed::Receipt { .. }
                | Deed::Order(_)
        );
        let by_form = self.has_form(firm, &deed) && self.dice.once_in(3);
        Step { nr, firm, deed, by_form, is_keyed: is_post && !by_form && self.dice.once_in(2) }
    }

    /// Whether the Leitstand has a form for it whose answer contains no new record.
    fn has_form(&self, firm: usize, deed: &Deed) -> bool {
        match deed {
            Deed::ChangePartner { change: PartnerChange::Place(_), matches: Match::Nothing, .. } => true,
            Deed::CountBatch { .. } | Deed::CountArticle { .. } => true,
            Deed::Cancel(document) => self.model.firms[firm].documents[document].event.is_none(),
            _ => false,
        }
    }

    fn deed(&mut self, firm: usize) -> Deed {
        let few_partners = self.model.firms[firm].partners.len() < 3;
        let deed = match self.dice.below(200) {
            _ if few_partners => None,
            0..70 => self.document(firm),
            70..88 => self.change_document(firm),
            88..98 => self.pick_document(firm).map(Deed::Finish),
            98..106 => self.pick_document(firm).map(Deed::Settle),
            106..118 => self.pick_document(firm).map(Deed::Cancel),
            118..122 => {
                self.pick_document(firm).map(|document| Deed::Archive { document, content: self.small(2) })
            }
            122..132 => self.partner_change(firm),
            132..136 => {
                self.pick_partner(firm).map(|partner| Deed::Attach { partner, content: self.small(9) })
            }
            136..142 => {
                self.pick_partner(firm).map(|partner| Deed::Weighing { partner, first: self.weight() })
            }
            142..152 => self.scale(firm),
            152..158 => self.stock(firm),
            158 | 159 => self.order(firm),
            160..166 => self.again(firm),
            166..172 => self.foreign(firm),
            172..176 => Some(Deed::Malformed(self.malformed())),
            176..184 => Some(Deed::Small(self.small_request())),
            184 => Some(Deed::SwitchSmallKey),
            185..188 => self.world().map(Deed::World),
            188..194 => self.receipt(firm),
            194 | 195 => {
                let names =
                    (0..1 + self.dice.below(20)).map(|_| Some(self.small(99)).filter(|name| name % 5 > 0));
                Some(Deed::Partners(names.collect()))
            }
            196 | 197 => Some(self.import()),
            198 => self.import_counts(firm),
            _ => None,
        };
        deed.unwrap_or_else(|| self.partner())
    }

    pub fn small(&mut self, below: usize) -> u32 {
        self.dice.below(below) as u32
    }

    fn some(&mut self, times: usize, below: usize) -> Option<u32> {
        self.dice.once_in(times).then(|| self.dice.below(below) as u32)
    }

    fn weight(&mut self) -> i64 {
        if self.dice.once_in(12) { 0 } else { 1_000 * (1 + self.dice.below(40) as i64) }
    }

    fn partner(&mut self) -> Deed {
        let next = 1_000 + self.model.firms[0].partners.len();
        let number = self.dice.once_in(3).then(|| (next + self.dice.below(6)) as u32 - 3);
        let name = if self.dice.once_in(10) { None } else { Some(self.small(99)) };
        Deed::Partner { number, name }
    }

    /// One in ten rows of a file has no name.
    fn import(&mut self) -> Deed {
        let row = |writer: &mut Writer| {
            let name = writer.small(110);
            (1_000 + writer.small(400), Some(name).filter(|name| *name < 99))
        };
        Deed::Import((0..1 + self.dice.below(6)).map(|_| row(self)).collect())
    }

    /// Half of the counts were imported before.
    fn import_counts(&mut self, firm: usize) -> Option<Deed> {
        let batches = self.model.firms[firm].batches.iter().rev();
        let known: Vec<_> = batches.clone().filter_map(|(name, of)| Some((*name, of.imported?))).collect();
        let names: Vec<Name> = batches.take(12).map(|(name, _)| *name).collect();
        let count = |writer: &mut Writer| match writer.dice.pick(&known) {
            Some(count) if writer.dice.once_in(2) => Some(count),
            _ => Some((writer.dice.pick(&names)?, writer.dice.below(20_000_000) as i64)),
        };
        let counts: Option<Vec<_>> = (0..1 + self.dice.below(2)).map(|_| count(self)).collect();
        counts.map(Deed::ImportCounts)
    }

    fn matches(&mut self) -> Match {
        match self.dice.below(6) {
            0 => Match::Stale,
            1 => Match::Current,
            _ => Match::Nothing,
        }
    }

    fn partner_change(&mut self, firm: usize) -> Option<Deed> {
        let partner = self.pick_partner(firm)?;
        let change = match self.dice.below(6) {
            0 => PartnerChange::Nothing,
            1 => PartnerChange::Inactive(self.dice.once_in(2)),
            2 | 3 => PartnerChange::Place(self.small(5)),
            _ => PartnerChange::Name(self.small(99)),
        };
        Some(Deed::ChangePartner { partner, change, matches: self.matches() })
    }

    pub fn pick_partner(&mut self, firm: usize) -> Option<Name> {
        let partners: Vec<Name> = self.model.firms[firm].partners.keys().rev().take(6).copied().collect();
        self.dice.pick(&partners)
    }

    fn pick_document(&mut self, firm: usize) -> Option<Name> {
        self.pick_fitting(firm, |_| true)
    }

    fn pick_fitting(&mut self, firm: usize, fits: impl Fn(&Document) -> bool) -> Option<Name> {
        let documents = self.model.firms[firm].documents.iter().rev().take(NEWEST);
        let fitting: Vec<Name> =
            documents.filter(|(_, document)| fits(document)).map(|(name, _)| *name).collect();
        self.dice.pick(&fitting)
    }

    fn document(&mut self, firm: usize) -> Option<Deed> {
        let partner = self.pick_partner(firm)?;
        let typ = self.dice.pick(TYPES)?;
        let items = self.items(firm, typ);
        let known: Vec<u32> =
            self.model.firms[firm].references.keys().map(|(reference, _)| *reference).collect();
        let reference = match self.dice.below(6) {
            0 => self.dice.pick(&known),
            1 | 2 => Some(self.story.len() as u32),
            _ => None,
        };
        let days_back = match self.dice.below(8) {
            0 => self.dice.below(400) as i64,
            1 => -(self.dice.below(30) as i64),
            _ => 0,
        };
        let head = Head { reference, days_back, note: self.some(4, 9), is_final: self.dice.once_in(5) };
        let flaw = if self.dice.once_in(8) { Some(self.flaw()) } else { None };
        // Dated documents are created separately.
        let head = if flaw == Some(Flaw::FarDay) { Head { days_back: 0, ..head } } else { head };
        Some(Deed::Document { typ, partner, items, head, flaw })
    }

    fn flaw(&mut self) -> Flaw {
        let flaws = [
            Flaw::NoItems,
            Flaw::NoQuantity,
            Flaw::UnknownArticle,
            Flaw::InactiveArticle,
            Flaw::NoBatch,
            Flaw::UnknownPartner,
            Flaw::NoPartner,
            Flaw::ForeignPartner,
            Flaw::FarDay,
            Flaw::Comma,
            Flaw::HugeDiscount,
            Flaw::NoJson,
            Flaw::Type,
        ];
        flaws[self.dice.below(flaws.len())]
    }

    fn change_document(&mut self, firm: usize) -> Option<Deed> {
        let document = match self.dice.once_in(3) {
            true => self.pick_document(firm)?,
            false => self.pick_fitting(firm, |document| document.status == "offen")?,
        };
        let of = self.model.firms[firm].documents[&document].clone();
        let locked = |batch: &Option<Name>| {
            batch.is_some_and(|batch| self.model.firms[firm].batches[&batch].is_locked)
        };
        // Which goods of a locked batch may still be rewritten is tested by tests/stock.
        let rewrites = of.cancels.is_none() && !of.batches.iter().any(locked) && self.dice.once_in(2);
        let items = rewrites.then(|| self.items(firm, of.typ));
        let days_back = self.dice.once_in(5).then(|| self.dice.below(60) as i64);
        Some(Deed::ChangeDocument {
            document,
            items,
            note: self.some(2, 9),
            days_back,
            matches: self.matches(),
        })
    }

    pub fn pick_weighing(&mut self, firm: usize) -> Option<Name> {
        let weighings: Vec<Name> = self.model.firms[firm].weighings.keys().rev().take(8).copied().collect();
        self.dice.pick(&weighings)
    }

    fn scale(&mut self, firm: usize) -> Option<Deed> {
        let weighing = self.pick_weighing(firm)?;
        Some(match self.dice.below(4) {
            0 => Deed::CancelWeighing(weighing),
            _ => Deed::SecondWeighing { weighing, second: self.weight().max(1_000) },
        })
    }

    fn stock(&mut self, firm: usize) -> Option<Deed> {
        let batches: Vec<Name> = self.model.firms[firm].batches.keys().rev().take(12).copied().collect();
        let batch = self.dice.pick(&batches);
        let stock = self.dice.below(20_000_000) as i64;
        match self.dice.below(5) {
            0 => Some(Deed::Batch { article: WHEAT, number: self.some(2, 40) }),
            1 => Some(Deed::CountArticle { article: if self.dice.once_in(6) { WHEAT } else { SALT }, stock }),
            2 => batch.map(|batch| Deed::LockBatch { batch, is_locked: !self.dice.once_in(3) }),
            _ => batch.map(|batch| Deed::CountBatch { batch, stock }),
        }
    }

    fn again(&mut self, firm: usize) -> Option<Deed> {
        let answered: Vec<u32> = self.model.firms[firm].answered.keys().rev().take(30).copied().collect();
        Some(Deed::Again { step: self.dice.pick(&answered)?, is_changed: self.dice.once_in(3) })
    }

    fn foreign(&mut self, firm: usize) -> Option<Deed> {
        let other = self.model.firms[1 - firm].clone();
        let (ask, names): (_, Vec<Name>) = match self.dice.below(8) {
            0 => (Ask::Partner, other.partners.keys().copied().collect()),
            1 => (Ask::ChangePartner, other.partners.keys().copied().collect()),
            2 => (Ask::Document, other.documents.keys().copied().collect()),
            3 => (Ask::CancelDocument, other.documents.keys().copied().collect()),
            4 => (Ask::Batch, other.batches.keys().copied().collect()),
            5 => (Ask::CountBatch, other.batches.keys().copied().collect()),
            6 => (Ask::Weighing, other.weighings.keys().copied().collect()),
            _ => (Ask::SecondWeighing, other.weighings.keys().copied().collect()),
        };
        Some(Deed::Foreign(ask, self.dice.pick(&names)?))
    }

    fn malformed(&mut self) -> Malformed {
        let all = [
            Malformed::Path,
            Malformed::Method,
            Malformed::Parameter,
            Malformed::Limit,
            Malformed::Day,
            Malformed::Id,
            Malformed::Status,
        ];
        all[self.dice.below(all.len())]
    }

    fn small_request(&mut self) -> Small {
        [Small::Countries, Small::Documents, Small::Partners, Small::Write][self.dice.below(4)]
    }
}

//! What documents do to the stock: after every change the pairs of the partners and articles
//! concerned are formed anew, and whatever differs from what was booked is booked (D8).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::named_params;
use uuid::Uuid;

use super::items::batch_missing;
use super::model::BelegPosition;
use super::sql;
use crate::artikel::{self, Artikel};
use crate::chargen::{self, Bewegung, Buchung, Charge, NeueCharge};
use crate::db::error::{Failure, Result};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle, Seite};
use crate::rules::error::{Code, HintCode, Hints, PositionErrors, Refusal};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::stock::{Anteil, Ergebnis, Genannt, Posten, Rolle, pair, take};
use crate::rules::text::case_key;
use crate::rules::unit::Conversion;
use crate::tenants::Einstellungen;

/// Positions that are paired with each other: of one partner and article, sales or purchases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gruppe {
    kunde: Uuid,
    artikel: Uuid,
    einkauf: bool,
}

impl Gruppe {
    /// The groups that positions of a document are in.
    pub fn of(kunde: Uuid, typ: BelegTyp, positions: &[BelegPosition]) -> BTreeSet<Gruppe> {
        let moving = positions.iter().filter(|position| position.lager_buchen);
        let einkauf = typ.seite() == Seite::Einkauf;
        moving.filter_map(|p| p.artikel_id).map(|artikel| Gruppe { kunde, artikel, einkauf }).collect()
    }
}

/// A live position that takes part in the stock.
struct Zeile {
    id: Uuid,
    beleg_id: Uuid,
    beleg_nummer: String,
    typ: BelegTyp,
    status: BelegStatus,
    position: i64,
    menge: Quantity,
    einheit: Option<String>,
    ep_netto: Price,
    charge_id: Option<Uuid>,
    charge_gesendet: bool,
    fremde_charge_nr: Option<String>,
    mhd: Option<Day>,
    herkunftsland: Option<String>,
    biozertifikat_id: Option<i64>,
    bezug: Option<Uuid>,
}

const ZEILEN: &str = "select p.id, b.id, b.beleg_nummer, b.beleg_typ, b.status, p.position, p.lager_menge,
    p.einheit, p.ep_netto, p.charge_id, p.charge_gesendet, p.fremde_charge_nr, p.mhd, p.herkunftsland,
    p.biozertifikat_id, p.bezug_beleg_id
  from beleg b join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
  where b.tenant_id = :tenant and b.kunde_id = :kunde and p.artikel_id = :artikel and p.lager_buchen = 1
    and b.beleg_typ in (:lieferung, :rechnung) and b.status <> 'storniert' and b.storno_von_beleg_id is null
  order by b.id, p.position";

/// Booked quantities: by document, article, batch.
type Konten = BTreeMap<(Uuid, Uuid, Option<Uuid>), Quantity>;

/// The state of some groups before a change.
#[derive(Default)]
pub struct Vorher {
    gruppen: BTreeSet<Gruppe>,
    /// What counterparts had booked for a position: its batches, should it be on its own again.
    geerbt: HashMap<Uuid, Vec<Anteil>>,
}

/// Takes down the pairs as they are, before a document is changed or cancelled.
pub fn before(tx: &Tx<'_>, gruppen: BTreeSet<Gruppe>) -> Result<Vorher> {
    let mut geerbt = HashMap::new();
    for gruppe in &gruppen {
        let zeilen = zeilen(tx, *gruppe)?;
        let mut booked = pools(&booked_of(tx, *gruppe)?);
        let posten = posten(tx, *gruppe, &zeilen)?;
        let ergebnisse = pair(&posten, |at, mut rest| {
            let mut parts = Vec::new();
            if let Some(pool) = booked.get_mut(&zeilen[at].beleg_id) {
                take(pool, &mut rest, &mut parts);
            }
            Ok::<_, Failure>(parts)
        })?;
        geerbt.extend(zeilen.iter().zip(ergebnisse).map(|(zeile, ergebnis)| (zeile.id, ergebnis.geerbt)));
    }
    Ok(Vorher { gruppen, geerbt })
}

/// What kind of request books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anlass {
    /// A new document.
    Anlage,
    /// PUT with items: the positions of the document are new.
    NeuePositionen,
    /// PUT without items.
    Aenderung,
    /// A document is cancelled.
    Storno,
}

/// Forms the pairs anew and books what differs; the movements, for the confirmation.
pub fn rebook(
    tx: &WriteTx<'_>,
    beleg: Uuid,
    anlass: Anlass,
    vorher: Vorher,
    gruppen: BTreeSet<Gruppe>,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Vec<Bewegung>> {
    let mut soll = Konten::new();
    let mut ist = booked_by(tx, beleg)?;
    let mut prices = HashMap::new();
    let mut errors = PositionErrors::default();
    for gruppe in vorher.gruppen.union(&gruppen) {
        let zeilen = zeilen(tx, *gruppe)?;
        let booked = booked_of(tx, *gruppe)?;
        let artikel = artikel::find(tx, gruppe.artikel)?;
        let artikel = artikel.ok_or_else(|| Failure::Broken("a position of an unknown article".into()))?;
        let mut placer = Placer {
            tx,
            gruppe: *gruppe,
            artikel: &artikel,
            zeilen: &zeilen,
            own: beleg,
            own_is_new: matches!(anlass, Anlass::Anlage | Anlass::NeuePositionen),
            booked: pools(&booked),
            geerbt: &vorher.geerbt,
            fefo: einstellungen.fefo,
            fefo_stock: None,
            errors: &mut errors,
            hints,
        };
        let posten = posten(tx, *gruppe, &zeilen)?;
        let ergebnisse = pair(&posten, |at, rest| placer.place(at, rest))?;
        for (zeile, ergebnis) in zeilen.iter().zip(&ergebnisse) {
            add_to(&mut soll, gruppe, zeile, ergebnis)?;
            note_charge(tx, zeile, ergebnis)?;
            prices.insert((zeile.beleg_id, gruppe.artikel), price_per_article_unit(zeile, &artikel)?);
        }
        ist.extend(booked);
    }
    errors.into_result()?;
    let booked = book_difference(tx, &ist, &soll, &prices)?;
    check_stock(&booked, anlass, einstellungen, hints)?;
    Ok(booked.into_iter().map(|gebucht| gebucht.bewegung).collect())
}

fn zeilen(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Vec<Zeile>> {
    let (lieferung, rechnung) = types(gruppe);
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":artikel": gruppe.artikel,
        ":lieferung": lieferung,
        ":rechnung": rechnung,
    };
    tx.all(ZEILEN, params, |row| {
        let mut columns = Columns::of(row);
        Ok(Zeile {
            id: columns.next()?,
            beleg_id: columns.next()?,
            beleg_nummer: columns.next()?,
            typ: columns.next()?,
            status: columns.next()?,
            position: columns.next()?,
            menge: columns.next()?,
            einheit: columns.next()?,
            ep_netto: columns.next()?,
            charge_id: columns.next()?,
            charge_gesendet: columns.next()?,
            fremde_charge_nr: columns.next()?,
            mhd: columns.next()?,
            herkunftsland: columns.next()?,
            biozertifikat_id: columns.next()?,
            bezug: columns.next()?,
        })
    })
}

fn types(gruppe: Gruppe) -> (BelegTyp, BelegTyp) {
    if gruppe.einkauf { (BelegTyp::El, BelegTyp::Er) } else { (BelegTyp::Ls, BelegTyp::Re) }
}

/// What the documents of a group have booked.
fn booked_of(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Konten> {
    let (lieferung, rechnung) = types(gruppe);
    let rows = tx.all(
        "select m.beleg_id, m.charge_id, sum(m.menge) from beleg b
           join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id and m.artikel_id = :artikel
         where b.tenant_id = :tenant and b.kunde_id = :kunde and b.beleg_typ in (:lieferung, :rechnung)
           and b.status <> 'storniert'
         group by 1, 2",
        named_params! {
            ":kunde": gruppe.kunde,
            ":artikel": gruppe.artikel,
            ":lieferung": lieferung,
            ":rechnung": rechnung,
        },
        |row| Ok(((row.get(0)?, gruppe.artikel, row.get(1)?), row.get(2)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// What one document has booked.
fn booked_by(tx: &Tx<'_>, beleg: Uuid) -> Result<Konten> {
    let rows = tx.all(
        "select artikel_id, charge_id, sum(menge) from lagerbewegung
         where tenant_id = :tenant and beleg_id = :beleg group by 1, 2",
        named_params! {":beleg": beleg},
        |row| Ok(((beleg, row.get(0)?, row.get(1)?), row.get(2)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// The batches that each document has booked, without signs.
fn pools(konten: &Konten) -> HashMap<Uuid, Vec<Anteil>> {
    let mut pools: HashMap<Uuid, Vec<Anteil>> = HashMap::new();
    for ((beleg, _, charge), menge) in konten.iter().filter(|(_, menge)| !menge.is_zero()) {
        pools.entry(*beleg).or_default().push(Anteil { charge: *charge, menge: menge.abs() });
    }
    pools
}

fn posten(tx: &Tx<'_>, gruppe: Gruppe, zeilen: &[Zeile]) -> Result<Vec<Posten>> {
    let posten = |zeile: &Zeile| {
        let rolle = match zeile.typ.lagerrolle() {
            Lagerrolle::Rechnung => Rolle::Rechnung,
            Lagerrolle::Lieferung | Lagerrolle::Keine => Rolle::Lieferung,
        };
        let genannt = genannt(tx, gruppe, zeile)?;
        Ok(Posten { beleg: zeile.beleg_id, rolle, menge: zeile.menge, bezug: zeile.bezug, genannt })
    };
    zeilen.iter().map(posten).collect()
}

/// The batch that a position named when it was sent.
fn genannt(tx: &Tx<'_>, gruppe: Gruppe, zeile: &Zeile) -> Result<Genannt> {
    if let (true, Some(charge)) = (zeile.charge_gesendet, zeile.charge_id) {
        return Ok(Genannt::Charge(charge));
    }
    let Some(fremde) = &zeile.fremde_charge_nr else { return Ok(Genannt::Nichts) };
    let charge = chargen::find_fremde(tx, gruppe.artikel, gruppe.kunde, fremde, zeile.mhd)?;
    Ok(charge.map_or_else(|| Genannt::Neu(case_key(fremde)), Genannt::Charge))
}

/// Says which batches the rest of a position comes from or goes to.
struct Placer<'p> {
    tx: &'p WriteTx<'p>,
    gruppe: Gruppe,
    artikel: &'p Artikel,
    zeilen: &'p [Zeile],
    own: Uuid,
    own_is_new: bool,
    booked: HashMap<Uuid, Vec<Anteil>>,
    geerbt: &'p HashMap<Uuid, Vec<Anteil>>,
    fefo: bool,
    /// What is left of each batch for those that choose by themselves.
    fefo_stock: Option<Vec<(Uuid, Quantity)>>,
    errors: &'p mut PositionErrors,
    hints: &'p mut Hints,
}

impl Placer<'_> {
    fn place(&mut self, at: usize, rest: Quantity) -> Result<Vec<Anteil>> {
        let zeile = &self.zeilen[at];
        if let Genannt::Charge(charge) = genannt(self.tx, self.gruppe, zeile)? {
            self.fill_in(charge, zeile)?;
            return Ok(vec![Anteil { charge: Some(charge), menge: rest }]);
        }
        let mut rest = rest;
        let mut parts = Vec::new();
        let is_new = self.own_is_new && zeile.beleg_id == self.own;
        if !is_new && zeile.fremde_charge_nr.is_none() {
            // What was booked stays where it was; what a counterpart had booked is followed.
            if let Some(pool) = self.booked.get_mut(&zeile.beleg_id) {
                take(pool, &mut rest, &mut parts);
            }
            let mut inherited = self.geerbt.get(&zeile.id).cloned().unwrap_or_default();
            take(&mut inherited, &mut rest, &mut parts);
        }
        if !rest.is_zero() {
            self.place_anew(zeile, rest, &mut parts)?;
        }
        Ok(parts)
    }

    fn place_anew(&mut self, zeile: &Zeile, rest: Quantity, parts: &mut Vec<Anteil>) -> Result<()> {
        if let Some(charge) = zeile.charge_id {
            parts.push(Anteil { charge: Some(charge), menge: rest });
        } else if zeile.has_batch_information() {
            let charge = self.create(zeile)?;
            parts.push(Anteil { charge: Some(charge), menge: rest });
        } else if !self.artikel.chargenpflichtig {
            parts.push(Anteil { charge: None, menge: rest });
        } else if self.fefo && !self.gruppe.einkauf && !zeile.menge.is_negative() {
            self.choose(zeile, rest, parts)?;
        } else {
            self.refuse(zeile);
        }
        Ok(())
    }

    /// Takes what expires first; the last batch gives what is missing (D8, fefo).
    fn choose(&mut self, zeile: &Zeile, mut rest: Quantity, parts: &mut Vec<Anteil>) -> Result<()> {
        if self.fefo_stock.is_none() {
            self.fefo_stock = Some(self.stock_without_own()?);
        }
        let Some(stock) = &mut self.fefo_stock else { return Ok(()) };
        let Some((last, _)) = stock.iter().rev().find(|(_, menge)| *menge > Quantity::ZERO).or(stock.last())
        else {
            self.refuse(zeile);
            return Ok(());
        };
        let last = *last;
        for (charge, left) in stock.iter_mut().filter(|(_, left)| *left > Quantity::ZERO) {
            let menge = rest.min(*left);
            *left = left.minus(menge)?;
            rest = rest.minus(menge)?;
            if !menge.is_zero() {
                parts.push(Anteil { charge: Some(*charge), menge });
            }
        }
        if !rest.is_zero() {
            match parts.iter_mut().find(|part| part.charge == Some(last)) {
                Some(part) => part.menge = part.menge.plus(rest)?,
                None => parts.push(Anteil { charge: Some(last), menge: rest }),
            }
        }
        let feld = format!("items[{}].charge_id", zeile.position - 1);
        let message = "Die Charge wurde nach Mindesthaltbarkeit gewählt.";
        self.hints.add_field(HintCode::ChargeAutomatisch, feld, message);
        Ok(())
    }

    /// Stock by batch, as if the document had booked nothing yet.
    fn stock_without_own(&self) -> Result<Vec<(Uuid, Quantity)>> {
        let mut stock = chargen::with_stock(self.tx, self.artikel.id)?;
        for ((_, artikel, charge), menge) in booked_by(self.tx, self.own)? {
            let found = stock.iter_mut().find(|(id, _)| artikel == self.artikel.id && Some(*id) == charge);
            if let Some((_, left)) = found {
                *left = left.minus(menge)?;
            }
        }
        Ok(stock)
    }

    fn create(&self, zeile: &Zeile) -> Result<Uuid> {
        create_charge(self.tx, self.gruppe.kunde, self.artikel, &zeile.batch_information())
    }

    fn fill_in(&self, charge: Uuid, zeile: &Zeile) -> Result<()> {
        if !self.gruppe.einkauf || zeile.beleg_id != self.own {
            return Ok(());
        }
        complete_charge(self.tx, charge, &zeile.batch_information())
    }

    fn refuse(&mut self, zeile: &Zeile) {
        let refusal = batch_missing(zeile.typ);
        let refusal = if zeile.beleg_id == self.own {
            refusal.below(&format!("items[{}]", zeile.position - 1))
        } else {
            Refusal::new(refusal.code, format!("Beleg {}: {}", zeile.beleg_nummer, refusal.message))
        };
        self.errors.keep::<()>(Err(refusal));
    }
}

/// What a purchase tells of a batch.
pub struct BatchInformation {
    /// The supplier's number.
    pub fremde_charge_nr: Option<String>,
    /// Best before.
    pub mhd: Option<Day>,
    /// ISO 3166-1 alpha-2.
    pub herkunftsland: Option<String>,
    /// Organic certificate.
    pub biozertifikat_id: Option<i64>,
}

impl Zeile {
    fn has_batch_information(&self) -> bool {
        self.fremde_charge_nr.is_some()
            || self.mhd.is_some()
            || self.herkunftsland.is_some()
            || self.biozertifikat_id.is_some()
    }

    fn batch_information(&self) -> BatchInformation {
        BatchInformation {
            fremde_charge_nr: self.fremde_charge_nr.clone(),
            mhd: self.mhd,
            herkunftsland: self.herkunftsland.clone(),
            biozertifikat_id: self.biozertifikat_id,
        }
    }
}

/// A batch that a purchase tells of: the known one of the supplier's number, or a new one (D8).
pub fn charge_for(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    info: &BatchInformation,
) -> Result<Uuid> {
    let known = match &info.fremde_charge_nr {
        Some(fremde) => chargen::find_fremde(tx, artikel.id, partner, fremde, info.mhd)?,
        None => None,
    };
    match known {
        Some(charge) => complete_charge(tx, charge, info).map(|()| charge),
        None => create_charge(tx, partner, artikel, info),
    }
}

fn create_charge(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    info: &BatchInformation,
) -> Result<Uuid> {
    let neu = NeueCharge {
        charge_nr: None,
        artikel_id: artikel.id,
        partner_id: Some(partner),
        fremde_charge_nr: info.fremde_charge_nr.clone(),
        mhd: info.mhd,
        herkunftsland: info.herkunftsland.clone(),
        biozertifikat_id: info.biozertifikat_id,
        einheit: artikel.einheit.clone(),
        eingang_menge: Some(Quantity::ZERO),
        eingang_ep: None,
        eingang_quelle: EingangQuelle::Beleg,
        niederlassung_id: None,
        lagerhalle_id: None,
    };
    Ok(chargen::create(tx, &neu)?.0)
}

fn complete_charge(tx: &WriteTx<'_>, charge: Uuid, info: &BatchInformation) -> Result<()> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
    chargen::fill_in(tx, &charge, info.mhd, info.herkunftsland.as_deref(), info.biozertifikat_id)
}

/// Adds what a position should have booked.
fn add_to(soll: &mut Konten, gruppe: &Gruppe, zeile: &Zeile, ergebnis: &Ergebnis) -> Result<()> {
    for anteil in &ergebnis.eigen {
        let signed = if gruppe.einkauf { anteil.menge } else { -anteil.menge };
        let konto = soll.entry((zeile.beleg_id, gruppe.artikel, anteil.charge)).or_default();
        *konto = konto.plus(signed)?;
    }
    Ok(())
}

/// Notes the one batch that covers a position. A named one stays, and a finalised position never
/// changes (D8).
fn note_charge(tx: &WriteTx<'_>, zeile: &Zeile, ergebnis: &Ergebnis) -> Result<()> {
    let charge = ergebnis.einzige_charge();
    if zeile.charge_gesendet || zeile.status != BelegStatus::Offen || zeile.charge_id == charge {
        return Ok(());
    }
    sql::set_position_charge(tx, zeile.id, charge)
}

fn price_per_article_unit(zeile: &Zeile, artikel: &Artikel) -> Result<(bool, Price)> {
    let conversion = match (&zeile.einheit, &artikel.einheit) {
        (Some(einheit), Some(own)) => Conversion::between(einheit, own).unwrap_or(Conversion::NONE),
        _ => Conversion::NONE,
    };
    Ok((zeile.typ.seite() == Seite::Einkauf, conversion.price(zeile.ep_netto)?))
}

/// A movement that was booked, and its batch afterwards.
struct Gebucht {
    bewegung: Bewegung,
    einkauf: bool,
    charge: Option<Charge>,
}

/// Books the difference between what is booked and what should be.
fn book_difference(
    tx: &WriteTx<'_>,
    ist: &Konten,
    soll: &Konten,
    prices: &HashMap<(Uuid, Uuid), (bool, Price)>,
) -> Result<Vec<Gebucht>> {
    let mut keys: Vec<_> = ist.keys().chain(soll.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut gebucht = Vec::new();
    for key @ (beleg_id, artikel_id, charge_id) in keys {
        let should = soll.get(key).copied().unwrap_or_default();
        let menge = should.minus(ist.get(key).copied().unwrap_or_default())?;
        if menge.is_zero() {
            continue;
        }
        let beleg = sql::find(tx, *beleg_id)?;
        let beleg = beleg.ok_or_else(|| Failure::Broken("a movement of an unknown document".into()))?;
        let einkauf = beleg.beleg_typ.seite() == Seite::Einkauf;
        let ep = prices.get(&(*beleg_id, *artikel_id)).map(|(_, price)| *price);
        let (artikel_id, charge_id) = (*artikel_id, *charge_id);
        let beleg_id = Some(*beleg_id);
        let buchung = Buchung { artikel_id, charge_id, beleg_id, menge, ist_eingang: einkauf, ep };
        let charge = chargen::book(tx, &buchung)?;
        let einheit = artikel::find(tx, artikel_id)?.and_then(|artikel| artikel.einheit);
        let charge_nr = charge.as_ref().map(|charge| charge.charge_nr.clone());
        let beleg_nummer = Some(beleg.beleg_nummer);
        let bewegung = Bewegung { beleg_id, beleg_nummer, artikel_id, charge_id, charge_nr, menge, einheit };
        gebucht.push(Gebucht { bewegung, einkauf, charge });
    }
    Ok(gebucht)
}

/// No receipt may be withdrawn that was used already; selling more than there is is a matter of
/// the settings (D8). The stock counts as it is after the whole request.
fn check_stock(
    gebucht: &[Gebucht],
    anlass: Anlass,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<()> {
    let mut last: BTreeMap<Uuid, &Charge> = BTreeMap::new();
    for charge in gebucht.iter().filter_map(|gebucht| gebucht.charge.as_ref()) {
        last.insert(charge.id, charge);
    }
    for charge in last.into_values().filter(|charge| charge.bestand.is_negative()) {
        let of_charge = || gebucht.iter().filter(|g| g.bewegung.charge_id == Some(charge.id));
        let sum = |einkauf: bool| {
            let parts = of_charge().filter(|g| g.einkauf == einkauf).map(|g| g.bewegung.menge);
            parts.into_iter().try_fold(Quantity::ZERO, Quantity::plus)
        };
        let (received, sold) = (sum(true)?, sum(false)?);
        if !received.plus(sold)?.is_negative() {
            continue;
        }
        let what = format!("Charge {}: Bestand {}", charge.charge_nr, charge.bestand);
        if received.is_negative() && anlass != Anlass::Anlage {
            let message =
                format!("{what}. Aus dem Eingang wurde schon verkauft; bitte erst diese Belege ändern.");
            return Err(Refusal::new(Code::ChargeBereitsVerwendet, message).into());
        }
        if einstellungen.negativbestand_ablehnen {
            let message = format!("{what}. Es ist nicht genug da; bitte Menge oder Charge ändern.");
            return Err(Refusal::new(Code::BestandNichtAusreichend, message).into());
        }
        hints.add(HintCode::BestandNegativ, format!("{what}."));
    }
    Ok(())
}

//! The live positions of a group, and what their documents have booked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::named_params;
use uuid::Uuid;

use super::batch::BatchInformation;
use crate::belege::model::{Beleg, BelegPosition};
use crate::chargen;
use crate::db::error::Result;
use crate::db::tx::{Columns, Tx};
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle, Seite};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::stock::{Anteil, Genannt, Posten, Rolle, take};
use crate::rules::text::case_key;

/// Positions that are paired with each other: of one partner and article, sales or purchases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gruppe {
    /// The partner.
    pub kunde: Uuid,
    /// The article.
    pub artikel: Uuid,
    /// Purchases (EL, ER) or sales (LS, RE).
    pub einkauf: bool,
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
#[allow(missing_docs)]
pub struct Zeile {
    pub id: Uuid,
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub typ: BelegTyp,
    pub status: BelegStatus,
    pub position: i64,
    pub menge: Quantity,
    pub einheit: Option<String>,
    pub ep_netto: Price,
    pub charge_id: Option<Uuid>,
    pub charge_gesendet: bool,
    pub fremde_charge_nr: Option<String>,
    pub mhd: Option<Day>,
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
    pub bezug: Option<Uuid>,
}

/// Columns of a [`Zeile`], of a document `b` and its position `p`.
pub const COLUMNS: &str =
    "p.id, b.id, b.beleg_nummer, b.beleg_typ, b.status, p.position, p.lager_menge, p.einheit, p.ep_netto, p.charge_id,
    p.charge_gesendet, p.fremde_charge_nr, p.mhd, p.herkunftsland, p.biozertifikat_id, p.bezug_beleg_id";

/// Document, article, batch.
pub type Konto = (Uuid, Uuid, Option<Uuid>);

/// Booked quantities.
pub type Konten = BTreeMap<Konto, Quantity>;

impl Zeile {
    /// A position of a document, with its article; none where it takes no part in the stock.
    pub fn of(beleg: &Beleg, position: &BelegPosition) -> Option<(Uuid, Zeile)> {
        let (Some(artikel), Some(menge), true) =
            (position.artikel_id, position.lager_menge, position.lager_buchen)
        else {
            return None;
        };
        let zeile = Zeile {
            id: position.id,
            beleg_id: beleg.id,
            beleg_nummer: beleg.beleg_nummer.clone(),
            typ: beleg.beleg_typ,
            status: beleg.status,
            position: position.position,
            menge,
            einheit: position.einheit.clone(),
            ep_netto: position.ep_netto,
            charge_id: position.charge_id,
            charge_gesendet: position.charge_gesendet,
            fremde_charge_nr: position.fremde_charge_nr.clone(),
            mhd: position.mhd.map(|day| day.0),
            herkunftsland: position.herkunftsland.clone(),
            biozertifikat_id: position.biozertifikat_id,
            bezug: position.bezug_beleg_id,
        };
        Some((artikel, zeile))
    }

    /// Whether it was sent with anything that tells of a batch.
    pub fn has_batch_information(&self) -> bool {
        self.batch_information().tells()
    }

    /// What it tells of its batch.
    pub fn batch_information(&self) -> BatchInformation {
        BatchInformation {
            fremde_charge_nr: self.fremde_charge_nr.clone(),
            mhd: self.mhd,
            herkunftsland: self.herkunftsland.clone(),
            biozertifikat_id: self.biozertifikat_id,
        }
    }
}

/// The live positions of a group, in the order of their creation.
pub fn zeilen(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Vec<Zeile>> {
    let (lieferung, rechnung) = types(gruppe);
    // `cross join`: a partner has fewer documents than an article has positions.
    let sql = format!(
        "select {COLUMNS} from beleg b
           cross join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
         where b.tenant_id = :tenant and b.kunde_id = :kunde and p.artikel_id = :artikel and p.lager_buchen = 1
           and b.beleg_typ in (:lieferung, :rechnung) and b.status <> 'storniert' and b.storno_von_beleg_id is null
         order by b.id, p.position"
    );
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":artikel": gruppe.artikel,
        ":lieferung": lieferung,
        ":rechnung": rechnung,
    };
    tx.all(&sql, params, |row| zeile(&mut Columns::of(row)))
}

/// A [`Zeile`] of its [`COLUMNS`].
pub fn zeile(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Zeile> {
    Ok(Zeile {
        id: columns.take()?,
        beleg_id: columns.take()?,
        beleg_nummer: columns.take()?,
        typ: columns.take()?,
        status: columns.take()?,
        position: columns.take()?,
        menge: columns.take()?,
        einheit: columns.take()?,
        ep_netto: columns.take()?,
        charge_id: columns.take()?,
        charge_gesendet: columns.take()?,
        fremde_charge_nr: columns.take()?,
        mhd: columns.take()?,
        herkunftsland: columns.take()?,
        biozertifikat_id: columns.take()?,
        bezug: columns.take()?,
    })
}

/// The types of its deliveries and of its invoices.
pub fn types(gruppe: Gruppe) -> (BelegTyp, BelegTyp) {
    if gruppe.einkauf { (BelegTyp::El, BelegTyp::Er) } else { (BelegTyp::Ls, BelegTyp::Re) }
}

/// What the documents of a group have booked.
pub fn booked_of(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Konten> {
    let (lieferung, rechnung) = types(gruppe);
    let rows = tx.all(
        "select m.beleg_id, m.charge_id, sum(m.menge) from beleg b
           cross join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id and m.artikel_id = :artikel
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
pub fn booked_by(tx: &Tx<'_>, beleg: Uuid) -> Result<Konten> {
    let rows = tx.all(
        "select artikel_id, charge_id, sum(menge) from lagerbewegung
         where tenant_id = :tenant and beleg_id = :beleg group by 1, 2",
        named_params! {":beleg": beleg},
        |row| Ok(((beleg, row.get(0)?, row.get(1)?), row.get(2)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// The batches that each document has booked, without signs.
pub fn pools(konten: &Konten) -> HashMap<Uuid, Vec<Anteil>> {
    let mut pools: HashMap<Uuid, Vec<Anteil>> = HashMap::new();
    for ((beleg, _, charge), menge) in konten.iter().filter(|(_, menge)| !menge.is_zero()) {
        pools.entry(*beleg).or_default().push(Anteil { charge: *charge, menge: menge.abs() });
    }
    pools
}

/// Takes from what the document of a position has booked, its own batch first.
pub fn take_booked(pools: &mut HashMap<Uuid, Vec<Anteil>>, zeile: &Zeile, mut rest: Quantity) -> Vec<Anteil> {
    let mut parts = Vec::new();
    if let Some(pool) = pools.get_mut(&zeile.beleg_id) {
        pool.sort_by_key(|part| part.charge != zeile.charge_id);
        take(pool, &mut rest, &mut parts);
    }
    parts
}

/// The positions as the pairing sees them.
pub fn posten(tx: &Tx<'_>, gruppe: Gruppe, zeilen: &[Zeile]) -> Result<Vec<Posten>> {
    zeilen.iter().map(|zeile| posten_of(tx, gruppe, zeile)).collect()
}

/// A position as the pairing sees it.
pub fn posten_of(tx: &Tx<'_>, gruppe: Gruppe, zeile: &Zeile) -> Result<Posten> {
    let rolle = match zeile.typ.lagerrolle() {
        Lagerrolle::Rechnung => Rolle::Rechnung,
        Lagerrolle::Lieferung | Lagerrolle::Keine => Rolle::Lieferung,
    };
    let genannt = genannt(tx, gruppe, zeile)?;
    let (beleg, position) = (zeile.beleg_id, zeile.position);
    Ok(Posten { beleg, position, rolle, menge: zeile.menge, bezug: zeile.bezug, genannt })
}

/// The batch that a position named when it was sent.
pub fn genannt(tx: &Tx<'_>, gruppe: Gruppe, zeile: &Zeile) -> Result<Genannt> {
    if let (true, Some(charge)) = (zeile.charge_gesendet, zeile.charge_id) {
        return Ok(Genannt::Charge(charge));
    }
    let Some(fremde) = &zeile.fremde_charge_nr else { return Ok(Genannt::Nichts) };
    let charge = chargen::find_fremde(tx, gruppe.artikel, gruppe.kunde, fremde, zeile.mhd)?;
    Ok(charge.map_or_else(|| Genannt::Neu(case_key(fremde)), Genannt::Charge))
}

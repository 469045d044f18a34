//! What positions have booked and no counterpart has met yet, kept so that a new document need not
//! read what its partner ever bought or sold.
//!
//! As a rule all of a new document is open, and mostly nothing ever meets it: then one row says so
//! (`lager_ganz_offen`). It is spread over its articles (`lager_offen`) before anything could meet it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::named_params;
use uuid::Uuid;

use super::rows::{COLUMNS, Gruppe, Konten, Zeile, booked_of, posten_of, types, zeile, zeilen};
use crate::belege::model::{Beleg, BelegPosition};
use crate::db::error::Result;
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::rules::document::BelegTyp;
use crate::rules::stock::{Anteil, Ergebnis, Offen, Paarung, Posten, Rolle};

/// A new document that comes after all others.
pub struct Newest {
    /// Its positions, by article.
    zeilen: HashMap<Uuid, Vec<Zeile>>,
    /// Groups whose pairs an older version formed last: what is open of them is not kept.
    older: BTreeSet<Gruppe>,
    /// Anything is open that it could meet.
    may_meet: bool,
}

impl Newest {
    /// None for a document whose id is older than others because the clock was set back.
    pub fn of(tx: &WriteTx<'_>, beleg: &Beleg, positions: &[BelegPosition]) -> Result<Option<Newest>> {
        let newer = "select 1 from beleg where tenant_id = :tenant and id > :beleg";
        if tx.exists(newer, named_params! {":beleg": beleg.id})? {
            return Ok(None);
        }
        let mut by_article: HashMap<Uuid, Vec<Zeile>> = HashMap::new();
        for (artikel, zeile) in positions.iter().filter_map(|position| Zeile::of(beleg, position)) {
            by_article.entry(artikel).or_default().push(zeile);
        }
        let mut newest = Newest { zeilen: by_article, older: older(tx, beleg.kunde_id)?, may_meet: false };
        if let Some(typ) = beleg.beleg_typ.gegenstueck()
            && is_open(tx, beleg.kunde_id, typ)?
        {
            spread(tx, beleg.kunde_id, typ, only_bezug(newest.zeilen.values().flatten()))?;
            newest.may_meet = true;
        }
        Ok(Some(newest))
    }
}

/// Where the forming of pairs begins: at nothing, with all positions of the group, or where earlier
/// documents left it, with the positions of the new one.
pub struct Stand {
    /// The positions to be paired.
    pub zeilen: Vec<Zeile>,
    /// What their documents have booked.
    pub booked: Konten,
    /// What is open before them.
    offen: Vec<Offen>,
    /// The pairs of earlier documents stay as they are.
    goes_on: bool,
}

impl Stand {
    /// A new document changes nothing of those before it; any other change forms all pairs anew.
    pub fn of(tx: &WriteTx<'_>, gruppe: Gruppe, newest: Option<&mut Newest>) -> Result<Stand> {
        if let Some(newest) = newest
            && !newest.older.contains(&gruppe)
        {
            let zeilen = newest.zeilen.remove(&gruppe.artikel).unwrap_or_default();
            let offen = counterparts(tx, gruppe, &zeilen, newest.may_meet)?;
            return Ok(Stand { zeilen, booked: Konten::new(), offen, goes_on: true });
        }
        let (zeilen, booked) = (zeilen(tx, gruppe)?, booked_of(tx, gruppe)?);
        Ok(Stand { zeilen, booked, offen: Vec::new(), goes_on: false })
    }

    /// The pairing that goes on from here.
    pub fn paarung(&self) -> Paarung {
        Paarung::after(self.offen.clone())
    }

    /// Keeps what is open afterwards: drops what is no longer, and says what is to be inserted.
    pub fn keep(
        &self,
        tx: &WriteTx<'_>,
        gruppe: Gruppe,
        paarung: &Paarung,
        left: &mut LeftOpen,
    ) -> Result<()> {
        if !self.goes_on {
            forget(tx, gruppe)?;
        }
        let (before, after) = (by_position(&self.offen), by_position(paarung.offen()));
        for (key, was) in &before {
            if after.get(key).is_none_or(|is| is.anteile != was.anteile) {
                delete(tx, gruppe, was)?;
            }
        }
        for (key, is) in &after {
            if before.get(key).is_none_or(|was| was.anteile != is.anteile) {
                left.rows.extend(Offenes::of(gruppe, is));
            }
        }
        Ok(())
    }
}

/// The groups of a partner whose pairs an older version formed last.
fn older(tx: &Tx<'_>, kunde: Uuid) -> Result<BTreeSet<Gruppe>> {
    let groups =
        "select artikel_id, einkauf from lager_neu_bilden where tenant_id = :tenant and kunde_id = :kunde";
    let groups = tx.all(groups, named_params! {":kunde": kunde}, |row| {
        Ok(Gruppe { kunde, artikel: row.get(0)?, einkauf: row.get(1)? })
    })?;
    Ok(groups.into_iter().collect())
}

/// Whether anything is open of a partner's documents of a type: it is asked once instead of for each article, for as
/// a rule nothing is.
fn is_open(tx: &Tx<'_>, kunde: Uuid, typ: BelegTyp) -> Result<bool> {
    let open = "
        select 1 from lager_offen where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ
        union all
        select 1 from lager_ganz_offen where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ";
    tx.exists(open, named_params! {":kunde": kunde, ":typ": typ})
}

/// The document that all of them name, if there is one: of many that may be open only that one counts for them.
fn only_bezug<'z>(zeilen: impl IntoIterator<Item = &'z Zeile>) -> Option<Uuid> {
    let mut zeilen = zeilen.into_iter().map(|zeile| zeile.bezug);
    let first = zeilen.next()??;
    zeilen.all(|bezug| bezug == Some(first)).then_some(first)
}

/// What the positions of a new document may meet: the other side, if it `may_meet` any, and of a return the
/// deliveries.
fn counterparts(tx: &WriteTx<'_>, gruppe: Gruppe, own: &[Zeile], may_meet: bool) -> Result<Vec<Offen>> {
    let (lieferung, rechnung) = types(gruppe);
    let Some(first) = own.first() else { return Ok(Vec::new()) };
    let other = if first.typ == lieferung { rechnung } else { lieferung };
    let mut offen = if may_meet { open_of(tx, gruppe, other, only_bezug(own))? } else { Vec::new() };
    if own.iter().any(|zeile| zeile.menge.is_negative()) {
        spread(tx, gruppe.kunde, lieferung, None)?;
        offen.extend(open_of(tx, gruppe, lieferung, None)?);
    }
    Ok(offen)
}

/// Spreads documents of which all is open over their articles: all of a partner and type, or one.
fn spread(tx: &WriteTx<'_>, kunde: Uuid, typ: BelegTyp, beleg: Option<Uuid>) -> Result<()> {
    let which = if beleg.is_some() { "g.beleg_id = :beleg" } else { ":beleg is null" };
    let params = named_params! {":kunde": kunde, ":typ": typ, ":beleg": beleg};
    let insert = format!(
        "insert into lager_offen
           (tenant_id, kunde_id, beleg_typ, artikel_id, beleg_id, position, teil, charge_id, menge)
         select g.tenant_id, g.kunde_id, g.beleg_typ, p.artikel_id, p.beleg_id, p.position, 0, p.charge_id, p.lager_menge
         from lager_ganz_offen g
           cross join beleg_position p on p.tenant_id = g.tenant_id and p.beleg_id = g.beleg_id
         where g.tenant_id = :tenant and g.kunde_id = :kunde and g.beleg_typ = :typ and {which}
           and p.lager_buchen = 1 and p.artikel_id is not null"
    );
    if tx.execute(&insert, params)? > 0 {
        let delete = format!(
            "delete from lager_ganz_offen as g
             where g.tenant_id = :tenant and g.kunde_id = :kunde and g.beleg_typ = :typ and {which}"
        );
        tx.execute(&delete, params)?;
    }
    Ok(())
}

/// Spreads what is open of a partner, before anything of the group is changed.
pub fn spread_of(tx: &WriteTx<'_>, gruppe: Gruppe) -> Result<()> {
    let (lieferung, rechnung) = types(gruppe);
    spread(tx, gruppe.kunde, lieferung, None)?;
    spread(tx, gruppe.kunde, rechnung, None)
}

/// What is open of one type, of all documents or of one, in the order of creation.
fn open_of(tx: &Tx<'_>, gruppe: Gruppe, typ: BelegTyp, beleg: Option<Uuid>) -> Result<Vec<Offen>> {
    let sql = format!(
        "select o.charge_id, o.menge, {COLUMNS} from lager_offen o
           cross join beleg_position p
             on p.tenant_id = o.tenant_id and p.beleg_id = o.beleg_id and p.position = o.position
           cross join beleg b on b.tenant_id = o.tenant_id and b.id = o.beleg_id
         where o.tenant_id = :tenant and o.kunde_id = :kunde and o.artikel_id = :artikel and o.beleg_typ = :typ
           and (:beleg is null or o.beleg_id = :beleg)
         order by o.beleg_id, o.position, o.teil"
    );
    let params =
        named_params! {":kunde": gruppe.kunde, ":artikel": gruppe.artikel, ":typ": typ, ":beleg": beleg};
    let rows = tx.all(&sql, params, |row| {
        let mut columns = Columns::of(row);
        let anteil = Anteil { charge: columns.take()?, menge: columns.take()? };
        Ok((anteil, zeile(&mut columns)?))
    })?;
    let mut offen: Vec<Offen> = Vec::new();
    for (anteil, zeile) in rows {
        match offen.last_mut() {
            Some(last) if key(last) == (zeile.beleg_id, zeile.position) => last.anteile.push(anteil),
            _ => offen.push(Offen { posten: posten_of(tx, gruppe, &zeile)?, anteile: vec![anteil] }),
        }
    }
    Ok(offen)
}

fn key(offen: &Offen) -> (Uuid, i64) {
    (offen.posten.beleg, offen.posten.position)
}

fn by_position(offen: &[Offen]) -> BTreeMap<(Uuid, i64), &Offen> {
    offen.iter().map(|open| (key(open), open)).collect()
}

fn typ_of(gruppe: Gruppe, rolle: Rolle) -> BelegTyp {
    let (lieferung, rechnung) = types(gruppe);
    match rolle {
        Rolle::Lieferung => lieferung,
        Rolle::Rechnung => rechnung,
    }
}

/// Forgets what is open of a group: its pairs are formed anew.
fn forget(tx: &WriteTx<'_>, gruppe: Gruppe) -> Result<()> {
    spread_of(tx, gruppe)?;
    let (lieferung, rechnung) = types(gruppe);
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":artikel": gruppe.artikel,
        ":lieferung": lieferung,
        ":rechnung": rechnung,
    };
    tx.execute(
        "delete from lager_offen where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel
           and beleg_typ in (:lieferung, :rechnung)",
        params,
    )?;
    tx.execute(
        "delete from lager_neu_bilden where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel
           and einkauf = :einkauf",
        named_params! {":kunde": gruppe.kunde, ":artikel": gruppe.artikel, ":einkauf": gruppe.einkauf},
    )?;
    Ok(())
}

fn delete(tx: &WriteTx<'_>, gruppe: Gruppe, open: &Offen) -> Result<()> {
    tx.execute(
        "delete from lager_offen where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel
           and beleg_typ = :typ and beleg_id = :beleg and position = :position",
        named_params! {
            ":kunde": gruppe.kunde,
            ":artikel": gruppe.artikel,
            ":typ": typ_of(gruppe, open.posten.rolle),
            ":beleg": open.posten.beleg,
            ":position": open.posten.position,
        },
    )?;
    Ok(())
}

/// A row of lager_offen: a part of what is open of a position.
struct Offenes {
    gruppe: Gruppe,
    rolle: Rolle,
    beleg: Uuid,
    position: i64,
    teil: i64,
    anteil: Anteil,
}

impl Offenes {
    fn of(gruppe: Gruppe, open: &Offen) -> impl Iterator<Item = Offenes> {
        let Posten { rolle, beleg, position, .. } = open.posten;
        let parts = (0..).zip(&open.anteile);
        parts.map(move |(teil, anteil)| Offenes { gruppe, rolle, beleg, position, teil, anteil: *anteil })
    }
}

/// What a request leaves open, to be stored at its end.
#[derive(Default)]
pub struct LeftOpen {
    rows: Vec<Offenes>,
    /// Some of what was paired is not open, or not as its position says, or not new.
    not_all: bool,
}

impl LeftOpen {
    /// Sees what followed for a position that now has this batch.
    pub fn see(&mut self, stand: &Stand, zeile: &Zeile, charge: Option<Uuid>, ergebnis: &Ergebnis) {
        let is_open = ergebnis.eigen == [Anteil { charge, menge: zeile.menge }] && !zeile.menge.is_negative();
        self.not_all |= !is_open || !stand.goes_on;
    }

    /// Stores it: in one row if it is all of a new document.
    pub fn insert(&self, tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
        if !self.rows.is_empty() && !self.not_all {
            let params = named_params! {":kunde_id": beleg.kunde_id, ":beleg_typ": beleg.beleg_typ, ":beleg_id": beleg.id};
            return tx.insert("lager_ganz_offen", params);
        }
        tx.insert_all("lager_offen", &self.rows, |open, store| {
            store(named_params! {
                ":kunde_id": open.gruppe.kunde,
                ":artikel_id": open.gruppe.artikel,
                ":beleg_typ": typ_of(open.gruppe, open.rolle),
                ":beleg_id": open.beleg,
                ":position": open.position,
                ":teil": open.teil,
                ":charge_id": open.anteil.charge,
                ":menge": open.anteil.menge,
            })
        })
    }
}

//! The deliveries that an invoice is about.

use rusqlite::named_params;
use uuid::Uuid;

use crate::belege::model::{Beleg, BelegPosition};
use crate::db::tx::Tx;
use crate::erechnung::Bezug;
use crate::failure::Result;
use crate::rules::day::Day;

pub struct Lieferung {
    /// Number of the position of the invoice.
    pub position: i64,
    pub beleg_nummer: String,
    /// Its lieferdatum, else its day.
    pub datum: Day,
    pub wiegung_id: Option<Uuid>,
}

impl Lieferung {
    pub fn bezug(&self) -> Bezug {
        Bezug { nummer: self.beleg_nummer.clone(), datum: self.datum }
    }
}

/// The deliveries that an invoice is about, in the order of its positions: those that they are paired with (D8), and
/// those that they name.
pub fn lieferungen(tx: &Tx<'_>, beleg: &Beleg, positionen: &[BelegPosition]) -> Result<Vec<Lieferung>> {
    let mut found = tx.all(
        "select l.rechnung_position, d.beleg_nummer, coalesce(d.lieferdatum, d.beleg_datum), p.wiegung_id
         from lager_paar l
           join beleg d on d.tenant_id = l.tenant_id and d.id = l.lieferung_id
           join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.lieferung_id
             and p.position = l.lieferung_position
         where l.tenant_id = :tenant and l.rechnung_id = :beleg
         order by l.rechnung_position, d.beleg_datum, d.beleg_nummer",
        named_params! {":beleg": beleg.id},
        |row| {
            let (position, beleg_nummer, datum) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Lieferung { position, beleg_nummer, datum, wiegung_id: row.get(3)? })
        },
    )?;
    let is_paired = |position: i64| found.iter().any(|lieferung: &Lieferung| lieferung.position == position);
    let named: Vec<_> = positionen
        .iter()
        .filter(|position| !is_paired(position.position))
        .filter_map(|position| Some((position.position, position.bezug_beleg_id?)))
        .collect();
    for (position, id) in named {
        let delivery = crate::belege::sql::find(tx, id)?;
        if let Some(delivery) = delivery.filter(|delivery| delivery.beleg_typ.ist_lieferung()) {
            let datum = delivery.lieferdatum.unwrap_or(delivery.beleg_datum).0;
            let beleg_nummer = delivery.beleg_nummer;
            found.push(Lieferung { position, beleg_nummer, datum, wiegung_id: None });
        }
    }
    found.sort_by_key(|lieferung| lieferung.position);
    Ok(found)
}

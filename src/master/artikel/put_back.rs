//! Undoes the changes that an import made to an article (D22).

use uuid::Uuid;

use super::change::{TIERS, change, store_tier};
use super::model::{ArtikelChange, Staffel};
use super::sql::{self, VERLAUF};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::import;
use crate::platform::listing::verlauf::part;
use crate::rules::error::Hints;
use crate::rules::felder::GeaendertesFeld;

/// Restores the fields and tiers of an article to their values before a change, by an ordinary change;
/// removes a tier that the change had added (D22).
pub fn put_back(tx: &WriteTx<'_>, id: Uuid, felder: &[GeaendertesFeld]) -> Result<()> {
    let (tiers, own): (Vec<_>, Vec<_>) = felder.iter().partition(|feld| feld.feld == TIERS);
    if !own.is_empty() {
        let before = import::put_back::<ArtikelChange>(&own)?;
        let artikel = sql::find(tx, id)?.ok_or_else(|| Failure::not_found("Diesen Artikel"))?;
        change(tx, &artikel, before, &mut Hints::default())?;
    }
    for tier in tiers {
        let [old, new] =
            [&tier.alt, &tier.neu].map(|tier| serde_json::from_str::<Option<Staffel>>(tier.get()));
        match (old?, new?) {
            (Some(old), new) => drop(store_tier(tx, id, new.as_ref(), &old)?),
            (None, Some(new)) => {
                sql::delete_tier(tx, id, new.ab_menge)?;
                VERLAUF.add(tx, id, &[part(TIERS, Some(&new), None)?])?;
            }
            (None, None) => {}
        }
    }
    Ok(())
}

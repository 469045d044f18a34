//! The ids of positions, which stay through a PUT.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::header::Context;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::error::{Code, Hints, Refusal};
use crate::trade::belege::model::BelegPosition;

/// Gives each position its id: that of the position before which the item names, else of the one with the same place
/// and article, else a new one. So names that other documents have on it stay true (D38).
pub fn give(
    tx: &WriteTx<'_>,
    context: &Context<'_>,
    sent: &[Option<Uuid>],
    before: &[BelegPosition],
    positions: &mut [BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    let known: BTreeSet<_> = before.iter().map(|position| position.id).collect();
    let mut free = known.clone();
    for (position, sent) in positions.iter_mut().zip(sent) {
        let Some(sent) = sent else { continue };
        let path = format!("{}.id", context.source.path(position.position));
        if free.remove(sent) {
            position.id = *sent;
        } else if known.contains(sent) {
            let message = "Diese Position steht zweimal da. Bitte die id bei einer weglassen.";
            return Err(Refusal::field(Code::WertUngueltig, &path, message).into());
        } else {
            hints.add_ignored(&path);
        }
    }
    for (at, position) in positions.iter_mut().enumerate().filter(|(_, position)| position.id.is_nil()) {
        let same_place = before.get(at).filter(|before| before.artikel_id == position.artikel_id);
        let same = same_place.map(|before| before.id).filter(|id| free.remove(id));
        position.id = same.unwrap_or_else(|| tx.new_id());
    }
    Ok(())
}

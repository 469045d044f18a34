//! How other records refer to a contract.

use rusqlite::named_params;
use uuid::Uuid;

use crate::db::error::Result;
use crate::db::tx::Tx;
use crate::rules::error::{Code, Refusal};

/// A contract and one of its positions, as a record refers to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KontraktBezug {
    /// The contract.
    pub kontrakt_id: Option<Uuid>,
    /// One of its positions.
    pub kontrakt_position_id: Option<Uuid>,
}

impl KontraktBezug {
    /// The reference, if both are there and belong together; a position alone names its contract.
    pub fn checked(self, tx: &Tx<'_>) -> Result<KontraktBezug> {
        let KontraktBezug { kontrakt_id, kontrakt_position_id } = self;
        if let Some(position) = kontrakt_position_id {
            let statement =
                "select kontrakt_id from kontrakt_position where tenant_id = :tenant and id = :id";
            let owner: Option<Uuid> =
                tx.optional(statement, named_params! {":id": position}, |row| row.get(0))?;
            let owner = owner.filter(|owner| kontrakt_id.is_none_or(|kontrakt| kontrakt == *owner));
            let owner = owner.ok_or_else(|| not_found("kontrakt_position_id"))?;
            return Ok(KontraktBezug { kontrakt_id: Some(owner), kontrakt_position_id });
        }
        if let Some(kontrakt) = kontrakt_id {
            let statement = "select 1 from kontrakt where tenant_id = :tenant and id = :id";
            if !tx.exists(statement, named_params! {":id": kontrakt})? {
                return Err(not_found("kontrakt_id").into());
            }
        }
        Ok(self)
    }
}

fn not_found(feld: &str) -> Box<Refusal> {
    Refusal::field(Code::KontraktNichtGefunden, feld, "Diesen Kontrakt gibt es nicht. Bitte die id prüfen.")
}

//! Invariants of DATEV batches (D32).

use super::sql;
use crate::master::tenants;
use crate::platform::db::seals::check::Check;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::trade::belege::{content_digest, inflated};

pub const CHECKS: &[Check] = &[
    Check {
        rule: "Kein Beleg ist in zwei Stapeln, die gelten",
        violations: "select (select count(*) from (select 1 from datev_beleg where verworfen = 0
               group by tenant_id, beleg_id having count(*) > 1))
           + (select count(*) from datev_beleg d join datev_stapel s on s.tenant_id = d.tenant_id and s.nr = d.stapel_nr
              where d.verworfen <> (s.verworfen_am is not null))",
    },
    Check {
        rule: "Die Zeilen eines Belegs auf dem Personenkonto ergeben seine Summe",
        violations: "select count(*) from datev_beleg d
           join beleg b on b.tenant_id = d.tenant_id and b.id = d.beleg_id
           where d.betrag <> b.summe_brutto",
    },
];

/// Returns the name of the first file of a batch whose content does not match its sha256.
pub fn altered_datei(tx: &Tx<'_>) -> Result<Option<String>> {
    let statement =
        "select name, sha256, inhalt from datev_datei where tenant_id = :tenant order by stapel_nr, nr";
    let mut altered = None;
    tx.each_while(statement, &[], |row| {
        let (sha256, packed): ([u8; 32], Vec<u8>) = (row.get(1)?, row.get(2)?);
        let holds = inflated(&packed).is_ok_and(|file| content_digest(&file) == sha256);
        if !holds {
            altered = Some(row.get(0)?);
        }
        Ok(holds)
    })?;
    Ok(altered)
}

/// Counts the final invoices that are in no live batch although one already covers their date; also returns the
/// first of them. `None` if there are none.
pub fn not_handed_over(tx: &Tx<'_>) -> Result<Option<(i64, String)>> {
    let Some((von, (_, bis))) = tenants::load(tx)?.datev_ab.zip(sql::newest(tx)?) else { return Ok(None) };
    let (count, first) = sql::left_out(tx, von, bis)?;
    Ok(first.map(|first| (count, first)))
}

//! Integrity checks of the change feed.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[Check {
    rule: "Nummern der Änderungen ohne Lücke",
    violations: "select count(*) from
           (select a.tenant_id, max(a.nr) - min(a.nr) + 1 - count(*) as luecken from aenderung a group by a.tenant_id) l
         where l.luecken <> 0",
}];

//! Invariants of weighings.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[Check {
    rule: "Nummern der Wiegescheine ohne Lücke",
    violations: "select count(*) from nummernkreis n where n.reihe = 'WS' and n.letzte <>
           (select count(*) from wiegung w where w.tenant_id = n.tenant_id
              and w.wiegeschein_nr like 'WS-' || printf('%04d', n.jahr) || '-%')",
}];

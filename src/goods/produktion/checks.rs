//! Invariants of production orders.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[Check {
    rule: "Nummern der Produktionsaufträge ohne Lücke",
    violations: "select count(*) from nummernkreis n where n.reihe = 'PA' and n.letzte <>
           (select count(*) from produktionsauftrag a where a.tenant_id = n.tenant_id
              and a.pa_nummer like 'PA-' || printf('%04d', n.jahr) || '-%')",
}];

//! Invariants of customers and their search text.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[Check {
    rule: "Kunden sind gezählt, und gesucht wird in ihrem Text",
    violations: "select count(*) from
           (select tenant_id, kunden_id / 64 as block, count(*) as anzahl,
              group_concat(kunden_id || char(31) || such_text || char(30), '' order by kunden_id) as texte
            from kunde group by 1, 2) soll
         full join kunde_suche ist on ist.tenant_id = soll.tenant_id and ist.block = soll.block
         where (ist.anzahl, ist.texte) is not (soll.anzahl, soll.texte)",
}];

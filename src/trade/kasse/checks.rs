//! Invariants of till receipts, their lines and the cash days.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[
    Check {
        rule: "jeder Bon hat seine Zeilen, gezählt ab 1",
        violations: "select count(*) from bon b where (b.zeilen, b.zeilen) is not
           (select count(*), coalesce(max(z.position), 0) from barverkauf z
            where z.tenant_id = b.tenant_id and z.bon_id = b.id)",
    },
    Check {
        rule: "die Zeilen jedes Kassentags sind die seiner Bons",
        violations: "select count(*) from (select tenant_id, datum, art from
           (select tenant_id, datum, art, zeilen from kassentag
            union all select tenant_id, datum, art, -zeilen from bon)
         group by tenant_id, datum, art having sum(zeilen) <> 0)",
    },
    Check {
        rule: "Bons sind storniert, wo ihre Stornos sie aufwiegen",
        violations: "select count(*) from bon b where b.storniert <>
           (exists (select 1 from bon r
              where r.tenant_id = b.tenant_id and r.storno_von_bon_id = b.id and r.art = 'storno')
            and not exists (select 1 from barverkauf z
              where z.tenant_id = b.tenant_id and z.bon_id in (select b.id union all select r.id from bon r
                where r.tenant_id = b.tenant_id and r.storno_von_bon_id = b.id and r.art = 'storno')
              group by z.mwst_satz having sum(z.gesamt) * sum(iif(z.bon_id = b.id, z.gesamt, 0)) > 0))",
    },
];

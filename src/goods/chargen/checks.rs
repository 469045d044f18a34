//! Invariants of batches, movements and the stock.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[
    Check {
        rule: "der Bestand jeder Charge ist die Summe ihrer Bewegungen",
        violations: "select count(*) from charge c where c.bestand <> (select coalesce(sum(m.menge), 0) \
           from lagerbewegung m
           where m.tenant_id = c.tenant_id and m.charge_id = c.id)",
    },
    Check {
        rule: "der Bestand jedes Artikels ist die Summe seiner Bewegungen",
        violations: "select count(*) from
           (select tenant_id, artikel_id, sum(menge) as bestand from lagerbewegung group by 1, 2) soll
         full join artikel_bestand ist on ist.tenant_id = soll.tenant_id and ist.artikel_id = soll.artikel_id
         where coalesce(ist.bestand, 0) <> coalesce(soll.bestand, 0)",
    },
    Check {
        rule: "jede Inventur hat ihre Differenz bewegt",
        violations: "select count(*) from inventur i where i.bestand - i.bestand_vorher <>
           (select coalesce(sum(m.menge), 0) from lagerbewegung m
            where m.tenant_id = i.tenant_id and m.inventur_id = i.id)",
    },
    Check {
        rule: "Nummern der Chargen ohne Lücke",
        violations: "select count(*) from nummernkreis n where n.reihe = 'CH' and n.letzte <>
           (select count(*) from charge c where c.tenant_id = n.tenant_id
              and c.charge_nr glob 'CH-' || printf('%04d', n.jahr) || '-[0-9][0-9][0-9][0-9][0-9]*'
              and substr(c.charge_nr, 9) not glob '*[^0-9]*')",
    },
    Check {
        rule: "jede Korrektur einer Charge steht in ihrem Verlauf",
        violations: "select count(*) from charge c where c.version <> 1 +
           (select count(*) from charge_verlauf v where v.tenant_id = c.tenant_id and v.charge_id = c.id)",
    },
];

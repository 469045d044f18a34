//! Invariants of goods receipts.

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[
    Check {
        rule: "der Stand eines Annahmescheins folgt aus dem, was seine Lieferung getroffen hat",
        violations: "select count(*) from annahmeschein_stand s where s.status <> s.stand",
    },
    Check {
        // Imported receipts with numbers of our form advance the series, so there may be gaps.
        rule: "Nummern der Annahmescheine stammen aus ihrem Nummernkreis",
        violations: "select count(*) from annahmeschein s where s.anfrage_sha256 is not null and not exists (
           select 1 from nummernkreis n where n.tenant_id = s.tenant_id and n.reihe = 'AS'
             and s.belegnummer like 'AS-' || printf('%04d', n.jahr) || '-%'
             and cast(substr(s.belegnummer, 9) as integer) <= n.letzte)",
    },
];

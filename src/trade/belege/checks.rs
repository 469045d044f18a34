//! Invariants of documents: their sums, numbers, history, movements and pairs (D8).

use crate::platform::db::seals::check::Check;

pub const CHECKS: &[Check] = &[
    Check {
        rule: "die Summen jedes Belegs folgen aus seinen Positionen",
        violations: "select count(*) from beleg b where b.steuergruppen is null and b.summe_netto <> (
           select coalesce(sum(p.gesamtpreis), 0)
           from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
    },
    Check {
        rule: "die Summen jedes Belegs mit gedruckten Steuergruppen folgen aus diesen",
        violations: "select count(*) from (
           select 1 from beleg b, json_each(b.steuergruppen) g group by b.tenant_id, b.id
           having b.summe_netto <> sum(cast(replace(g.value ->> 'basis', '.', '') as integer))
             or b.summe_mwst <> sum(cast(replace(g.value ->> 'steuer', '.', '') as integer)))",
    },
    Check {
        rule: "jeder Beleg hat seine Positionen, gezählt ab 1",
        violations: "select count(*) from beleg b
         where (select count(*) from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)
            is not (select max(p.position) from beleg_position p
                    where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
    },
    Check {
        rule: "Nummern der Belege ohne Lücke",
        violations: "select count(*) from nummernkreis n
         where n.reihe in (select typ from belegtyp) and n.letzte <>
           (select count(distinct b.beleg_nummer) from beleg b where b.tenant_id = n.tenant_id
              and b.beleg_typ = n.reihe
              and cast(substr(b.beleg_nummer, 9) as integer) between 1 and n.letzte
              and b.beleg_nummer like n.reihe || '-' || printf('%04d', n.jahr) || '-%')",
    },
    Check {
        rule: "Nummern der Belege stammen aus ihrem Nummernkreis",
        violations: "select count(*) from beleg b where not exists (select 1 from nummernkreis n
           where n.tenant_id = b.tenant_id and n.reihe = b.beleg_typ
             and b.beleg_nummer like n.reihe || '-' || printf('%04d', n.jahr) || '-%'
             and cast(substr(b.beleg_nummer, 9) as integer) <= n.letzte)",
    },
    Check {
        rule: "jede Änderung eines Belegs steht in seinem Verlauf",
        violations: "select count(*) from beleg b where b.version <> 1 +
           (select count(*) from beleg_verlauf v where v.tenant_id = b.tenant_id and v.beleg_id = b.id)",
    },
    Check {
        rule: "der Stand jedes abgeschlossenen Belegs folgt aus seinem Verlauf",
        violations: "select count(*) from beleg b where b.ereignis_am is not null and b.status <> coalesce(
           (select case v.aktion when 'storno' then 'storniert' when 'erledigen' then 'erledigt' end
            from beleg_verlauf v where v.tenant_id = b.tenant_id and v.beleg_id = b.id and v.aktion <> 'folgen'
            order by v.version desc limit 1), 'abgeschlossen')",
    },
    Check {
        rule: "die Menge jeder Position ist offen, gepaart oder zurückgenommen",
        violations: "select count(*) from (
           select tenant_id, beleg_id, position from (
             select p.tenant_id, p.beleg_id, p.position, abs(p.lager_menge) as menge from beleg_position p
               join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
               join belegtyp t on t.typ = b.beleg_typ
             where p.lager_buchen = 1 and p.artikel_id is not null and t.lagerrolle is not null
               and b.status <> 'storniert' and b.storno_von_beleg_id is null
             union all select tenant_id, beleg_id, position, -menge from lager_offen
             union all select tenant_id, lieferung_id, lieferung_position, -menge from lager_paar
             union all select tenant_id, rechnung_id, rechnung_position, -menge from lager_paar
             union all select tenant_id, rueckgabe_id, rueckgabe_position, -menge from lager_paar
             union all select tenant_id, gutschrift_id, gutschrift_position, -menge from lager_paar)
           where beleg_id is not null group by 1, 2, 3 having sum(menge) <> 0)",
    },
    Check {
        rule: "Belege haben bewegt, was ihre Positionen bewegt haben",
        violations: "select count(*) from (
           select tenant_id, beleg_id from (
             select m.tenant_id, m.beleg_id, m.artikel_id, m.charge_id,
               iif(t.seite = 'einkauf', m.menge, -m.menge) as menge
             from lagerbewegung m join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
               join belegtyp t on t.typ = b.beleg_typ
             union all select tenant_id, beleg_id, artikel_id, charge_id, -menge from lager_offen
             union all select tenant_id, iif(bewegt_von = 'lieferung', lieferung_id, rechnung_id), \
             artikel_id, charge_id,
               -menge from lager_paar where bewegt_von is not null
             union all select tenant_id, iif(zurueck_von = 'rueckgabe', rueckgabe_id, gutschrift_id), artikel_id,
               charge_id, menge from lager_paar where zurueck_von is not null)
           group by tenant_id, beleg_id, artikel_id, charge_id having sum(menge) <> 0)",
    },
    Check {
        rule: "was offen oder gepaart ist, gehört zu Belegen seines Partners, Artikels und Typs",
        violations: "select count(*) from (
           select o.tenant_id, o.kunde_id, o.artikel_id, t.seite, t.lagerrolle, o.beleg_id, o.position
             from lager_offen o join belegtyp t on t.typ = o.beleg_typ
           union all select tenant_id, kunde_id, artikel_id, iif(einkauf, 'einkauf', 'verkauf'), rolle, \
           beleg_id, position
             from (
               select *, 'lieferung' as rolle, lieferung_id as beleg_id, lieferung_position as position from lager_paar
               union all select *, 'rechnung', rechnung_id, rechnung_position from lager_paar
               union all select *, 'lieferung', rueckgabe_id, rueckgabe_position from lager_paar
               union all select *, 'rechnung', gutschrift_id, gutschrift_position from lager_paar)
             where beleg_id is not null) o
         left join beleg b on b.tenant_id = o.tenant_id and b.id = o.beleg_id
         left join beleg_position p on p.tenant_id = o.tenant_id and p.beleg_id = o.beleg_id and p.position = o.position
         left join belegtyp t on t.typ = b.beleg_typ
         where not coalesce(b.status <> 'storniert' and b.kunde_id = o.kunde_id and t.seite = o.seite
             and t.lagerrolle = o.lagerrolle, 0)
           or p.artikel_id is not o.artikel_id",
    },
    Check {
        rule: "was offen ist, steht in seinem Fach und mit allem, was von seiner Position offen ist",
        violations: "select count(*) from (
           select o.gesamt, o.fach >= 2 as angebrochen, o.fach >= 4 as zu,
             coalesce(o.gesamt * 100 <= d.lager_menge and exists (select 1 from lager_paar l
               join beleg_position i on i.tenant_id = l.tenant_id and i.beleg_id = l.rechnung_id
                 and i.position = l.rechnung_position and i.bezug_beleg_id = d.beleg_id
                 and coalesce(i.bezug_position_id = d.id, 1)
               where l.tenant_id = d.tenant_id and l.lieferung_id = d.beleg_id and l.lieferung_position = d.position
             ), 0) as geschlossen,
             sum(o.menge) over (partition by o.tenant_id, o.beleg_id, o.position) as summe,
             exists (select 1 from lager_paar l where l.tenant_id = o.tenant_id and l.art <> 'mehr' and l.art <> 'mehr_aufgehoben'
               and (l.lieferung_id = o.beleg_id and l.lieferung_position = o.position
                 or l.rechnung_id = o.beleg_id and l.rechnung_position = o.position)) as getroffen
           from lager_offen o
           left join beleg_position d on d.tenant_id = o.tenant_id and d.beleg_id = o.beleg_id and d.position = o.position
             and exists (select 1 from belegtyp t where t.typ = o.beleg_typ and t.lagerrolle = 'lieferung'))
         where gesamt <> summe or angebrochen <> getroffen or zu <> geschlossen",
    },
    Check {
        rule: "der Belegfluss verbindet Positionen, die es gibt und die sich nennen, mit höchstens ihrer Menge",
        violations: "select count(*) from (
           select coalesce(abs(coalesce(p.lager_menge, p.menge)), 0)
               - sum(f.menge) over (partition by f.tenant_id, f.position_id) as rest,
             b.id is not null and v.id is not null and p.bezug_beleg_id = f.von_beleg_id
               and coalesce(p.bezug_position_id = f.von_position_id, 1) as nennt
           from beleg_fluss f
           left join beleg b on b.tenant_id = f.tenant_id and b.id = f.beleg_id and b.status <> 'storniert'
           left join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.position_id and p.beleg_id = f.beleg_id
           left join beleg_position v on v.tenant_id = f.tenant_id and v.id = f.von_position_id
             and v.beleg_id = f.von_beleg_id)
         where rest < 0 or not coalesce(nennt, 0)",
    },
    Check {
        rule: "was eine Position nennt, ohne dass sich dabei Ware trifft, steht im Belegfluss",
        violations: "select count(*) from beleg_position p
           join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id and b.status <> 'storniert'
           join beleg_position v on v.tenant_id = p.tenant_id and v.id = p.bezug_position_id
           join beleg w on w.tenant_id = v.tenant_id and w.id = v.beleg_id and w.kunde_id = b.kunde_id
             and w.status <> 'storniert' and w.storno_von_beleg_id is null
           join belegtyp t on t.typ = w.beleg_typ
         where (p.lager_buchen = 0 or v.lager_buchen = 0 or t.lagerrolle is null) and p.menge <> 0 and not exists (
           select 1 from beleg_fluss f where f.tenant_id = p.tenant_id and f.beleg_id = p.beleg_id
             and f.position_id = p.id and f.von_position_id = v.id)",
    },
    Check {
        rule: "bei jedem Beleg steht, ob von ihm etwas übrig ist",
        violations: "select count(*) from beleg b join belegtyp t on t.typ = b.beleg_typ
         where b.hat_rest is null
           or b.hat_rest = 1 and t.lagerrolle is 'rechnung'
           or b.hat_rest = 0 and t.lagerrolle is not 'rechnung' and b.status <> 'storniert'
             and exists (select 1 from beleg_position p
               where p.tenant_id = b.tenant_id and p.beleg_id = b.id
                 and coalesce(p.lager_menge, p.menge) > 0 and not exists (select 1 from beleg_fluss f where f.tenant_id = p.tenant_id
                   and f.von_beleg_id = p.beleg_id and f.von_position_id = p.id)
                 and not exists (select 1 from lager_paar l where l.tenant_id = p.tenant_id
                   and l.lieferung_id = p.beleg_id and l.lieferung_position = p.position))",
    },
    Check {
        rule: "stornierte Belege haben nichts bewegt",
        violations: "select count(*) from (select b.tenant_id, b.id, m.artikel_id, m.charge_id from beleg b
           join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id
         where b.status = 'storniert' group by 1, 2, 3, 4 having sum(m.menge) <> 0)",
    },
];

//! The proof of a database: integrity, schema, references, stock, numbers, checksums.

use rusqlite::Connection;
use serde::Serialize;

use super::sealing::broken_evidence;
use crate::db::Clock;
use crate::db::error::Result;
use crate::db::migrate::{fresh_schema, schema};
use crate::db::seal::Secret;
use crate::db::tx::Tx;
use crate::gate::audit::{self, Finding, Sealed};
use crate::{anhaenge, belege, tenants};

/// What must hold: each statement counts the rows that break it.
const RULES: &[(&str, &str)] = &[
    (
        "stock of each batch is the sum of its movements",
        "select count(*) from charge c where c.bestand <> (select coalesce(sum(m.menge), 0) from lagerbewegung m
           where m.tenant_id = c.tenant_id and m.charge_id = c.id)",
    ),
    (
        "stock of each article is the sum of its movements",
        "select count(*) from
           (select tenant_id, artikel_id, sum(menge) as bestand from lagerbewegung group by 1, 2) soll
         full join artikel_bestand ist on ist.tenant_id = soll.tenant_id and ist.artikel_id = soll.artikel_id
         where coalesce(ist.bestand, 0) <> coalesce(soll.bestand, 0)",
    ),
    (
        "sums of each document follow from its positions",
        "select count(*) from beleg b where b.summe_netto <> (select coalesce(sum(p.gesamtpreis), 0)
           from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
    ),
    (
        "each document has its positions, numbered from 1",
        "select count(*) from beleg b
         where (select count(*) from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)
            is not (select max(p.position) from beleg_position p
                    where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
    ),
    (
        "numbers of documents have no gap",
        "select count(*) from nummernkreis n
         where n.reihe not in ('WS', 'CH', 'PA', 'AS') and n.letzte <>
           (select count(distinct b.beleg_nummer) from beleg b where b.tenant_id = n.tenant_id
              and b.beleg_typ = n.reihe
              and cast(substr(b.beleg_nummer, 9) as integer) between 1 and n.letzte
              and b.beleg_nummer like n.reihe || '-' || printf('%04d', n.jahr) || '-%')",
    ),
    (
        "numbers of documents come from their series",
        "select count(*) from beleg b where not exists (select 1 from nummernkreis n
           where n.tenant_id = b.tenant_id and n.reihe = b.beleg_typ
             and b.beleg_nummer like n.reihe || '-' || printf('%04d', n.jahr) || '-%'
             and cast(substr(b.beleg_nummer, 9) as integer) <= n.letzte)",
    ),
    (
        "numbers of weighing slips have no gap",
        "select count(*) from nummernkreis n where n.reihe = 'WS' and n.letzte <>
           (select count(*) from wiegung w where w.tenant_id = n.tenant_id
              and w.wiegeschein_nr like 'WS-' || printf('%04d', n.jahr) || '-%')",
    ),
    (
        "numbers of batches have no gap",
        "select count(*) from nummernkreis n where n.reihe = 'CH' and n.letzte <>
           (select count(*) from charge c where c.tenant_id = n.tenant_id
              and c.charge_nr glob 'CH-' || printf('%04d', n.jahr) || '-[0-9][0-9][0-9][0-9][0-9]*'
              and substr(c.charge_nr, 9) not glob '*[^0-9]*')",
    ),
    (
        "numbers of production orders have no gap",
        "select count(*) from nummernkreis n where n.reihe = 'PA' and n.letzte <>
           (select count(*) from produktionsauftrag a where a.tenant_id = n.tenant_id
              and a.pa_nummer like 'PA-' || printf('%04d', n.jahr) || '-%')",
    ),
    (
        // Imported notes of our form move the series on, so that there may be gaps.
        "numbers of goods-receipt notes come from their series",
        "select count(*) from annahmeschein s where s.anfrage_sha256 is not null and not exists (
           select 1 from nummernkreis n where n.tenant_id = s.tenant_id and n.reihe = 'AS'
             and s.belegnummer like 'AS-' || printf('%04d', n.jahr) || '-%'
             and cast(substr(s.belegnummer, 9) as integer) <= n.letzte)",
    ),
    (
        "each receipt has its lines, numbered from 1",
        "select count(*) from bon b where (b.zeilen, b.zeilen) is not
           (select count(*), coalesce(max(z.position), 0) from barverkauf z
            where z.tenant_id = b.tenant_id and z.bon_id = b.id)",
    ),
    (
        "the lines of each cash day are those of its receipts",
        "select count(*) from (select tenant_id, datum, art from
           (select tenant_id, datum, art, zeilen from kassentag
            union all select tenant_id, datum, art, -zeilen from bon)
         group by tenant_id, datum, art having sum(zeilen) <> 0)",
    ),
    (
        "customers are counted, and searched in the text they have",
        "select count(*) from
           (select tenant_id, kunden_id / 64 as block, count(*) as anzahl,
              group_concat(kunden_id || char(31) || such_text || char(30), '' order by kunden_id) as texte
            from kunde group by 1, 2) soll
         full join kunde_suche ist on ist.tenant_id = soll.tenant_id and ist.block = soll.block
         where (ist.anzahl, ist.texte) is not (soll.anzahl, soll.texte)",
    ),
    (
        "receipts are reversed where their reversals add up to them",
        "select count(*) from bon b where b.storniert <>
           (exists (select 1 from bon r
              where r.tenant_id = b.tenant_id and r.storno_von_bon_id = b.id and r.art = 'storno')
            and not exists (select 1 from barverkauf z
              where z.tenant_id = b.tenant_id and z.bon_id in (select b.id union all select r.id from bon r
                where r.tenant_id = b.tenant_id and r.storno_von_bon_id = b.id and r.art = 'storno')
              group by z.mwst_satz having sum(z.gesamt) <> 0))",
    ),
    (
        // Of documents in lager_neu each position is open.
        "each position's quantity is what it has open, paired and taken back",
        "select count(*) from (
           select tenant_id, beleg_id, position from (
             select p.tenant_id, p.beleg_id, p.position, abs(p.lager_menge) as menge from beleg_position p
               join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
             where p.lager_buchen = 1 and p.artikel_id is not null and b.beleg_typ in ('LS', 'RE', 'EL', 'ER')
               and b.status <> 'storniert' and b.storno_von_beleg_id is null
             union all select p.tenant_id, p.beleg_id, p.position, -abs(p.lager_menge) from lager_neu n
               join beleg_position p on p.tenant_id = n.tenant_id and p.beleg_id = n.beleg_id
             where p.lager_buchen = 1 and p.artikel_id is not null
             union all select tenant_id, beleg_id, position, -menge from lager_offen
             union all select tenant_id, lieferung_id, lieferung_position, -menge from lager_paar
             union all select tenant_id, rechnung_id, rechnung_position, -menge from lager_paar
             union all select tenant_id, rueckgabe_id, rueckgabe_position, -menge from lager_paar
             union all select tenant_id, gutschrift_id, gutschrift_position, -menge from lager_paar)
           where beleg_id is not null group by 1, 2, 3 having sum(menge) <> 0)",
    ),
    (
        "documents have moved what their positions moved themselves",
        "select count(*) from (
           select tenant_id, beleg_id from (
             select m.tenant_id, m.beleg_id, m.artikel_id, m.charge_id,
               iif(b.beleg_typ in ('EL', 'ER'), m.menge, -m.menge) as menge
             from lagerbewegung m join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
             union all select p.tenant_id, p.beleg_id, p.artikel_id, p.charge_id, -p.lager_menge from lager_neu n
               join beleg_position p on p.tenant_id = n.tenant_id and p.beleg_id = n.beleg_id
             where p.lager_buchen = 1 and p.artikel_id is not null
             union all select tenant_id, beleg_id, artikel_id, charge_id, -menge from lager_offen
             union all select tenant_id, iif(bewegt_von = 'lieferung', lieferung_id, rechnung_id), artikel_id, charge_id,
               -menge from lager_paar where bewegt_von is not null
             union all select tenant_id, iif(zurueck_von = 'rueckgabe', rueckgabe_id, gutschrift_id), artikel_id,
               charge_id, menge from lager_paar where zurueck_von is not null)
           group by tenant_id, beleg_id, artikel_id, charge_id having sum(menge) <> 0)",
    ),
    (
        "what is open or paired belongs to documents of its partner, article and type",
        "select count(*) from (
           select tenant_id, kunde_id, artikel_id, beleg_typ, beleg_id, position from lager_offen
           union all select n.tenant_id, n.kunde_id, null, n.beleg_typ, n.beleg_id, null from lager_neu n
           union all select tenant_id, kunde_id, artikel_id, iif(einkauf, 'EL', 'LS'), lieferung_id, lieferung_position
             from lager_paar where lieferung_id is not null
           union all select tenant_id, kunde_id, artikel_id, iif(einkauf, 'ER', 'RE'), rechnung_id, rechnung_position
             from lager_paar where rechnung_id is not null
           union all select tenant_id, kunde_id, artikel_id, iif(einkauf, 'EL', 'LS'), rueckgabe_id, rueckgabe_position
             from lager_paar where rueckgabe_id is not null
           union all select tenant_id, kunde_id, artikel_id, iif(einkauf, 'ER', 'RE'), gutschrift_id, gutschrift_position
             from lager_paar where gutschrift_id is not null) o
         left join beleg b on b.tenant_id = o.tenant_id and b.id = o.beleg_id
         left join beleg_position p on p.tenant_id = o.tenant_id and p.beleg_id = o.beleg_id and p.position = o.position
         where not coalesce(b.status <> 'storniert' and b.kunde_id = o.kunde_id and b.beleg_typ = o.beleg_typ, 0)
           or p.artikel_id is not o.artikel_id",
    ),
    (
        "each change of a document is in its history",
        "select count(*) from beleg b where b.version <> 1 +
           (select count(*) from beleg_verlauf v where v.tenant_id = b.tenant_id and v.beleg_id = b.id)",
    ),
    (
        "each correction of a batch is in its history",
        "select count(*) from charge c where c.version <> 1 +
           (select count(*) from charge_verlauf v where v.tenant_id = c.tenant_id and v.charge_id = c.id)",
    ),
    (
        "the state of each final document follows from its history",
        "select count(*) from beleg b where b.kette_nr is not null and b.status <> coalesce(
           (select case v.aktion when 'storno' then 'storniert' when 'erledigen' then 'erledigt' end
            from beleg_verlauf v where v.tenant_id = b.tenant_id and v.beleg_id = b.id
            order by v.version desc limit 1), 'abgeschlossen')",
    ),
    (
        "cancelled documents have moved nothing",
        "select count(*) from (select b.tenant_id, b.id, m.artikel_id, m.charge_id from beleg b
           join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id
         where b.status = 'storniert' group by 1, 2, 3, 4 having sum(m.menge) <> 0)",
    ),
];

/// A rule, and how often it is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Line {
    pub rule: String,
    pub violations: i64,
    /// The first thing that is wrong, or what there is to know of it, in words.
    pub finding: Option<String>,
}

/// Runs every check on one snapshot of a connection that seals with this secret; `began` is told the name of each before
/// it runs.
pub fn check(
    connection: &mut Connection,
    secret: Option<&Secret>,
    clock: &Clock,
    began: impl Fn(&str),
) -> Result<Vec<Line>> {
    let snapshot = connection.transaction()?;
    let count = |sql: &str| -> Result<i64> { Ok(snapshot.query_row(sql, [], |row| row.get(0))?) };
    let line = |rule: &str, violations| Line { rule: rule.to_owned(), violations, finding: None };
    began("pages and indexes");
    let integrity = count("select count(*) from pragma_integrity_check where integrity_check <> 'ok'")?;
    let foreign_keys = count("select count(*) from pragma_foreign_key_check")?;
    let (live, fresh) = (schema(&snapshot)?, fresh_schema()?);
    let differs = live.iter().filter(|part| !fresh.contains(part)).count()
        + fresh.iter().filter(|part| !live.contains(part)).count();
    let mut lines = vec![
        line("pages and indexes are whole", integrity),
        line("references lead somewhere", foreign_keys),
        line("the schema is that of this version", differs as i64),
    ];
    for (rule, sql) in RULES {
        began(rule);
        lines.push(line(rule, count(sql)?));
    }
    began("checksums");
    let mut broken = 0;
    for tenant in tenants::list(&snapshot)? {
        broken += belege::broken_links(&Tx::new(&snapshot, tenant.id, clock()))?;
    }
    lines.push(line("checksums of final documents follow from their content", broken));
    let found = |rule: &str, finding: Option<String>| Line {
        rule: rule.to_owned(),
        violations: i64::from(finding.is_some()),
        finding,
    };
    let altered = "archived PDFs and attachments have the content that their sha256 names";
    began(altered);
    lines.push(found(altered, altered_content(&snapshot, clock)?));
    let (is_sealed, seals) = match audit::sealed(&snapshot, secret)? {
        Sealed::Since(_, how) => (true, Line { finding: Some(how), ..line(SEALS, 0) }),
        Sealed::Not(why) => (false, Line { finding: Some(why), ..line(SEALS, 0) }),
        Sealed::Broken(what) => (false, found(SEALS, Some(what))),
    };
    let evidence = "final documents, their history, PDFs and attachments are as they were written";
    began(evidence);
    lines.push(found(evidence, broken_evidence(&snapshot, is_sealed, clock)?));
    let log = "audit rows were not altered, removed or inserted";
    began(log);
    lines.push(match audit::verify(&snapshot, secret, clock())? {
        Finding::Whole(_) => line(log, 0),
        Finding::Broken(what) => found(log, Some(what)),
    });
    lines.push(seals);
    Ok(lines)
}

/// Whose finding says what the proofs above are worth.
const SEALS: &str = "log and documents are sealed with the secret of this machine";

/// The first PDF or attachment whose content is not what its sha256 says.
fn altered_content(connection: &Connection, clock: &Clock) -> Result<Option<String>> {
    for tenant in tenants::list(connection)? {
        let tx = Tx::new(connection, tenant.id, clock());
        let altered = match belege::altered_pdf(&tx)? {
            Some(pdf) => Some(pdf),
            None => anhaenge::altered_content(&tx)?,
        };
        if let Some(subject) = altered {
            return Ok(Some(format!("the content of {subject} was altered")));
        }
    }
    Ok(None)
}

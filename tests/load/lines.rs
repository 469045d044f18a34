//! A partner with many lines of one article, and operations on them, whose cost must not depend on their number.

use std::path::Path;

use rusqlite::Connection;
use uuid::Uuid;

/// Creation time of the first document, in milliseconds of Unix time; the others follow a millisecond apart.
const BEGIN: u64 = 1_704_100_000_000;

/// Documents of a deal: a delivery note of five lines that is invoiced, its invoice, and an open one.
const OF_A_DEAL: u64 = 3;

/// Lines of a document.
const OF_A_DOCUMENT: u64 = 5;

/// The history of the partner.
#[derive(Clone, Copy)]
pub struct History {
    /// Lines delivered: half of them invoiced, half open. A multiple of ten.
    pub lines: u64,
    /// Batches that the lines name in turn; 0 if the article has none.
    pub batches: u64,
}

/// A request of the interface, the `at`-th of its kind.
pub struct Operation {
    pub name: &'static str,
    /// Method, path, body.
    pub request: fn(History, u64) -> (&'static str, String, String),
}

/// Operations on the documents of one deal after the other. A changed or cancelled delivery was invoiced, so
/// its invoice looks for another one.
pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "PUT of a note",
        request: |_, at| ("PUT", document_path(at, 2), format!(r#"{{"notizen": "{at}"}}"#)),
    },
    Operation {
        name: "PUT with items",
        request: |history, at| {
            let items = (0..OF_A_DOCUMENT).map(|line| item(3, history.batch(line, at)));
            let items = items.collect::<Vec<_>>().join(",");
            ("PUT", document_path(at, 0), format!(r#"{{"items": [{items}]}}"#))
        },
    },
    Operation {
        name: "storno",
        request: |_, at| ("POST", format!("{}/storno", document_path(at, 0)), r#"{"grund": "x"}"#.to_owned()),
    },
    Operation { name: "credit", request: |_, _| document("RE", &item(-3, None)) },
    Operation {
        name: "new LS",
        request: |history, _| document("LS", &item(3, history.batches.checked_sub(1).map(batch))),
    },
];

/// Operations that may look at lines of other batches: each names the batch found last.
pub const IN_ONE_BATCH: &[Operation] = &[
    Operation { name: "credit of one batch", request: |_, _| document("RE", &item(-3, Some(batch(0)))) },
    Operation {
        name: "return of one batch",
        request: |history, _| document("LS", &item(-3, history.batches.checked_sub(1).map(batch))),
    },
    Operation {
        name: "invoice of one batch",
        request: |history, _| document("RE", &item(3, history.batches.checked_sub(1).map(batch))),
    },
];

impl History {
    /// The batch of a line in the delivery of a deal.
    fn batch(self, line: u64, deal: u64) -> Option<Uuid> {
        (self.batches > 0).then(|| batch((deal * 10 + line) * self.batches / self.lines))
    }
}

fn document(typ: &str, item: &str) -> (&'static str, String, String) {
    let body = format!(r#"{{"beleg_typ": "{typ}", "kundennummer": "L-1", "items": [{item}]}}"#);
    ("POST", "belege".to_owned(), body)
}

fn item(menge: i64, charge: Option<Uuid>) -> String {
    let charge = charge.map_or(String::new(), |charge| format!(r#", "charge_id": "{charge}""#));
    format!(r#"{{"artikelnr": "L1", "menge": {menge}{charge}}}"#)
}

fn document_path(deal: u64, of_deal: u64) -> String {
    let nr = deal * OF_A_DEAL + of_deal;
    format!("belege/{}", id(&format!("{:012x}70008000{nr:012x}", BEGIN + nr)))
}

fn batch(nr: u64) -> Uuid {
    id(&format!("{BEGIN:012x}7000a000{nr:012x}"))
}

fn id(hex: &str) -> Uuid {
    Uuid::parse_str(hex).unwrap()
}

/// Adds the partner, the article and all documents to the first company, as the server would have left them.
pub fn fill(folder: &Path, history: History) {
    let History { lines, batches } = history;
    let connection = Connection::open(folder.join("partnerd.db")).unwrap();
    connection
        .execute_batch(&format!(
            "pragma synchronous = off;
             begin;
             update tenant set abschluss_tagesende = '', paarung_monate = 1200 where id = 1;
             insert into artikel (tenant_id, id, artikelnummer, bezeichnung, einheit, preis, mwst_satz, status,
               chargenpflichtig, artikelnummer_key, artikelnummer_sort, such_text)
             values (1, {artikel}, 'L1', 'Sack', 'Stk', 1250000, 19000000, 'aktiv', {batches} > 0, 'l1', 'l1', \
             'l1 sack');
             insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, staat, status, ist_kunde,
               ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text)
             values (1, {kunde}, 900000, 'L-1', 'Lang', 'Lang', 'DE', 'aktiv', 1, 0, 0, {BEGIN}, {BEGIN}, \
             'l-1', 'l-1', 'lang');

             with recursive n(nr) as (select 0 union all select nr + 1 from n where nr < {batches} - 1)
             insert into charge (tenant_id, id, charge_nr, artikel_id, eingang_quelle, bestand, angelegt_am, \
             charge_nr_key)
             select 1, {batch}, 'B' || nr, {artikel}, 'manuell', 0, {BEGIN}, 'b' || nr from n where {batches} > 0;

             with recursive n(i) as (select 0 union all select i + 1 from n where i < {documents} - 1)
             insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, \
             summe_netto, summe_mwst,
               summe_brutto, rechnungsart, angelegt_am, geaendert_am, such_text)
             select 1, {beleg}, {typ} || '-2024-' || printf('%05d', {number}), {typ}, 'offen', '2024-01-01', {kunde},
               1875, 356, 2231, iif({typ} = 'RE', 'rechnung', null), {BEGIN} + i, {BEGIN} + i, '' from n;

             with recursive n(i) as (select 0 union all select i + 1 from n where i < {documents} - 1),
               p(q) as (values (0), (1), (2), (3), (4)),
               l(i, q, nr) as (select i, q, (i / 3 * 10 + iif(i % 3 = 2, 5, 0) + q) * {batches} / {lines} from \
               n cross join p)
             insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, \
             einheit, ep_netto, preis_fehlt,
               rabatt_prozent, mwst_satz, satz_gesendet, satz_datum, steuer_kategorie, gesamtpreis, charge_id, charge_gesendet,
               lager_buchen, lager_menge)
             select 1, unhex(printf('%012x70009000%012x', {BEGIN} + i, i * 5 + q)), {beleg}, q + 1, {artikel}, 'Sack',
               3000000, 'Stk', 1250000, 0, 0, 19000000, 0, '2024-01-01', 'S', 375, iif({batches} > 0, {batch}, null),
               {batches} > 0 and i % 3 <> 1, 1, 3000000
             from l;

             insert into lagerbewegung (tenant_id, id, artikel_id, charge_id, beleg_id, menge, am)
             select 1, p.id, p.artikel_id, p.charge_id, p.beleg_id, -p.lager_menge, {BEGIN}
             from beleg b cross join beleg_position p on p.tenant_id = 1 and p.beleg_id = b.id
             where b.tenant_id = 1 and b.beleg_typ = 'LS' and b.kunde_id = {kunde};
             insert into lagerbewegung (tenant_id, id, artikel_id, menge, am, charge_id)
             select 1, {artikel}, {artikel}, 1000000000000, {BEGIN}, null where {batches} = 0
             union all select 1, id, artikel_id, 1000000000000, {BEGIN}, id from charge where artikel_id = {artikel};
             update charge set bestand = (select sum(m.menge) from lagerbewegung m
               where m.tenant_id = 1 and m.charge_id = charge.id) where artikel_id = {artikel};
             insert into artikel_bestand (tenant_id, artikel_id, bestand)
             select tenant_id, artikel_id, sum(menge) from lagerbewegung where artikel_id = {artikel} group by 1, 2;

             insert into lager_offen
             select 1, {kunde}, 'LS', {artikel}, {batches} > 0, p.beleg_id, p.position, 0, p.charge_id, \
             p.charge_id, p.lager_menge, p.lager_menge
             from beleg_position p join beleg b on b.tenant_id = 1 and b.id = p.beleg_id
             where p.tenant_id = 1 and b.kunde_id = {kunde} and {nr_of_beleg} % 3 = 2;
             insert into lager_paar (tenant_id, kunde_id, einkauf, artikel_id, art, lieferung_id, lieferung_position,
               rechnung_id, rechnung_position, nr, charge_id, genannt_id, menge, bewegt_von)
             select 1, {kunde}, 0, {artikel}, 'paar', {lieferung}, p.position, p.beleg_id, p.position, 0, p.charge_id,
               p.charge_id, p.lager_menge, 'lieferung'
             from (select *, {nr_of_id} as i from beleg where tenant_id = 1 and kunde_id = {kunde} and \
             beleg_typ = 'RE') b
               cross join beleg_position p on p.tenant_id = 1 and p.beleg_id = b.id;
             insert into nummernkreis (tenant_id, reihe, jahr, letzte)
             select 1, beleg_typ, 2024, count(*) from beleg where kunde_id = {kunde} group by beleg_typ;
             commit;
             pragma wal_checkpoint(truncate);",
            artikel = format_args!("unhex('{BEGIN:012x}7000b000000000000000')"),
            kunde = format_args!("unhex('{BEGIN:012x}7000b000000000000001')"),
            batch = format_args!("unhex(printf('{BEGIN:012x}7000a000%012x', nr))"),
            beleg = format_args!("unhex(printf('%012x70008000%012x', {BEGIN} + i, i))"),
            lieferung = format_args!("unhex(printf('%012x70008000%012x', {BEGIN} + i - 1, i - 1))"),
            nr_of_id = format_args!("(angelegt_am - {BEGIN})"),
            nr_of_beleg = format_args!("(b.angelegt_am - {BEGIN})"),
            typ = "iif(i % 3 = 1, 'RE', 'LS')",
            number = "iif(i % 3 = 1, i / 3, i / 3 * 2 + i % 3 / 2) + 1",
            documents = lines / 10 * OF_A_DEAL,
        ))
        .unwrap();
}

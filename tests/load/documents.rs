//! The documents that exist before measuring: an offer, an order, a delivery note and an invoice for each
//! deal, with five positions each, all of 2024.

use std::path::Path;

use rusqlite::Connection;

/// Adds documents; the number must be a multiple of four.
///
/// They are as the server would have left them: numbered, summed, their goods moved by the delivery note and
/// matched by the invoice. Most are final; of every 25th deal only the invoice is (the server would finalise
/// an open one when it starts). Only the checksums of the chain are random: computing a million of them takes
/// longer than everything else here, and only `partnerd check` would notice.
pub fn fill(folder: &Path, customers: u64, documents: u64) {
    let connection = Connection::open(folder.join("partnerd.db")).unwrap();
    // Positions are inserted before their documents: a trigger refuses adding one to a final document.
    connection
        .execute_batch(&format!(
            "pragma synchronous = off;
             pragma foreign_keys = off;
             begin;
             create temp table artikel_nr as select row_number() over (order by artikelnummer) - 1 as nr, id
               from artikel where tenant_id = 1;
             create unique index temp.artikel_nr_nr on artikel_nr (nr);

             with recursive n(i) as (select 0 union all select i + 1 from n where i < {documents} - 1),
               p(q) as (values (0), (1), (2), (3), (4))
             insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, einheit,
               ep_netto, preis_fehlt, rabatt_prozent, mwst_satz, satz_gesendet, satz_datum, steuer_kategorie, gesamtpreis, \
               charge_gesendet, lager_buchen,
               lager_menge)
             select 1, {position_id}, {beleg_id}, q + 1, a.id, 'Sack', {menge} * 1000000, 'Stk',
               1250000, 0, 0, 19000000, 0, date({am} / 1000, 'unixepoch'), 'S', {menge} * 125, 0, i % 4 >= 2, {menge} * 1000000
             from n cross join p cross join artikel_nr a on a.nr = (i / 4 * 7 + q * 13) % 100;

             with recursive n(i) as (select 0 union all select i + 1 from n where i < {documents} - 1),
               s(i, offen, am, netto) as (select i, i / 4 % 25 = 24 and i % 4 < 3, {am}, {menge} * 625 from n)
             insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, kunden_name,
               kunden_strasse, kunden_plz, kunden_ort, kunden_staat, summe_netto, summe_mwst, summe_brutto,
               rechnungsart, ereignis_am, version, angelegt_am, geaendert_am, such_text)
             select 1, {beleg_id}, {typ} || printf('-2024-%05d', i / 4 + 1), {typ}, iif(offen, 'offen', \
             'abgeschlossen'),
               date(am / 1000, 'unixepoch'), k.id, iif(offen, null, k.name), iif(offen, null, k.strasse),
               iif(offen, null, k.plz), iif(offen, null, k.ort), iif(offen, null, k.staat),
               netto, (netto * 19 + 50) / 100, netto + (netto * 19 + 50) / 100, iif({typ} = 'RE', 'rechnung', null),
               iif(offen, null, am), 1, am, am,
               lower({typ} || printf('-2024-%05d', i / 4 + 1))
             from s cross join kunde k on k.tenant_id = 1 and k.kunden_id = i / 4 % {customers} + 1;

             insert into lagerbewegung (tenant_id, id, artikel_id, beleg_id, menge, am)
             select 1, p.id, p.artikel_id, p.beleg_id, -p.lager_menge, b.angelegt_am
             from beleg b cross join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
             where b.tenant_id = 1 and b.beleg_typ = 'LS';

             insert or replace into artikel_bestand (tenant_id, artikel_id, bestand)
             select tenant_id, artikel_id, sum(menge) from lagerbewegung where tenant_id = 1 group by artikel_id;

             insert into nummernkreis (tenant_id, reihe, jahr, letzte)
             select 1, beleg_typ, 2024, count(*) from beleg where tenant_id = 1 group by beleg_typ;
             commit;",
            // Ids as in uuid v7: the time first, so that they grow.
            beleg_id = format_args!("unhex(printf('%012x70008000%012x', {}, i))", am(documents)),
            position_id = format_args!("unhex(printf('%012x70009000%012x', {}, i * 5 + q))", am(documents)),
            am = am(documents),
            menge = "(i / 4 % 9 + 1)",
            typ = "substr('ANAULSRE', i % 4 * 2 + 1, 2)",
        ))
        .unwrap();
}

/// The creation time of document `i`: spread over the year, no two at once.
fn am(documents: u64) -> String {
    const BEGIN: u64 = 1_704_100_000_000;
    const YEAR: u64 = 365 * 86_400_000;
    format!("({BEGIN} + i * {})", YEAR / documents)
}

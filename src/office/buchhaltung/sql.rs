//! Statements on accounts, exported invoices and batches.

use rusqlite::named_params;
use uuid::Uuid;

use super::belege::{Position, Rechnung};
use super::model::{Datei, KontoAuskunft, Monat, Stapel};
use super::stamm::Stammsatz;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::{Part, columns};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::Records;
use crate::rules::bytes::unhex;
use crate::rules::datev::{BuSchluessel, Funktion, Konto};
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent};

columns! {
    Konto in konto as k {
        fall = fixed,
        satz = fixed,
        artikelgruppe_id = fixed,
        konto = mutable,
        bu = mutable,
        automatik = mutable,
    }
}

columns! {
    Funktion in konto_funktion as f {
        rahmen = fixed,
        von = fixed,
        bis = fixed,
        ab_jahr = fixed,
        art = mutable,
        satz = mutable,
        bezeichnung = mutable,
    }
}

columns! {
    BuSchluessel in bu_schluessel as s {
        art = fixed,
        seite = fixed,
        satz = fixed,
        von = fixed,
        bis = mutable,
        kurz = mutable,
        lang = mutable,
        bezeichnung = mutable,
    }
}

pub fn schluessel(tx: &Tx<'_>) -> Result<Vec<BuSchluessel>> {
    let statement =
        format!("select {} from bu_schluessel s where s.tenant_id = :tenant", BuSchluessel::COLUMNS);
    tx.all(&statement, &[], BuSchluessel::read)
}

pub fn find_schluessel(tx: &Tx<'_>, new: &BuSchluessel) -> Result<Option<BuSchluessel>> {
    let statement = format!(
        "select {} from bu_schluessel s where s.tenant_id = :tenant and s.art = :art and s.seite = :seite
           and s.satz = :satz and s.von = :von",
        BuSchluessel::COLUMNS
    );
    let key = named_params! {":art": new.art, ":seite": new.seite, ":satz": new.satz, ":von": new.von};
    tx.optional(&statement, key, BuSchluessel::read)
}

pub fn store_schluessel(tx: &WriteTx<'_>, new: &BuSchluessel) -> Result<()> {
    tx.upsert("bu_schluessel", &["art", "seite", "satz", "von"], &new.values(Part::All))
}

pub fn konten(tx: &Tx<'_>) -> Result<Vec<Konto>> {
    let statement = format!("select {} from konto k where k.tenant_id = :tenant", Konto::COLUMNS);
    tx.all(&statement, &[], Konto::read)
}

pub fn funktionen(tx: &Tx<'_>) -> Result<Vec<Funktion>> {
    let statement = format!("select {} from konto_funktion f where f.tenant_id = :tenant", Funktion::COLUMNS);
    tx.all(&statement, &[], Funktion::read)
}

/// Loads the accounts as they are shown.
pub fn shown_konten(tx: &Tx<'_>) -> Result<Vec<KontoAuskunft>> {
    let statement = format!(
        "select {} from konto k left join artikelgruppe g on g.tenant_id = k.tenant_id and g.id = k.artikelgruppe_id
         where k.tenant_id = :tenant order by k.fall, k.satz, g.name",
        KontoAuskunft::COLUMNS
    );
    tx.all(&statement, &[], KontoAuskunft::read)
}

/// Loads the accounts, each with the name of its article group.
pub fn named_konten(tx: &Tx<'_>) -> Result<Vec<(Konto, Option<String>)>> {
    let statement = format!(
        "select {}, g.name as gruppe from konto k left join artikelgruppe g on g.tenant_id = k.tenant_id
           and g.id = k.artikelgruppe_id where k.tenant_id = :tenant order by k.fall, k.satz, g.name",
        Konto::COLUMNS
    );
    tx.all(&statement, &[], |row| Ok((Konto::read(row)?, row.get("gruppe")?)))
}

/// Stores an account, replacing the one with its key.
pub fn store_konto(tx: &WriteTx<'_>, konto: &Konto) -> Result<()> {
    delete_konto(tx, konto)?;
    tx.insert("konto", &konto.values(Part::All))
}

/// Deletes the account with the same key, if there is one.
pub fn delete_konto(tx: &WriteTx<'_>, konto: &Konto) -> Result<()> {
    let statement = "delete from konto where tenant_id = :tenant and fall = :fall and satz is :satz
        and artikelgruppe_id is :gruppe";
    let key: Params<'_> =
        named_params! {":fall": konto.fall, ":satz": konto.satz, ":gruppe": konto.artikelgruppe_id};
    tx.execute(statement, key).map(drop)
}

pub fn find_funktion(tx: &Tx<'_>, new: &Funktion) -> Result<Option<Funktion>> {
    let statement = format!(
        "select {} from konto_funktion f where f.tenant_id = :tenant and f.rahmen = :rahmen and f.von = :von
           and f.bis = :bis and f.ab_jahr = :ab_jahr",
        Funktion::COLUMNS
    );
    let key =
        named_params! {":rahmen": new.rahmen, ":von": new.von, ":bis": new.bis, ":ab_jahr": new.ab_jahr};
    tx.optional(&statement, key, Funktion::read)
}

pub fn store_funktion(tx: &WriteTx<'_>, new: &Funktion) -> Result<()> {
    tx.upsert("konto_funktion", &["rahmen", "von", "bis", "ab_jahr"], &new.values(Part::All))
}

/// Selects final invoices of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvoiceFilter {
    Alle,
    /// Those in no live batch.
    Neue,
    /// Those with positions from or to another EU country, or whose tax the customer owes (D35).
    Eu,
}

/// The condition of [`InvoiceFilter`] on an invoice, in SQL.
macro_rules! is_among {
    () => {
        "(not :neu or not exists (select 1 from datev_beleg d
             where d.tenant_id = b.tenant_id and d.beleg_id = b.id and d.verworfen = 0))
           and (not :eu or exists (select 1 from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id
             and p.steuer_kategorie in ('K', 'AE')))"
    };
}

/// Loads the final invoices dated in a period, by date and number. Open ones have no event yet (D11).
pub fn rechnungen(tx: &Tx<'_>, von: Day, bis: Day, welche: InvoiceFilter) -> Result<Vec<Rechnung>> {
    let statement = format!(
        "select {} from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
         where b.tenant_id = :tenant and b.rechnungsart is not null and b.ereignis_am is not null
           and b.beleg_datum between :von and :bis and {}
         order by b.beleg_datum, b.beleg_nummer",
        Rechnung::COLUMNS,
        is_among!()
    );
    let (neu, eu) = (welche == InvoiceFilter::Neue, welche == InvoiceFilter::Eu);
    let params = named_params! {":von": von, ":bis": bis, ":neu": neu, ":eu": eu};
    tx.all(&statement, params, Rechnung::read)
}

/// Counts the same invoices.
pub fn count_rechnungen(tx: &Tx<'_>, von: Day, bis: Day, welche: InvoiceFilter) -> Result<i64> {
    let statement = concat!(
        "select count(*) from beleg b where b.tenant_id = :tenant and b.rechnungsart is not null
           and b.ereignis_am is not null and b.beleg_datum between :von and :bis and ",
        is_among!()
    );
    let (neu, eu) = (welche == InvoiceFilter::Neue, welche == InvoiceFilter::Eu);
    tx.one(statement, named_params! {":von": von, ":bis": bis, ":neu": neu, ":eu": eu}, |row| row.get(0))
}

/// Loads a final invoice.
pub fn rechnung(tx: &Tx<'_>, id: Uuid) -> Result<Option<Rechnung>> {
    let statement = format!(
        "select {} from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
         where b.tenant_id = :tenant and b.id = :id and b.rechnungsart is not null and b.ereignis_am is not null",
        Rechnung::COLUMNS
    );
    tx.optional(&statement, named_params! {":id": id}, Rechnung::read)
}

pub fn positionen(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Position>> {
    let statement = format!(
        "select {} from beleg_position p
           left join artikel a on a.tenant_id = p.tenant_id and a.id = p.artikel_id
           left join artikelgruppe g on g.tenant_id = a.tenant_id and g.id = a.artikelgruppe_id
         where p.tenant_id = :tenant and p.beleg_id = :beleg order by p.position",
        Position::COLUMNS
    );
    tx.all(&statement, named_params! {":beleg": beleg}, Position::read)
}

/// Returns the numbers of RE and ER dated in a period that are still open.
pub fn open_numbers(tx: &Tx<'_>, von: Day, bis: Day) -> Result<Vec<String>> {
    let statement = "select b.beleg_nummer from beleg b where b.tenant_id = :tenant and b.status = 'offen'
        and b.rechnungsart is not null and b.beleg_datum between :von and :bis order by b.beleg_datum, b.beleg_nummer";
    tx.all(statement, named_params! {":von": von, ":bis": bis}, |row| row.get(0))
}

/// Returns date and number of the first final invoices of a period that are in no live batch.
pub fn first_left_out(tx: &Tx<'_>, von: Day, bis: Day, most: usize) -> Result<Vec<(Day, String)>> {
    let statement = format!(
        "select b.beleg_datum, b.beleg_nummer from beleg b where b.tenant_id = :tenant
           and b.rechnungsart is not null and b.ereignis_am is not null and b.beleg_datum between :von and :bis
           and not exists (select 1 from datev_beleg d
             where d.tenant_id = b.tenant_id and d.beleg_id = b.id and d.verworfen = 0)
         order by b.beleg_datum, b.beleg_nummer limit {most}"
    );
    tx.all(&statement, named_params! {":von": von, ":bis": bis}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Counts the final invoices of a period that are in no live batch, and returns the first of them.
pub fn left_out(tx: &Tx<'_>, von: Day, bis: Day) -> Result<(i64, Option<String>)> {
    let statement = "select count(*), min(b.beleg_nummer) from beleg b
        where b.tenant_id = :tenant and b.rechnungsart is not null and b.ereignis_am is not null
          and b.beleg_datum between :von and :bis
          and not exists (select 1 from datev_beleg d
            where d.tenant_id = b.tenant_id and d.beleg_id = b.id and d.verworfen = 0)";
    tx.one(statement, named_params! {":von": von, ":bis": bis}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the months of a period in which RE and ER are dated, the newest first. Those before `ab` are never
/// handed over.
pub fn monate(tx: &Tx<'_>, von: Day, bis: Day, ab: Option<Day>) -> Result<Vec<Monat>> {
    let statement = "select min(b.beleg_datum), sum(b.ereignis_am is not null or b.status = 'offen'),
          sum(b.ereignis_am is not null and b.beleg_datum >= coalesce(:ab, '') \
            and not exists (select 1 from datev_beleg d
            where d.tenant_id = b.tenant_id and d.beleg_id = b.id and d.verworfen = 0)),
          sum(b.status = 'offen')
        from beleg b where b.tenant_id = :tenant and b.rechnungsart is not null and b.beleg_datum between :von and :bis
        group by substr(b.beleg_datum, 1, 7) order by 1 desc";
    tx.all(statement, named_params! {":von": von, ":bis": bis, ":ab": ab}, |row| {
        Ok(Monat { first: row.get(0)?, belege: row.get(1)?, neu: row.get(2)?, offen: row.get(3)? })
    })
}

/// Returns the sha256 of a partner account's record in the newest batch that was not discarded: the record
/// that the tax adviser has.
pub fn last_stamm(tx: &Tx<'_>, konto: i64) -> Result<Option<[u8; 32]>> {
    let statement = "select d.sha256 from datev_stamm d
        join datev_stapel s on s.tenant_id = d.tenant_id and s.nr = d.stapel_nr
        where d.tenant_id = :tenant and d.konto = :konto and s.verworfen_am is null order by d.stapel_nr desc limit 1";
    tx.optional(statement, named_params! {":konto": konto}, |row| row.get(0))
}

/// Loads the article groups, which determine accounts and rates.
pub fn gruppen(tx: &Tx<'_>) -> Result<Vec<(i64, String, Option<Percent>)>> {
    let statement = "select g.id, g.name, g.mwst_satz from artikelgruppe g where g.tenant_id = :tenant";
    tx.all(statement, &[], |row| row.try_into())
}

/// Whether a partner or an article has changed since change `nr` of the feed.
pub fn is_master_data_changed(tx: &Tx<'_>, nr: i64) -> Result<bool> {
    let statement = "select 1 from aenderung a where a.tenant_id = :tenant and a.nr > :nr
        and a.art in ('kunde', 'artikel') limit 1";
    tx.exists(statement, named_params! {":nr": nr})
}

/// Returns the invoices that have changed since change `nr` of the feed, as far as [`rechnungen`] counts them
/// as new.
pub fn changed_rechnungen(tx: &Tx<'_>, nr: i64, von: Day, bis: Day) -> Result<Vec<Uuid>> {
    let statement = "select b.id from aenderung a join beleg b on b.tenant_id = a.tenant_id and b.id = a.id
        where a.tenant_id = :tenant and a.nr > :nr and a.art = 'beleg' and b.rechnungsart is not null
          and b.ereignis_am is not null and b.beleg_datum between :von and :bis
          and not exists (select 1 from datev_beleg d
            where d.tenant_id = b.tenant_id and d.beleg_id = b.id and d.verworfen = 0)";
    tx.all(statement, named_params! {":nr": nr, ":von": von, ":bis": bis}, |row| row.get(0))
}

pub fn next_nr(tx: &Tx<'_>) -> Result<i64> {
    tx.one("select coalesce(max(nr), 0) + 1 from datev_stapel where tenant_id = :tenant", &[], |row| {
        row.get(0)
    })
}

/// Returns the newest live batch, and the last day that any live batch covers.
pub fn newest(tx: &Tx<'_>) -> Result<Option<(i64, Day)>> {
    let statement =
        "select max(nr), max(bis) from datev_stapel where tenant_id = :tenant and verworfen_am is null";
    let (nr, bis): (Option<i64>, Option<Day>) =
        tx.one(statement, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(nr.zip(bis))
}

pub fn insert_stapel(tx: &WriteTx<'_>, stapel: &Stapel) -> Result<()> {
    tx.insert("datev_stapel", &stapel.values(Part::All))
}

/// Stores the documents of a batch, each with the sum of its lines on the partner's account.
pub fn insert_belege(tx: &WriteTx<'_>, nr: i64, belege: &[(Uuid, Money)]) -> Result<()> {
    tx.insert_all("datev_beleg", belege, |(beleg, betrag), store| {
        store(named_params! {":stapel_nr": nr, ":beleg_id": beleg, ":betrag": betrag})
    })
}

pub fn insert_stamm(tx: &WriteTx<'_>, nr: i64, saetze: &[Stammsatz]) -> Result<()> {
    tx.insert_all("datev_stamm", saetze, |satz, store| {
        store(named_params! {":konto": satz.konto, ":stapel_nr": nr, ":sha256": satz.sha256})
    })
}

pub fn insert_datei(tx: &WriteTx<'_>, stapel: i64, nr: i64, datei: &Datei, packed: &[u8]) -> Result<()> {
    tx.insert(
        "datev_datei",
        named_params! {
            ":stapel_nr": stapel, ":nr": nr, ":name": datei.name, ":zeilen": datei.zeilen,
            ":sha256": unhex::<32>(&datei.sha256),
            ":inhalt": packed,
        },
    )
}

/// Marks a batch as discarded; its documents then belong to no batch.
pub fn discard(tx: &WriteTx<'_>, nr: i64, grund: &str) -> Result<()> {
    tx.execute(
        "update datev_stapel set verworfen_am = :am, verworfen_grund = :grund where tenant_id = :tenant and nr = :nr",
        named_params! {":am": tx.now(), ":grund": grund, ":nr": nr},
    )?;
    tx.execute(
        "update datev_beleg set verworfen = 1 where tenant_id = :tenant and stapel_nr = :nr",
        named_params! {":nr": nr},
    )?;
    Ok(())
}

const LIST: ListSql<'_> = ListSql {
    columns: Stapel::COLUMNS,
    from: "from datev_stapel s",
    count: "select count(*) from datev_stapel s",
    ids_first: None,
    order: "order by s.nr desc",
};

pub fn list(tx: &Tx<'_>, page: Page) -> Result<Records<Stapel>> {
    tx.list(&LIST, &Filter::of("s"), page)
}

/// Loads all batches, the newest first: usually one per month.
pub fn all(tx: &Tx<'_>) -> Result<Vec<Stapel>> {
    let statement = format!(
        "select {} from datev_stapel s where s.tenant_id = :tenant order by s.nr desc",
        Stapel::COLUMNS
    );
    tx.all(&statement, &[], Stapel::read)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Stapel>> {
    tx.find_by(&LIST, "s.id", &id)
}

pub fn with_number(tx: &Tx<'_>, nr: i64) -> Result<Option<Stapel>> {
    tx.find_by(&LIST, "s.nr", &nr)
}

pub fn dateien(tx: &Tx<'_>, nr: i64) -> Result<Vec<Datei>> {
    let statement = format!(
        "select {} from datev_datei d where d.tenant_id = :tenant and d.stapel_nr = :nr order by d.nr",
        Datei::COLUMNS
    );
    tx.all(&statement, named_params! {":nr": nr}, Datei::read)
}

/// Loads names and packed contents of the files of a batch.
pub fn inhalte(tx: &Tx<'_>, nr: i64) -> Result<Vec<(String, Vec<u8>)>> {
    let statement =
        "select name, inhalt from datev_datei where tenant_id = :tenant and stapel_nr = :nr order by nr";
    tx.all(statement, named_params! {":nr": nr}, |row| Ok((row.get(0)?, row.get(1)?)))
}

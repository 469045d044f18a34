//! SQL statements for documents and their positions.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::eingabe::Auswahl;
use super::genannt::{of_same_order, position_names};
use super::model::{Beleg, BelegPosition, Kettenglied};
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::{Part, record};
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::PageOf;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;
use crate::rules::text::{foreign_number_key, searchable};

pub const LIST: ListSql<'_> = ListSql {
    columns: Beleg::COLUMNS,
    from: "from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id",
    count: "select count(*) from beleg b",
    ids_first: Some("b"),
    order: "order by b.beleg_datum desc, b.angelegt_am desc, b.id desc",
};

/// The due date of an invoice as in [`Beleg::faellig`]; immediately if nothing was agreed (§ 271 BGB).
macro_rules! faellig {
    () => {
        "date(b.beleg_datum, coalesce(b.zahlungsziel_tage, 0) || ' days')"
    };
}
pub(super) use faellig;

/// Final unsettled invoices, earliest due date first. The statement names the index, which contains only
/// these, so that the planner never scans all paid invoices, whatever its statistics.
pub const UNBEZAHLT: ListSql<'_> = ListSql {
    columns: Beleg::COLUMNS,
    from: "from beleg b indexed by beleg_unbezahlt join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id",
    count: "select count(*) from beleg b indexed by beleg_unbezahlt",
    ids_first: None,
    order: concat!("order by ", faellig!(), ", b.id"),
};

/// Documents of which something is left to go on with (D38), in the order of [`LIST`]. The statement names the index, which
/// contains only these; their ids are looked up first.
const WITH_REST: ListSql<'_> =
    ListSql { count: "select count(*) from beleg b indexed by beleg_rest", ..LIST };

const ORDERS: [Order; 6] = [
    ("-beleg_datum", LIST.order),
    ("beleg_datum", "order by b.beleg_datum, b.angelegt_am, b.id"),
    ("beleg_nummer", "order by b.beleg_nummer"),
    ("-beleg_nummer", "order by b.beleg_nummer desc"),
    ("summe_brutto", "order by b.summe_brutto, b.id"),
    ("-summe_brutto", "order by b.summe_brutto desc, b.id desc"),
];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

/// Number of newest documents searched by amount, for which there is no index.
pub const AMOUNTS_LOOKED_AT_MAX: i64 = 20_000;

pub fn list<P: PageOf<Beleg>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
    let mut filter = filter(auswahl);
    let list = if auswahl.offen { WITH_REST } else { LIST };
    tx.list(&list.in_order(&ORDERS, auswahl.sortierung, &mut filter), &filter, page)
}

pub fn filter<'a>(auswahl: &'a Auswahl<'_>) -> Filter<'a> {
    let mut filter = Filter::of("b");
    filter.one_of("b.beleg_typ", &auswahl.typen);
    filter.one_of("b.status", &auswahl.status);
    filter.when("b.beleg_datum >= :von", ":von", auswahl.von);
    filter.when("b.beleg_datum <= :bis", ":bis", auswahl.bis);
    filter_states(&mut filter, auswahl);
    filter.when(concat!(faellig!(), " <= :faellig_bis"), ":faellig_bis", auswahl.faellig_bis);
    filter.when(&has_amount(), ":betrag", auswahl.betrag);
    if auswahl.kontrakt.is_some() || auswahl.betrag.is_some() {
        filter.ids_first();
    }
    filter.when("b.kunde_id = :kunde", ":kunde", auswahl.kunde);
    filter.when("b.beleg_nummer = :nummer", ":nummer", auswahl.beleg_nummer.as_deref());
    filter.when("b.external_ref = :ref", ":ref", auswahl.external_ref);
    filter.words_are_found(auswahl.suche, |found_in| {
        let partners =
            format!("select k.id from kunde k where k.tenant_id = :tenant and {}", found_in("k.such_text"));
        format!("({} or b.kunde_id in ({partners}))", found_in("b.such_text"))
    });
    // There is no index of positions by article: it would cost each new document a page per position.
    let has_article = "exists (select 1 from beleg_position p
        where p.tenant_id = b.tenant_id and p.beleg_id = b.id and p.artikel_id = :artikel)";
    filter.when(has_article, ":artikel", auswahl.artikel);
    let on_contract = "b.id in (select p.beleg_id from beleg_position p where p.tenant_id = :tenant \
        and p.kontrakt_id = :kontrakt)";
    filter.when(on_contract, ":kontrakt", auswahl.kontrakt);
    filter
}

/// The conditions on what has become of a document, and what has not.
fn filter_states<'a>(filter: &mut Filter<'a>, auswahl: &'a Auswahl<'_>) {
    if auswahl.offen {
        filter.and("b.hat_rest = 1 and b.ohne_gegenbeleg = 0 and b.status <> 'storniert'");
        filter.ids_first();
    }
    if auswahl.ohne_erechnung {
        filter.and("b.erechnung_fehlt is not null and b.status = 'abgeschlossen'");
    }
    let waits = "b.status = 'offen' and b.angelegt_am < :offen_seit
        and (b.beleg_typ = 'RE' or b.rechnungsart = 'gutschrift')";
    filter.when(waits, ":offen_seit", auswahl.offen_seit);
    if auswahl.unbezahlt {
        filter.and(
            "b.status = 'abgeschlossen' and b.rechnungsart is not null and b.storno_von_beleg_id is null",
        );
    }
}

fn has_amount() -> String {
    format!(
        "b.id in (select id from (select id, summe_netto, summe_brutto from beleg indexed by beleg_ordnung
           where tenant_id = :tenant order by beleg_datum desc, angelegt_am desc, id desc limit {AMOUNTS_LOOKED_AT_MAX})
         where summe_netto in (:betrag, -:betrag) or summe_brutto in (:betrag, -:betrag))"
    )
}

/// Finds a document by id, without positions.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Beleg>> {
    tx.find_by(&LIST, "b.id", &id)
}

pub fn number_and_type(tx: &Tx<'_>, id: Uuid) -> Result<(String, BelegTyp)> {
    let statement = "select beleg_nummer, beleg_typ from beleg where tenant_id = :tenant and id = :id";
    tx.one(statement, named_params! {":id": id}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the day on which the goods of a document move.
pub fn liefertag(tx: &Tx<'_>, id: Uuid) -> Result<Day> {
    let statement =
        "select coalesce(lieferdatum, beleg_datum) from beleg where tenant_id = :tenant and id = :id";
    tx.one(statement, named_params! {":id": id}, |row| row.get(0))
}

/// Returns the type of a partner's live document that moves goods, whether it has positions of positive quantity, and
/// whether it has positions that take goods back.
pub fn directions(tx: &Tx<'_>, beleg: Uuid, kunde: Uuid) -> Result<Option<(BelegTyp, bool, bool)>> {
    let statement =
        "select b.beleg_typ, coalesce(max(p.lager_menge) > 0, 0), coalesce(min(p.lager_menge) < 0, 0)
        from beleg b join belegtyp t on t.typ = b.beleg_typ and t.lagerrolle is not null
          left join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
        where b.tenant_id = :tenant and b.id = :beleg and b.kunde_id = :kunde and b.status <> 'storniert' group by b.id";
    let params = named_params! {":beleg": beleg, ":kunde": kunde};
    tx.optional(statement, params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

pub fn find_by_number(tx: &Tx<'_>, number: &str) -> Result<Option<Beleg>> {
    tx.find_by(&LIST, "b.beleg_nummer", &number)
}

pub fn find_by_external_ref(tx: &Tx<'_>, external_ref: &str) -> Result<Option<Beleg>> {
    tx.find_by(&LIST, "b.external_ref", &external_ref)
}

pub fn positions(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<BelegPosition>> {
    let statement = select_positions("order by p.position");
    tx.all(&statement, named_params! {":beleg": beleg}, BelegPosition::read)
}

pub fn position(tx: &Tx<'_>, beleg: Uuid, position: i64) -> Result<BelegPosition> {
    let statement = select_positions("and p.position = :position");
    tx.one(&statement, named_params! {":beleg": beleg, ":position": position}, BelegPosition::read)
}

fn select_positions(rest: &str) -> String {
    format!(
        "select {} from beleg_position p
           left join artikel a on a.tenant_id = p.tenant_id and a.id = p.artikel_id
         where p.tenant_id = :tenant and p.beleg_id = :beleg {rest}",
        BelegPosition::COLUMNS
    )
}

/// Records a new version of a document whose own row is otherwise unchanged.
pub fn record_version(tx: &WriteTx<'_>, beleg: Uuid, version: i64) -> Result<()> {
    tx.update("beleg", beleg, named_params! {":version": version, ":geaendert_am": tx.now()})
}

/// Returns the document that a document was made from.
pub fn vorgaenger(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<Kettenglied>> {
    let Some(id) = beleg.vorgaenger_beleg_id else { return Ok(None) };
    let statement =
        format!("select {} from beleg b where b.tenant_id = :tenant and b.id = :id", Kettenglied::COLUMNS);
    tx.optional(&statement, named_params! {":id": id}, Kettenglied::read)
}

/// Maximum number of successors shown: each version of a document stores them.
const NACHFOLGER_SHOWN_MAX: i64 = 100;

/// Lists the documents made from a document, oldest first.
pub fn nachfolger(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Kettenglied>> {
    let statement = format!(
        "select {} from beleg b where b.tenant_id = :tenant and b.vorgaenger_beleg_id = :id
         order by b.id limit {NACHFOLGER_SHOWN_MAX}",
        Kettenglied::COLUMNS
    );
    tx.all(&statement, named_params! {":id": beleg}, Kettenglied::read)
}

/// Returns the document of a position and its number there.
pub fn place_of(tx: &Tx<'_>, position: Uuid) -> Result<Option<(Uuid, i64)>> {
    let statement = "select beleg_id, position from beleg_position where tenant_id = :tenant and id = :id";
    tx.optional(statement, named_params! {":id": position}, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn request_digest(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Vec<u8>>> {
    let statement = "select anfrage_sha256 from beleg where tenant_id = :tenant and id = :id";
    Ok(tx.optional(statement, named_params! {":id": beleg}, |row| row.get(0))?.flatten())
}

/// Returns the number of another live document of this type with the same fremdbelegnummer of the partner, however it is
/// typed.
pub fn with_same_fremdbeleg(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<String>> {
    tx.optional(
        "select beleg_nummer from beleg where tenant_id = :tenant and kunde_id = :kunde and fremdbeleg_key = :key
           and beleg_typ = :typ and id <> :id and status <> 'storniert' and storno_von_beleg_id is null
         order by id limit 1",
        named_params! {
            ":kunde": beleg.kunde_id,
            ":key": fremdbeleg_key(beleg),
            ":typ": beleg.beleg_typ,
            ":id": beleg.id,
        },
        |row| row.get(0),
    )
}

record! {
    /// A position of a document that an item names.
    #[derive(Debug, Clone)]
    pub struct NamedPosition from beleg_position as p {
        id: Uuid,
        position: i64,
        artikel_id: Option<Uuid>,
        charge_id: Option<Uuid>,
        /// In the unit of the article; without an article in its own.
        menge: Quantity = "coalesce(p.lager_menge, p.menge)",
        einheit: Option<String>,
        lager_buchen: bool,
        ep_netto: Price,
        preis_fehlt: bool,
        rabatt_prozent: Percent,
        mwst_satz: Percent,
        steuer_kategorie: Steuerkategorie,
        satz_gesendet: bool,
        satz_datum: Day,
        gesamtpreis: Money,
        kontrakt_id: Option<Uuid>,
        kontrakt_position_id: Option<Uuid>,
    }
}

pub fn named_positions(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<NamedPosition>> {
    let statement = format!(
        "select {} from beleg_position p
         where p.tenant_id = :tenant and p.beleg_id = :beleg order by p.position",
        NamedPosition::COLUMNS
    );
    tx.all(&statement, named_params! {":beleg": beleg}, NamedPosition::read)
}

/// The part of a delivery that a position of an invoice bills.
pub struct Lieferung {
    /// Number of the invoice's position.
    pub position: i64,
    pub beleg_nummer: String,
    /// Its lieferdatum, else its date.
    pub datum: Day,
    pub menge: Quantity,
    pub einheit: Option<String>,
    pub ep_netto: Price,
    pub rabatt_prozent: Percent,
    pub wiegung_id: Option<Uuid>,
    /// Whether one names the other, or the position bills the whole of it; otherwise it is a guess, which is never printed
    /// (D38).
    pub is_certain: bool,
}

fn select_lieferungen() -> String {
    format!(
        "with genannt as materialized (
      select d.id, d.beleg_nummer, coalesce(d.lieferdatum, d.beleg_datum) as datum, g.artikel_id,
        g.menge > 0 as hin, g.einheit, g.ep_netto, g.rabatt_prozent,
        min(g.position) -- whose price it is
      from beleg d join belegtyp t on t.typ = d.beleg_typ and t.lagerrolle = 'lieferung'
        join beleg_position g on g.tenant_id = d.tenant_id and g.beleg_id = d.id
      where d.tenant_id = :tenant and d.id in (
        select bezug_beleg_id from beleg_position where tenant_id = :tenant and beleg_id = :beleg)
      group by d.id, g.artikel_id, hin)
    select l.rechnung_position as position, d.beleg_nummer as beleg_nummer,
      coalesce(d.lieferdatum, d.beleg_datum) as datum, l.menge, p.einheit, p.ep_netto, p.rabatt_prozent,
      p.wiegung_id,
      {} or {} or {} or p.lager_menge = (select sum(x.menge) from lager_paar x where x.tenant_id = l.tenant_id
          and x.rechnung_id = l.rechnung_id and x.rechnung_position = l.rechnung_position
          and x.lieferung_id = l.lieferung_id and x.lieferung_position = l.lieferung_position)
    from lager_paar l join beleg d on d.tenant_id = l.tenant_id and d.id = l.lieferung_id
      join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.lieferung_id
        and p.position = l.lieferung_position
      join beleg_position i on i.tenant_id = l.tenant_id and i.beleg_id = l.rechnung_id
        and i.position = l.rechnung_position
    where l.tenant_id = :tenant and l.rechnung_id = :beleg
    union all
    select p.position, genannt.beleg_nummer, genannt.datum, p.lager_menge, genannt.einheit, genannt.ep_netto,
      genannt.rabatt_prozent, null, 1
    from beleg_position p join genannt on genannt.id = p.bezug_beleg_id and genannt.artikel_id = p.artikel_id
      and genannt.hin = (p.menge > 0)
    where p.tenant_id = :tenant and p.beleg_id = :beleg and not exists (
      select 1 from lager_paar l where l.tenant_id = :tenant and l.rechnung_id = :beleg
        and l.rechnung_position = p.position and l.lieferung_id is not null)
    order by position, datum, beleg_nummer",
        position_names!("i", "p"),
        position_names!("p", "i"),
        of_same_order!("p", "i")
    )
}

/// Returns the deliveries that an invoice bills, in the order of its positions: the paired ones, else the
/// referenced one, even if nothing of it is open any more. Returns count only for positions that take goods
/// back.
pub fn lieferungen(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Lieferung>> {
    tx.all(&select_lieferungen(), named_params! {":beleg": beleg}, Lieferung::read)
}

impl Lieferung {
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Lieferung> {
        Ok(Lieferung {
            position: row.get(0)?,
            beleg_nummer: row.get(1)?,
            datum: row.get(2)?,
            menge: row.get(3)?,
            einheit: row.get(4)?,
            ep_netto: row.get(5)?,
            rabatt_prozent: row.get(6)?,
            wiegung_id: row.get(7)?,
            is_certain: row.get(8)?,
        })
    }
}

/// Returns the deliveries that an invoice certainly bills: those that its papers and its rates follow.
pub fn certain_deliveries(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Lieferung>> {
    Ok(lieferungen(tx, beleg)?.into_iter().filter(|lieferung| lieferung.is_certain).collect())
}

/// Returns the invoices paired with a delivery, and the numbers of their paired positions.
pub fn invoices_of(tx: &Tx<'_>, delivery: Uuid) -> Result<BTreeMap<Uuid, BTreeSet<i64>>> {
    let statement = "select rechnung_id, rechnung_position from lager_paar
        where tenant_id = :tenant and lieferung_id = :delivery and rechnung_id is not null";
    let mut found: BTreeMap<Uuid, BTreeSet<i64>> = BTreeMap::new();
    tx.each(statement, named_params! {":delivery": delivery}, |row| {
        found.entry(row.get(0)?).or_default().insert(row.get(1)?);
        Ok(())
    })?;
    Ok(found)
}

pub fn set_rate(tx: &WriteTx<'_>, position: &BelegPosition) -> Result<()> {
    let statement =
        "update beleg_position set mwst_satz = :satz, steuer_kategorie = :kategorie, satz_datum = :datum
        where tenant_id = :tenant and beleg_id = :beleg and position = :position";
    let params = named_params! {
        ":satz": position.mwst_satz,
        ":kategorie": position.steuer_kategorie,
        ":datum": position.satz_datum,
        ":beleg": position.beleg_id,
        ":position": position.position,
    };
    tx.execute(statement, params).map(drop)
}

/// Returns the numbers of the final invoices and credits that are paired with a delivery or reference it, or of the final
/// credits that reference an invoice.
pub fn finals_that_name(tx: &Tx<'_>, delivery: &Beleg) -> Result<Vec<String>> {
    let typ = delivery.beleg_typ;
    let bills =
        if typ.ist_rechnung() { Some(typ) } else { typ.gegenstueck().filter(|typ| typ.ist_rechnung()) };
    let Some(rechnung) = bills else { return Ok(Vec::new()) };
    let statement = "select b.beleg_nummer from beleg b
        where b.tenant_id = :tenant and b.beleg_typ = :rechnung \
        and b.status in ('abgeschlossen', 'erledigt') and b.id in (
          select rechnung_id from lager_paar where tenant_id = :tenant and lieferung_id = :delivery
          union select gutschrift_id from lager_paar where tenant_id = :tenant and rueckgabe_id = :delivery
          union select beleg_id from beleg_position where tenant_id = :tenant and bezug_beleg_id = :delivery)
        order by b.id";
    tx.all(statement, named_params! {":delivery": delivery.id, ":rechnung": rechnung}, |row| row.get(0))
}

/// Returns quantities and units of positions that share a weighing, in other live documents of this type
/// (D12). `all`: also those that do not take part in the stock, where requests cannot decide that.
pub fn sharing(
    tx: &Tx<'_>,
    wiegung: Uuid,
    own: &Beleg,
    all: bool,
) -> Result<Vec<(Quantity, Option<String>)>> {
    let statement = "select p.menge, p.einheit
        from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        where p.tenant_id = :tenant and p.wiegung_id = :wiegung and b.beleg_typ = :typ and b.status <> 'storniert'
          and b.id <> :own and p.artikel_id is not null and p.menge > 0 and p.ep_netto >= 0
          and (p.lager_buchen = 1 or :all)";
    let params = named_params! {":wiegung": wiegung, ":typ": own.beleg_typ, ":own": own.id, ":all": all};
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the next instant of an event, strictly increasing (D11).
pub fn next_event(tx: &WriteTx<'_>) -> Result<Instant> {
    let statement = "select ereignis_am from beleg where tenant_id = :tenant and ereignis_am is not null
        order by ereignis_am desc limit 1";
    let last: Option<i64> = tx.optional(statement, &[], |row| row.get(0))?;
    let now = tx.now().millis();
    Ok(Instant::from_millis(last.map_or(now, |last| now.max(last + 1))))
}

/// Stores a new document; `has_rest`: something of it is left to go on with.
pub fn insert(tx: &WriteTx<'_>, beleg: &Beleg, digest: Option<[u8; 32]>, has_rest: bool) -> Result<()> {
    let own = named_params! {
        ":anfrage_sha256": digest,
        ":fremdbeleg_key": fremdbeleg_key(beleg),
        ":hat_rest": has_rest,
        ":such_text": such_text(beleg),
    };
    tx.insert("beleg", &[&beleg.values(Part::All)[..], own].concat())
}

pub fn update(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
    let own = named_params! {":fremdbeleg_key": fremdbeleg_key(beleg), ":such_text": such_text(beleg)};
    tx.update("beleg", beleg.id, &[&beleg.values(Part::Mutable)[..], own].concat())
}

fn fremdbeleg_key(beleg: &Beleg) -> Option<String> {
    beleg.fremdbelegnummer.as_deref().map(foreign_number_key)
}

fn such_text(beleg: &Beleg) -> String {
    let searched = [Some(&beleg.beleg_nummer), beleg.external_ref.as_ref(), beleg.fremdbelegnummer.as_ref()];
    searchable(searched.into_iter().flatten().map(String::as_str))
}

pub fn replace_positions(tx: &WriteTx<'_>, beleg: Uuid, positions: &[BelegPosition]) -> Result<()> {
    let statement = "delete from beleg_position where tenant_id = :tenant and beleg_id = :beleg";
    tx.execute(statement, named_params! {":beleg": beleg})?;
    insert_positions(tx, positions)
}

pub fn insert_positions(tx: &WriteTx<'_>, positions: &[BelegPosition]) -> Result<()> {
    tx.insert_all("beleg_position", positions, |position, store| store(&position.values(Part::All)))
}

pub fn set_position_charge(tx: &WriteTx<'_>, beleg: Uuid, position: i64, charge: Option<Uuid>) -> Result<()> {
    let statement = "update beleg_position set charge_id = :charge
        where tenant_id = :tenant and beleg_id = :beleg and position = :position";
    let params = named_params! {":charge": charge, ":beleg": beleg, ":position": position};
    match tx.execute(statement, params)? {
        1 => Ok(()),
        rows => {
            Err(Failure::Broken(format!("the batch of a position was noted in {rows} rows instead of one")))
        }
    }
}

/// Records that the history of a document names a former partner.
pub fn add_former_partner(tx: &WriteTx<'_>, old: &Beleg) -> Result<()> {
    let statement = "insert into beleg_frueherer_kunde (tenant_id, kunde_id, beleg_id)
        values (:tenant, :kunde, :beleg) on conflict do nothing";
    tx.execute(statement, named_params! {":kunde": old.kunde_id, ":beleg": old.id}).map(drop)
}

pub const RETENTION: Retention = Retention {
    records: "Belege",
    years: 8,
    of_partner:
        "select count(*) as anzahl,
          count(*) filter (where b.status = 'offen' and b.kunde_id = :partner) as offen, 0 as undatiert,
          max(b.beleg_datum) as tag, max(b.angelegt_am) as zeit
        from beleg b where b.tenant_id = :tenant and b.id in (
          select id from beleg where tenant_id = :tenant and kunde_id = :partner
          union select beleg_id from beleg_frueherer_kunde where tenant_id = :tenant and kunde_id = :partner)",
};

/// Returns the deliveries whose goods are paired with an invoice.
pub fn deliveries_met(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Uuid>> {
    let statement = "select distinct lieferung_id from lager_paar
        where tenant_id = :tenant and rechnung_id = :beleg and lieferung_id is not null";
    tx.all(statement, named_params! {":beleg": beleg}, |row| row.get(0))
}

//! Statements on documents and their positions.

use rusqlite::types::ToSql;
use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::{Beleg, BelegPosition, pdf_url};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::listing::Listing;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;
use crate::rules::text::searchable;

const COLUMNS: &str = "b.id, b.beleg_nummer, b.beleg_typ, b.status, b.beleg_datum, b.lieferdatum,
    b.leistung_von, b.leistung_bis, b.summe_netto, b.summe_mwst, b.summe_brutto, b.kunde_id, b.notizen,
    b.zahlungsziel_tage, b.zahlungsbedingung, b.skonto_tage, b.skonto_prozent, b.external_ref,
    b.fremdbelegnummer, b.ist_gutschrift, b.liefertermin, b.kontaktperson, b.niederlassung_id, b.lagerhalle_id,
    b.vb_id, b.storno_von_beleg_id, b.storno_grund,
    exists (select 1 from beleg_pdf p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
    b.angelegt_am, b.geaendert_am, coalesce(b.kunden_name, k.name), b.ereignis_am, b.version";

const FROM: &str = "from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id";

const LIST: ListSql<'_> = ListSql {
    columns: COLUMNS,
    from: FROM,
    count: "select count(*) from beleg b",
    ids_first: Some("b"),
    order: "order by b.beleg_datum desc, b.angelegt_am desc, b.id desc",
};

const POSITIONS: &str =
    "select p.id, p.beleg_id, p.artikel_id, p.bezeichnung, p.bezeichnung2, p.langtext, p.menge,
    p.einheit, p.ep_netto, p.mwst_satz, p.gesamtpreis, p.rabatt_prozent, p.position, p.charge_id,
    p.fremde_charge_nr, p.mhd, p.herkunftsland, p.biozertifikat_id, p.kontrakt_id, p.kontrakt_position_id,
    p.wiegung_id, p.bezug_beleg_id, p.lager_buchen, p.kostenstelle, p.niederlassung_id, p.lagerhalle_id,
    a.bezeichnung, p.satz_gesendet, p.charge_gesendet, p.lager_menge
  from beleg_position p left join artikel a on a.tenant_id = p.tenant_id and a.id = p.artikel_id
  where p.tenant_id = :tenant and p.beleg_id = :beleg order by p.position";

fn beleg(row: &Row<'_>) -> rusqlite::Result<Beleg> {
    let mut columns = Columns::of(row);
    let id = columns.take()?;
    Ok(Beleg {
        id,
        beleg_nummer: columns.take()?,
        beleg_typ: columns.take()?,
        status: columns.take()?,
        beleg_datum: columns.take()?,
        lieferdatum: columns.take()?,
        leistung_von: columns.take()?,
        leistung_bis: columns.take()?,
        summe_netto: columns.take()?,
        summe_mwst: columns.take()?,
        summe_brutto: columns.take()?,
        kunde_id: columns.take()?,
        notizen: columns.take()?,
        zahlungsziel_tage: columns.take()?,
        zahlungsbedingung: columns.take()?,
        skonto_tage: columns.take()?,
        skonto_prozent: columns.take()?,
        external_ref: columns.take()?,
        fremdbelegnummer: columns.take()?,
        ist_gutschrift: columns.take()?,
        lieferadresse_id: None,
        liefertermin: columns.take()?,
        kontaktperson: columns.take()?,
        niederlassung_id: columns.take()?,
        lagerhalle_id: columns.take()?,
        vb_id: columns.take()?,
        storno_von_beleg_id: columns.take()?,
        storno_grund: columns.take()?,
        pdf_url: columns.take::<bool>()?.then(|| pdf_url(id)),
        created_at: columns.take()?,
        updated_at: columns.take()?,
        kunden_name: columns.take()?,
        positionen: None,
        ereignis_am: columns.take()?,
        version: columns.take()?,
    })
}

fn position(row: &Row<'_>) -> rusqlite::Result<BelegPosition> {
    let mut columns = Columns::of(row);
    let (id, beleg_id, artikel_id) = (columns.take()?, columns.take()?, columns.take()?);
    let (bezeichnung, bezeichnung2, langtext) = (columns.take()?, columns.take()?, columns.take()?);
    let (menge, einheit, ep_netto) = (columns.take()?, columns.take()?, columns.take()?);
    Ok(BelegPosition {
        id,
        beleg_id,
        artikel_id,
        bezeichnung,
        bezeichnung2,
        langtext,
        menge,
        einheit,
        einzelpreis: ep_netto,
        ep_netto,
        mwst_satz: columns.take()?,
        gesamtpreis: columns.take()?,
        rabatt_prozent: columns.take()?,
        position: columns.take()?,
        charge_id: columns.take()?,
        fremde_charge_nr: columns.take()?,
        mhd: columns.take()?,
        herkunftsland: columns.take()?,
        biozertifikat_id: columns.take()?,
        kontrakt_id: columns.take()?,
        kontrakt_position_id: columns.take()?,
        wiegung_id: columns.take()?,
        bezug_beleg_id: columns.take()?,
        lager_buchen: columns.take()?,
        kostenstelle: columns.take()?,
        niederlassung_id: columns.take()?,
        lagerhalle_id: columns.take()?,
        artikel_name: columns.take()?,
        satz_gesendet: columns.take()?,
        charge_gesendet: columns.take()?,
        lager_menge: columns.take()?,
    })
}

/// What a list of documents is filtered by.
#[allow(missing_docs)]
pub struct Auswahl<'a> {
    pub typen: Vec<&'static str>,
    pub status: Option<&'a str>,
    pub von: Option<Day>,
    pub bis: Option<Day>,
    pub kunde: Option<Uuid>,
    pub beleg_nummer: Option<String>,
    pub external_ref: Option<&'a str>,
    /// Words in number, external_ref, fremdbelegnummer, or in what the partner is searched in.
    pub suche: Option<&'a str>,
    /// Named by a position.
    pub artikel: Option<Uuid>,
    /// Named by a position.
    pub kontrakt: Option<Uuid>,
}

/// One page of documents, without positions.
pub fn list(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Listing> {
    let mut filter = Filter::of("b");
    filter.one_of("b.beleg_typ", &auswahl.typen);
    filter.when("b.status = :status", ":status", auswahl.status);
    filter.when("b.beleg_datum >= :von", ":von", auswahl.von);
    filter.when("b.beleg_datum <= :bis", ":bis", auswahl.bis);
    filter.when("b.kunde_id = :kunde", ":kunde", auswahl.kunde);
    filter.when("b.beleg_nummer = :nummer", ":nummer", auswahl.beleg_nummer.as_deref());
    filter.when("b.external_ref = :ref", ":ref", auswahl.external_ref);
    filter.words_are_found(auswahl.suche, |found_in| {
        let partners =
            format!("select k.id from kunde k where k.tenant_id = :tenant and {}", found_in("k.such_text"));
        format!("({} or b.kunde_id in ({partners}))", found_in("b.such_text"))
    });
    // No index of positions by article: each new document would pay for it with a page for each of its positions.
    let has_article = "exists (select 1 from beleg_position p
        where p.tenant_id = b.tenant_id and p.beleg_id = b.id and p.artikel_id = :artikel)";
    filter.when(has_article, ":artikel", auswahl.artikel);
    let on_contract = "b.id in (select p.beleg_id from beleg_position p where p.tenant_id = :tenant and p.kontrakt_id = :kontrakt)";
    filter.when(on_contract, ":kontrakt", auswahl.kontrakt);
    if auswahl.kontrakt.is_some() {
        filter.ids_first();
    }
    tx.list(&LIST, &filter, page, |row, rows| rows.push(&beleg(row)?))
}

fn find_where(tx: &Tx<'_>, column: &str, value: &dyn ToSql) -> Result<Option<Beleg>> {
    let statement = format!("{LIST} where b.tenant_id = :tenant and {column} = :value");
    tx.optional(&statement, &[(":value", value)], beleg)
}

/// A document by id, without positions.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Beleg>> {
    find_where(tx, "b.id", &id)
}

/// Number and type of a document that is there.
pub fn number_and_type(tx: &Tx<'_>, id: Uuid) -> Result<(String, BelegTyp)> {
    let statement = "select beleg_nummer, beleg_typ from beleg where tenant_id = :tenant and id = :id";
    tx.one(statement, named_params! {":id": id}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A document by its number, without positions.
pub fn find_by_number(tx: &Tx<'_>, number: &str) -> Result<Option<Beleg>> {
    find_where(tx, "b.beleg_nummer", &number)
}

/// A document by its idempotency key, without positions.
pub fn find_by_external_ref(tx: &Tx<'_>, external_ref: &str) -> Result<Option<Beleg>> {
    find_where(tx, "b.external_ref", &external_ref)
}

/// The positions of a document.
pub fn positions(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<BelegPosition>> {
    tx.all(POSITIONS, named_params! {":beleg": beleg}, position)
}

/// The document with its positions.
pub fn with_positions(tx: &Tx<'_>, beleg: Beleg) -> Result<Beleg> {
    let positionen = Some(positions(tx, beleg.id)?);
    Ok(Beleg { positionen, ..beleg })
}

/// Digest of the request that made a document.
pub fn request_digest(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Vec<u8>>> {
    let statement = "select anfrage_sha256 from beleg where tenant_id = :tenant and id = :id";
    Ok(tx.optional(statement, named_params! {":id": beleg}, |row| row.get(0))?.flatten())
}

/// Whether the partner has another ER with this number of his own.
pub fn has_fremdbeleg(tx: &Tx<'_>, beleg: &Beleg) -> Result<bool> {
    tx.exists(
        "select 1 from beleg where tenant_id = :tenant and kunde_id = :kunde and fremdbelegnummer = :nummer
           and beleg_typ = :typ and id <> :id and status <> 'storniert' and storno_von_beleg_id is null",
        named_params! {
            ":kunde": beleg.kunde_id,
            ":nummer": beleg.fremdbelegnummer,
            ":typ": beleg.beleg_typ,
            ":id": beleg.id,
        },
    )
}

/// Whether another live document of this type uses a weighing.
pub fn weighing_is_used(tx: &Tx<'_>, wiegung: Uuid, typ: BelegTyp, own: Option<Uuid>) -> Result<bool> {
    tx.exists(
        "select 1 from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
         where p.tenant_id = :tenant and p.wiegung_id = :wiegung and b.beleg_typ = :typ
           and b.status <> 'storniert' and b.id is not :own",
        named_params! {":wiegung": wiegung, ":typ": typ, ":own": own},
    )
}

/// The next instant of an event: it grows strictly (D11).
pub fn next_event(tx: &WriteTx<'_>) -> Result<Instant> {
    let statement = "select ereignis_am from beleg where tenant_id = :tenant and ereignis_am is not null
        order by ereignis_am desc limit 1";
    let last: Option<i64> = tx.optional(statement, &[], |row| row.get(0))?;
    let now = tx.now().millis();
    Ok(Instant::from_millis(last.map_or(now, |last| now.max(last + 1))))
}

/// Adds a document, with the digest of the request that made it.
pub fn insert(tx: &WriteTx<'_>, beleg: &Beleg, digest: Option<[u8; 32]>) -> Result<()> {
    with_columns(beleg, |columns| {
        let own: [(&str, &dyn ToSql); 7] = [
            (":id", &beleg.id),
            (":beleg_nummer", &beleg.beleg_nummer),
            (":beleg_typ", &beleg.beleg_typ),
            (":external_ref", &beleg.external_ref),
            (":storno_von_beleg_id", &beleg.storno_von_beleg_id),
            (":anfrage_sha256", &digest),
            (":angelegt_am", &beleg.created_at),
        ];
        tx.insert("beleg", &[&own[..], columns].concat())
    })
}

/// Stores a changed document.
pub fn update(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
    with_columns(beleg, |columns| tx.update("beleg", beleg.id, columns))
}

/// The columns that a change can touch.
fn with_columns(beleg: &Beleg, store: impl FnOnce(&[(&str, &dyn ToSql)]) -> Result<()>) -> Result<()> {
    let searched = [Some(&beleg.beleg_nummer), beleg.external_ref.as_ref(), beleg.fremdbelegnummer.as_ref()];
    store(named_params! {
        ":such_text": searchable(searched.into_iter().flatten().map(String::as_str)),
        ":status": beleg.status,
        ":beleg_datum": beleg.datum(),
        ":lieferdatum": beleg.lieferdatum.map(|day| day.0),
        ":leistung_von": beleg.leistung_von.map(|day| day.0),
        ":leistung_bis": beleg.leistung_bis.map(|day| day.0),
        ":liefertermin": beleg.liefertermin.map(|day| day.0),
        ":kunde_id": beleg.kunde_id,
        ":summe_netto": beleg.summe_netto,
        ":summe_mwst": beleg.summe_mwst,
        ":summe_brutto": beleg.summe_brutto,
        ":ist_gutschrift": beleg.ist_gutschrift,
        ":notizen": beleg.notizen,
        ":zahlungsziel_tage": beleg.zahlungsziel_tage,
        ":zahlungsbedingung": beleg.zahlungsbedingung,
        ":skonto_tage": beleg.skonto_tage,
        ":skonto_prozent": beleg.skonto_prozent,
        ":fremdbelegnummer": beleg.fremdbelegnummer,
        ":kontaktperson": beleg.kontaktperson,
        ":niederlassung_id": beleg.niederlassung_id,
        ":lagerhalle_id": beleg.lagerhalle_id,
        ":vb_id": beleg.vb_id,
        ":storno_grund": beleg.storno_grund,
        ":ereignis_am": beleg.ereignis_am,
        ":geaendert_am": beleg.updated_at,
        ":version": beleg.version,
    })
}

/// Copies name, address and VAT id of the partner into a document that becomes final (D4).
pub fn copy_partner(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement =
        "update beleg set (kunden_name, kunden_strasse, kunden_plz, kunden_ort, kunden_staat, kunden_ust_id)
           = (select name, strasse, plz, ort, staat, ust_id from kunde k
              where k.tenant_id = beleg.tenant_id and k.id = beleg.kunde_id)
         where tenant_id = :tenant and id = :id";
    tx.execute(statement, named_params! {":id": beleg}).map(drop)
}

/// Replaces the positions of a document.
pub fn replace_positions(tx: &WriteTx<'_>, beleg: Uuid, positions: &[BelegPosition]) -> Result<()> {
    let statement = "delete from beleg_position where tenant_id = :tenant and beleg_id = :beleg";
    tx.execute(statement, named_params! {":beleg": beleg})?;
    insert_positions(tx, positions)
}

/// Stores the positions of a new document.
pub fn insert_positions(tx: &WriteTx<'_>, positions: &[BelegPosition]) -> Result<()> {
    tx.insert_all("beleg_position", positions, |position, store| {
        store(named_params! {
            ":id": position.id,
            ":beleg_id": position.beleg_id,
            ":position": position.position,
            ":artikel_id": position.artikel_id,
            ":bezeichnung": position.bezeichnung,
            ":bezeichnung2": position.bezeichnung2,
            ":langtext": position.langtext,
            ":menge": position.menge,
            ":einheit": position.einheit,
            ":ep_netto": position.ep_netto,
            ":rabatt_prozent": position.rabatt_prozent,
            ":mwst_satz": position.mwst_satz,
            ":satz_gesendet": position.satz_gesendet,
            ":gesamtpreis": position.gesamtpreis,
            ":charge_id": position.charge_id,
            ":charge_gesendet": position.charge_gesendet,
            ":fremde_charge_nr": position.fremde_charge_nr,
            ":mhd": position.mhd.map(|day| day.0),
            ":herkunftsland": position.herkunftsland,
            ":biozertifikat_id": position.biozertifikat_id,
            ":lager_buchen": position.lager_buchen,
            ":lager_menge": position.lager_menge,
            ":bezug_beleg_id": position.bezug_beleg_id,
            ":wiegung_id": position.wiegung_id,
            ":kontrakt_id": position.kontrakt_id,
            ":kontrakt_position_id": position.kontrakt_position_id,
            ":kostenstelle": position.kostenstelle,
            ":niederlassung_id": position.niederlassung_id,
            ":lagerhalle_id": position.lagerhalle_id,
        })
    })
}

/// Notes the one batch that covers a position.
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

//! Statements on goods-receipt notes.

use rusqlite::types::ToSql;
use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::Annahmeschein;
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::Listing;
use crate::rules::day::Day;
use crate::rules::receipt::AnnahmescheinStatus;

const LIST: ListSql<'_> = ListSql {
    columns: "s.id, s.belegnummer, s.status, s.lieferdatum, s.anliefermenge_kg, s.netto_menge_kg,
        s.netto_betrag, s.partner_id, s.artikel_id, s.wiegung_id, s.feuchte_prozent, s.basisfeuchte_prozent,
        s.schwundfaktor, s.besatz_prozent, s.basisbesatz_prozent, s.sonstige_abzuege_kg, s.preis_je_t,
        s.kontrakt_id, s.fremde_charge_nr, s.herkunftsland, s.biozertifikat_id, s.bemerkung, s.external_ref,
        s.storno_grund, s.angelegt_am, s.el_beleg_id, b.beleg_nummer, p.charge_id, k.name, a.bezeichnung",
    from: "from annahmeschein s
        left join beleg b on b.tenant_id = s.tenant_id and b.id = s.el_beleg_id
        left join beleg_position p on p.tenant_id = s.tenant_id and p.beleg_id = s.el_beleg_id and p.position = 1
        left join kunde k on k.tenant_id = s.tenant_id and k.id = s.partner_id
        left join artikel a on a.tenant_id = s.tenant_id and a.id = s.artikel_id",
    count: "select count(*) from annahmeschein s",
    ids_first: None,
    order: "order by s.lieferdatum desc, s.id",
};

fn annahmeschein(row: &Row<'_>) -> rusqlite::Result<Annahmeschein> {
    let mut columns = Columns::of(row);
    Ok(Annahmeschein {
        id: columns.take()?,
        belegnummer: columns.take()?,
        status: columns.take()?,
        lieferdatum: columns.take()?,
        anliefermenge_kg: columns.take()?,
        netto_menge_kg: columns.take()?,
        netto_betrag: columns.take()?,
        partner_id: columns.take()?,
        artikel_id: columns.take()?,
        wiegung_id: columns.take()?,
        feuchte_prozent: columns.take()?,
        basisfeuchte_prozent: columns.take()?,
        schwundfaktor: columns.take()?,
        besatz_prozent: columns.take()?,
        basisbesatz_prozent: columns.take()?,
        sonstige_abzuege_kg: columns.take()?,
        preis_je_t: columns.take()?,
        kontrakt_id: columns.take()?,
        fremde_charge_nr: columns.take()?,
        herkunftsland: columns.take()?,
        biozertifikat_id: columns.take()?,
        bemerkung: columns.take()?,
        external_ref: columns.take()?,
        storno_grund: columns.take()?,
        created_at: columns.take()?,
        el_id: columns.take()?,
        el_beleg_nummer: columns.take()?,
        charge_id: columns.take()?,
        partner_name: columns.take()?,
        artikel_bezeichnung: columns.take()?,
    })
}

/// What a list of notes is filtered by; von and bis mean lieferdatum (D16).
#[allow(missing_docs)]
pub struct Auswahl<'a> {
    pub status: Option<&'a str>,
    pub von: Option<Day>,
    pub bis: Option<Day>,
}

/// One page of notes.
pub fn list(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Listing> {
    let mut filter = Filter::of("s");
    filter.when("s.status = :status", ":status", auswahl.status);
    filter.when("s.lieferdatum >= :von", ":von", auswahl.von);
    filter.when("s.lieferdatum <= :bis", ":bis", auswahl.bis);
    tx.list(&LIST, &filter, page, |row, rows| rows.push(&annahmeschein(row)?))
}

/// A note by id.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Annahmeschein>> {
    let statement = format!("{LIST} where s.tenant_id = :tenant and s.id = :id");
    tx.optional(&statement, named_params! {":id": id}, annahmeschein)
}

/// Cancels a note.
pub fn cancel(tx: &WriteTx<'_>, id: Uuid, grund: &str) -> Result<()> {
    let status = AnnahmescheinStatus::Storniert;
    tx.update("annahmeschein", id, named_params! {":status": status, ":storno_grund": grund})
}

/// A note by its number.
pub fn find_by_nummer(tx: &Tx<'_>, belegnummer: &str) -> Result<Option<Annahmeschein>> {
    let statement = format!("{LIST} where s.tenant_id = :tenant and s.belegnummer = :nummer");
    tx.optional(&statement, named_params! {":nummer": belegnummer}, annahmeschein)
}

/// The note that a request with this reference made.
pub fn find_by_external_ref(tx: &Tx<'_>, external_ref: &str) -> Result<Option<Annahmeschein>> {
    let statement = format!("{LIST} where s.tenant_id = :tenant and s.external_ref = :ref");
    tx.optional(&statement, named_params! {":ref": external_ref}, annahmeschein)
}

/// The digest of the request that made a note.
pub fn request_digest(tx: &Tx<'_>, id: Uuid) -> Result<Option<[u8; 32]>> {
    let statement = "select anfrage_sha256 from annahmeschein where tenant_id = :tenant and id = :id";
    Ok(tx.optional(statement, named_params! {":id": id}, |row| row.get(0))?.flatten())
}

/// Adds the note of a request, with its digest.
pub fn insert(tx: &WriteTx<'_>, schein: &Annahmeschein, digest: [u8; 32]) -> Result<()> {
    let own: &[(&str, &dyn ToSql)] = named_params! {
        ":id": schein.id,
        ":belegnummer": schein.belegnummer,
        ":external_ref": schein.external_ref,
        ":anfrage_sha256": digest,
        ":el_beleg_id": schein.el_id,
        ":angelegt_am": schein.created_at,
    };
    with_columns(schein, |columns| tx.insert("annahmeschein", &[own, columns].concat()))
}

/// Adds an imported note or stores what changed of it.
pub fn upsert(tx: &WriteTx<'_>, schein: &Annahmeschein, is_new: bool) -> Result<()> {
    let own: &[(&str, &dyn ToSql)] = named_params! {
        ":id": schein.id,
        ":belegnummer": schein.belegnummer,
        ":angelegt_am": schein.created_at,
    };
    with_columns(schein, |columns| match is_new {
        true => tx.insert("annahmeschein", &[own, columns].concat()),
        false => tx.update("annahmeschein", schein.id, columns),
    })
}

fn with_columns<T>(schein: &Annahmeschein, store: impl FnOnce(&[(&str, &dyn ToSql)]) -> T) -> T {
    store(named_params! {
        ":status": schein.status,
        ":lieferdatum": schein.lieferdatum.map(|day| day.0),
        ":anliefermenge_kg": schein.anliefermenge_kg,
        ":netto_menge_kg": schein.netto_menge_kg,
        ":netto_betrag": schein.netto_betrag,
        ":partner_id": schein.partner_id,
        ":artikel_id": schein.artikel_id,
        ":wiegung_id": schein.wiegung_id,
        ":feuchte_prozent": schein.feuchte_prozent,
        ":basisfeuchte_prozent": schein.basisfeuchte_prozent,
        ":schwundfaktor": schein.schwundfaktor,
        ":besatz_prozent": schein.besatz_prozent,
        ":basisbesatz_prozent": schein.basisbesatz_prozent,
        ":sonstige_abzuege_kg": schein.sonstige_abzuege_kg,
        ":preis_je_t": schein.preis_je_t,
        ":kontrakt_id": schein.kontrakt_id,
        ":fremde_charge_nr": schein.fremde_charge_nr,
        ":herkunftsland": schein.herkunftsland,
        ":biozertifikat_id": schein.biozertifikat_id,
        ":bemerkung": schein.bemerkung,
    })
}

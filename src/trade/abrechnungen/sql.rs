//! SQL statements for settlements.

use rusqlite::named_params;
use serde_json::json;
use uuid::Uuid;

use super::model::{Abrechnung, Auswahl};
use crate::platform::db::columns::Json;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::record;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent, Quantity};
use crate::rules::settlement::{AbrechnungsPosten, AbrechnungsTeil, Abrechnungsart};
use crate::rules::tax::Steuerkategorie;
use crate::trade::annahmescheine::{self, Annahmeschein};

const LIST: ListSql<'_> = ListSql {
    columns: Abrechnung::COLUMNS,
    from: "from abrechnung a
        join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
        left join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id",
    count: "select count(*) from abrechnung a join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id",
    ids_first: None,
    order: "order by a.id desc",
};

pub fn list(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<Records<Abrechnung>> {
    let mut filter = Filter::of("a");
    filter.one_of("a.art", &auswahl.art);
    filter.when("b.kunde_id = :partner", ":partner", auswahl.partner);
    filter.when("b.beleg_datum >= :von", ":von", auswahl.von);
    filter.when("b.beleg_datum <= :bis", ":bis", auswahl.bis);
    filter.when(
        "exists (select 1 from abrechnung_annahme x where x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
           and x.annahmeschein_id = :schein)",
        ":schein",
        auswahl.schein,
    );
    tx.list(&LIST, &filter, page)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Abrechnung>> {
    tx.find_by(&LIST, "a.id", &id)
}

/// Finds the settlement of a document.
pub fn of_document(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Abrechnung>> {
    tx.find_by(&LIST, "a.beleg_id", &beleg)
}

/// Returns the receipts of a settlement in order, as printed.
pub fn posten(tx: &Tx<'_>, id: Uuid) -> Result<Vec<Json<AbrechnungsPosten>>> {
    let statement =
        "select inhalt from abrechnung_annahme where tenant_id = :tenant and abrechnung_id = :id order by nr";
    tx.all(statement, named_params! {":id": id}, |row| row.get(0))
}

/// Returns the stored request and its digest.
pub fn request(tx: &Tx<'_>, id: Uuid) -> Result<(String, [u8; 32])> {
    let statement = "select anfrage, anfrage_sha256 from abrechnung where tenant_id = :tenant and id = :id";
    tx.one(statement, named_params! {":id": id}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A receipt as recorded in its live final settlement.
pub struct Abgerechnet {
    pub beleg: Uuid,
    pub posten: AbrechnungsPosten,
    pub netto_kg: Quantity,
}

pub fn settled(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<Abgerechnet>> {
    let statement = "select x.inhalt, x.netto_kg, a.beleg_id from abrechnung_annahme x
        join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
        where x.tenant_id = :tenant and x.abrechnung_id = :abrechnung and x.annahmeschein_id = :schein";
    let key = named_params! {":abrechnung": schein.abrechnung_id, ":schein": schein.id};
    tx.optional(statement, key, |row| {
        let Json(posten) = row.get(0)?;
        Ok(Abgerechnet { posten, netto_kg: row.get(1)?, beleg: row.get(2)? })
    })
}

record! {
    /// A live advance on a receipt.
    #[derive(Debug, Clone)]
    pub struct Abschlag from abrechnung_annahme as x {
        beleg_id: Uuid = "b.id",
        beleg_nummer: String = "b.beleg_nummer",
        beleg_datum: Day = "b.beleg_datum",
        betrag: Money,
        mwst_satz: Percent,
        steuer_kategorie: Steuerkategorie,
    }
}

pub fn advances(tx: &Tx<'_>, schein: Uuid) -> Result<Vec<Abschlag>> {
    let statement = format!(
        "select {} from abrechnung_annahme x
         join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
         join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
         where x.tenant_id = :tenant and x.annahmeschein_id = :schein and a.art = 'abschlag'
           and b.status <> 'storniert'
         order by b.beleg_datum, b.beleg_nummer",
        Abschlag::COLUMNS
    );
    tx.all(&statement, named_params! {":schein": schein}, Abschlag::read)
}

record! {
    /// The unsettled total of a supplier, and of one contract with it.
    pub struct Geschuldet from annahmeschein as s {
        partner_id: Option<Uuid>,
        partner_name: Option<String> = "k.name",
        kontrakt_id: Option<Uuid>,
        kontrakt_nr: Option<String> = "v.kontrakt_nr",
        anzahl: i64 = "count(*)",
        gesperrt: i64 = "count(s.sperrgruende)",
        netto_menge_kg: Quantity = "coalesce(sum(s.netto_menge_kg), 0)",
        /// Includes only receipts with a known price.
        netto_betrag: Money = "coalesce(sum(s.netto_betrag), 0)",
        /// Paid in advance, net.
        abschlaege: Money = "coalesce(sum((select sum(x.betrag) from abrechnung_annahme x
            join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id and a.art = 'abschlag'
            join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id and b.status <> 'storniert'
            where x.tenant_id = s.tenant_id and x.annahmeschein_id = s.id)), 0)",
    }
}

/// Lists the suppliers with open receipts, by name; `most` rows at most.
pub fn owed(tx: &Tx<'_>, most: u32) -> Result<Vec<Geschuldet>> {
    let statement = format!(
        "select {} from annahmeschein s
         left join kunde k on k.tenant_id = s.tenant_id and k.id = s.partner_id
         left join kontrakt v on v.tenant_id = s.tenant_id and v.id = s.kontrakt_id
         where s.tenant_id = :tenant and s.status = 'offen' and s.partner_id is not null
         group by s.partner_id, s.kontrakt_id order by k.name, v.kontrakt_nr limit {most}",
        Geschuldet::COLUMNS
    );
    tx.all(&statement, &[], Geschuldet::read)
}

/// A settlement to store.
pub struct Neu<'n> {
    pub id: Uuid,
    pub beleg: Uuid,
    pub art: Abrechnungsart,
    pub anfrage: &'n str,
    pub digest: [u8; 32],
    pub korrektur_von: Option<Uuid>,
}

/// A receipt in it.
pub struct NeuerPosten<'n> {
    pub posten: &'n AbrechnungsPosten,
    /// The number of its first item.
    pub position: i64,
    pub kontrakt_id: Option<Uuid>,
}

pub fn insert<'n>(
    tx: &WriteTx<'_>,
    neu: &Neu<'_>,
    notes: impl Iterator<Item = NeuerPosten<'n>>,
) -> Result<()> {
    let columns: Params<'_> = named_params! {
        ":id": neu.id,
        ":beleg_id": neu.beleg,
        ":art": neu.art,
        ":anfrage": neu.anfrage,
        ":anfrage_sha256": neu.digest,
        ":korrektur_von": neu.korrektur_von,
        ":angelegt_am": tx.now(),
        ":key_id": tx.key_id(),
    };
    tx.insert("abrechnung", columns)?;
    for (nr, note) in (1i64..).zip(notes) {
        let schein = note.posten.annahmeschein_id;
        insert_note(tx, neu, nr, &note)?;
        if neu.art == Abrechnungsart::End {
            annahmescheine::settle(tx, schein, neu.id)?;
        } else {
            tx.changed("annahmeschein", schein);
        }
    }
    Ok(())
}

fn insert_note(tx: &WriteTx<'_>, neu: &Neu<'_>, nr: i64, note: &NeuerPosten<'_>) -> Result<()> {
    let posten = note.posten;
    // An advance takes nothing from a contract.
    let of_kontrakt = |teil: &&AbrechnungsTeil| neu.art == Abrechnungsart::End && teil.kontrakt.is_some();
    let teile = posten.teile.iter().filter(of_kontrakt).map(|teil| {
        let position = teil.kontrakt_position_id.map(|id| id.simple().to_string());
        json!({"position": position, "kg": teil.kg.units()})
    });
    let teile: Vec<_> = teile.collect();
    let columns: Params<'_> = named_params! {
        ":abrechnung_id": neu.id,
        ":annahmeschein_id": posten.annahmeschein_id,
        ":nr": nr,
        ":position": note.position,
        ":analyse": posten.analyse,
        ":netto_kg": posten.rechnung.netto_kg.unwrap_or_default(),
        ":kontrakt_id": note.kontrakt_id.filter(|_| !teile.is_empty()),
        ":kontrakt_teile": serde_json::to_string(&teile)?,
        ":mwst_satz": posten.mwst_satz,
        ":steuer_kategorie": posten.steuer_kategorie,
        ":betrag": posten.betrag,
        ":inhalt": serde_json::to_string(posten)?,
    };
    tx.insert("abrechnung_annahme", columns)
}

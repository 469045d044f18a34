//! Organic certificates of suppliers: master data that batches reference.

use rusqlite::named_params;
use uuid::Uuid;

use crate::eingabe;
use crate::master::kunden;
use crate::platform::db::record::{Part, record};
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson, Int, Text};
use crate::platform::import::{Import, Upserted};
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};

pub const IMPORTS: &[Import] =
    &[Import::of::<BiozertifikatZeile>("biozertifikate", &[&["id"], &["nummer"]], import)];

eingabe! {
    /// A row of biozertifikate; its key is the id if given, else the nummer. `partner` is a kundennr (D22).
    pub struct BiozertifikatZeile {
        id: Int<1, { i32::MAX as i64 }>,
        nummer: Text,
        kontrollstelle: Text,
        partner: Text,
        gueltig_bis: Day,
    }
    nur_lesen: []
}

record! {
    #[derive(PartialEq, Eq)]
    pub struct Biozertifikat in biozertifikat as z {
        nummer: String = mutable,
        kontrollstelle: Option<String> = mutable,
        partner_id: Option<Uuid> = mutable,
        gueltig_bis: Option<Day> = mutable,
    }
}

impl Biozertifikat {
    /// Whether the certificate is still valid on a day.
    pub fn holds_on(&self, day: Day) -> bool {
        self.gueltig_bis.is_none_or(|last| last >= day)
    }

    pub fn hint_expired(&self, day: Day, hints: &mut Hints) {
        if let Some(last) = self.gueltig_bis.filter(|last| *last < day) {
            let message = format!(
                "Das Biozertifikat {} galt bis {last}, die Ware kam am {day}. Bitte ein gültiges anfordern.",
                self.nummer
            );
            hints.add_field(HintCode::BiozertifikatAbgelaufen, "biozertifikat_id", message);
        }
    }
}

pub fn must_have(tx: &Tx<'_>, id: i64) -> Result<Biozertifikat> {
    let message = "Dieses Biozertifikat gibt es nicht. Bitte die biozertifikat_id prüfen.";
    let missing = || Refusal::field(Code::BiozertifikatNichtGefunden, "biozertifikat_id", message);
    Ok(find(tx, id)?.ok_or_else(missing)?)
}

pub fn kontrollstelle(tx: &Tx<'_>, id: i64) -> Result<Option<String>> {
    Ok(find(tx, id)?.and_then(|zertifikat| zertifikat.kontrollstelle))
}

fn import(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = BiozertifikatZeile::from_json(row, at)?;
    let nummer = required(zeile.nummer, "nummer")?;
    let partner_of = |kundennr: String| kunden::must_have_number(tx, &kundennr, "partner");
    let partner_id = zeile.partner.map(partner_of).transpose()?.map(|kunde| kunde.id);
    let id = zeile.id.map_or_else(|| id_of(tx, &nummer), Ok)?;
    let old = find(tx, id)?;
    let new = Biozertifikat {
        nummer,
        kontrollstelle: zeile.kontrollstelle.or(old.as_ref().and_then(|old| old.kontrollstelle.clone())),
        partner_id: partner_id.or(old.as_ref().and_then(|old| old.partner_id)),
        gueltig_bis: zeile.gueltig_bis.or(old.as_ref().and_then(|old| old.gueltig_bis)),
    };
    let own: Params<'_> = named_params! {":id": id};
    let store = || tx.upsert("biozertifikat", &["id"], &[own, &new.values(Part::All)[..]].concat());
    Upserted::by(old.as_ref(), &new, store)
}

/// Returns the id of the certificate with this number, or the next free one.
fn id_of(tx: &Tx<'_>, nummer: &str) -> Result<i64> {
    let statement = "select coalesce(
           (select min(id) from biozertifikat where tenant_id = :tenant and nummer = :nummer),
           (select max(id) + 1 from biozertifikat where tenant_id = :tenant), 1)";
    tx.one(statement, named_params! {":nummer": nummer}, |row| row.get(0))
}

fn find(tx: &Tx<'_>, id: i64) -> Result<Option<Biozertifikat>> {
    let statement = format!(
        "select {} from biozertifikat z where z.tenant_id = :tenant and z.id = :id",
        Biozertifikat::COLUMNS
    );
    tx.optional(&statement, named_params! {":id": id}, Biozertifikat::read)
}

pub const RETENTION: Retention = Retention {
    records: "Biozertifikate",
    years: 10,
    of_partner:
        "select count(*) as anzahl, 0 as offen, count(*) filter (where gueltig_bis is null) as undatiert,
          max(gueltig_bis) as tag, null as zeit
        from biozertifikat
        where tenant_id = :tenant and partner_id = :partner",
};

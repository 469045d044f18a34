//! Tax rates by date: data of the company, not code (D7, D21e).

use std::sync::Arc;

use rusqlite::{Connection, named_params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::eingabe;
use crate::platform::db::TenantId;
use crate::platform::db::list::{Filter, ListSql};
use crate::platform::db::record::{Part, columns, record};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::json::Json;
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::http::wire::{At, FromJson, Text};
use crate::platform::import::{Import, Upserted};
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, refuse_if, required};
use crate::rules::fixed::Percent;
use crate::rules::tax::Satz;

pub const IMPORTS: &[Import] =
    &[Import::of::<SteuersatzZeile>("steuersaetze", &[&["schluessel", "gueltig_von"]], import)];

pub const ROUTES: &[Route] =
    &[Route::get("/api/v1/steuersaetze", Access::AnyKey, "Steuersätze, die an einem Tag gelten", list)
        .with_query(&[Param::day("datum", "der Tag; ohne Angabe heute"), Param::limit(None), Param::OFFSET])
        .gives(&[Answer::array::<Steuersatz>()])];

record! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Steuersatz in steuersatz as s {
        /// normal, ermaessigt, pauschal_24, frei, or an imported one.
        schluessel: String = fixed,
        bezeichnung: String = mutable,
        satz: Percent = mutable,
        gueltig_von: Day = fixed,
        /// Last day of validity; null: until further notice.
        gueltig_bis: Option<Day> = mutable,
        /// Tax category code of UNCL5305: S, Z, E …
        kategorie: String = mutable,
    }
}

eingabe! {
    /// A row of steuersaetze; its key is schluessel and gueltig_von (D22).
    pub struct SteuersatzZeile {
        schluessel: Text,
        bezeichnung: Text,
        satz: Percent,
        gueltig_von: Day,
        gueltig_bis: Day,
        kategorie: Text,
    }
    nur_lesen: []
}

columns! {
    Satz from steuersatz as s {
        schluessel,
        satz,
        gueltig_von,
        gueltig_bis,
    }
}

const LIST: ListSql<'_> = ListSql {
    columns: Steuersatz::COLUMNS,
    from: "from steuersatz s",
    count: "select count(*) from steuersatz s",
    ids_first: None,
    order: "order by s.schluessel, s.gueltig_von",
};

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let datum = call.query.day("datum")?.unwrap_or_else(|| tx.today());
    let mut filter = Filter::of("s");
    filter.when("s.gueltig_von <= :datum", ":datum", Some(datum));
    filter.and("(s.gueltig_bis is null or s.gueltig_bis >= :datum)");
    // An earlier row without an end no longer applies once a later row has begun.
    filter.and(
        "not exists (select 1 from steuersatz n where n.tenant_id = s.tenant_id and n.schluessel = s.schluessel
           and n.gueltig_von > s.gueltig_von and n.gueltig_von <= :datum
           and (n.gueltig_bis is null or n.gueltig_bis >= :datum))",
    );
    Ok(Reply::array(tx.list::<Steuersatz, _>(&LIST, &filter, page)?, cut))
}

/// Copies the statutory rates to a new company.
pub fn copy_template(connection: &Connection, tenant: TenantId) -> Result<()> {
    connection.execute(
        "insert into steuersatz (tenant_id, schluessel, gueltig_von, gueltig_bis, bezeichnung, satz, kategorie)
         select ?1, schluessel, gueltig_von, gueltig_bis, bezeichnung, satz, kategorie from steuersatz_vorlage",
        [tenant],
    )?;
    Ok(())
}

pub fn all(tx: &Tx<'_>) -> Result<Arc<Vec<Satz>>> {
    let statement = format!("select {} from steuersatz s where s.tenant_id = :tenant", Satz::COLUMNS);
    tx.cached("tax rates", &[], || tx.all(&statement, &[], Satz::read))
}

/// Returns all rates that a company has at any date.
pub fn rates(tx: &Tx<'_>) -> Result<Vec<Percent>> {
    Ok(all(tx)?.iter().map(|known| known.satz).collect())
}

/// Adds a hint if the company's tax table has the rate at no date (D7).
pub fn hint_unknown(known: &[Satz], satz: Percent, hints: &mut Hints) {
    if !known.iter().any(|known| known.satz == satz) {
        let message = format!("Den Steuersatz {satz} % gibt es in der Steuertabelle nicht. Bitte prüfen.");
        hints.add_field(HintCode::MwstSatzUnbekannt, "mwst_satz", message);
    }
}

fn import(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = SteuersatzZeile::from_json(row, at)?;
    let new = Steuersatz {
        schluessel: required(zeile.schluessel, "schluessel")?,
        bezeichnung: required(zeile.bezeichnung, "bezeichnung")?,
        satz: required(zeile.satz, "satz")?,
        gueltig_von: required(zeile.gueltig_von, "gueltig_von")?,
        gueltig_bis: zeile.gueltig_bis,
        kategorie: required(zeile.kategorie, "kategorie")?,
    };
    let message = "gueltig_bis liegt vor gueltig_von.";
    let ends_before = new.gueltig_bis.is_some_and(|last| last < new.gueltig_von);
    refuse_if(ends_before, Code::DatumUngueltig, "gueltig_bis", message)?;
    let find =
        format!("{LIST} where s.tenant_id = :tenant and s.schluessel = :schluessel and s.gueltig_von = :von");
    let key = named_params! {":schluessel": new.schluessel, ":von": new.gueltig_von};
    let old = tx.optional(&find, key, Steuersatz::read)?;
    let store = || tx.upsert("steuersatz", &["schluessel", "gueltig_von"], &new.values(Part::All));
    Upserted::by(old.as_ref(), &new, store)
}

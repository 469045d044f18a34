//! The polling list of finalised documents (specification, GET /dokumente; D11).

use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::Record;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::listing::Listing;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Code, Refusal};
use crate::trade::belege::model::Dokument;

const LIST: ListSql<'_> = ListSql {
    columns: Dokument::COLUMNS,
    from: "from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id",
    count: "select count(*) from beleg b",
    ids_first: Some("b"),
    order: "order by b.ereignis_am, b.id",
};

/// Returns the instant from which events are listed; a day stands for its beginning in Berlin.
pub fn since(text: Option<&str>) -> Checked<Instant> {
    let Some(text) = text else {
        let message = "Es fehlt der Parameter since, zum Beispiel since=2026-07-01.";
        return Err(Refusal::field(Code::ParameterFehlt, "since", message));
    };
    if let Some(day) = Day::parse_plain(text) {
        return Ok(day.begin_in_berlin());
    }
    Instant::parse(text).ok_or_else(|| {
        let message = "Hier wird ein Tag (2026-07-01) oder ein Zeitpunkt (2026-07-01T08:00:00Z) erwartet.";
        Refusal::field(Code::DatumUngueltig, "since", message)
    })
}

/// Lists the documents that have been finalised and whose last event is at or after `since`, and the last
/// event of the page.
pub fn list(
    tx: &Tx<'_>,
    since: Instant,
    typen: &[&str],
    status: &[&str],
    page: Page,
) -> Result<(Listing, Option<Instant>)> {
    let mut filter = Filter::of("b");
    filter.when("b.ereignis_am >= :since", ":since", Some(since));
    filter.one_of("b.beleg_typ", typen);
    filter.one_of("b.status", status);
    let columns = format!("{}, b.ereignis_am", Dokument::COLUMNS);
    let sql = ListSql { columns: &columns, ..LIST };
    let mut last = None;
    let count = tx.count(&sql, &filter)?;
    let listing = tx.written(&sql, &filter, page, count, usize::MAX, |row, rows| {
        last = Some(row.get("ereignis_am")?);
        rows.row(|json| Dokument::write(row, json))
    })?;
    Ok((listing, last))
}

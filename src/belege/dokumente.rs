//! The polling list of finalised documents (specification, GET /dokumente; D11).

use super::model::{Dokument, pdf_url};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx};
use crate::failure::Result;
use crate::listing::Listing;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Code, Refusal};

const LIST: ListSql<'_> = ListSql {
    columns: "b.id, b.beleg_typ, b.beleg_nummer, b.beleg_datum, b.status, b.summe_brutto, b.summe_netto,
        b.summe_mwst, b.kunde_id, coalesce(b.kunden_name, k.name),
        (select count(*) from beleg_pdf p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
        (select max(p.erstellt_am) from beleg_pdf p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
        b.ereignis_am",
    from: "from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id",
    count: "select count(*) from beleg b",
    ids_first: Some("b"),
    order: "order by b.ereignis_am, b.id",
};

/// The instant from which on events are wanted: a day begins in Berlin; an instant is itself.
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

/// Documents that were finalised at some time and whose last event is at or after `since`, and the last
/// event of the page.
pub fn list(
    tx: &Tx<'_>,
    since: Instant,
    typen: &[&str],
    status: Option<&str>,
    page: Page,
) -> Result<(Listing, Option<Instant>)> {
    let mut filter = Filter::of("b");
    filter.when("b.ereignis_am >= :since", ":since", Some(since));
    filter.one_of("b.beleg_typ", typen);
    filter.when("b.status = :status", ":status", status);
    let mut last = None;
    let listing = tx.list(&LIST, &filter, page, |row, rows| {
        let mut columns = Columns::of(row);
        let id = columns.take()?;
        let mut dokument = Dokument {
            id,
            beleg_typ: columns.take()?,
            beleg_nummer: columns.take()?,
            beleg_datum: columns.take()?,
            status: columns.take()?,
            summe_brutto: columns.take()?,
            summe_netto: columns.take()?,
            summe_mwst: columns.take()?,
            kunde_id: columns.take()?,
            kunde_name: columns.take()?,
            pdf_archiv_count: columns.take::<i64>()?.to_string(),
            pdf_letztes: columns.take()?,
            pdf_url: None,
            ereignis_am: columns.take()?,
        };
        dokument.pdf_url = dokument.pdf_letztes.map(|_| pdf_url(id));
        last = Some(dokument.ereignis_am);
        rows.push(&dokument)
    })?;
    Ok((listing, last))
}

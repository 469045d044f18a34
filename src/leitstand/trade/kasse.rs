//! Receipts of the cash registers, day by day, with the sums of the day.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::{self, filter};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{amount, field, number, or_blank, table};
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::fixed::Money;
use crate::trade::kasse::{self, Auswahl, Barverkauf, Summe};

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let day = Day::parse_plain(request.param("tag")).unwrap_or_else(|| db.tx.today());
    let query = request.query_of("/api/v1/barverkaeufe")?;
    let auswahl = Auswahl { von: Some(day), bis: Some(day), ..kasse::auswahl(&db.tx, &query)? };
    if let Some(file) = list_file::asked(&query, "barverkaeufe", |page| kasse::list(&db.tx, &auswahl, page))?
    {
        return Ok(file);
    }
    let found: Records<Barverkauf> = kasse::list(&db.tx, &auswahl, lists::page_of(request))?;
    let empty = "An diesem Tag steht kein Bon in der Kasse. Bons kommen durch den Import (barverkaeufe oder DSFinV-K).";
    let number_of =
        |line: &Barverkauf| format!("{}{}", line.bon_nr, if line.storniert { " (storniert)" } else { "" });
    let title = format!("Kasse, {}", day.german());
    let body = html! {
        form.filter method="get" {
            (field(request, "tag", "Tag", "date", &day.to_string(), "off"))
            (filter(request, "bon_nr", "Bon", "search"))
            button type="submit" { "Zeigen" }
        }
        (sums(&kasse::sums_of_day(&db.tx, day)?)?)
        h2 { "Zeilen der Bons" }
        (table("Zeilen der Bons", empty, &found.rows)
            .text("Bon", number_of)
            .text("Artikel", |line| line.bezeichnung.clone())
            .numbers("Menge", |line| amount(line.menge))
            .numbers("Steuersatz (%)", |line| amount(line.mwst_satz))
            .text("Zahlart", |line| or_blank(&line.zahlart))
            .numbers("Brutto (EUR)", |line| number(line.gesamt)))
        (pager(request, &request.of_firma("kasse"), found.count))
        (lists::file_link(request, &request.of_firma("kasse"), found.count))
    };
    Ok(frame::page(request, &title, body))
}

/// Gross and tax of a day, by tax rate and by means of payment.
fn sums(of_day: &[Summe]) -> Result<Markup> {
    let mut by: BTreeMap<(u8, String), (Money, Money)> = BTreeMap::new();
    for summe in of_day {
        let rate = amount(summe.mwst_satz);
        let way = summe.zahlart.as_deref().unwrap_or("nicht angegeben");
        let keys =
            [(0, format!("Steuersatz {rate} %")), (1, format!("Zahlart {way}")), (2, "Alle Bons".to_owned())];
        for key in keys {
            let (gross, tax) = by.entry(key).or_default();
            (*gross, *tax) = (gross.plus(summe.gesamt)?, tax.plus(summe.steuer)?);
        }
    }
    let rows: Vec<_> = by.into_iter().collect();
    Ok(html! { @if !rows.is_empty() {
        h2 { "Summen" }
        (table("Summen", "", &rows)
            .text("Wonach", |((_, what), _)| what.clone())
            .numbers("Brutto (EUR)", |(_, (gross, _))| number(gross))
            .numbers("darin Steuer (EUR)", |(_, (_, tax))| number(tax)))
    } })
}

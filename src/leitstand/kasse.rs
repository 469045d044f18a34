//! Receipts of the cash registers, day by day, with the sums of the day.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::frame;
use super::page::{Ask, Seen, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, day_text, field, number, number_of, pager, short, table, text,
};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::kasse::{self, Summe};
use crate::rules::day::Day;
use crate::rules::fixed::Money;

const COLUMNS: [Column; 6] = [
    Column("Bon", false),
    Column("Artikel", false),
    Column("Menge", true),
    Column("Steuersatz (%)", true),
    Column("Zahlart", false),
    Column("Brutto (EUR)", true),
];

/// GET /leitstand/f/{firma}/kasse
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let day = Day::parse_plain(ask.param("tag")).unwrap_or_else(|| seen.tx.today());
    let offset = ask.list_page() * ROWS;
    let mut path = format!("/api/v1/barverkaeufe?von={day}&bis={day}&limit={ROWS}&offset={offset}");
    if !ask.param("bon_nr").is_empty() {
        path.push_str(&format!("&bon_nr={}", encoded(ask.param("bon_nr"))));
    }
    let found = ask.get(seen, &path)?;
    let row = |zeile: &Value| {
        let cancelled = if zeile["storniert"] == true { " (storniert)" } else { "" };
        let [bon, name, way] = ["bon_nr", "bezeichnung", "zahlart"].map(|name| text(zeile, name).to_owned());
        let (amount, rate) = (amount_of(zeile, "menge"), amount_of(zeile, "mwst_satz"));
        let sum = number_of(zeile, "gesamt");
        Cells(String::new(), vec![format!("{bon}{cancelled}"), name, amount, rate, way, sum])
    };
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(row).collect();
    let empty = "An diesem Tag steht kein Bon in der Kasse. Bons kommen durch den Import (barverkaeufe oder DSFinV-K).";
    let title = format!("Kasse, {}", day_text(day));
    let body = html! {
        form.filter method="get" {
            (field(ask, "tag", "Tag", "date", &day.to_string(), "off"))
            (field(ask, "bon_nr", "Bon", "search", ask.param("bon_nr"), "off"))
            button type="submit" { "Zeigen" }
        }
        (sums(&kasse::sums_of_day(&seen.tx, day)?)?)
        h2 { "Zeilen der Bons" }
        (table("Zeilen der Bons", &COLUMNS, &rows, empty))
        (pager(ask, &ask.of_firma("kasse"), found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, &title, body))
}

const SUM: [Column; 3] =
    [Column("Wonach", false), Column("Brutto (EUR)", true), Column("darin Steuer (EUR)", true)];

/// Gross and tax of a day, by rate and by way of paying.
fn sums(of_day: &[Summe]) -> Result<Markup> {
    let mut by: BTreeMap<(u8, String), (Money, Money)> = BTreeMap::new();
    for summe in of_day {
        let rate = short(number(&summe.mwst_satz.to_string()));
        let way = summe.zahlart.as_deref().unwrap_or("nicht angegeben");
        let keys =
            [(0, format!("Steuersatz {rate} %")), (1, format!("Zahlart {way}")), (2, "Alle Bons".to_owned())];
        for key in keys {
            let (gross, tax) = by.entry(key).or_default();
            (*gross, *tax) = (gross.plus(summe.gesamt)?, tax.plus(summe.steuer)?);
        }
    }
    let row = |((_, what), (gross, tax)): (&(u8, String), &(Money, Money))| {
        Cells(String::new(), vec![what.clone(), number(&gross.to_string()), number(&tax.to_string())])
    };
    let rows: Vec<_> = by.iter().map(row).collect();
    Ok(html! { @if !rows.is_empty() { h2 { "Summen" } (table("Summen", &SUM, &rows, "")) } })
}

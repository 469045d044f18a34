//! Receipts of the cash registers, day by day, with the sums of the day.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rust_decimal::Decimal;
use serde_json::Value;

use super::frame;
use super::page::{Ask, Seen, encoded};
use super::parts::{Cells, Column, ROWS, amount_of, day_text, field, number, number_of, pager, table, text};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::rules::day::Day;

/// Lines of a day that are summed at most.
const SUMMED: i64 = 5_000;

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
    let of_day = format!("/api/v1/barverkaeufe?von={day}&bis={day}");
    let mut path = format!("{of_day}&limit={ROWS}&offset={}", ask.list_page() * ROWS);
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
    let all = ask.get(seen, &format!("{of_day}&limit={SUMMED}"))?;
    let title = format!("Kasse, {}", day_text(day));
    let body = html! {
        form.filter method="get" {
            (field(ask, "tag", "Tag", "date", &day.to_string(), "off"))
            (field(ask, "bon_nr", "Bon", "search", ask.param("bon_nr"), "off"))
            button type="submit" { "Zeigen" }
        }
        (sums(&all))
        h2 { "Zeilen der Bons" }
        (table("Zeilen der Bons", &COLUMNS, &rows, empty))
        (pager(ask, &ask.of_firma("kasse"), found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, &title, body))
}

const SUM: [Column; 3] =
    [Column("Wonach", false), Column("Brutto (EUR)", true), Column("darin Steuer (EUR)", true)];

/// Gross and tax of a day, by rate and by way of paying.
fn sums(of_day: &Value) -> Markup {
    let lines = of_day["data"].as_array();
    let amount = |zeile: &Value, name: &str| text(zeile, name).parse().unwrap_or(Decimal::ZERO);
    let mut by: BTreeMap<(u8, String), (Decimal, Decimal)> = BTreeMap::new();
    for zeile in lines.into_iter().flatten() {
        let way = Some(text(zeile, "zahlart")).filter(|way| !way.is_empty()).unwrap_or("nicht angegeben");
        let keys = [
            (0, format!("Steuersatz {} %", amount_of(zeile, "mwst_satz"))),
            (1, format!("Zahlart {way}")),
            (2, "Alle Bons".to_owned()),
        ];
        for key in keys {
            let sum = by.entry(key).or_default();
            *sum = (sum.0 + amount(zeile, "gesamt"), sum.1 + amount(zeile, "steuer"));
        }
    }
    let row = |((_, what), (gross, tax)): (&(u8, String), &(Decimal, Decimal))| {
        Cells(String::new(), vec![what.clone(), number(&gross.to_string()), number(&tax.to_string())])
    };
    let rows: Vec<_> = by.iter().map(row).collect();
    let count = of_day["count"].as_i64().unwrap_or(0);
    html! {
        @if !rows.is_empty() { h2 { "Summen" } (table("Summen", &SUM, &rows, "")) }
        @if count > SUMMED { p { "Es sind mehr als " (number(&SUMMED.to_string())) " Zeilen; summiert sind die ersten." } }
    }
}

//! A partner is forgotten (GDPR art. 17, D27): what would go and what the law keeps, asked once before it happens.

use maud::{Markup, html};

use super::frame;
use super::page::{Ask, Change, Done, Seen};
use super::parts::{Cells, Column, day_text, form, number, refusal, table};
use crate::app::vergessen::{self, Forgotten, Records};
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::kunden::{self, Kunde};
use crate::rules::deed::Deed;
use crate::rules::error::{Code, Refusal};
use crate::rules::verweis::parse_uuid;

const KEPT: [Column; 3] = [Column("Was bleibt", false), Column("Anzahl", true), Column("Bis", false)];

fn found(tx: &Tx<'_>, id: &str) -> Result<Kunde> {
    let kunde = parse_uuid(id).map(|id| kunden::find(tx, id)).transpose()?.flatten();
    kunde.ok_or_else(|| Failure::not_found("Diesen Kunden"))
}

/// GET /leitstand/f/{firma}/partner/{id}/vergessen
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let kunde = found(&seen.tx, ask.id(0)?)?;
    let records = vergessen::records(&seen.tx, &kunde)?;
    let keeps_name = vergessen::keeps_name(&seen.tx, &records);
    let rows: Vec<_> = records
        .iter()
        .map(|of| {
            Cells(String::new(), vec![of.kind.to_owned(), number(&of.count.to_string()), day_text(of.until)])
        })
        .collect();
    let body = html! {
        p { "Verlangt eine Person, dass ihre Daten gelöscht werden (Art. 17 DSGVO), geschieht das hier." }
        p { (what_goes(keeps_name)) }
        @if !rows.is_empty() {
            p { "Was das Gesetz aufzubewahren verlangt (§ 147 AO, § 257 HGB), bleibt:" }
            (table("Was bleibt", &KEPT, &rows, ""))
        }
        @if let Some(open) = open_ones(&records) {
            div.refused { p { "Noch nicht möglich, denn dieser Partner wird noch gebraucht. Offen: " (open) ". Bitte erst abschließen, erledigen oder stornieren." } }
        } @else {
            (form(ask, question(ask, &kunde), "Vergessen", true))
        }
        p { a href=(ask.of_firma(&format!("partner/{}", kunde.id))) { "Zurück zum Partner" } }
    };
    Ok(frame::page(ask, &format!("{} vergessen", kunde.name), body))
}

fn what_goes(keeps_name: bool) -> &'static str {
    match keeps_name {
        true => {
            "Gelöscht werden Telefon, E-Mail, Bankverbindung und Notizen, alle Anhänge und die früheren Fassungen der \
             Stammdaten. Name und Anschrift bleiben, solange Belege sie brauchen; danach geht auch das hier."
        }
        false => {
            "Gelöscht werden alle Stammdaten außer der Nummer, alle Anhänge und die früheren Fassungen der Stammdaten."
        }
    }
}

fn question(ask: &Ask, kunde: &Kunde) -> Markup {
    html! {
        (refusal(ask, &[]))
        p { (kunde.kundennr) " wird inaktiv. Rückgängig machen lässt sich das nicht. In Sicherungen, die es schon gibt, steht noch alles; wer eine davon zurückspielt, muss diesen Schritt wiederholen." }
    }
}

/// What is still worked on, in words.
fn open_ones(records: &[Records]) -> Option<String> {
    let open = records.iter().filter(|of| of.open > 0);
    let open: Vec<_> = open.map(|of| format!("{} {}", number(&of.open.to_string()), of.kind)).collect();
    (!open.is_empty()).then(|| open.join(", "))
}

/// POST /leitstand/f/{firma}/partner/{id}/vergessen
pub fn forget(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?.to_owned();
    let to = ask.of_firma(&format!("partner/{id}"));
    Ok(Box::new(move |tx| {
        let kunde = found(tx, &id)?;
        let (note, changed) = match vergessen::forget(tx, &kunde)? {
            Forgotten::Open(records) => return Err(needed(&records).into()),
            Forgotten::Done(erased, _) if erased == Default::default() => {
                ("Es gab nichts mehr zu löschen.", Vec::new())
            }
            Forgotten::Done(..) => ("Gelöscht.", vec![Deed::PartnerForgotten(kunde.kundennr.clone())]),
        };
        Ok(Done { subject: Some(kunde.id), changed, ..Done::to(to.clone(), note) })
    }))
}

/// Something was begun since the page was shown.
fn needed(records: &[Records]) -> Box<Refusal> {
    let open = open_ones(records).unwrap_or_default();
    let message = format!("Dieser Partner wird inzwischen gebraucht. Offen: {open}. Bitte erst abschließen.");
    Refusal::new(Code::ZwischenzeitlichGeaendert, message)
}

//! Forgetting a partner (GDPR art. 17, D27): shows what would be deleted and what the law keeps, and asks
//! once before it happens.

use maud::{Markup, html};

use crate::leitstand::kit::done::{Done, FirmaChange};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{form, number, refusal, table};
use crate::master::kunden::{self, Kunde};
use crate::operations::vergessen::{self, Forgotten, Records};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::error::{Code, Refusal};

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kunde = kunden::found(&db.tx, request.uuid(0)?)?;
    let records = vergessen::records(&db.tx, &kunde)?;
    let keeps_name = vergessen::keeps_name(&db.tx, &records);
    let body = html! {
        p { "Verlangt eine Person, dass ihre Daten gelöscht werden (Art. 17 DSGVO), geschieht das hier." }
        p { (what_goes(keeps_name)) }
        @if !records.is_empty() {
            p { "Was das Gesetz aufzubewahren verlangt (§ 147 AO, § 257 HGB), bleibt:" }
            (table("Was bleibt", "", &records)
                .text("Was bleibt", |of| of.kind.to_owned())
                .numbers("Anzahl", |of| number(of.count))
                .text("Bis", |of| of.until.german()))
        }
        @if let Some(open) = open_ones(&records) {
            div.refused {
                p {
                    "Noch nicht möglich, denn dieser Partner wird noch gebraucht. Offen: " (open)
                    ". Bitte erst abschließen, erledigen oder stornieren."
                }
            }
        } @else {
            (form(request, question(request, &kunde), "Vergessen", true))
        }
        p { a href=(request.page_of("partner", kunde.id)) { "Zurück zum Partner" } }
    };
    Ok(frame::page(request, &format!("{} vergessen", kunde.name), body))
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

fn question(request: &PageRequest, kunde: &Kunde) -> Markup {
    html! {
        (refusal(request, &[]))
        p {
            (kunde.kundennr)
            " wird inaktiv. Rückgängig machen lässt sich das nicht. In Sicherungen, die es schon gibt, steht \
             noch alles; wer eine davon zurückspielt, muss diesen Schritt wiederholen."
        }
    }
}

fn open_ones(records: &[Records]) -> Option<String> {
    let open = records.iter().filter(|of| of.open > 0);
    let open: Vec<_> = open.map(|of| format!("{} {}", number(of.open), of.kind)).collect();
    (!open.is_empty()).then(|| open.join(", "))
}

pub fn forget(request: &PageRequest) -> Result<FirmaChange> {
    let id = request.uuid(0)?;
    let to = request.page_of("partner", id);
    Ok(Box::new(move |tx| {
        let kunde = kunden::found(tx, id)?;
        let (note, event) = match vergessen::forget(tx, &kunde)? {
            Forgotten::Open(records) => return Err(needed(&records).into()),
            Forgotten::Done(erased, _) if erased == Default::default() => {
                ("Es gab nichts mehr zu löschen.", None)
            }
            Forgotten::Done(..) => {
                ("Gelöscht.", Some(AdminEvent::new(AdminAction::Vergessen, Art::Partner).id(kunde.id)))
            }
        };
        Ok(Done { subject: Some(kunde.id), event, ..Done::to(to.clone(), note) })
    }))
}

fn needed(records: &[Records]) -> Box<Refusal> {
    let open = open_ones(records).unwrap_or_default();
    let what = format_args!("Dieser Partner wird inzwischen gebraucht. Offen: {open}.");
    Refusal::new(Code::ZwischenzeitlichGeaendert, (what, "Bitte erst abschließen."))
}

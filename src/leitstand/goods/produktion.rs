//! Production orders: their inputs, outputs and states.

use maud::{Markup, html};
use serde_json::json;
use uuid::Uuid;

use crate::goods::produktion::{self, Auswahl, PaInput, PaOutput, Produktionsauftrag};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{self, amount, choice, facts, in_unit, linked, made_from, optional};
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::fixed::Quantity;
use crate::rules::recipe::{PaStatus, Zeilenart};

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/produktionsauftraege")?;
    let sortierung = lists::sorted(request, produktion::SORTIERUNG);
    let auswahl = Auswahl { sortierung, ..Auswahl::of(&query)? };
    if let Some(file) =
        list_file::asked(&query, "produktionsauftraege", |page| produktion::list(&db.tx, &auswahl, page))?
    {
        return Ok(file);
    }
    let found = produktion::list(&db.tx, &auswahl, lists::page_of(request))?;
    let list = List {
        empty: "Keine Produktionsaufträge gefunden. Sie legen die angeschlossenen Programme an (POST \
         /api/v1/produktionsauftraege); Rezepturen kommen durch den Import.",
        filters: html! {
            (filter_choice(
                request,
                "status",
                "Status",
                PaStatus::ALL.iter().map(|status| (status.as_str(), status.in_words()))
            ))
            (filter(request, "datum_von", "Von", "date"))
            (filter(request, "datum_bis", "Bis", "date"))
        },
        above: sums(db, &auswahl)?,
        order: "-produktions_datum",
        ..List::of("produktion", "Produktionsaufträge", |auftrag: &Produktionsauftrag| auftrag.id, &found)
    };
    let body = lists::body(request, db, list, |table| {
        table
            .text("Auftrag", |auftrag| auftrag.pa_nummer.clone())
            .text("Datum", |auftrag| optional(auftrag.produktions_datum, |day| day.0.german()))
            .sorts("produktions_datum")
            .text("Was entsteht", made)
            .text("Status", |auftrag| auftrag.status.in_words().to_owned())
    })?;
    Ok(frame::page(request, "Produktion", body))
}

fn sums(db: &Snapshot<'_>, auswahl: &Auswahl) -> Result<Markup> {
    let [into_planned, into] = produktion::sums(&db.tx, auswahl, Zeilenart::Input)?;
    let [out_planned, out] = produktion::sums(&db.tx, auswahl, Zeilenart::Output)?;
    let sums = [
        ("hinein geplant", into_planned),
        ("hinein", into),
        ("heraus geplant", out_planned),
        ("heraus", out),
    ];
    Ok(parts::sums("Zusammen ohne stornierte", sums))
}

fn made(auftrag: &Produktionsauftrag) -> String {
    auftrag.bezeichnung.clone().or(auftrag.rezeptur_bezeichnung.clone()).unwrap_or_default()
}

/// An input or output: article, batch and its number, unit, planned and actual quantity.
struct Line<'l> {
    artikel: &'l str,
    charge: Option<Uuid>,
    nummer: Option<&'l String>,
    einheit: Option<&'l str>,
    soll: Quantity,
    ist: Option<Quantity>,
}

fn of_input(input: &PaInput) -> Line<'_> {
    Line {
        artikel: &input.artikel_bezeichnung,
        charge: input.charge_id,
        nummer: input.charge_nr.as_ref().or(input.fremde_charge_nr.as_ref()),
        einheit: input.einheit.as_deref(),
        soll: input.soll_menge,
        ist: input.ist_menge,
    }
}

fn of_output(output: &PaOutput) -> Line<'_> {
    Line {
        artikel: &output.artikel_bezeichnung,
        charge: output.charge_id,
        nummer: output.neue_charge_nr.as_ref().or(output.charge_nr.as_ref()),
        einheit: output.einheit.as_deref(),
        soll: output.soll_menge,
        ist: output.ist_menge,
    }
}

fn lines<'l>(request: &PageRequest, caption: &str, lines: impl Iterator<Item = Line<'l>>) -> Markup {
    let rows: Vec<_> = lines.collect();
    let to = |line: &Line<'_>| optional(line.charge, |id| request.page_of("chargen", id));
    html! {
        h2 { (caption) }
        (linked(caption, "Keine.", &rows, to)
            .text("Artikel", |line| line.artikel.to_owned())
            .text("Charge", |line| line.nummer.cloned().unwrap_or_default())
            .numbers("Soll", |line| in_unit(amount(line.soll), line.einheit))
            .numbers("Ist", |line| optional(line.ist, |ist| in_unit(amount(ist), line.einheit))))
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let auftrag = produktion::with_lines(&db.tx, request.uuid(0)?)?;
    let to = format!("{}/status", request.page_of("produktion", auftrag.id));
    let body = html! {
        (facts(&fields::facts_of(&auftrag, &[
            ("pa_nummer", String::new()),
            ("status", auftrag.status.in_words().to_owned()),
        ])))
        @if request.may_change() && !next_of(auftrag.status).is_empty() {
            p.actions { a.button href=(to) { "Status ändern" } }
        }
        (lines(request, "Was hineingeht", auftrag.inputs.iter().flatten().map(of_input)))
        (lines(request, "Was herauskommt", auftrag.outputs.iter().flatten().map(of_output)))
    };
    Ok(frame::page(request, &auftrag.pa_nummer, body))
}

/// The states that an order may change to, each as value and label.
fn next_of(now: PaStatus) -> Vec<(&'static str, &'static str)> {
    let next = PaStatus::ALL.iter().filter(|next| now.may_become(**next));
    next.map(|next| (next.as_str(), next.in_words())).collect()
}

pub fn show_status(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let auftrag = produktion::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", auftrag.version))
        p { "„erledigt“ bucht, was hineinging und herauskam; dafür braucht jede Zeile ihre Istmenge. „storniert“ nimmt "
            "Gebuchtes zurück, solange von dem, was herauskam, nichts entnommen ist. Sonst geht es nie zurück." }
        (choice(request, "status", "Neuer Status", next_of(auftrag.status), ""))
    };
    let title = format!("Status von {}", auftrag.pa_nummer);
    frame::form_page(request, &title, &["status"], inside, "Ändern", false)
}

pub fn change_status(request: &PageRequest) -> Result<FirmaChange> {
    let (path, body) = ("produktionsauftraege/{id}/status", json!({"status": request.field("status")}));
    request.change_record(Method::Put, path, &body, "produktion", "Der Status ist geändert.")
}

//! Settlement schemes: the list, and one with all its rules in words. They are changed by an import or by a
//! program.

use maud::html;

use crate::goods::abrechnungsschemata::{self, Auswahl, Gueltig, Kopf, SchemaVersion};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::lists::{self, List, filter};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{self, facts, linked, optional, settled, yes_or_no};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::rules::day::Day;
use crate::trade::annahmescheine;

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/abrechnungsschemata")?;
    let auswahl = Auswahl::of(&query)?;
    if let Some(file) = abrechnungsschemata::as_file(&db.tx, &query, &auswahl)? {
        return Ok(file);
    }
    let found = abrechnungsschemata::list(&db.tx, &auswahl, lists::page_of(request))?;
    let mut used = Vec::new();
    for kopf in &found.rows {
        used.extend(annahmescheine::follows(&db.tx, kopf.id, None)?.then_some(kopf.id));
    }
    let list = List {
        empty: "Keine Abrechnungsschemata gefunden. Sie kommen durch einen Import herein (Seite Import, Art \
         abrechnungsschemata); Beispiele liegen dem Handbuch bei.",
        filters: filter(request, "gueltig_am", "Gültig am", "date"),
        keeps: &[("artikel_id", "für", "artikel")],
        above: html! {
            p {
                "Ein Schema sagt, was von einer Anlieferung gemessen, abgezogen und zugeschlagen wird. \
                 Gezeigt ist die Fassung des Tages, ohne Tag die neueste."
            }
            p.actions { a.button href=(request.of_firma("annahme/rechner")) { "Probeweise rechnen" } }
        },
        ..List::of("annahme/schemata", "Abrechnungsschemata", |kopf: &Kopf| kopf.id, &found)
    };
    lists::page(request, db, list, |table| {
        table
            .text("Schema", |kopf| kopf.nummer.clone())
            .text("Bezeichnung", |kopf| kopf.bezeichnung.clone())
            .text("Artikel", |kopf| kopf.artikel.join(", "))
            .numbers("Version", |kopf| kopf.version.to_string())
            .text("Gültig", |kopf| days(kopf.gueltig_von, kopf.gueltig_bis))
            .text("Benutzt", |kopf| yes_or_no(used.contains(&kopf.id)))
    })
}

fn days(von: Day, bis: Option<Day>) -> String {
    match bis {
        None => format!("ab {}", von.german()),
        Some(bis) if bis < von => "nie: eine andere Version trat an ihre Stelle".to_owned(),
        Some(bis) => format!("{} bis {}", von.german(), bis.german()),
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let gueltig = abrechnungsschemata::found(&db.tx, request.uuid(0)?, version(request))?;
    let Gueltig { kopf, schema } = &gueltig;
    let here = request.page_of("annahme/schemata", kopf.id);
    let versions = abrechnungsschemata::versions(&db.tx, kopf.id)?;
    let is_used = annahmescheine::follows(&db.tx, kopf.id, Some(kopf.version))?;
    let stock = if schema.books_gross() { "das gewogene Gewicht" } else { "das Abrechnungsgewicht" };
    let said = [
        ("Bezeichnung", kopf.bezeichnung.clone()),
        ("Version", kopf.version.to_string()),
        ("Gültig", days(kopf.gueltig_von, kopf.gueltig_bis)),
        ("Ernte", optional(kopf.erntejahr, |jahr| jahr.to_string())),
        ("Artikel", kopf.artikel.join(", ")),
        ("Lieferschein über", stock.to_owned()),
        ("Preis je t auf", format!("{} Nachkommastellen", schema.preis_stellen)),
        ("Annahmescheine nach dieser Version", yes_or_no(is_used)),
    ];
    let of_version = |version: &SchemaVersion| format!("{here}?version={}", version.version);
    let body = html! {
        (facts(&said))
        p.actions {
            a.button href=(format!("{here}/pdf?version={}", kopf.version)) { "Zum Aushändigen (PDF)" }
            a.button href=(request.of_firma(&format!("annahme/rechner?schema={}", kopf.id))) { "Probeweise rechnen" }
        }
        @for table in abrechnungsschemata::tables(&db.tx, schema)? { (settled(&table)) }
        @for note in abrechnungsschemata::notes(schema) { p { (note) } }
        h2 { "Versionen" }
        (linked("Versionen, die neueste zuerst", "", &versions, of_version)
            .text("Version", |version| version.version.to_string())
            .text("Gültig", |version| days(version.gueltig_von, version.gueltig_bis))
            .text("Angelegt", |version| parts::moment(version.angelegt_am)))
        p {
            "Eine Version ändert sich nie. Was künftig anders ist, kommt als neue Version durch einen Import \
             herein (Art abrechnungsschemata oder abrechnungstabellen)."
        }
    };
    Ok(frame::page(request, &format!("Abrechnungsschema {}", kopf.nummer), body))
}

/// The requested version; `None` stands for the newest.
fn version(request: &PageRequest) -> Option<i64> {
    request.param("version").parse().ok()
}

pub fn pdf(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let version = version(request).map_or_else(String::new, |version| format!("?version={version}"));
    request.file_of(db, &format!("abrechnungsschemata/{{id}}/pdf{version}"))
}

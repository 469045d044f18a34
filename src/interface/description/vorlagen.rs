//! Meanings of the columns of an import, with an example of each (D22): taken from the interface, plus a few
//! that only import rows have.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{beispiele, woerter};
use crate::platform::import::Import;
use crate::platform::import::template::{Column, Columns};

static VORLAGEN: LazyLock<Map<String, Value>> =
    LazyLock::new(|| beispiele::object(include_str!("vorlagen.json")));

/// Meanings of columns that no schema of the interface has, or that mean something else there.
const WOERTER: &[(&str, &str)] = &[
    ("AbrechnungsschemaNeu.artikel", "Nummern der Artikel, für die es gilt; nur in JSON."),
    (
        "AbrechnungsschemaNeu.grenzen",
        "Was geschieht, wenn ein Messwert eine Grenze überschreitet; nur in JSON.",
    ),
    ("AbrechnungsschemaNeu.schritte", "Was gerechnet wird; nur in JSON."),
    ("ArtikelChange.einheit", "Einheit, in der der Artikel geführt wird."),
    ("ArtikelChange.ean", "EAN."),
    ("ArtikelChange.ep_netto", "Einkaufspreis netto je Einheit."),
    ("ArtikelChange.gruppe", "Artikelgruppe: Kürzel, Nummer oder Name; eine unbekannte wird angelegt."),
    ("ArtikelChange.staffelpreise", "Alle Staffelpreise, die der Artikel danach hat; nur in JSON."),
    ("BarverkaufZeile.einzelpreis", "Einzelpreis brutto."),
    ("ChargeZeile.bestand", "Anfangsbestand in der Einheit des Artikels, sonst in der von einheit."),
    ("InventurZeile.bestand", "Gezählter Bestand in der Einheit des Artikels, ab 0; nicht der Unterschied."),
    ("InventurZeile.charge_nr", "Nummer der Charge; leer bei einem Artikel ohne Chargen."),
    ("InventurZeile.grund", "Warum gezählt wurde; ohne Angabe Inventur."),
    ("KontraktZeile.positionen", "Positionen des Kontrakts; nur in JSON."),
    (
        "KundeChange.kunden_id",
        "Ganze Zahl, unter der der Kunde geführt wird; ohne Angabe vergibt sie der Dienst.",
    ),
    ("KundeChange.name", "Anderer Name von nachname_firma."),
    ("KundeChange.vb_id", "Vertriebler: Nummer oder Name."),
    (
        "RezepturZeile.inputs",
        "Was hineingeht; eine neue Rezeptur braucht inputs oder outputs, und es gibt sie nur in JSON.",
    ),
    ("RezepturZeile.outputs", "Was herauskommt; wie inputs nur in JSON."),
    ("RezepturZeile.typ", "Art der Rezeptur."),
    ("RezepturZeile.aktiv", "Ob nach der Fassung produziert wird."),
    ("StaffelZeile.aktiv", "Ob der Staffelpreis gilt."),
    ("kontrollstelle", "Kontrollstelle, die das Zertifikat ausstellte."),
    ("kunde", "Kundennummer des Käufers."),
    ("partner", "Kundennummer des Partners."),
];

pub fn columns(import: &Import) -> Columns {
    let shape = (import.shape)();
    let example = |part: &str, field: &str| -> Option<&'static str> {
        VORLAGEN.get(import.kind)?.get(part)?.get(field)?.as_str()
    };
    let column = |field: &&'static str| Column {
        name: field,
        meaning: woerter::find(WOERTER, &shape, field)
            .or_else(|| woerter::own(&shape, field))
            .or_else(|| Some((import.said)(field)?.meaning))
            .or_else(|| woerter::shared(field))
            .unwrap_or_default(),
        cell: example("zeile", field),
        example: example("zeile", field).or_else(|| example("sonst", field)).unwrap_or_default(),
        is_list: example("sonst", field).is_some_and(|text| text.starts_with('[')),
    };
    let keys: Vec<&'static str> = import.keys.iter().flat_map(|key| key.iter().copied()).collect();
    Columns { kind: import.kind, columns: import.fields.iter().map(column).collect(), keys }
}

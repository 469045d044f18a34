//! German meanings of the fields that tie positions (D38).

pub const WOERTER: &[(&str, &str)] = &[
    ("Gegenbeleg.menge", "In der Einheit des Artikels."),
    ("Gegenbeleg.position", "Nummer der Position dort; fehlt im Verlauf."),
    ("Gegenbeleg.position_id", "id der Position dort; fehlt im Verlauf."),
    ("Gegenbeleg.art", "Wie sie sich trafen: genannt, genau (mit genau ihrer Menge) oder vorgeschlagen."),
    ("BelegVerknuepfung.menge", "In der Einheit der Position, bei der sie steht."),
    ("BelegVerknuepfung.position", "Nummer der Position dort."),
    ("BelegVerknuepfung.position_id", "id der Position dort."),
    (
        "BelegVerknuepfung.art",
        "Wie sie verbunden wurden: genannt, genau (mit genau ihrer Menge) oder vorgeschlagen.",
    ),
    ("BelegPosition.vorgaenger", "Positionen, aus denen diese hervorgeht oder die sie zurücknimmt."),
    ("BelegPosition.nachfolger", "Positionen, die aus dieser hervorgehen oder sie zurücknehmen."),
    (
        "BelegPosition.offen",
        "Was davon für den nächsten Beleg übrig ist, bei Rechnungen für Gutschriften; null bei Rücknahmen.",
    ),
    ("PositionBestaetigung.vorgaenger", "Positionen, aus denen diese hervorgeht oder die sie zurücknimmt."),
    ("PositionBestaetigung.nachfolger", "Positionen, die aus dieser hervorgehen oder sie zurücknehmen."),
    (
        "PositionBestaetigung.offen",
        "Was davon für den nächsten Beleg übrig ist, bei Rechnungen für Gutschriften; null bei Rücknahmen.",
    ),
];

//! Reading the change feed: its entries by kind and action.

use super::Read;

pub const ROWS: &[Read] = &[
    ("/aenderungen", "-", "", "-"),
    (
        "/aenderungen",
        "seit",
        "?seit=alles&arten=annahmeschein",
        "annahmeschein:angelegt annahmeschein:angelegt annahmeschein:angelegt annahmeschein:geaendert \
         annahmeschein:geaendert annahmeschein:geaendert annahmeschein:storniert annahmeschein:geaendert",
    ),
    ("/aenderungen", "seit", "?seit=gestern", "400 PARAMETER_UNGUELTIG"),
    (
        "/aenderungen",
        "arten",
        "?arten=wiegung&seit=alles",
        "wiegung:angelegt wiegung:abgeschlossen wiegung:angelegt wiegung:storniert wiegung:angelegt \
         wiegung:abgeschlossen wiegung:angelegt",
    ),
    (
        "/aenderungen",
        "arten",
        "?arten=kontrakt,+annahmeschein&seit=alles",
        "kontrakt:angelegt kontrakt:erledigt kontrakt:angelegt kontrakt:geaendert kontrakt:geaendert \
         annahmeschein:angelegt annahmeschein:angelegt annahmeschein:angelegt annahmeschein:geaendert \
         annahmeschein:geaendert annahmeschein:geaendert annahmeschein:storniert annahmeschein:geaendert",
    ),
    (
        "/aenderungen",
        "arten",
        "?arten=kunde&seit=alles",
        "kunde:angelegt kunde:angelegt kunde:angelegt kunde:angelegt kunde:angelegt kunde:angelegt \
         kunde:angelegt kunde:geaendert kunde:geaendert kunde:geaendert kunde:geaendert",
    ),
    ("/aenderungen", "arten", "?arten=wiegung", "-"),
    ("/aenderungen", "arten", "?arten=kunde,koch", "400 PARAMETER_UNGUELTIG"),
    ("/aenderungen", "limit", "?limit=2&seit=alles&arten=kontrakt", "kontrakt:angelegt kontrakt:erledigt"),
    ("/aenderungen", "limit", "?limit=0&seit=alles", "-"),
    (
        "/aenderungen",
        "warten",
        "?warten=30&seit=alles&arten=kontrakt",
        "kontrakt:angelegt kontrakt:erledigt kontrakt:angelegt kontrakt:geaendert kontrakt:geaendert",
    ),
];

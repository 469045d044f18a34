//! Bulk requests: a row tests the first item, which is answered as if it had come alone.

use super::Write;

pub const TABLES: &[Write] = &[
    Write {
        route: "POST /kunden/stapel",
        before: None,
        path: "/kunden/stapel",
        body: "{'items':[{'nachname_firma':'Stapel GmbH'}]}",
        shown: "/kunden/<new>",
        rows: &[
            ("-", "", "name='Stapel GmbH'"),
            ("items", "[{'name':'Erster'},{}]", "name='Erster'"),
            ("items", "[{},{'name':'Zweiter'}]", "400 NAME_FEHLT"),
            ("items", "[5]", "400 UNGUELTIGES_JSON"),
            ("items", "'x'", "400 FELD_UNGUELTIG"),
            ("items", "-", "400 FELD_FEHLT"),
            ("items.kundennr", "'N-88'", "kundennr='N-88'"),
            ("items.kundennr", "'k-2'", "409 KUNDENNR_BEREITS_VERGEBEN"),
            ("items.anrede", "'Dr.'", "400 WERT_UNGUELTIG"),
        ],
    },
    Write {
        route: "POST /belege/stapel",
        before: None,
        path: "/belege/stapel",
        body: "{'items':[{'beleg_typ':'AN','kundennummer':'K-2','items':[{'artikelnr':'S','menge':2}]}]}",
        shown: "/belege/<new>",
        rows: &[
            ("-", "", "beleg_typ='AN'"),
            ("-", "", "summe_netto='67.00'"),
            (
                "items",
                "[{'beleg_typ':'AU','kundennummer':'K-2','items':[{'artikelnr':'S','menge':1}]},{}]",
                "beleg_typ='AU'",
            ),
            ("items", "{}", "400 FELD_UNGUELTIG"),
            ("items", "null", "400 FELD_FEHLT"),
            ("items.notizen", "'Eilt'", "notizen='Eilt'"),
            ("items.beleg_typ", "'XX'", "400 WERT_UNGUELTIG"),
            ("items.kundennummer", "'K-99'", "400 KUNDE_NICHT_GEFUNDEN"),
            ("items.kundennummer", "'K-3'", "400 KUNDE_GESPERRT"),
        ],
    },
    Write {
        route: "POST /wiegungen/stapel",
        before: None,
        path: "/wiegungen/stapel",
        body: "{'items':[{'waage_id':1,'gewicht_erst_kg':38000,'partner_id':'<L-1>'}]}",
        shown: "/wiegungen/<new>",
        rows: &[
            ("-", "", "status='offen'"),
            ("items", "[{'waage_id':2,'gewicht_erst_kg':1,'partner_id':'<L-2>'},7]", "waage_id=2"),
            ("items", "true", "400 FELD_UNGUELTIG"),
            ("items.kennzeichen", "'ÜB-AB 12'", "kennzeichen='ÜB-AB 12'"),
            ("items.gewicht_erst_kg", "-", "400 FELD_FEHLT"),
            ("items.partner_id", "'<unknown>'", "400 PARTNER_NICHT_GEFUNDEN"),
        ],
    },
    Write {
        route: "POST /annahmescheine/stapel",
        before: None,
        path: "/annahmescheine/stapel",
        body: "{'items':[{'kundennummer':'L-1','artikelnr':'R','anliefermenge_kg':1000}]}",
        shown: "/annahmescheine/<new>",
        rows: &[
            ("-", "", "netto_menge_kg='1000.000'"),
            (
                "items",
                "[{'kundennummer':'L-2','artikelnr':'R','anliefermenge_kg':1},7]",
                "partner_id='<L-2>'",
            ),
            ("items", "true", "400 FELD_UNGUELTIG"),
            ("items.bemerkung", "'nass'", "bemerkung='nass'"),
            ("items.anliefermenge_kg", "-", "400 FELD_FEHLT"),
            ("items.artikelnr", "'nix'", "400 ARTIKEL_NICHT_GEFUNDEN"),
        ],
    },
];

//! Requesting hand-overs of data for an auditor.

use super::Write;

pub const TABLES: &[Write] = &[Write {
    route: "POST /z3",
    before: None,
    path: "/z3",
    body: "{'von':'2031-01-01','bis':'2031-06-30'}",
    shown: "/z3/<new>",
    rows: &[
        ("-", "", "mit_belegen=false"),
        ("von", "'2031-06-30'", "von='2031-06-30'"),
        ("von", "'2021-06-30'", "400 WERT_UNGUELTIG"),
        ("von", "'2021-07-01'", "von='2021-07-01'"),
        ("von", "-", "400 FELD_FEHLT"),
        ("bis", "'2030-12-31'", "400 WERT_UNGUELTIG"),
        ("bis", "'2031-01-01'", "bis='2031-01-01'"),
        ("bis", "'2031-07-11'", "400 DATUM_UNGUELTIG"),
        ("bis", "-", "400 FELD_FEHLT"),
        ("mit_belegen", "true", "mit_belegen=true"),
    ],
}];

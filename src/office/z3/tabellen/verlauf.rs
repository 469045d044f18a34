//! Histories and the log: who changed what, and when.

use super::super::tabelle::{Tabelle, ganz, geld, id, tag, text, zeitpunkt};
use super::namen::wer;

/// A value in a list of changes, as text.
macro_rules! wert {
    ($feld:literal) => {
        concat!("cast(e.value ->> '", $feld, "' as text)")
    };
}

pub const BELEGE: Tabelle = Tabelle {
    datei: "verlauf_belege",
    titel: "Verlauf_Belege",
    beschreibung: "Jeder Beleg vor jeder seiner Änderungen",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        id("Beleg_ID", "v.beleg_id"),
        ganz("Fassung", "v.version"),
        text("Belegnummer", "v.beleg ->> 'beleg_nummer'"),
        zeitpunkt("Geaendert_am", "v.am"),
        text("Wer", wer!("v.key_id")),
        text("Aktion", "v.aktion"),
        text("Status_vorher", "v.beleg ->> 'status'"),
        tag("Belegdatum_vorher", "substr(v.beleg ->> 'beleg_datum', 1, 10)"),
        text("Partner_vorher", "v.beleg ->> 'kunden_name'"),
        geld("Netto_vorher", "z3_ganzzahl(v.beleg ->> 'summe_netto', 2)"),
        geld("MwSt_vorher", "z3_ganzzahl(v.beleg ->> 'summe_mwst', 2)"),
        geld("Brutto_vorher", "z3_ganzzahl(v.beleg ->> 'summe_brutto', 2)"),
        text("Notizen_vorher", "v.beleg ->> 'notizen'"),
    ],
    verweise: &[("Beleg_ID", "Belege")],
    from: "from beleg_verlauf v where v.tenant_id = :tenant
        and v.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg') order by v.beleg_id, v.version",
};

pub const PARTNER: Tabelle = Tabelle {
    datei: "verlauf_partner",
    titel: "Verlauf_Partner",
    beschreibung: "Änderungen der Stammdaten dieser Partner im Zeitraum, je Feld",
    ist_zeitraum: true,
    schluessel: 3,
    spalten: &[
        id("Partner_ID", "v.kunde_id"),
        ganz("Fassung", "v.version"),
        ganz("Nr", "e.key + 1"),
        zeitpunkt("Geaendert_am", "v.am"),
        text("Wer", wer!("v.key_id")),
        text("Feld", wert!("feld")),
        text("Vorher", wert!("alt")),
        text("Nachher", wert!("neu")),
    ],
    verweise: &[("Partner_ID", "Partner")],
    from: "from kunde_verlauf v, json_each(v.felder) e
        where v.tenant_id = :tenant and v.kunde_id in (select g.id from z3_genannt g where g.art = 'kunde')
          and v.am >= :ab and v.am < :vor order by v.kunde_id, v.version, e.key",
};

pub const ARTIKEL: Tabelle = Tabelle {
    datei: "verlauf_artikel",
    titel: "Verlauf_Artikel",
    beschreibung: "Änderungen dieser Artikel und ihrer Staffelpreise im Zeitraum, je Feld",
    ist_zeitraum: true,
    schluessel: 3,
    spalten: &[
        id("Artikel_ID", "v.artikel_id"),
        ganz("Aenderung", "v.nr"),
        ganz("Nr", "e.key + 1"),
        zeitpunkt("Geaendert_am", "v.am"),
        text("Wer", wer!("v.key_id")),
        text("Feld", wert!("feld")),
        text("Vorher", wert!("alt")),
        text("Nachher", wert!("neu")),
    ],
    verweise: &[("Artikel_ID", "Artikel")],
    from: "from artikel_verlauf v, json_each(v.felder) e
        where v.tenant_id = :tenant and v.artikel_id in (select g.id from z3_genannt g where g.art = 'artikel')
          and v.am >= :ab and v.am < :vor order by v.artikel_id, v.nr, e.key",
};

pub const PROTOKOLL: Tabelle = Tabelle {
    datei: "protokoll",
    titel: "Protokoll",
    beschreibung: "Schreibende Anfragen mit Erfolg (90 Tage aufbewahrt) und was Menschen und Befehle verwaltet haben",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        text("Quelle", "p.quelle"),
        text("Nr", "p.nr"),
        zeitpunkt("Am", "p.am"),
        text("Wer", wer!("p.wer")),
        text("Was", "p.was"),
        text("Gegenstand", "p.gegenstand"),
        text("Vorher", "p.vorher"),
        text("Nachher", "p.nachher"),
    ],
    verweise: &[],
    from: "from (
          select tenant_id, 'Anfragen' as quelle, tag || '-' || lfd_nr as nr, tag, lfd_nr, am,
            coalesce(key_id, 'person ' || person) as wer, methode || ' ' || pfad as was, z3_uuid(subjekt) as gegenstand,
            null as vorher, null as nachher
          from audit
          where methode in ('POST', 'PUT') and (status between 200 and 299 or status = 303)
          union all
          select cast(gegenstand ->> 'firma' as integer), 'Verwaltung', nr, 0, nr, am, \
            'person ' || (akteur ->> 'person'),
            coalesce('Befehl ' || (akteur -> 'befehl' ->> 'name') || \
              ' (' || (akteur -> 'befehl' ->> 'konto') || '): ', '') || tat,
            trim((gegenstand ->> 'art') || ' ' || coalesce(gegenstand ->> 'name', gegenstand ->> 'id', '')), \
            vorher, nachher
          from verwaltung) p
        where p.tenant_id = :tenant and p.am >= :ab and p.am < :vor order by p.quelle, p.tag, p.lfd_nr",
};

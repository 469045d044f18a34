//! Master data that the documents of the period refer to.

use super::super::tabelle::{Tabelle, ganz, genau, id, menge, tag, text};
use super::namen::{artikelnummer, bezeichnung, partner};

pub const PARTNER: Tabelle = Tabelle {
    datei: "partner",
    titel: "Partner",
    beschreibung: "Kunden, Lieferanten und Spediteure",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        id("Partner_ID", "k.id"),
        text("Kundennr", "k.kundennr"),
        text("Name", "k.name"),
        text("Vorname", "k.vorname"),
        text("Strasse", "k.strasse"),
        text("PLZ", "k.plz"),
        text("Ort", "k.ort"),
        text("Staat", "k.staat"),
        text("Ist_Kunde", "iif(k.ist_kunde, 'ja', 'nein')"),
        text("Ist_Lieferant", "iif(k.ist_lieferant, 'ja', 'nein')"),
        text("Ist_Spediteur", "iif(k.ist_spediteur, 'ja', 'nein')"),
        text(
            "Besteuerungen",
            "(select group_concat(coalesce(e.value ->> 'steuerart', 'nicht bekannt')
            || coalesce(' ab ' || (e.value ->> 'ab'), ''), ', ') from json_each(k.besteuerungen) e)",
        ),
        text("USt_ID", "k.ust_id"),
        text("Steuernummer", "k.steuernummer"),
        text("Betriebsnummer", "k.betriebsnummer"),
        text("IBAN", "k.iban"),
        text("Debitorenkonto", "k.debitor_konto"),
        text("Kreditorenkonto", "k.kreditor_konto"),
        ganz("Zahlungsziel_Tage", "k.zahlungsziel_tage"),
        ganz("Skonto_Tage", "k.skonto_tage"),
        genau("Skonto_Prozent", "k.skonto_prozent"),
        tag("Gutschrift_vereinbart_am", "k.gutschrift_vereinbart_am"),
        text("Status", "k.status"),
    ],
    verweise: &[],
    from: "from kunde k where k.tenant_id = :tenant
        and k.id in (select g.id from z3_genannt g where g.art = 'kunde') order by k.id",
};

pub const ARTIKELGRUPPEN: Tabelle = Tabelle {
    datei: "artikelgruppen",
    titel: "Artikelgruppen",
    beschreibung: "Gruppen der Artikel",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        text("Artikelgruppe_ID", "a.id"),
        text("Gruppe", "a.name"),
        text("Kuerzel", "a.kuerzel"),
        genau("MwSt_Satz", "a.mwst_satz"),
    ],
    verweise: &[],
    from: "from artikelgruppe a where a.tenant_id = :tenant and a.id in (select n.artikelgruppe_id from artikel n
        where n.tenant_id = :tenant and n.id in (select g.id from z3_genannt g where g.art = 'artikel')) order by a.id",
};

pub const ARTIKEL: Tabelle = Tabelle {
    datei: "artikel",
    titel: "Artikel",
    beschreibung: "Waren und Leistungen",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        id("Artikel_ID", "a.id"),
        text("Artikelnummer", "a.artikelnummer"),
        text("Kurznummer", "a.artikelnr"),
        text("Bezeichnung", "a.bezeichnung"),
        text("Bezeichnung2", "a.bezeichnung2"),
        text("Einheit", "a.einheit"),
        genau("Verkaufspreis", "a.preis"),
        genau("Einkaufspreis", "a.ep_netto"),
        genau("MwSt_Satz", "a.mwst_satz"),
        text("EAN", "a.ean"),
        text("Artikelgruppe_ID", "a.artikelgruppe_id"),
        text(
            "Gruppe",
            "(select n.name from artikelgruppe n where n.tenant_id = :tenant and n.id = a.artikelgruppe_id)",
        ),
        text("Chargenpflichtig", "iif(a.chargenpflichtig, 'ja', 'nein')"),
        text("Status", "a.status"),
    ],
    verweise: &[("Artikelgruppe_ID", "Artikelgruppen")],
    from: "from artikel a where a.tenant_id = :tenant
        and a.id in (select g.id from z3_genannt g where g.art = 'artikel') order by a.id",
};

pub const STEUERSAETZE: Tabelle = Tabelle {
    datei: "steuersaetze",
    titel: "Steuersaetze",
    beschreibung: "Steuersätze der Firma mit den Tagen, an denen sie gelten",
    ist_zeitraum: false,
    schluessel: 2,
    spalten: &[
        text("Schluessel", "s.schluessel"),
        tag("Gueltig_von", "s.gueltig_von"),
        tag("Gueltig_bis", "s.gueltig_bis"),
        text("Bezeichnung", "s.bezeichnung"),
        genau("MwSt_Satz", "s.satz"),
        text("Kategorie", "s.kategorie"),
    ],
    verweise: &[],
    from: "from steuersatz s where s.tenant_id = :tenant order by s.schluessel, s.gueltig_von",
};

pub const KONTRAKTE: Tabelle = Tabelle {
    datei: "kontrakte",
    titel: "Kontrakte",
    beschreibung: "Kontrakte mit Partnern",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        id("Kontrakt_ID", "k.id"),
        text("Kontraktnr", "k.kontrakt_nr"),
        text("Art", "k.kontrakt_typ"),
        id("Partner_ID", "k.partner_id"),
        text("Partnername", partner!("k.partner_id")),
        tag("Erfasst_am", "k.erfassungsdatum"),
        tag("Gueltig_von", "k.gueltig_von"),
        tag("Gueltig_bis", "k.gueltig_bis"),
        menge("Gesamtmenge", "k.gesamtmenge"),
        text("Einheit", "k.gesamtmenge_einheit"),
        text("Mengenart", "k.mengenart"),
        text("Paritaet", "k.paritat"),
        text("Zahlungsbedingung", "k.zahlungsbedingung"),
        ganz("Erntejahr", "k.erntejahr"),
        text("Erledigt", "iif(k.erledigt, 'ja', 'nein')"),
        text("Referenz", "k.referenz"),
    ],
    verweise: &[("Partner_ID", "Partner")],
    from: "from kontrakt k where k.tenant_id = :tenant
        and k.id in (select g.id from z3_genannt g where g.art = 'kontrakt') order by k.id",
};

pub const KONTRAKTPOSITIONEN: Tabelle = Tabelle {
    datei: "kontraktpositionen",
    titel: "Kontraktpositionen",
    beschreibung: "Was in Kontrakten vereinbart ist",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        id("Kontraktposition_ID", "p.id"),
        id("Kontrakt_ID", "p.kontrakt_id"),
        ganz("Position", "p.position"),
        id("Artikel_ID", "p.artikel_id"),
        text("Artikelnummer", artikelnummer!("p.artikel_id")),
        text("Bezeichnung", bezeichnung!("p.artikel_id")),
        menge("Menge", "p.menge"),
        genau("Preis", "p.preis"),
    ],
    verweise: &[("Kontrakt_ID", "Kontrakte"), ("Artikel_ID", "Artikel")],
    from: "from kontrakt_position p where p.tenant_id = :tenant
        and p.kontrakt_id in (select g.id from z3_genannt g where g.art = 'kontrakt')
        order by p.kontrakt_id, p.position, p.id",
};

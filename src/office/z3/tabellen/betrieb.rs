//! Goods: batches, weighings, goods receipts, stock movements, production.

use super::super::tabelle::{Tabelle, ganz, geld, genau, id, menge, tag, text, zeitpunkt};
use super::namen::{
    artikelnummer, belegnummer, bezeichnung, chargennummer, kontraktnummer, kontraktposition, partner,
    wiegeschein,
};

pub const CHARGEN: Tabelle = Tabelle {
    datei: "chargen",
    titel: "Chargen",
    beschreibung: "Chargen der Artikel",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        id("Charge_ID", "c.id"),
        text("Chargennr", "c.charge_nr"),
        id("Artikel_ID", "c.artikel_id"),
        text("Artikelnummer", artikelnummer!("c.artikel_id")),
        text("Bezeichnung", bezeichnung!("c.artikel_id")),
        id("Partner_ID", "c.partner_id"),
        text("Partnername", partner!("c.partner_id")),
        text("Chargennr_Lieferant", "c.fremde_charge_nr"),
        tag("MHD", "c.mhd"),
        text("Herkunftsland", "c.herkunftsland"),
        menge("Eingang_Menge", "c.eingang_menge"),
        genau("Eingang_Preis", "c.eingang_ep"),
        text("Eingang_aus", "c.eingang_quelle"),
        text("Eingang_Beleg", belegnummer!("c.eingang_beleg_id")),
        menge("Bestand_heute", "c.bestand"),
        zeitpunkt("Angelegt_am", "c.angelegt_am"),
    ],
    verweise: &[("Artikel_ID", "Artikel"), ("Partner_ID", "Partner")],
    from: "from charge c where c.tenant_id = :tenant
        and c.id in (select g.id from z3_genannt g where g.art = 'charge') order by c.id",
};

pub const WIEGUNGEN: Tabelle = Tabelle {
    datei: "wiegungen",
    titel: "Wiegungen",
    beschreibung: "Wiegungen des Zeitraums und solche, die seine Belege nennen",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Wiegung_ID", "w.id"),
        text("Wiegescheinnr", "w.wiegeschein_nr"),
        text("Status", "w.status"),
        text("Richtung", "w.richtung"),
        zeitpunkt("Erstwiegung_am", "w.ts_erst"),
        zeitpunkt("Zweitwiegung_am", "w.ts_zweit"),
        menge("Erstgewicht_kg", "w.gewicht_erst_kg"),
        menge("Zweitgewicht_kg", "w.gewicht_zweit_kg"),
        menge("Netto_kg", "w.gewicht_netto_kg"),
        text("Kennzeichen", "w.kennzeichen"),
        id("Partner_ID", "w.partner_id"),
        text("Partnername", partner!("w.partner_id")),
        id("Artikel_ID", "w.artikel_id"),
        text("Artikelnummer", artikelnummer!("w.artikel_id")),
        text("Bezeichnung", bezeichnung!("w.artikel_id")),
        id("Charge_ID", "w.charge_id"),
        text("Chargennr", chargennummer!("w.charge_id")),
        id("Kontrakt_ID", "w.kontrakt_id"),
        text("Kontraktnr", kontraktnummer!("w.kontrakt_id")),
        id("Kontraktposition_ID", "w.kontrakt_position_id"),
        ganz("Kontraktposition", kontraktposition!("w.kontrakt_position_id")),
        text("Fremdwiegung", "iif(w.fremdwiegung, 'ja', 'nein')"),
        text("Bemerkung", "w.bemerkung"),
        text("Storno_Grund", "w.storno_grund"),
    ],
    verweise: &[
        ("Partner_ID", "Partner"),
        ("Artikel_ID", "Artikel"),
        ("Charge_ID", "Chargen"),
        ("Kontrakt_ID", "Kontrakte"),
        ("Kontraktposition_ID", "Kontraktpositionen"),
    ],
    from: "from wiegung w where w.tenant_id = :tenant
        and w.id in (select g.id from z3_genannt g where g.art = 'wiegung') order by w.id",
};

pub const ANNAHMESCHEINE: Tabelle = Tabelle {
    datei: "annahmescheine",
    titel: "Annahmescheine",
    beschreibung: "Annahmen von Rohware im Zeitraum und solche, die seine Gutschriften abrechnen",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Annahmeschein_ID", "s.id"),
        text("Annahmescheinnr", "s.belegnummer"),
        text("Status", "s.status"),
        tag("Lieferdatum", "s.lieferdatum"),
        id("Partner_ID", "s.partner_id"),
        text("Partnername", partner!("s.partner_id")),
        id("Artikel_ID", "s.artikel_id"),
        text("Artikelnummer", artikelnummer!("s.artikel_id")),
        text("Bezeichnung", bezeichnung!("s.artikel_id")),
        id("Wiegung_ID", "s.wiegung_id"),
        text("Wiegescheinnr", wiegeschein!("s.wiegung_id")),
        id("Kontrakt_ID", "s.kontrakt_id"),
        text("Kontraktnr", kontraktnummer!("s.kontrakt_id")),
        id("Kontraktposition_ID", "s.kontrakt_position_id"),
        ganz("Kontraktposition", kontraktposition!("s.kontrakt_position_id")),
        menge("Anlieferung_kg", "s.anliefermenge_kg"),
        genau("Feuchte_Prozent", "s.feuchte_prozent"),
        // A note that a scheme computed used neither basis nor factor of its own.
        genau("Basisfeuchte_Prozent", "iif(s.schema_version is null, s.basisfeuchte_prozent, null)"),
        genau("Schwundfaktor", "iif(s.schema_version is null, s.schwundfaktor, null)"),
        genau("Besatz_Prozent", "s.besatz_prozent"),
        genau("Basisbesatz_Prozent", "iif(s.schema_version is null, s.basisbesatz_prozent, null)"),
        menge("Sonstige_Abzuege_kg", "s.sonstige_abzuege_kg"),
        text(
            "Schema",
            "(select n.nummer from abrechnungsschema n where n.tenant_id = :tenant and n.id = s.schema_id)",
        ),
        ganz("Schema_Version", "s.schema_version"),
        menge("Netto_kg", "s.netto_menge_kg"),
        genau("Preis_je_t", "s.preis_je_t"),
        geld("Nettobetrag", "s.netto_betrag"),
        text("Eingangslieferschein", belegnummer!("s.el_beleg_id")),
        text(
            "Endabrechnung",
            "(select n.beleg_nummer from abrechnung a join beleg n on n.tenant_id = a.tenant_id and n.id = a.beleg_id
              where a.tenant_id = :tenant and a.id = s.abrechnung_id)",
        ),
        text("Chargennr_Lieferant", "s.fremde_charge_nr"),
        text("Bemerkung", "s.bemerkung"),
        text("Storno_Grund", "s.storno_grund"),
        zeitpunkt("Angelegt_am", "s.angelegt_am"),
    ],
    verweise: &[
        ("Partner_ID", "Partner"),
        ("Artikel_ID", "Artikel"),
        ("Wiegung_ID", "Wiegungen"),
        ("Kontrakt_ID", "Kontrakte"),
        ("Kontraktposition_ID", "Kontraktpositionen"),
    ],
    from: "from annahmeschein s where s.tenant_id = :tenant
        and s.id in (select g.id from z3_genannt g where g.art = 'annahme') order by s.id",
};

pub const LAGERBEWEGUNGEN: Tabelle = Tabelle {
    datei: "lagerbewegungen",
    titel: "Lagerbewegungen",
    beschreibung: "Zugänge (+) und Abgänge (-) in der Einheit des Artikels, gebucht im Zeitraum",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Bewegung_ID", "l.id"),
        zeitpunkt("Gebucht_am", "l.am"),
        id("Artikel_ID", "l.artikel_id"),
        text("Artikelnummer", artikelnummer!("l.artikel_id")),
        text("Bezeichnung", bezeichnung!("l.artikel_id")),
        id("Charge_ID", "l.charge_id"),
        text("Chargennr", chargennummer!("l.charge_id")),
        menge("Menge", "l.menge"),
        text(
            "Einheit",
            "(select n.einheit from artikel n where n.tenant_id = :tenant and n.id = l.artikel_id)",
        ),
        text("Beleg", belegnummer!("l.beleg_id")),
        text(
            "Produktionsauftrag",
            "(select n.pa_nummer from produktionsauftrag n where n.tenant_id = :tenant and n.id = l.pa_id)",
        ),
        text(
            "Inventur",
            "(select n.grund from inventur n where n.tenant_id = :tenant and n.id = l.inventur_id)",
        ),
    ],
    verweise: &[("Artikel_ID", "Artikel"), ("Charge_ID", "Chargen")],
    from: "from lagerbewegung l where l.tenant_id = :tenant and l.am >= :ab and l.am < :vor order by l.id",
};

pub const PRODUKTIONSAUFTRAEGE: Tabelle = Tabelle {
    datei: "produktionsauftraege",
    titel: "Produktionsauftraege",
    beschreibung: "Aufträge des Zeitraums und solche, die in ihm etwas bewegt haben",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Auftrag_ID", "p.id"),
        text("Auftragsnr", "p.pa_nummer"),
        text("Status", "p.status"),
        text("Rezeptur", "p.rezeptur_bezeichnung"),
        ganz("Rezeptur_Version", "p.rezeptur_version"),
        genau("Faktor", "p.faktor"),
        tag("Produktionsdatum", "p.produktions_datum"),
        text("Bezeichnung", "p.bezeichnung"),
        text("Bemerkung", "p.bemerkung"),
        zeitpunkt("Erledigt_am", "p.erledigt_am"),
        zeitpunkt("Angelegt_am", "p.angelegt_am"),
    ],
    verweise: &[],
    from: "from produktionsauftrag p where p.tenant_id = :tenant
        and p.id in (select g.id from z3_genannt g where g.art = 'pa') order by p.id",
};

pub const PA_ZEILEN: Tabelle = Tabelle {
    datei: "pa_zeilen",
    titel: "PA_Zeilen",
    beschreibung: "Was in die Aufträge einging und was aus ihnen wurde",
    ist_zeitraum: true,
    schluessel: 3,
    spalten: &[
        id("Auftrag_ID", "z.pa_id"),
        text("Art", "z.art"),
        ganz("Zeile", "z.id"),
        ganz("Position", "z.position"),
        id("Artikel_ID", "z.artikel_id"),
        text("Artikelnummer", artikelnummer!("z.artikel_id")),
        text("Bezeichnung", bezeichnung!("z.artikel_id")),
        id("Charge_ID", "z.charge_id"),
        text("Chargennr", chargennummer!("z.charge_id")),
        menge("Soll_Menge", "z.soll_menge"),
        menge("Ist_Menge", "z.ist_menge"),
        text("Einheit", "z.einheit"),
        text("Bemerkung", "z.bemerkung"),
    ],
    verweise: &[
        ("Auftrag_ID", "Produktionsauftraege"),
        ("Artikel_ID", "Artikel"),
        ("Charge_ID", "Chargen"),
    ],
    from: "from (select tenant_id, pa_id, 'Einsatz' as art, id, position, artikel_id, charge_id, soll_menge, ist_menge,
          einheit, bemerkung from pa_input
        union all select tenant_id, pa_id, 'Ergebnis', id, position, artikel_id, charge_id, soll_menge, ist_menge,
          einheit, bemerkung from pa_output) z
        where z.tenant_id = :tenant and z.pa_id in (select g.id from z3_genannt g where g.art = 'pa')
        order by z.pa_id, z.art, z.id",
};

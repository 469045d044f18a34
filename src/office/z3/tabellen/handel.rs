//! Documents with their items and taxes, and receipts of registers.

use super::super::tabelle::{Tabelle, ganz, geld, genau, id, menge, tag, text, zeitpunkt};
use super::namen::{
    artikelnummer, belegnummer, chargennummer, kontraktnummer, kontraktposition, wiegeschein,
};

/// Names of a document's files in one folder of the archive, as an SQL expression.
macro_rules! dateien {
    ($ordner:literal) => {
        concat!(
            "(select group_concat(d.name, ', ') from z3_datei d where d.beleg_id = b.id and d.ordner = '",
            $ordner,
            "')"
        )
    };
}

pub const BELEGE: Tabelle = Tabelle {
    datei: "belege",
    titel: "Belege",
    beschreibung: "Angebote (AN), Aufträge (AU), Lieferscheine (LS), Rechnungen (RE), Bestellungen (BS), \
                   Eingangslieferscheine (EL) und Eingangsrechnungen (ER)",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Beleg_ID", "b.id"),
        text("Belegnummer", "b.beleg_nummer"),
        text("Belegart", "b.beleg_typ"),
        text("Rechnungsart", "b.rechnungsart"),
        text("Status", "b.status"),
        tag("Belegdatum", "b.beleg_datum"),
        tag("Lieferdatum", "b.lieferdatum"),
        tag("Leistung_von", "b.leistung_von"),
        tag("Leistung_bis", "b.leistung_bis"),
        id("Partner_ID", "b.kunde_id"),
        text("Kundennr", "coalesce(b.kunden_kundennr, k.kundennr)"),
        text("Partnername", "coalesce(b.kunden_name, k.name)"),
        text("Partner_Strasse", "b.kunden_strasse"),
        text("Partner_PLZ", "b.kunden_plz"),
        text("Partner_Ort", "b.kunden_ort"),
        text("Partner_Staat", "b.kunden_staat"),
        text("Partner_USt_ID", "b.kunden_ust_id"),
        text("Partner_Steuernummer", "b.kunden_steuernummer"),
        text("Nummer_des_Lieferanten", "b.fremdbelegnummer"),
        geld("Netto", "b.summe_netto"),
        geld("MwSt", "b.summe_mwst"),
        geld("Brutto", "b.summe_brutto"),
        ganz("Zahlungsziel_Tage", "b.zahlungsziel_tage"),
        text("Zahlungsbedingung", "b.zahlungsbedingung"),
        ganz("Skonto_Tage", "b.skonto_tage"),
        genau("Skonto_Prozent", "b.skonto_prozent"),
        text("Storno_von", belegnummer!("b.storno_von_beleg_id")),
        text("Storno_Grund", "b.storno_grund"),
        text("Vorgaenger", belegnummer!("b.vorgaenger_beleg_id")),
        text("Notizen", "b.notizen"),
        text("Fremdreferenz", "b.external_ref"),
        zeitpunkt("Angelegt_am", "b.angelegt_am"),
        zeitpunkt("Letztes_Ereignis_am", "b.ereignis_am"),
        ganz("Fassung", "b.version"),
        text("Datei_PDF", dateien!("pdf")),
        text("Datei_E_Rechnung", dateien!("erechnung")),
        text("Dateien_Anhang", dateien!("anhang")),
    ],
    verweise: &[("Partner_ID", "Partner")],
    from: "from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
        where b.tenant_id = :tenant and b.id in (select g.id from z3_genannt g where g.art = 'beleg') order by b.id",
};

pub const POSITIONEN: Tabelle = Tabelle {
    datei: "positionen",
    titel: "Positionen",
    beschreibung: "Positionen der Belege",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        id("Beleg_ID", "p.beleg_id"),
        ganz("Position", "p.position"),
        text("Belegnummer", "b.beleg_nummer"),
        id("Artikel_ID", "p.artikel_id"),
        text("Artikelnummer", artikelnummer!("p.artikel_id")),
        text("Bezeichnung", "p.bezeichnung"),
        text("Bezeichnung2", "p.bezeichnung2"),
        menge("Menge", "p.menge"),
        text("Einheit", "p.einheit"),
        genau("Einzelpreis_netto", "p.ep_netto"),
        genau("Rabatt_Prozent", "p.rabatt_prozent"),
        genau("MwSt_Satz", "p.mwst_satz"),
        text("Steuerkategorie", "p.steuer_kategorie"),
        geld("Netto", "p.gesamtpreis"),
        menge("Menge_in_Artikeleinheit", "p.lager_menge"),
        id("Charge_ID", "p.charge_id"),
        text("Chargennr", chargennummer!("p.charge_id")),
        text("Bezug_Beleg", belegnummer!("p.bezug_beleg_id")),
        id("Wiegung_ID", "p.wiegung_id"),
        text("Wiegescheinnr", wiegeschein!("p.wiegung_id")),
        id("Kontrakt_ID", "p.kontrakt_id"),
        text("Kontraktnr", kontraktnummer!("p.kontrakt_id")),
        id("Kontraktposition_ID", "p.kontrakt_position_id"),
        ganz("Kontraktposition", kontraktposition!("p.kontrakt_position_id")),
        text("Kostenstelle", "p.kostenstelle"),
    ],
    verweise: &[
        ("Beleg_ID", "Belege"),
        ("Artikel_ID", "Artikel"),
        ("Charge_ID", "Chargen"),
        ("Wiegung_ID", "Wiegungen"),
        ("Kontrakt_ID", "Kontrakte"),
        ("Kontraktposition_ID", "Kontraktpositionen"),
    ],
    from: "from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        where p.tenant_id = :tenant and p.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')
        order by p.beleg_id, p.position",
};

pub const STEUERGRUPPEN: Tabelle = Tabelle {
    datei: "steuergruppen",
    titel: "Steuergruppen",
    beschreibung: "Bemessung und Steuer der Belege je Satz, wie gedruckt",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        id("Beleg_ID", "s.beleg_id"),
        ganz("Nr", "s.nr"),
        text("Belegnummer", "s.beleg_nummer"),
        genau("MwSt_Satz", "s.satz"),
        geld("Basis", "s.basis"),
        geld("Steuer", "s.steuer"),
    ],
    verweise: &[("Beleg_ID", "Belege")],
    from: "from (
          select b.tenant_id, b.id as beleg_id, row_number() over (partition by b.id order by p.mwst_satz) as nr,
            b.beleg_nummer, p.mwst_satz as satz, sum(p.gesamtpreis) as basis,
            z3_steuer(sum(p.gesamtpreis), p.mwst_satz) as steuer
          from beleg b join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
          where b.tenant_id = :tenant and b.steuergruppen is null
            and b.id in (select g.id from z3_genannt g where g.art = 'beleg') group by b.id, p.mwst_satz
          union all
          select b.tenant_id, b.id, e.key + 1, b.beleg_nummer, z3_ganzzahl(e.value ->> 'mwst_satz', 6),
            z3_ganzzahl(e.value ->> 'basis', 2), z3_ganzzahl(e.value ->> 'steuer', 2)
          from beleg b, json_each(b.steuergruppen) e
          where b.tenant_id = :tenant and b.id in (select g.id from z3_genannt g where g.art = 'beleg')) s
        where s.tenant_id = :tenant order by s.beleg_id, s.nr",
};

pub const BONS: Tabelle = Tabelle {
    datei: "bons",
    titel: "Bons",
    beschreibung: "Bons der Kassen, wie sie übernommen wurden; maßgeblich sind die Dateien der Kasse",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        id("Bon_ID", "b.id"),
        text("Bonnr", "b.bon_nr"),
        id("Kasse_ID", "b.kasse_id"),
        zeitpunkt("Kassiert_am", "b.kassiert_am"),
        tag("Kassentag", "b.datum"),
        text("Art", "b.art"),
        text("Storniert", "iif(b.storniert, 'ja', 'nein')"),
        text(
            "Storno_von",
            "(select n.bon_nr from bon n where n.tenant_id = :tenant and n.id = b.storno_von_bon_id)",
        ),
        text("Zahlart", "b.zahlart"),
        id("Partner_ID", "b.kunde_id"),
        ganz("Zeilen", "b.zeilen"),
    ],
    verweise: &[("Partner_ID", "Partner")],
    from: "from bon b where b.tenant_id = :tenant
        and b.id in (select g.id from z3_genannt g where g.art = 'bon') order by b.id",
};

pub const BONZEILEN: Tabelle = Tabelle {
    datei: "bonzeilen",
    titel: "Bonzeilen",
    beschreibung: "Zeilen der Bons: brutto mit der darin enthaltenen Steuer",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        id("Bon_ID", "z.bon_id"),
        ganz("Position", "z.position"),
        id("Artikel_ID", "z.artikel_id"),
        text("Artikelnummer", "z.artikelnummer"),
        text("Bezeichnung", "z.bezeichnung"),
        menge("Menge", "z.menge"),
        text("Einheit", "z.einheit"),
        genau("Einzelpreis_brutto", "z.einzelpreis"),
        genau("MwSt_Satz", "z.mwst_satz"),
        geld("Brutto", "z.gesamt"),
        geld("Steuer", "z.steuer"),
    ],
    verweise: &[("Bon_ID", "Bons"), ("Artikel_ID", "Artikel")],
    from: "from barverkauf z where z.tenant_id = :tenant
        and z.bon_id in (select g.id from z3_genannt g where g.art = 'bon') order by z.bon_id, z.position",
};

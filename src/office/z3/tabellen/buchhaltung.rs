//! What the tax adviser received (D31, D32).

use super::super::tabelle::{Tabelle, ganz, geld, genau, id, tag, text, zeitpunkt};
use super::namen::belegnummer;

pub const KONTEN: Tabelle = Tabelle {
    datei: "konten",
    titel: "Konten",
    beschreibung: "Auf welches Konto ein Fall gebucht wird, je Steuersatz und Artikelgruppe",
    ist_zeitraum: false,
    schluessel: 1,
    spalten: &[
        ganz("Nr", "k.rowid"),
        text("Fall", "k.fall"),
        genau("MwSt_Satz", "k.satz"),
        text(
            "Artikelgruppe",
            "(select n.name from artikelgruppe n where n.tenant_id = :tenant and n.id = k.artikelgruppe_id)",
        ),
        text("Konto", "k.konto"),
        text("BU_Schluessel", "k.bu"),
        text("Automatik", "iif(k.automatik, 'ja', 'nein')"),
    ],
    verweise: &[],
    from: "from konto k where k.tenant_id = :tenant order by k.rowid",
};

pub const STAPEL: Tabelle = Tabelle {
    datei: "datev_stapel",
    titel: "DATEV_Stapel",
    beschreibung: "Stapel an den Steuerberater, die im Zeitraum entstanden oder seine Belege enthalten",
    ist_zeitraum: true,
    schluessel: 1,
    spalten: &[
        ganz("Stapel_Nr", "s.nr"),
        zeitpunkt("Angelegt_am", "s.am"),
        tag("Von", "s.von"),
        tag("Bis", "s.bis"),
        ganz("Belege", "s.belege"),
        ganz("Zeilen", "s.zeilen"),
        geld("Umsatz", "s.summe"),
        zeitpunkt("Verworfen_am", "s.verworfen_am"),
        text("Verworfen_Grund", "s.verworfen_grund"),
    ],
    verweise: &[],
    from: "from datev_stapel s where s.tenant_id = :tenant and (s.am >= :ab and s.am < :vor
        or s.nr in (select d.stapel_nr from datev_beleg d where d.tenant_id = :tenant
          and d.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg'))) order by s.nr",
};

pub const BELEGE: Tabelle = Tabelle {
    datei: "datev_belege",
    titel: "DATEV_Belege",
    beschreibung: "In welchem Stapel ein Beleg steht, mit seinem Betrag auf dem Personenkonto",
    ist_zeitraum: true,
    schluessel: 2,
    spalten: &[
        ganz("Stapel_Nr", "d.stapel_nr"),
        id("Beleg_ID", "d.beleg_id"),
        text("Belegnummer", belegnummer!("d.beleg_id")),
        geld("Betrag", "d.betrag"),
        text("Verworfen", "iif(d.verworfen, 'ja', 'nein')"),
    ],
    verweise: &[("Stapel_Nr", "DATEV_Stapel"), ("Beleg_ID", "Belege")],
    from: "from datev_beleg d where d.tenant_id = :tenant
        and d.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg') order by d.stapel_nr, d.beleg_id",
};

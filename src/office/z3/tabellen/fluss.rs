//! The flow of documents: which position was made from which other one (D38).

use super::super::tabelle::{Tabelle, ganz, id, menge, text};
use super::namen::{artikelnummer, belegnummer};
use crate::trade::belege::{of_same_order, position_names};

/// Quantities that a position in one role of a pair shares with one in another, of a document of the hand-over, as a
/// select.
macro_rules! geteilt {
    ($vor:literal, $nach:literal) => {
        concat!(
            "select ",
            $vor,
            "_id as vor, ",
            $vor,
            "_position as vor_position, ",
            $nach,
            "_id as nach, ",
            $nach,
            "_position as nach_position, menge from lager_paar where tenant_id = :tenant and ",
            $vor,
            "_id is not null and ",
            $nach,
            "_id in (select g.id from z3_genannt g where g.art = 'beleg')"
        )
    };
}

/// Whether one position, of this document, names the other one: its invoice, also where both were made of one order.
macro_rules! nennt {
    ($wer:literal, $beleg:literal, $wen:literal) => {
        concat!(
            "(",
            position_names!($wer, $wen),
            " or ",
            $beleg,
            ".rechnungsart is not null and ",
            of_same_order!($wen, $wer),
            ")"
        )
    };
}

pub const BELEGFLUSS: Tabelle = Tabelle {
    datei: "belegfluss",
    titel: "Belegfluss",
    beschreibung: "Welche Position aus welcher früheren hervorgeht oder sie zurücknimmt; Art: genannt (angegeben, oder auf \
                   dem Papier), genau (gefunden, mit genau der Menge), vorgeschlagen (gefunden)",
    ist_zeitraum: true,
    schluessel: 4,
    spalten: &[
        id("Beleg_ID", "s.nach"),
        ganz("Position", "s.nach_position"),
        text("Von_Belegnummer", belegnummer!("s.vor")),
        ganz("Von_Position", "s.vor_position"),
        text("Belegnummer", belegnummer!("s.nach")),
        text("Artikelnummer", artikelnummer!("s.artikel_id")),
        menge("Menge_in_Artikeleinheit", "s.menge"),
        text("Art", "s.art"),
    ],
    verweise: &[("Beleg_ID", "Belege")],
    from: concat!(
        "from (
          select p.tenant_id, f.beleg_id as nach, p.position as nach_position, f.von_beleg_id as vor,
            v.position as vor_position, p.artikel_id, f.menge, 'genannt' as art
          from beleg_fluss f join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.position_id
            join beleg_position v on v.tenant_id = f.tenant_id and v.id = f.von_position_id
            join beleg b on b.tenant_id = f.tenant_id and b.id = f.von_beleg_id and b.status <> 'storniert'
          where f.tenant_id = :tenant and f.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg') and f.menge > 0
          union all
          select p.tenant_id, l.nach, l.nach_position, l.vor, l.vor_position, p.artikel_id, l.menge, case
            when ",
        nennt!("p", "n", "v"),
        " then 'genannt'
            when n.rechnungsart is not null and n.status <> 'offen' and l.menge = abs(v.lager_menge) then 'genannt'
            when n.rechnungsart is null and b.status <> 'offen' and l.menge = abs(p.lager_menge) then 'genannt'
            when l.menge = abs(p.lager_menge) and l.menge = abs(v.lager_menge) then 'genau'
            else 'vorgeschlagen' end
          from (select vor, vor_position, nach, nach_position, sum(menge) as menge from (",
        geteilt!("lieferung", "rechnung"),
        " union all ",
        geteilt!("rechnung", "lieferung"),
        " union all ",
        geteilt!("lieferung", "rueckgabe"),
        " union all ",
        geteilt!("rueckgabe", "lieferung"),
        " union all ",
        geteilt!("lieferung", "gutschrift"),
        " union all ",
        geteilt!("gutschrift", "lieferung"),
        " union all ",
        geteilt!("rechnung", "rueckgabe"),
        " union all ",
        geteilt!("rueckgabe", "rechnung"),
        " union all ",
        geteilt!("rechnung", "gutschrift"),
        " union all ",
        geteilt!("gutschrift", "rechnung"),
        " union all ",
        geteilt!("rueckgabe", "gutschrift"),
        " union all ",
        geteilt!("gutschrift", "rueckgabe"),
        ") group by vor, vor_position, nach, nach_position) l
            cross join beleg n on n.tenant_id = :tenant and n.id = l.nach
            cross join beleg b on b.tenant_id = :tenant and b.id = l.vor
            cross join beleg_position p on p.tenant_id = :tenant and p.beleg_id = l.nach and p.position = l.nach_position
            cross join beleg_position v on v.tenant_id = :tenant and v.beleg_id = l.vor and v.position = l.vor_position
          where ",
        nennt!("p", "n", "v"),
        " or not ",
        nennt!("v", "b", "p"),
        " and (l.vor, l.vor_position) < (l.nach, l.nach_position)) s
        where s.tenant_id = :tenant order by s.nach, s.nach_position, s.vor, s.vor_position"
    ),
};

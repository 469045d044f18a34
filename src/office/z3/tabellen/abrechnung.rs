//! From analysis to amount: what an auditor needs to compute a settled receipt again.

use super::super::tabelle::{Tabelle, ganz, geld, genau, id, tag, text, zeitpunkt};
use super::namen::wer;

/// A decimal of stored JSON, in millionths.
macro_rules! zahl {
    ($wert:literal) => {
        concat!("cast(round((", $wert, ") * 1000000) as integer)")
    };
}

pub const SCHEMATA: Tabelle = Tabelle {
    datei: "abrechnungsschemata",
    titel: "Abrechnungsschemata",
    beschreibung: "Schritte, Zeilen ihrer Tabellen und Grenzen der Versionen, nach denen gerechnet wurde",
    ist_zeitraum: false,
    schluessel: 5,
    spalten: &[
        text("Schema", "r.nummer"),
        ganz("Schema_Version", "r.version"),
        text("Teil", "r.teil"),
        ganz("Teil_Nr", "r.nr"),
        ganz("Zeile", "r.zeile"),
        text("Bezeichnung", "r.bezeichnung"),
        ganz("Erntejahr", "r.erntejahr"),
        tag("Gueltig_von", "r.gueltig_von"),
        tag("Gueltig_bis", "r.gueltig_bis"),
        text("Bestand", "r.inhalt ->> 'bestand'"),
        ganz("Preis_Stellen", "r.inhalt ->> 'preis_stellen'"),
        text("Mittelung", "r.inhalt ->> 'mittelung'"),
        ganz("Schritt_Nr", "r.regel ->> 'nr'"),
        text("Code", "r.regel ->> 'code'"),
        text("Text", "r.regel ->> 'text'"),
        text("Wirkung", "r.regel ->> 'wirkung'"),
        text("Regel", "r.regel ->> 'regel'"),
        text("Merkmal", "r.regel ->> 'merkmal'"),
        text("Richtung", "r.regel ->> 'richtung'"),
        genau("Grenze", zahl!("r.regel ->> 'wert'")),
        text("Folge", "r.regel ->> 'aktion'"),
        genau("Basis", zahl!("r.regel ->> 'basis'")),
        genau("Zaehlt_ab", zahl!("r.regel ->> 'zaehlt_ab'")),
        genau("Grenzwert", zahl!("r.regel ->> 'grenzwert'")),
        genau("Schrittweite", zahl!("r.regel ->> 'schritt'")),
        text("Angefangen", "iif(r.regel ->> 'angefangen', 'ja', 'nein')"),
        genau("Satz", zahl!("r.regel ->> 'satz'")),
        text("Einheit", "r.regel ->> 'einheit'"),
        text("Bezug", "r.regel ->> 'bezug'"),
        text("Gestaffelt", "iif(r.regel ->> 'gestaffelt', 'ja', 'nein')"),
        text("Ohne_Messwert", "r.regel ->> 'fehlt'"),
        genau("Zeile_von", zahl!("r.tabelle ->> 'von'")),
        genau("Zeile_bis", zahl!("r.tabelle ->> 'bis'")),
        genau("Zeile_Satz", zahl!("r.tabelle ->> 'satz'")),
    ],
    verweise: &[],
    from: "from (select s.nummer, v.*, 'schritt' as teil, coalesce(t.key, -1) + 1 as nr, t.value as regel,
          coalesce(z.key, -1) + 1 as zeile, z.value as tabelle
        from abrechnungsschema_version v
        join abrechnungsschema s on s.tenant_id = v.tenant_id and s.id = v.schema_id
        left join json_each(v.inhalt, '$.schritte') t
        left join json_each(coalesce(t.value, '{}'), '$.zeilen') z
        where v.tenant_id = :tenant
        union all
        select s.nummer, v.*, 'grenze', g.key + 1, g.value, 0, null
        from abrechnungsschema_version v
        join abrechnungsschema s on s.tenant_id = v.tenant_id and s.id = v.schema_id
        join json_each(v.inhalt, '$.grenzen') g
        where v.tenant_id = :tenant) r
        where r.tenant_id = :tenant and ((r.nummer, r.version) in (
            select x.inhalt ->> 'schema', x.inhalt ->> 'schema_version' from abrechnung_annahme x
            where x.tenant_id = :tenant
              and x.annahmeschein_id in (select g.id from z3_genannt g where g.art = 'annahme'))
          or (r.schema_id, r.version) in (
            select n.schema_id, n.schema_version from annahmeschein n
            where n.tenant_id = :tenant and n.id in (select g.id from z3_genannt g where g.art = 'annahme')))
        order by r.nummer, r.version, r.teil desc, r.nr, r.zeile",
};

pub const ANALYSEN: Tabelle = Tabelle {
    datei: "analysen",
    titel: "Analysen",
    beschreibung: "Messwerte der Annahmescheine und Freigaben; von jedem Merkmal gilt der neueste Wert",
    ist_zeitraum: true,
    schluessel: 3,
    spalten: &[
        id("Annahmeschein_ID", "q.annahmeschein_id"),
        ganz("Fassung", "q.version"),
        ganz("Wert_Nr", "coalesce(w.key, -1) + 1"),
        text("Annahmescheinnr", "s.belegnummer"),
        zeitpunkt("Am", "q.am"),
        text("Von", wer!("q.key_id")),
        text("Quelle", "coalesce(q.quelle, 'freigabe')"),
        text("Geraet", "q.geraet"),
        text("Probe_Nr", "q.probe_nr"),
        text("Merkmal", "w.value ->> 'merkmal'"),
        genau("Wert", zahl!("w.value ->> 'wert'")),
        text("Grund", "q.grund"),
        text(
            "Schema",
            "(select n.nummer from abrechnungsschema n where n.tenant_id = :tenant and n.id = q.schema_id)",
        ),
    ],
    verweise: &[("Annahmeschein_ID", "Annahmescheine")],
    from: "from annahme_analyse q
        join annahmeschein s on s.tenant_id = q.tenant_id and s.id = q.annahmeschein_id
        left join json_each(q.werte) w
        where q.tenant_id = :tenant
          and q.annahmeschein_id in (select g.id from z3_genannt g where g.art = 'annahme')
        order by q.annahmeschein_id, q.version, w.key",
};

pub const ZEILEN: Tabelle = Tabelle {
    datei: "abrechnungszeilen",
    titel: "Abrechnungszeilen",
    beschreibung: "Gedruckte Zeilen der Abrechnungen: Schritte in kg, EUR je t oder EUR, und die Ware zu ihrem Preis",
    ist_zeitraum: true,
    schluessel: 4,
    spalten: &[
        id("Beleg_ID", "r.beleg_id"),
        id("Annahmeschein_ID", "r.annahmeschein_id"),
        text("Teil", "r.teil"),
        ganz("Zeile", "r.nr"),
        text("Belegnummer", "r.beleg_nummer"),
        text("Annahmescheinnr", "r.inhalt ->> 'belegnummer'"),
        text("Art", "r.art"),
        tag("Lieferdatum", "r.inhalt ->> 'lieferdatum'"),
        text("Schema", "r.inhalt ->> 'schema'"),
        ganz("Schema_Version", "r.inhalt ->> 'schema_version'"),
        ganz("Analyse", "r.analyse"),
        text("Mittel_der_Partie", "iif(r.inhalt ->> 'ist_mittel', 'ja', 'nein')"),
        text("Code", "r.zeile ->> 'code'"),
        text("Text", "coalesce(r.zeile ->> 'text', 'Ware')"),
        text("Wirkung", "coalesce(r.zeile ->> 'wirkung', 'ware')"),
        text("Merkmal", "r.zeile ->> 'merkmal'"),
        genau("Wert", zahl!("r.zeile ->> 'wert'")),
        text("Satz", "coalesce(r.zeile ->> 'satz', r.zeile ->> 'preis_je_t')"),
        text("Satz_gerechnet", "r.zeile ->> 'rechnung'"),
        text("Einheit", "coalesce(r.zeile ->> 'einheit', 'EUR/t')"),
        genau("Bezug", zahl!("coalesce(r.zeile ->> 'bezug', r.zeile ->> 'kg')")),
        genau("Ergebnis", zahl!("coalesce(r.zeile ->> 'ergebnis', r.zeile ->> 'ware')")),
        genau("Danach", zahl!("r.zeile ->> 'danach'")),
        text("Kontrakt", "r.zeile ->> 'kontrakt'"),
        genau("Grundpreis_je_t", zahl!("r.zeile ->> 'grundpreis'")),
        genau("MwSt_Satz", "r.mwst_satz"),
        geld("Betrag_des_Scheins", "iif(r.teil = 'ware' and r.nr = 1, r.betrag, null)"),
    ],
    verweise: &[("Beleg_ID", "Belege"), ("Annahmeschein_ID", "Annahmescheine")],
    from: "from (select a.tenant_id, a.beleg_id, b.beleg_nummer, a.art, x.annahmeschein_id, x.analyse, x.inhalt,
            x.mwst_satz, x.betrag, 'schritt' as teil, z.key + 1 as nr,
            z.value as zeile
          from abrechnung a
          join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
          join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
          join json_each(x.inhalt, '$.rechnung.zeilen') z
          where a.tenant_id = :tenant and a.art <> 'nachverguetung'
            and a.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')
        union all
        select a.tenant_id, a.beleg_id, b.beleg_nummer, a.art, x.annahmeschein_id, x.analyse, x.inhalt, x.mwst_satz,
            x.betrag, 'ware', t.key + 1, t.value
          from abrechnung a
          join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
          join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
          join json_each(x.inhalt, '$.teile') t
          where a.tenant_id = :tenant
            and a.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')) r
        where r.tenant_id = :tenant
        order by r.beleg_id, r.annahmeschein_id, r.teil, r.nr",
};

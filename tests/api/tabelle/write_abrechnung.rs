//! Writing schemes of settlement, and asking what they come to. `<fresh>` is another text each time.

use super::Write;

macro_rules! step {
    () => {
        "{'nr':1,'code':'feuchte','text':'Schwund','wirkung':'menge','regel':'faktor','merkmal':'feuchte',\
         'richtung':'ueber','basis':14.5,'satz':1.3}"
    };
}

const SCHEMA: &str = concat!(
    "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'grenzen':[{'merkmal':'don','richtung':'ueber','wert':1250,'aktion':'sperren','text':'DON'}],'schritte':[",
    step!(),
    "]}"
);

/// Steps that take each field: a table, and one of whose rows is sent.
const TABELLE: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Protein','wirkung':'preis','regel':'tabelle','merkmal':'protein',\
     'einheit':'EUR/t','zeilen':[{'von':11,'bis':12.9,'satz':-6}]}]}";

const STAFFEL: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Schwund','wirkung':'menge','regel':'staffel','merkmal':'feuchte',\
     'richtung':'ueber','basis':14,'zeilen':[{'bis':5,'satz':1.2}]}]}";

const KOSTEN: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Trocknung','wirkung':'kosten','regel':'faktor','merkmal':'feuchte',\
     'richtung':'ueber','basis':14,'schritt':0.5,'satz':-1.75,'einheit':'EUR/t','bezug':'brutto'}]}";

pub const TABLES: &[Write] = &[
    Write {
        route: "POST /abrechnungsschemata",
        before: None,
        path: "/abrechnungsschemata",
        body: SCHEMA,
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("-", "", "version=1"),
            ("-", "", "gueltig_bis=null"),
            ("-", "", "schritte.0.bezug='vorher'"),
            ("nummer", "' N-7 '", "'N-7'"),
            ("nummer", "'SW'", "400 FELD_WIDERSPRUCH"),
            ("nummer", "-", "400 FELD_FEHLT"),
            ("bezeichnung", "'Gerste'", "'Gerste'"),
            ("bezeichnung", "-", "400 FELD_FEHLT"),
            ("artikel", "['<S>']", "['S']"),
            ("artikel", "['S','W-10']", "['S','W-10']"),
            ("artikel", "['nirgends']", "400 ARTIKEL_NICHT_GEFUNDEN"),
            ("artikel", "[]", "400 FELD_FEHLT"),
            ("erntejahr", "2031", "2031"),
            ("gueltig_von", "'2031-08-01'", "'2031-08-01'"),
            ("gueltig_von", "-", "400 FELD_FEHLT"),
            ("gueltig_bis", "'2032-06-30'", "'2032-06-30'"),
            ("gueltig_bis", "'2031-06-30'", "400 DATUM_UNGUELTIG"),
            ("bestand", "'brutto'", "'brutto'"),
            ("bestand", "-", "'netto'"),
            ("preis_stellen", "4", "4"),
            ("preis_stellen", "-", "2"),
            ("mittelung", "'partie'", "'partie'"),
            ("bio", "true", "true"),
            ("grenzen", "[]", "[]"),
            ("grenzen.merkmal", "'protein'", "'protein'"),
            ("grenzen.merkmal", "'farbe'", "400 MERKMAL_NICHT_GEFUNDEN"),
            ("grenzen.richtung", "'unter'", "'unter'"),
            ("grenzen.wert", "'12.8'", "'12.8'"),
            ("grenzen.wert", "-", "400 FELD_FEHLT"),
            ("grenzen.aktion", "'abweisen'", "'abweisen'"),
            ("grenzen.text", "'dann Futter'", "'dann Futter'"),
            ("schritte", "[]", "[]"),
            ("schritte.nr", "7", "7"),
            ("schritte.code", "'schwund_2'", "'schwund_2'"),
            ("schritte.code", "'Schwund'", "400 WERT_UNGUELTIG"),
            ("schritte.text", "'Trocknungsschwund'", "'Trocknungsschwund'"),
            ("schritte.wirkung", "'menge'", "'menge'"),
            ("schritte.wirkung", "-", "400 FELD_FEHLT"),
            ("schritte.regel", "'standardgewicht'", "'standardgewicht'"),
            ("schritte.regel", "'fest'", "400 FELD_WIDERSPRUCH"),
            ("schritte.merkmal", "'besatz'", "'besatz'"),
            ("schritte.merkmal", "'farbe'", "400 MERKMAL_NICHT_GEFUNDEN"),
            ("schritte.richtung", "'unter'", "'unter'"),
            ("schritte.basis", "'15'", "'15.0'"),
            ("schritte.zaehlt_ab", "'14'", "'14.0'"),
            ("schritte.grenzwert", "'20'", "'20.0'"),
            ("schritte.grenzwert", "'14'", "400 WERT_UNGUELTIG"),
            ("schritte.schritt", "'0.5'", "'0.5'"),
            ("schritte.satz", "'1.25'", "'1.25'"),
            ("schritte.einheit", "'%'", "'%'"),
            ("schritte.einheit", "'EUR'", "400 WERT_UNGUELTIG"),
            ("schritte.bezug", "'brutto'", "'brutto'"),
            ("schritte.bezug", "'netto'", "400 WERT_UNGUELTIG"),
            ("schritte.fehlt", "'keine'", "'keine'"),
            ("schritte.fehlt", "-", "'sperren'"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata",
        before: None,
        path: "/abrechnungsschemata",
        body: TABELLE,
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("schritte.zeilen", "[{'von':0,'bis':9,'satz':0}]", "schritte.0.zeilen.0.bis='9.0'"),
            ("schritte.zeilen.von", "'10.5'", "'10.5'"),
            ("schritte.zeilen.bis", "'13'", "'13.0'"),
            ("schritte.zeilen.satz", "'-6.25'", "'-6.25'"),
            (
                "schritte.zeilen",
                "[{'von':0,'bis':9,'satz':0},{'von':9,'bis':9,'satz':0}]",
                "400 TABELLE_UEBERLAPPT",
            ),
            (
                "schritte.zeilen",
                "[{'von':0,'bis':9,'satz':0},{'von':9.2,'bis':9.3,'satz':0}]",
                "400 TABELLE_LUECKE",
            ),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata",
        before: None,
        path: "/abrechnungsschemata",
        body: STAFFEL,
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("schritte.gestaffelt", "true", "true"),
            ("schritte.zeilen.von", "0", "400 FELD_WIDERSPRUCH"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata",
        before: None,
        path: "/abrechnungsschemata",
        body: KOSTEN,
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("schritte.angefangen", "true", "true"),
            ("schritte.bezug", "'nach:b'", "400 WERT_UNGUELTIG"),
            ("schritte.bezug", "-", "400 FELD_FEHLT"),
            ("schritte.einheit", "'EUR'", "400 FELD_WIDERSPRUCH"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata/{id}/versionen",
        before: Some(("/abrechnungsschemata", SCHEMA)),
        path: "/abrechnungsschemata/<before>/versionen",
        body: concat!(
            "{'bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-08-01','grenzen':[{'merkmal':'don',\
             'richtung':'ueber','wert':1250,'aktion':'sperren','text':'DON'}],'schritte':[",
            step!(),
            "]}"
        ),
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("-", "", "version=2"),
            ("-", "", "versionen.1.gueltig_bis='2031-07-31'"),
            ("nummer", "'N-9'", "400 FELD_WIDERSPRUCH"),
            ("nummer", "null", "version=2"),
            ("bezeichnung", "'Ernte 2'", "'Ernte 2'"),
            ("artikel", "['S']", "['S']"),
            ("erntejahr", "2032", "2032"),
            ("gueltig_von", "'2031-07-01'", "'2031-07-01'"),
            ("gueltig_von", "'2031-06-30'", "400 SCHEMA_UEBERSCHNEIDET"),
            ("gueltig_bis", "'2031-09-01'", "'2031-09-01'"),
            ("bestand", "'brutto'", "'brutto'"),
            ("preis_stellen", "3", "3"),
            ("mittelung", "'partie'", "'partie'"),
            ("bio", "true", "true"),
            ("grenzen", "[]", "[]"),
            ("schritte", "[]", "[]"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata/{id}/versionen",
        before: None,
        path: "/abrechnungsschemata/<unknown>/versionen",
        body: "{'bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-08-01'}",
        shown: "",
        rows: &[("-", "", "404 NICHT_GEFUNDEN")],
    },
    Write {
        route: "POST /abrechnungsschemata/{id}/probe",
        before: None,
        path: "/abrechnungsschemata/<SW>/probe",
        body: "{'menge_kg':10000,'version':1,'werte':[{'merkmal':'feuchte','wert':15.5}]}",
        shown: "",
        rows: &[
            ("-", "", "netto_kg='9870.000'"),
            ("menge_kg", "'24860.4'", "brutto_kg='24860.000'"),
            ("menge_kg", "0", "400 WERT_UNGUELTIG"),
            ("menge_kg", "-", "400 FELD_FEHLT"),
            ("preis_je_t", "'200'", "ware='1974.00'"),
            ("lieferdatum", "'2031-07-31'", "version=1"),
            ("version", "2", "2"),
            ("version", "9", "400 WERT_UNGUELTIG"),
            ("werte", "[]", "befunde.0.code='MERKMAL_FEHLT'"),
            ("werte.merkmal", "'besatz'", "netto_kg=null"),
            ("werte.merkmal", "'farbe'", "400 MERKMAL_NICHT_GEFUNDEN"),
            ("werte.wert", "'15.44'", "hinweise.0.code='GERUNDET'"),
            ("werte.wert", "-1", "400 WERT_UNGUELTIG"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata/{id}/probe",
        before: None,
        path: "/abrechnungsschemata/<SW>/probe",
        body: "{'menge_kg':10000}",
        shown: "",
        rows: &[
            ("lieferdatum", "'2031-08-01'", "version=2"),
            ("lieferdatum", "'2031-06-30'", "400 WERT_UNGUELTIG"),
        ],
    },
    Write {
        route: "POST /abrechnungsschemata/{id}/probe",
        before: None,
        path: "/abrechnungsschemata/<unknown>/probe",
        body: "{'menge_kg':10000}",
        shown: "",
        rows: &[("-", "", "404 NICHT_GEFUNDEN")],
    },
];

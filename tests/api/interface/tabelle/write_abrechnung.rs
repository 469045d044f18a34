//! Writing settlement schemes and settlements, and previewing them. `<fresh>` is a new text each time.

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

/// Steps that use each field: a table, and one with rows.
const TABELLE: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Protein','wirkung':'preis','regel':'tabelle','merkmal':'protein',\
     'einheit':'EUR/t','zeilen':[{'von':11,'bis':12.9,'satz':-6}]}]}";

const STAFFEL: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Schwund','wirkung':'menge','regel':'staffel','merkmal':'feuchte',\
     'richtung':'ueber','basis':14,'zeilen':[{'bis':5,'satz':1.2}]}]}";

const KOSTEN: &str = "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
     'schritte':[{'nr':1,'code':'a','text':'Trocknung','wirkung':'kosten','regel':'faktor','merkmal':'feuchte',\
     'richtung':'ueber','basis':14,'schritt':0.5,'satz':-1.75,'einheit':'EUR/t','bezug':'brutto'}]}";

/// A receipt of goods that have no scheme.
const RYE: &str = "{'kundennummer':'L-1','artikelnr':'R','anliefermenge_kg':1000,'preis_je_t':200,\
     'fremde_charge_nr':'F-1','lieferdatum':'2031-07-05'}";

/// The only receipts of this partner and article.
const ORGANIC: &str = "{'kundennummer':'L-2','artikelnr':'W-9','anliefermenge_kg':1000,'preis_je_t':200,\
     'fremde_charge_nr':'F-2','lieferdatum':'2031-07-05'}";

const ADVANCE: &str =
    "{'art':'abschlag','annahmeschein_ids':['<AS1>'],'preis_je_t':200,'abschlag':{'preis_je_t':10}}";

const END: &str = "{'art':'end','annahmeschein_ids':['<AS1>'],'preis_je_t':200,'negativ_zulassen':true}";

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
            ("gueltig_bis", "'2031-09-01'", "400 SCHEMA_ZEITRAUM"),
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
        before: Some((
            "/abrechnungsschemata",
            "{'nummer':'N-<fresh>','bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-07-01',\
             'gueltig_bis':'2031-08-31','schritte':[]}",
        )),
        path: "/abrechnungsschemata/<before>/versionen",
        body: "{'bezeichnung':'Neu','artikel':['W-10'],'gueltig_von':'2031-08-01','schritte':[]}",
        shown: "/abrechnungsschemata/<new>",
        rows: &[
            ("gueltig_bis", "'2031-09-01'", "'2031-09-01'"),
            ("gueltig_bis", "'2031-08-30'", "400 SCHEMA_ZEITRAUM"),
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
    Write {
        route: "POST /abrechnungen",
        before: Some(("/annahmescheine", RYE)),
        path: "/abrechnungen",
        body: "{'art':'end','annahmeschein_ids':['<before>'],'beleg_datum':'2031-07-10','abschliessen':false,\
               'zahlungsziel_tage':14,'notizen':'Ernte'}",
        shown: "/abrechnungen/<new>",
        rows: &[
            ("-", "", "summe_netto='200.00'"),
            ("-", "", "anzahl=1"),
            ("-", "", "status='offen'"),
            ("-", "", "partner_id='<L-1>'"),
            ("art", "'end'", "'end'"),
            ("art", "'alles'", "400 WERT_UNGUELTIG"),
            ("art", "'abschlag'", "400 FELD_FEHLT"),
            ("art", "-", "400 FELD_FEHLT"),
            ("annahmeschein_ids", "['<before>']", "anzahl=1"),
            ("annahmeschein_ids", "['<before>','<before>']", "400 FELD_WIDERSPRUCH"),
            ("annahmeschein_ids", "['<unknown>']", "400 ANNAHMESCHEIN_NICHT_GEFUNDEN"),
            ("annahmeschein_ids", "['<AS2>']", "400 ANNAHMESCHEIN_ABGERECHNET"),
            ("annahmeschein_ids", "['<AS3>']", "400 ANNAHMESCHEIN_STORNIERT"),
            ("annahmeschein_ids", "[]", "400 ABRECHNUNG_LEER"),
            ("annahmeschein_ids", "-", "400 FELD_FEHLT"),
            ("auswahl", "{'kundennummer':'L-1'}", "400 FELD_WIDERSPRUCH"),
            ("preis_je_t", "'210'", "summe_netto='210.00'"),
            ("preis_je_t", "-1", "400 WERT_UNGUELTIG"),
            ("rest_preis_je_t", "150", "summe_netto='200.00'"),
            ("abschlag", "{'prozent':50}", "400 FELD_WIDERSPRUCH"),
            ("zuschlag_je_t", "1", "400 FELD_WIDERSPRUCH"),
            ("negativ_zulassen", "true", "summe_netto='200.00'"),
            ("beleg_datum", "'2031-07-09'", "'2031-07-09T00:00:00.000Z'"),
            ("abschliessen", "true", "status='abgeschlossen'"),
            ("external_ref", "'Ernte 1'", "anzahl=1"),
            ("zahlungsziel_tage", "10", "anzahl=1"),
            ("notizen", "'Danke'", "anzahl=1"),
        ],
    },
    Write {
        route: "POST /abrechnungen",
        before: Some(("/annahmescheine", RYE)),
        path: "/abrechnungen",
        body: "{'art':'abschlag','annahmeschein_ids':['<before>'],'abschlag':{'prozent':80}}",
        shown: "/abrechnungen/<new>",
        rows: &[
            ("-", "", "summe_netto='160.00'"),
            ("abschlag", "{'preis_je_t':50}", "summe_netto='50.00'"),
            ("abschlag", "{}", "400 FELD_WIDERSPRUCH"),
            ("abschlag", "{'prozent':0}", "400 WERT_UNGUELTIG"),
        ],
    },
    Write {
        route: "POST /abrechnungen",
        before: Some(("/annahmescheine", ORGANIC)),
        path: "/abrechnungen",
        body: "{'art':'end','auswahl':{'kundennummer':'L-2','artikelnr':'W-9'},'abschliessen':true}",
        shown: "/abrechnungen/<new>",
        rows: &[
            ("-", "", "anzahl=1"),
            ("auswahl", "{'partner_id':'<L-2>','artikel_id':'<W-9>','von':'2031-07-05'}", "anzahl=1"),
            ("auswahl", "{'kunden_id':6,'bis':'2031-07-05','artikelnr':'W-9'}", "anzahl=1"),
            ("auswahl", "{'kundennummer':'L-2','artikelnr':'W-9','von':'2031-07-06'}", "400 ABRECHNUNG_LEER"),
            ("auswahl", "{'kundennummer':'L-2','kontrakt_id':'<V-3>'}", "400 ABRECHNUNG_LEER"),
            ("auswahl", "{'kundennummer':'nix'}", "400 KUNDE_NICHT_GEFUNDEN"),
            ("auswahl", "{}", "400 KUNDE_FEHLT"),
        ],
    },
    Write {
        route: "POST /abrechnungen",
        before: None,
        path: "/abrechnungen",
        body: "{'art':'nachverguetung','auswahl':{'kundennummer':'L-2','artikelnr':'W-9'},'zuschlag_je_t':10}",
        shown: "/abrechnungen/<new>",
        rows: &[
            ("-", "", "summe_netto='30.00'"),
            ("zuschlag_je_t", "'0.5'", "summe_netto='1.50'"),
            ("zuschlag_je_t", "-1", "400 ABRECHNUNG_NEGATIV"),
            ("zuschlag_je_t", "-", "400 FELD_FEHLT"),
            ("negativ_zulassen", "true", "art='nachverguetung'"),
        ],
    },
    Write {
        route: "POST /abrechnungen/vorschau",
        before: Some(("/annahmescheine", RYE)),
        path: "/abrechnungen/vorschau",
        body: "{'art':'end','annahmeschein_ids':['<before>']}",
        shown: "",
        rows: &[
            ("-", "", "summe_netto='200.00'"),
            ("-", "", "positionen.0.menge='1.000'"),
            ("art", "'end'", "'end'"),
            ("art", "-", "400 FELD_FEHLT"),
            ("annahmeschein_ids", "['<before>']", "annahmescheine.0.betrag='200.00'"),
            ("annahmeschein_ids", "['<AS3>']", "400 ANNAHMESCHEIN_STORNIERT"),
            ("preis_je_t", "'210'", "summe_netto='210.00'"),
            ("rest_preis_je_t", "150", "summe_netto='200.00'"),
            ("negativ_zulassen", "true", "summe_netto='200.00'"),
            ("beleg_datum", "'2031-07-09'", "summe_netto='200.00'"),
            ("abschliessen", "true", "summe_netto='200.00'"),
            ("external_ref", "'Ernte 2'", "summe_netto='200.00'"),
            ("zahlungsziel_tage", "90", "hinweise.1.code='ZAHLUNGSFRIST_60_TAGE'"),
            ("notizen", "'Danke'", "summe_netto='200.00'"),
        ],
    },
    Write {
        route: "POST /abrechnungen/vorschau",
        before: Some(("/annahmescheine", RYE)),
        path: "/abrechnungen/vorschau",
        body: "{'art':'abschlag','annahmeschein_ids':['<before>'],'abschlag':{'prozent':80}}",
        shown: "",
        rows: &[
            ("abschlag", "{'preis_je_t':50}", "summe_netto='50.00'"),
            ("abschlag", "-", "400 FELD_FEHLT"),
        ],
    },
    Write {
        route: "POST /abrechnungen/vorschau",
        before: None,
        path: "/abrechnungen/vorschau",
        body: "{'art':'nachverguetung','auswahl':{'kundennummer':'L-2','artikelnr':'W-9'},'zuschlag_je_t':10}",
        shown: "",
        rows: &[
            ("zuschlag_je_t", "5", "summe_netto='15.00'"),
            ("auswahl", "{'partner_id':'<L-2>','artikelnr':'W-9'}", "summe_netto='30.00'"),
            ("auswahl", "{'kundennummer':'L-2','bis':'2031-07-04','artikelnr':'W-9'}", "400 ABRECHNUNG_LEER"),
        ],
    },
    Write {
        route: "POST /abrechnungen/{id}/korrektur",
        before: Some(("/abrechnungen", ADVANCE)),
        path: "/abrechnungen/<before>/korrektur",
        body: "{'grund':'neue Analyse'}",
        shown: "/abrechnungen/<new>",
        rows: &[
            ("-", "", "korrektur_von='<before>'"),
            ("-", "", "summe_netto='10.00'"),
            ("grund", "'Zahlendreher'", "art='abschlag'"),
            ("negativ_zulassen", "true", "art='abschlag'"),
            ("rest_preis_je_t", "150", "400 FELD_WIDERSPRUCH"),
            ("grund", "-", "400 FELD_FEHLT"),
        ],
    },
    Write {
        route: "POST /abrechnungen/{id}/korrektur",
        before: Some(("/abrechnungen", END)),
        path: "/abrechnungen/<before>/korrektur",
        body: "{'grund':'neue Analyse'}",
        shown: "/abrechnungen/<new>",
        rows: &[("rest_preis_je_t", "150", "art='end'")],
    },
    Write {
        route: "POST /abrechnungen/{id}/korrektur",
        before: None,
        path: "/abrechnungen/<unknown>/korrektur",
        body: "{'grund':'neue Analyse'}",
        shown: "",
        rows: &[("-", "", "404 NICHT_GEFUNDEN")],
    },
];

//! The company used by the tables: created once, through import and HTTP. Its days are in the future of any
//! machine, so that rows written by the command line are older than those of the server.

use std::collections::BTreeMap;

use partnerd::rules::bytes::base64;
use serde_json::{Value, json};

use super::{json_of, short};
use crate::harness::{COMPLETE, Client, Server};
use crate::office::z3::ended;

pub const BEGIN: &str = "2031-07-08T10:00:00Z";

const UNKNOWN: &str = "0197f3a0-0000-7000-8000-000000000000";

/// The invoice that becomes ER1.
pub const INVOICE: &[u8] = b"<Invoice><ID>88</ID><IssueDate>2031-07-02</IssueDate><AccountingSupplierParty><Party>\
    <PartyLegalEntity><RegistrationName>Hof Ahrens</RegistrationName></PartyLegalEntity></Party>\
    </AccountingSupplierParty><LegalMonetaryTotal/><InvoiceLine><InvoicedQuantity unitCode='KGM'>1000\
    </InvoicedQuantity><LineExtensionAmount>200</LineExtensionAmount><Item><Name>Weizen</Name>\
    <BuyersItemIdentification><ID>W-10</ID></BuyersItemIdentification><ClassifiedTaxCategory><Percent>7</Percent>\
    </ClassifiedTaxCategory></Item></InvoiceLine></Invoice>";

/// The advance on a goods receipt that becomes ER2.
const ADVANCE: &str = "{'art':'abschlag','annahmeschein_ids':['<AS1>'],'preis_je_t':200,'abschlag':{'prozent':50},\
    'beleg_datum':'2031-06-18'}";

/// Names for ids that are fixed instead of generated.
const FIXED: &[(&str, &str)] = &[
    ("unknown", UNKNOWN),
    ("register-1", "22a9caa3-e529-595e-bdab-a48a634915df"),
    ("register-2", "22a9caa3-e529-595e-bdab-a48a634915d0"),
    ("V-1/1", "0197f3a0-1111-7000-8000-000000000001"),
];

const IMPORTS: &[(&str, &str)] = &[
    (
        "artikelgruppen",
        "id;kuerzel;nummer;name;mwst_satz\n1;GE;20;Getreide;7\n2;ME;10;Mehl;7\n3;DL;30;Leistung;19\n",
    ),
    (
        "artikel",
        "artikelnummer;artikelnr;bezeichnung;bezeichnung2;einheit;preis;ep_netto;mwst_satz;ean;gruppe;\
         chargenpflichtig;status\n\
         W-10;1001;Weizen;Konsumware;kg;0,32;0,20;7;2000000130132;GE;ja;\n\
         W-9;1002;Weizen Bio;;kg;0,46;0,34;7;;GE;ja;aktiv\n\
         M;550;Mehl;Größe fein;kg;0,80;0,50;7;;ME;ja;\n\
         R;;Roggen;;kg;0,30;0,18;7;;GE;ja;\n\
         S;;Sack;;Stk;33,50;20;19;;DL;nein;\n\
         ALT;;Altware;;Stk;5;4;7;;GE;nein;auslauf\n\
         INAKTIV;;Weizen alt;;kg;1;1;7;;GE;nein;inaktiv\n",
    ),
    ("artikel", "artikelnummer;langtext\nS;aus Jute\n"),
    ("staffelpreise", "artikelnummer;ab_menge;preis\nS;100;30\n"),
    ("vertriebler", "id;name\n7;Vera Vogt\n"),
    (
        "kunden",
        "kundennr;name;email;plz;ort;partner_typen;status;debitor_konto;kreditor_konto\n\
         K-2;Müller Mühle;post@mueller.example;;Musterstadt;kunde;;10002;\n\
         K-10;Bäckerei Süß;;;Straßberg;kunde;;;\n\
         K-3;Sperrholz GmbH;;;;kunde;gesperrt;;\n\
         KL-1;Landhandel;;01234;Musterstadt;kunde,lieferant;;10004;\n\
         L-1;Hof Ahrens;hof@ahrens.example;;Dorf;lieferant;;;70001\n\
         L-2;Gut Brehm;;;;lieferant;;;\n\
         S-1;Spedition Eilig;;;;spediteur;;;\n",
    ),
    ("biozertifikate", "id;nummer\n5;DE-ÖKO-001\n"),
    (
        "chargen",
        "artikelnummer;charge_nr;partner;bestand;mhd;herkunftsland;biozertifikat_id;lagerhalle_id;\
         niederlassung_id\n\
         R;ALT-1;L-1;500;2032-03-31;DE;5;1;1\n\
         R;ALT-2;;200;2032-06-30;AT;;2;2\n\
         R;LEER;L-2;0;2032-01-31;DE;;1;1\n",
    ),
    (
        "kontrakte",
        r#"[{"kontrakt_nr": "V-1", "kontrakt_typ": "einkauf", "partner": "L-1", "erntejahr": 2031,
             "erfassungsdatum": "2031-06-01", "referenz": "Ref Süd", "gesamtmenge": 100,
             "gesamtmenge_einheit": "t", "positionen": [{"id": "0197f3a0-1111-7000-8000-000000000001",
             "position": 1, "artikelnummer": "W-10", "menge": 100}]},
            {"kontrakt_nr": "V-2", "kontrakt_typ": "verkauf", "partner": "K-2", "erntejahr": 2030,
             "erfassungsdatum": "2031-06-02", "erledigt": true},
            {"kontrakt_nr": "V-3", "kontrakt_typ": "einkauf", "partner": "L-2", "erntejahr": 2031,
             "erfassungsdatum": "2031-06-03", "referenz": "Nord"}]"#,
    ),
    ("kontrakte", r#"[{"kontrakt_nr": "V-3", "erntejahr": 2030}]"#),
    ("kontrakte", r#"[{"kontrakt_nr": "V-3", "erntejahr": 2031}]"#),
    (
        "abrechnungsschemata",
        r#"[{"nummer": "SW", "bezeichnung": "Weizen", "artikel": ["W-10"], "gueltig_von": "2031-07-01",
             "schritte": [{"nr": 1, "code": "feuchte", "text": "Schwund", "wirkung": "menge", "regel": "faktor",
             "merkmal": "feuchte", "richtung": "ueber", "basis": 14.5, "satz": 1.3}]},
            {"nummer": "SM", "bezeichnung": "Mehl", "artikel": ["M"], "gueltig_von": "2031-07-15",
             "gueltig_bis": "2031-07-20"}]"#,
    ),
    (
        "abrechnungsschemata",
        r#"[{"nummer": "SW", "bezeichnung": "Weizen neu", "artikel": ["W-10"], "gueltig_von": "2031-08-01"}]"#,
    ),
    ("konten", "fall;satz;konto\nerloes;7;8300\nerloes;19;8400\naufwand;7;3300\naufwand;19;3400\n"),
    (
        "rezepturen",
        r#"[{"id": 1, "bezeichnung": "Mehl", "version": 1,
             "inputs": [{"artikelnummer": "W-10", "menge": 100}],
             "outputs": [{"artikelnummer": "M", "menge": 80}]},
            {"id": 2, "bezeichnung": "Mischung", "version": 1,
             "inputs": [{"artikelnummer": "M", "menge": 50}],
             "outputs": [{"artikelnummer": "W-9", "menge": 50}]}]"#,
    ),
    (
        "barverkaeufe",
        "id;bon_id;bon_nr;kasse_id;kassiert_at;art;storno_von_bon_id;zahlart;bezeichnung;menge;einzelpreis;\
         mwst_satz\n\
         11;0197f3a0-2222-7000-8000-000000000002;B-2;22a9caa3-e529-595e-bdab-a48a634915df;\
         2031-07-01T10:00:00Z;verkauf;;bar;Mehl;1;2;7\n\
         14;0197f3a0-2222-7000-8000-000000000002;B-2;22a9caa3-e529-595e-bdab-a48a634915df;\
         2031-07-01T10:00:00Z;verkauf;;bar;Sack;1;5;19\n\
         12;0197f3a0-2222-7000-8000-000000000010;B-10;22a9caa3-e529-595e-bdab-a48a634915d0;\
         2031-07-01T11:00:00Z;verkauf;;ec;Mehl;1;2;7\n\
         13;0197f3a0-2222-7000-8000-000000000011;B-11;22a9caa3-e529-595e-bdab-a48a634915df;\
         2031-07-02T22:30:00Z;verkauf;;bar;Mehl;3;2;7\n\
         15;0197f3a0-2222-7000-8000-000000000012;B-12;22a9caa3-e529-595e-bdab-a48a634915df;\
         2031-07-02T10:00:00Z;storno;0197f3a0-2222-7000-8000-000000000002;bar;Mehl;-1;2;7\n",
    ),
];

/// Lists that give the ids of records by their numbers.
const LISTS: &[(&str, &str)] = &[
    ("/kunden", "kundennr"),
    ("/artikel", "artikelnummer"),
    ("/kontrakte", "kontrakt_nr"),
    ("/abrechnungsschemata", "nummer"),
    ("/chargen", "charge_nr"),
    ("/wiegungen", "wiegeschein_nr"),
    ("/produktionsauftraege", "pa_nummer"),
    ("/belege", "beleg_nummer"),
    ("/annahmescheine", "belegnummer"),
    ("/abrechnungen", "beleg_nummer"),
];

/// The company, and the ids of its records by their short numbers.
pub struct Company<'s> {
    server: &'s Server,
    pub client: Client,
    pub ids: BTreeMap<String, String>,
}

impl Company<'_> {
    pub fn of(server: &Server) -> Company<'_> {
        // No document is finalised at the end of a day.
        let client = server.company_with("Mühle", &[("abschluss_tagesende", "")]);
        for (kind, file) in IMPORTS {
            server.import(&client, kind, file);
        }
        let ids = FIXED.iter().map(|(name, id)| ((*name).to_owned(), (*id).to_owned())).collect();
        let mut company = Company { server, client, ids };
        company.learn();
        company.first_day();
        company.second_day();
        company.third_day();
        company.learn();
        company
    }

    /// Replaces names in `<>` by the ids of records, and `<fresh>` by a new text.
    pub fn filled(&self, text: &str) -> String {
        let mut parts = text.split('<');
        let mut filled = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('>').expect(text);
            match name {
                "fresh" => filled.push_str(&uuid::Uuid::now_v7().to_string()),
                name => filled.push_str(self.ids.get(name).unwrap_or_else(|| panic!("no {name}: {text}"))),
            }
            filled.push_str(rest);
        }
        filled
    }

    pub fn json(&self, text: &str) -> Value {
        json_of(&self.filled(text))
    }

    /// The record at a path, or, in a list, the one just confirmed.
    pub fn record(&self, path: &str) -> Value {
        let answer = self.client.get(&format!("/api/v1{}", self.filled(path)));
        let body = answer.is(200);
        let Some(rows) = body.as_array().or_else(|| body["data"].as_array()) else { return body.clone() };
        // Analyses have no id; the newest one comes first.
        let is_new = |row: &&Value| row.get("id").is_none_or(|id| *id == self.ids["new"]);
        rows.iter().find(is_new).unwrap().clone()
    }

    /// Creates a record; its id becomes `<before>`, the ids of its lines `<input>` and `<output>`.
    pub fn prepare(&mut self, path: &str, body: &Value) {
        let id = self.client.post(&format!("/api/v1{path}"), body.clone()).id();
        let record = self.client.get(&format!("/api/v1{path}/{id}")).body;
        self.ids.insert("before".to_owned(), id);
        for (name, lines) in [("input", "inputs"), ("output", "outputs")] {
            self.ids.insert(name.to_owned(), record[lines][0]["id"].to_string());
        }
    }

    /// Reads the ids of all listed records.
    fn learn(&mut self) {
        for (path, field) in LISTS {
            let answer = self.client.get(&format!("/api/v1{path}?limit=5000"));
            let body = answer.is(200);
            for row in body.as_array().or_else(|| body["data"].as_array()).unwrap() {
                let (number, id) = (row[field].as_str().unwrap(), row["id"].as_str().unwrap());
                self.ids.insert(short(number), id.to_owned());
            }
        }
    }

    /// Sends a body and names the new record, and its first position.
    fn post(&mut self, name: &str, path: &str, body: &str) {
        let answer = self.client.post(&format!("/api/v1{}", self.filled(path)), self.json(body));
        answer.is(201);
        self.ids.insert(name.to_owned(), answer.id());
        let first = answer.body["positionen"][0]["id"].as_str();
        self.ids.extend(first.map(|id| (format!("{name}/1"), id.to_owned())));
    }

    fn put(&self, path: &str, body: &str) {
        self.client.put(&format!("/api/v1{}", self.filled(path)), self.json(body)).is(200);
    }

    fn beleg(&mut self, name: &str, partner: &str, datum: &str, item: &str) {
        let typ = &name[..2];
        let body = format!(
            "{{'beleg_typ':'{typ}','kundennummer':'{partner}','beleg_datum':'{datum}','external_ref':'shop-{name}',\
             'items':[{item}]}}"
        );
        self.post(name, "/belege", &body);
    }

    fn finalise(&self, name: &str) {
        let path = format!("/api/v1/belege/{}/abschliessen", self.ids[name]);
        self.client.post(&path, json!({})).is(200);
    }

    fn storno(&self, name: &str) {
        let path = format!("/api/v1/belege/{}/storno", self.ids[name]);
        self.client.post(&path, json!({"grund": "Versehen"})).is(200);
    }

    /// 8 July: a lorry, its delivery and invoice; attachments; at 22:30Z it is the 9th in Berlin.
    fn first_day(&mut self) {
        let lorry = "{'waage_id':1,'gewicht_erst_kg':40120,'partner_id':'<L-1>','artikel_id':'<W-10>',\
            'kennzeichen':'ÜB-AB 12'}";
        self.post("WS1", "/wiegungen", lorry);
        self.put("/wiegungen/<WS1>/zweitwiegung", "{'gewicht_zweit_kg':15260}");
        let wheat = "{'artikelnr':'W-10','menge':1000,'fremde_charge_nr':'C1','kontrakt_id':'<V-1>'}";
        self.beleg("EL1", "L-1", "2031-07-01", wheat);
        self.finalise("EL1");
        let file = base64(INVOICE);
        let body = format!(
            "{{'datei_base64':'{file}','dateiname':'r.xml','anlegen':true,'kunden_id':'<L-1>','external_ref':'shop-ER1'}}"
        );
        self.post("ER1", "/belege/einlesen", &body);
        self.put("/belege/<ER1>", &format!("{{'items':[{wheat}]}}"));
        let files = self.client.get(&format!("/api/v1/belege/{}/dokumente", self.ids["ER1"]));
        let file = files.is(200)[0]["id"].as_str().unwrap().to_owned();
        self.ids.insert("r.xml".to_owned(), file);
        for (owner, place) in [("L-1", "kunden"), ("S", "artikel")] {
            for file in ["a.pdf", "b.txt"] {
                let body = format!("{{'dateiname':'{file}','inhalt_base64':'SGVsbG8='}}");
                self.post(file, &format!("/{place}/<{owner}>/dokumente"), &body);
                let id = self.ids[file].clone();
                self.ids.insert(format!("{owner}/{file}"), id);
            }
        }
        self.put("/kunden/<L-1>", "{'telefon':'1'}");
        self.put("/kunden/<L-1>", "{'telefon':'2'}");
        self.learn();
        self.server.set_clock("2031-07-08T22:30:00Z");
        self.post("WS2", "/wiegungen", "{'waage_id':1,'gewicht_erst_kg':38000,'partner_id':'<L-2>'}");
        self.put("/wiegungen/<WS2>/storno", "{'grund':'Fehlfahrt'}");
        self.beleg("LS1", "K-2", "2031-07-03", "{'artikelnr':'W-10','menge':100,'charge_id':'<CH1>'}");
        self.finalise("LS1");
    }

    /// 9 July: an invoice with its PDF, a goods receipt, flour.
    fn second_day(&mut self) {
        self.server.set_clock("2031-07-09T10:00:00Z");
        self.beleg("RE1", "K-2", "2031-07-04", "{'artikelnr':'W-10','menge':100,'charge_id':'<CH1>'}");
        self.put("/belege/<RE1>", "{'notizen':'geprüft'}");
        self.post("PDF", "/belege/<RE1>/pdf", "{'datei_base64':'JVBERi0xLjQK'}");
        self.post("WS3", "/wiegungen", "{'waage_id':2,'gewicht_erst_kg':30000,'partner_id':'<L-1>'}");
        self.put("/wiegungen/<WS3>/zweitwiegung", "{'gewicht_zweit_kg':10000}");
        // Wheat has a scheme, but nothing was measured.
        for (number, more) in [
            (
                "AS1",
                "'2031-07-01','kundennummer':'L-1','artikelnr':'R','kontrakt_id':'<V-1>','fremde_charge_nr':'F-0'",
            ),
            ("AS2", "'2031-07-02','kundennummer':'L-2','artikelnr':'R'"),
            ("AS3", "'2031-07-03','kundennummer':'L-1','artikelnr':'W-10'"),
        ] {
            let body = format!("{{'anliefermenge_kg':1000,'lieferdatum':{more}}}");
            self.post(number, "/annahmescheine", &body);
        }
        for wert in [1, 2] {
            let body = format!("{{'werte':[{{'merkmal':'besatz','wert':{wert}}}]}}");
            self.post("-", "/annahmescheine/<AS3>/analysen", &body);
        }
        let states = "belegnummer;status\nAS-2031-00002;abgerechnet\nAS-2031-00003;storniert\n";
        self.server.import(&self.client, "annahmescheine", states);
        self.post("NEU-1", "/chargen", "{'artikel_id':'<M>','charge_nr':'NEU-1','partner_id':'<L-2>'}");
        self.learn();
        self.put("/chargen/<NEU-1>", "{'mhd':'2032-01-31'}");
        self.put("/chargen/<NEU-1>", "{'mhd':'2032-02-28'}");
        self.orders();
    }

    /// Production orders in every state: CH1 becomes CH2, and CH2 becomes CH3.
    fn orders(&mut self) {
        let path = "/produktionsauftraege";
        self.post("PA1", path, "{}");
        self.post("PA2", path, "{'rezeptur_id':1,'produktions_datum':'2031-07-11'}");
        self.post("PA3", path, "{'rezeptur_id':1,'produktions_datum':'2031-07-12'}");
        self.put("/produktionsauftraege/<PA3>/status", "{'status':'in_bearbeitung'}");
        self.grind("{'rezeptur_id':1,'produktions_datum':'2031-07-09'}", "CH1", [100, 80], "");
        self.post("PA5", path, "{'rezeptur_id':2,'produktions_datum':'2031-07-13'}");
        self.put("/produktionsauftraege/<PA5>/status", "{'status':'storniert'}");
        self.learn();
        self.grind(
            "{'rezeptur_id':2,'produktions_datum':'2031-07-10'}",
            "CH2",
            [50, 50],
            ",'mhd':'2031-07-09'",
        );
    }

    /// A finished order that turns a quantity of a batch into a quantity of another; `more` sets further
    /// fields of it.
    fn grind(&mut self, body: &str, charge: &str, [input, output]: [i64; 2], more: &str) {
        self.prepare("/produktionsauftraege", &self.json(body));
        let body = format!(
            "{{'status':'erledigt','inputs':[{{'id':<input>,'ist_menge':{input},'charge_id':'<{charge}>'}}],\
             'outputs':[{{'id':<output>,'ist_menge':{output}{more}}}]}}"
        );
        self.put("/produktionsauftraege/<before>/status", &body);
    }

    /// 10 July: the other document types, a storno, and settlements by the command line. Afterwards the
    /// company's master data are complete.
    fn third_day(&mut self) {
        self.server.set_clock("2031-07-10T10:00:00Z");
        self.server.set(&self.client, COMPLETE);
        self.post("WS4", "/wiegungen", "{'waage_id':1,'gewicht_erst_kg':14000,'partner_id':'<K-2>'}");
        let sack = "{'artikelnr':'S','menge':2}";
        self.beleg("BS1", "L-2", "2031-06-20", sack);
        self.beleg("AN1", "K-2", "2031-06-25", sack);
        self.beleg("AU1", "K-2", "2031-06-26", sack);
        self.storno("AU1");
        self.beleg("RE2", "KL-1", "2031-07-05", sack);
        self.finalise("RE2");
        self.storno("RE2");
        // The last event of RE2 comes after that of its storno document.
        self.post("PDF", "/belege/<RE2>/pdf", "{'datei_base64':'JVBERi0xLjQK'}");
        self.beleg("LS2", "K-10", "2031-07-06", sack);
        self.finalise("ER1");
        let tenant = self.client.tenant.to_string();
        self.post("ABSCHLAG", "/abrechnungen", ADVANCE);
        let done = self.server.cli(&["beleg", "erledigen", "ER-2031-00001", "--tenant", &tenant]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let advised = [("datev_berater", "1001"), ("datev_mandant", "1"), ("datev_ab", "2031-01-01")];
        self.server.set(&self.client, &advised);
        self.post("DS1", "/datev/stapel", "{'bis':'2031-07-05'}");
        self.post("Z3", "/z3", "{'von':'2031-01-01','bis':'2031-07-10','mit_belegen':true}");
        ended(&self.client, &self.ids["Z3"]).is(200);
    }
}

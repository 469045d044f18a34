//! `demo`: serves a mill with data. Imports its master data; everything else passes the same gate as the
//! requests of any client.

use std::path::Path;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::database::{in_transaction, now};
use super::terminal::{Outcome, Terminal, sentence};
use super::{serve, user};
use crate::interface::imports;
use crate::master::tenants;
use crate::office::buchhaltung;
use crate::operations::backup::journal;
use crate::platform::db::file::connection::open_writer;
use crate::platform::db::file::files::{beside, remove, remove_file};
use crate::platform::db::file::lock;
use crate::platform::db::migrate::migrate;
use crate::platform::db::system_clock;
use crate::platform::db::tx::Tx;
use crate::platform::gate::Policy;
use crate::platform::gate::access::key::{self, Grant};
use crate::platform::http::answering::Answering;
use crate::platform::http::client;
use crate::platform::http::request::{Body, Request};
use crate::platform::import::file::Rows;
use crate::platform::import::parts::{Stop, store_group};
use crate::rules::bytes::base64;
use crate::rules::choice::Choice;
use crate::rules::datev::Rahmen;
use crate::rules::error::Hints;
use crate::rules::scope::Scope;
use crate::start::config::Config;
use crate::start::service::Service;

const DATABASE: &str = "partnerd-demo.db";

/// Master data in the order of import.
const FILES: &[(&str, &str)] = &[
    ("artikelgruppen", include_str!("artikelgruppen.csv")),
    ("artikel", include_str!("artikel.csv")),
    ("staffelpreise", include_str!("staffelpreise.csv")),
    ("vertriebler", include_str!("vertriebler.csv")),
    ("kunden", include_str!("kunden.csv")),
    ("chargen", include_str!("chargen.csv")),
    ("kontrakte", include_str!("kontrakte.json")),
    ("abrechnungsschemata", include_str!("abrechnungsschemata.json")),
    ("rezepturen", include_str!("rezepturen.json")),
    ("barverkaeufe", include_str!("barverkaeufe.csv")),
];

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let database = Path::new(DATABASE);
    let runtime = serve::runtime()?;
    let listener = serve::listen(&runtime, config)?;
    let tls = serve::encryption(config)?;
    remove_old(database)?;
    let waiting = terminal.waiting();
    waiting.set_message("eine Mühle wird eingerichtet");
    let key = create_company(database)?;
    // All settings as configured, except backups: nobody needs one of a demo.
    let policy = Policy { nightly: None, ..config.policy.clone() };
    let app = Service::open(database, system_clock(), &policy)?;
    let clients = Client { runtime: &runtime, app: &app, key: &key };
    let traded = clients.trade();
    drop(waiting);
    let result = traded.and_then(|()| {
        serve::serve(&runtime, &app, (listener, tls), config, terminal, serve::told_to_stop()?, |base| {
            terminal.print(&key);
            for path in ["kunden?suche=dreetz", "chargen?mit_bestand=true", "dokumente?since=2026-01-01"] {
                terminal.print(&format!("curl -s -H 'X-API-Key: {key}' '{base}/api/v1/{path}'"));
            }
            if let Err(error) = user::say_first_link(database, base, config, terminal) {
                terminal.say(&sentence(error));
            }
            terminal.say(&format!(
                "{base}/docs beschreibt die Schnittstelle und probiert sie mit diesem Schlüssel aus. Strg-C \
                 beendet die Demo."
            ));
        })
        .map(drop)
    });
    drop(runtime);
    app.close();
    result
}

/// The master data of the demo's company; none of it belongs to a real company.
const FIRMA: &[(&str, &str)] = &[
    ("firma", "Mühle Musterbach GmbH & Co. KG"),
    ("strasse", "An der Mühle 1"),
    ("plz", "99999"),
    ("ort", "Musterbach"),
    ("ust_id", "DE123456789"),
    ("steuernummer", "151/815/08156"),
    ("registernummer", "HRA 1234"),
    ("rechnungstext", "Amtsgericht Musterstadt HRA 1234\nGeschäftsführerin: Erika Mustermann"),
    ("email", "rechnung@muehle-musterbach.example"),
    ("kontakt_name", "Erika Mustermann"),
    ("kontakt_telefon", "+49 555 123456"),
    ("kontakt_email", "buero@muehle-musterbach.example"),
    ("iban", "DE89370400440532013000"),
    ("bic", "COBADEFFXXX"),
    ("oeko_kontrollstelle", "DE-ÖKO-999"),
    ("datev_berater", "1001"),
    ("datev_mandant", "1"),
    ("datev_ab", "2026-06-01"),
];

fn remove_old(database: &Path) -> Outcome {
    let _not_running = lock::without_server(database)?;
    let mut besides = journal(database)?.chain(["secret".to_owned()]);
    remove(database)?;
    Ok(besides.try_for_each(|ending| remove_file(&beside(database, &ending)))?)
}

fn create_company(database: &Path) -> Outcome<String> {
    migrate(database, now())?;
    let mut connection = open_writer(database)?;
    let key = key::generate(&key::mac_secret(&connection)?)?;
    in_transaction(&mut connection, |connection| {
        let tenant = tenants::create(connection, "Mühle Musterbach", false, now())?;
        tenants::set(connection, tenant, FIRMA, now())?;
        let scopes = Scope::ALL.iter().copied().collect();
        let grant = Grant { label: "demo".to_owned(), scopes, ..Grant::default() };
        key::insert(connection, tenant, &key, &grant, now())?;
        let konten = buchhaltung::proposal(Rahmen::Skr03);
        let files =
            FILES.iter().copied().chain([(buchhaltung::KONTEN, konten.trim_start_matches('\u{feff}'))]);
        for (kind, text) in files {
            let kind = imports::all().find(|known| known.kind == kind);
            let kind = kind.ok_or("eine Datei der Demo lässt sich nicht übernehmen")?;
            let rows = Rows::of_text(text.to_owned())?;
            let groups = kind.groups(&rows)?;
            for group in 0..groups.count() {
                let tx = Tx::new(connection, tenant, now());
                let stored = store_group(tx, None, kind, &rows, &groups.rows(group), &mut Hints::default());
                stored.map_err(|stop| match stop {
                    Stop::Refused(mistake) => mistake.to_string(),
                    Stop::Failed(failure) => sentence(failure.into()),
                    Stop::GivenUp => "abgebrochen".to_owned(),
                })?;
            }
        }
        Ok(())
    })?;
    Ok(key.text)
}

struct Client<'c> {
    runtime: &'c Runtime,
    app: &'c Service,
    key: &'c str,
}

impl Client<'_> {
    /// Records the days of a mill: two lorries arrive, wheat is milled, one lorry leaves, invoices follow.
    fn trade(&self) -> Outcome {
        let wheat = self.first("artikel?suche=R01001")?;
        let mill = self.first("kunden?suche=K-1002")?;
        let batch = self.receive(&wheat)?;
        self.mill(&batch)?;
        self.sell(&mill, &wheat, &batch)?;
        let offer = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": [
            {"artikelnr": "1157", "menge": 40}, {"artikelnr": "F01201", "menge": 80}]});
        self.post("belege", offer)?;
        let still_on_the_scale =
            json!({"waage_id": 1, "gewicht_erst_kg": 14_560, "partner_id": mill, "kennzeichen": "OPR-MD 5"});
        self.post("wiegungen", still_on_the_scale)?;
        self.harvest()?;
        self.books()
    }

    /// Records June, which the tax adviser waits for: two sales, one with two tax rates, and a supplier's invoice.
    fn books(&self) -> Outcome {
        let line = |text: &str, ep_netto: &str, satz: u8| {
            json!({
                "bezeichnung": text, "menge": 1, "einheit": "Stk", "ep_netto": ep_netto, "mwst_satz": satz
            })
        };
        let flour = json!([line("Backmehl 550, 40 Sack", "568.00", 7)]);
        let delivered = json!([line("Roggenmehl 1150, 60 Sack", "741.00", 7), line("Fracht", "85.00", 19)]);
        let repair = json!([line("Wartung der Waage", "240.00", 19)]);
        let invoices = [
            ("RE", "K-1001", "2026-06-12", flour, Value::Null),
            ("RE", "K-1002", "2026-06-19", delivered, Value::Null),
            ("ER", "L-2002", "2026-06-22", repair, json!("WA-2026-098")),
        ];
        for (typ, kunde, day, items, theirs) in invoices {
            let invoice = json!({"beleg_typ": typ, "kundennummer": kunde, "beleg_datum": day, "items": items,
                "fremdbelegnummer": theirs});
            let id = text(&self.post("belege", invoice)?["id"])?;
            self.post(&format!("belege/{id}/abschliessen"), json!({}))?;
        }
        Ok(())
    }

    /// Records two farmers' deliveries of wheat, settled by a scheme: one farmer gets an advance, a lorry of
    /// the other waits for a person.
    fn harvest(&self) -> Outcome {
        let lorries = [
            ("L-2001", 24_860, "C-24", ["2.80", "16.2", "11.6", "280"]),
            ("L-2001", 12_140, "C-24", ["1.10", "13.9", "13.3", "310"]),
            ("L-2003", 18_460, "DR-1", ["1.40", "15.1", "12.4", "262"]),
            ("L-2003", 21_300, "DR-1", ["2.30", "14.8", "12.1", "232"]),
        ];
        let mut notes = Vec::new();
        for (farmer, kg, batch, values) in lorries {
            let codes = ["besatz", "feuchte", "protein", "fallzahl"].into_iter().zip(values);
            let values: Vec<Value> =
                codes.map(|(merkmal, wert)| json!({"merkmal": merkmal, "wert": wert})).collect();
            let note = json!({"kundennummer": farmer, "artikelnr": "1003", "anliefermenge_kg": kg,
                "preis_je_t": 210, "werte": values, "fremde_charge_nr": batch, "herkunftsland": "DE"});
            notes.push(self.post("annahmescheine", note)?["id"].clone());
        }
        let advance = json!({"art": "abschlag", "annahmeschein_ids": [notes[0]], "abschlag": {"prozent": 60},
            "abschliessen": true});
        self.post("abrechnungen", advance).map(drop)
    }

    /// Receives a lorry of wheat, which the farm invoices, and one of rye; returns the batch of the wheat.
    fn receive(&self, wheat: &str) -> Outcome<Value> {
        let farm = self.first("kunden?suche=L-2001")?;
        let trader = self.first("kunden?suche=L-2002")?;
        let rye = self.first("artikel?suche=R01017")?;
        let contract = self.first("kontrakte")?;
        let first = self.weigh(&farm, wheat, 40_120, 15_260, "UE-MH 101")?;
        let delivery = json!({"beleg_typ": "EL", "kunden_id": farm, "external_ref": "demo-el-1", "items": [{
            "artikel_id": wheat, "wiegung_id": first, "fremde_charge_nr": "DUG-2026-1",
            "herkunftsland": "DE", "kontrakt_id": contract}]});
        let delivered = self.post("belege", delivery)?;
        let invoice = json!({"beleg_typ": "ER", "kunden_id": farm, "fremdbelegnummer": "2026-114",
            "items": [{"artikel_id": wheat, "menge": 24_860, "fremde_charge_nr": "DUG-2026-1"}]});
        self.post("belege", invoice)?;
        let second = self.weigh(&trader, &rye, 38_420, 14_180, "OL-ED 7")?;
        let receipt = json!({"wiegung_id": second, "feuchte_prozent": "15.8", "basisfeuchte_prozent": "14.5",
            "schwundfaktor": "1.3", "besatz_prozent": "2.6", "basisbesatz_prozent": "2.0",
            "preis_je_t": "185.00", "fremde_charge_nr": "DOE-77", "el_erzeugen": true});
        self.post("annahmescheine", receipt)?;
        Ok(delivered["lagerbewegungen"][0]["charge_id"].clone())
    }

    fn sell(&self, to: &str, wheat: &str, batch: &Value) -> Outcome {
        let note = json!({"beleg_typ": "LS", "kunden_id": to,
            "items": [{"artikel_id": wheat, "menge": 12_000, "charge_id": batch}]});
        let note = self.post("belege", note)?;
        let invoice = json!({"beleg_typ": "RE", "kunden_id": to, "external_ref": "demo-re-1", "items": [
            {"artikel_id": wheat, "menge": 12_000, "bezug_beleg_id": note["id"]},
            {"artikelnr": "S01160", "menge": 4},
            {"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]});
        let invoice = self.post("belege", invoice)?;
        let pdf = one_page_pdf(&format!("Rechnung {}", text(&invoice["beleg_nummer"])?));
        let path = format!("belege/{}/pdf", text(&invoice["id"])?);
        self.post(&path, json!({"datei_base64": base64(&pdf)})).map(drop)
    }

    /// Records a finished production order that turns wheat into sacks of flour.
    fn mill(&self, batch: &Value) -> Outcome {
        let order =
            json!({"rezeptur_id": 1, "faktor": 4, "produktions_datum": "2026-07-13", "lagerhalle_id": 1});
        let order = self.post("produktionsauftraege", order)?;
        let path = format!("produktionsauftraege/{}", text(&order["id"])?);
        let lines = self.send("GET", &path, Value::Null)?;
        let body = json!({
            "status": "erledigt",
            "inputs": [{"id": lines["inputs"][0]["id"], "ist_menge": 2_560, "charge_id": batch}],
            "outputs": [{"id": lines["outputs"][0]["id"], "ist_menge": 79, "mhd": "2027-07-13"}],
        });
        self.send("PUT", &format!("{path}/status"), body).map(drop)
    }

    fn weigh(&self, partner: &str, artikel: &str, first: u32, second: u32, plate: &str) -> Outcome<String> {
        let weighing = json!({"waage_id": 1, "gewicht_erst_kg": first, "partner_id": partner,
            "artikel_id": artikel, "kennzeichen": plate});
        let id = text(&self.post("wiegungen", weighing)?["id"])?;
        let second = json!({"gewicht_zweit_kg": second});
        self.send("PUT", &format!("wiegungen/{id}/zweitwiegung"), second)?;
        Ok(id)
    }

    /// Returns the id of the first record of a list.
    fn first(&self, list: &str) -> Outcome<String> {
        text(&self.send("GET", list, Value::Null)?["data"][0]["id"])
    }

    fn post(&self, path: &str, body: Value) -> Outcome<Value> {
        self.send("POST", path, body)
    }

    fn send(&self, method: &str, path: &str, body: Value) -> Outcome<Value> {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", HeaderValue::from_str(self.key)?);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = format!("/api/v1/{path}");
        let request = Request {
            id: Uuid::now_v7(),
            at: now(),
            started: std::time::Instant::now(),
            peer: std::net::Ipv4Addr::LOCALHOST.into(),
            local: std::net::Ipv4Addr::LOCALHOST.into(),
            method: method.to_owned(),
            path: path.clone(),
            query: query.to_owned(),
            headers,
            malformed: None,
            body: Body::from_bytes(body.to_string().into_bytes()),
        };
        let mut client = client::Client::within();
        let reply = self.runtime.block_on(Arc::clone(&self.app.gate).answer(request, &mut client));
        let body: Value = serde_json::from_slice(&reply.body)?;
        if reply.status >= 300 {
            return Err(format!("die Demo entstand nicht: {method} {path}: {}", body["message"]).into());
        }
        Ok(body)
    }
}

fn text(value: &Value) -> Outcome<String> {
    let lacking = || "die Demo entstand nicht: einer Antwort fehlt ein Feld".into();
    value.as_str().map(str::to_owned).ok_or_else(lacking)
}

fn one_page_pdf(line: &str) -> Vec<u8> {
    let content = format!("BT /F1 24 Tf 72 760 Td ({line}) Tj ET");
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
            .to_owned(),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(pdf.len());
        pdf.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let table = pdf.len();
    pdf.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    offsets.iter().for_each(|offset| pdf.push_str(&format!("{offset:010} 00000 n \n")));
    pdf.push_str(&format!(
        "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    ));
    pdf.into_bytes()
}

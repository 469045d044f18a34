//! Writes during which system calls fail, and how to see that they were done.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::browser::{Browser, Form};
use crate::process::{Answer, Client, Folder, Running};

/// The company at the beginning of every trial, and the ids of its records.
pub struct Scene {
    folder: Folder,
    pub key: String,
    partner: String,
    delivery: String,
    invoice: String,
    weighing: String,
    /// The session of a person in the Leitstand.
    session: String,
}

/// Identifies an operation, which is sent again with the same Idempotency-Key.
const MARK: &str = "unter-Folter";

impl Scene {
    pub fn get() -> &'static Scene {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(Scene::new)
    }

    fn new() -> Scene {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        let article = json!([{"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "preis": 2,
            "mwst_satz": 7}]);
        folder.import("Mühle", "artikel", &article);
        let mut server = folder.serve(&[]);
        let client = server.client(&key);
        let made = |path: &str, body: Value| {
            let answer = client.post(path, &body);
            assert!(answer.status == 201, "{path}: {}", answer.body);
            answer.body["id"].as_str().unwrap().to_owned()
        };
        let partner = made(
            "/api/v1/kunden",
            json!({"name": "Kd", "kundennr": "Kd", "partner_typen": ["kunde", "lieferant"]}),
        );
        let delivery = made("/api/v1/belege", document("LS", 10));
        let mut invoice = document("RE", 4);
        invoice["abschliessen"] = json!(true);
        let invoice = made("/api/v1/belege", invoice);
        let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 20_000, "partner_id": partner});
        let weighing = made("/api/v1/wiegungen", weighing);
        let link = folder.result(&["user", "create", "Erika", "--role", "verwalten"]);
        let session = Browser::of_link(&server.address, &link);
        server.signal("TERM");
        assert!(server.end().0.success());
        Scene { folder, key, partner, delivery, invoice, weighing, session }
    }

    pub fn copy(&self) -> Folder {
        let folder = Folder::new();
        self.lay_out(&folder);
        folder
    }

    /// Replaces the contents of a folder by the files of this company.
    pub fn lay_out(&self, folder: &Folder) {
        let files = |of: &Path| -> Vec<_> {
            std::fs::read_dir(of)
                .unwrap()
                .map(|entry| entry.unwrap())
                .filter(|entry| entry.path().is_file())
                .collect()
        };
        files(folder.path()).iter().for_each(|file| std::fs::remove_file(file.path()).unwrap());
        for file in files(self.folder.path()) {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
}

fn document(typ: &str, menge: i64) -> Value {
    json!({"beleg_typ": typ, "kundennummer": "Kd", "items": [{"artikelnr": "S", "menge": menge}]})
}

pub struct Operation {
    pub name: &'static str,
    request: fn(&Scene) -> Request,
    /// Counts how often it was done.
    count: fn(&Scene, &Client) -> usize,
}

enum Request {
    /// Method, path and body.
    Json(&'static str, String, Value),
    /// A form of the Leitstand: its path below the company, and the input.
    Form(String, &'static [(&'static str, &'static str)]),
}

/// A request ready to be sent: the page of a form is already open.
pub enum Ready {
    Json(Client, &'static str, String, Value),
    Form(Browser, Form),
}

impl Operation {
    pub fn prepare(&self, scene: &Scene, server: &Running) -> Result<Ready, String> {
        let client = server.client(&scene.key);
        if client.get("/api/v1/laender").status != 200 {
            return Err("the server did not answer".to_owned());
        }
        Ok(match (self.request)(scene) {
            Request::Json(method, path, body) => Ready::Json(client, method, path, body),
            Request::Form(path, typed) => {
                let browser = Browser::new(server, &scene.session);
                let form = browser.open(&format!("/leitstand/f/1{path}"))?;
                Ready::Form(browser, form.typed(typed))
            }
        })
    }

    pub fn count(&self, scene: &Scene, client: &Client) -> usize {
        (self.count)(scene, client)
    }
}

impl Ready {
    pub fn send(&self) -> Result<Answer, String> {
        match self {
            Ready::Json(client, method, path, body) => {
                let once = [("idempotency-key", MARK)];
                client
                    .send_text(method, path, &once, Some(body.to_string()))
                    .map_err(|error| error.to_string())
            }
            Ready::Form(browser, form) => browser.send(form),
        }
    }
}

/// Whether an answer reports success; a bulk request gets 200 whatever happened to its items, a form
/// redirects to what it created.
pub fn is_done(answer: &Answer) -> bool {
    answer.status < 400 && answer.body["abgelehnt"].as_i64().unwrap_or(0) == 0
}

fn record(client: &Client, path: &str) -> Value {
    let answer = client.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

/// How many records of a list have this value in a field.
fn listed(client: &Client, path: &str, field: &str, value: &str) -> usize {
    let list = record(client, path);
    let rows = list["data"].as_array().or(list.as_array()).unwrap();
    rows.iter().filter(|row| row[field] == value).count()
}

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "POST of a document",
        request: |_| {
            let mut body = document("RE", 3);
            body["external_ref"] = json!(MARK);
            Request::Json("POST", "/api/v1/belege".to_owned(), body)
        },
        count: |_, client| listed(client, "/api/v1/belege?typ=RE", "external_ref", MARK),
    },
    Operation {
        name: "PUT of a document",
        request: |scene| {
            let items = json!([{"artikelnr": "S", "menge": 7}]);
            Request::Json(
                "PUT",
                format!("/api/v1/belege/{}", scene.delivery),
                json!({"items": items, "notizen": MARK}),
            )
        },
        count: |scene, client| {
            let record = record(client, &format!("/api/v1/belege/{}", scene.delivery));
            let half = [record["notizen"] == MARK, record["positionen"][0]["menge"] == "7.000"];
            if half[0] == half[1] { usize::from(half[0]) } else { usize::MAX }
        },
    },
    Operation {
        name: "storno of a final invoice",
        request: |scene| {
            Request::Json("POST", format!("/api/v1/belege/{}/storno", scene.invoice), json!({"grund": MARK}))
        },
        count: |scene, client| listed(client, "/api/v1/belege?typ=RE", "storno_von_beleg_id", &scene.invoice),
    },
    Operation {
        name: "second weighing",
        request: |scene| {
            let path = format!("/api/v1/wiegungen/{}/zweitwiegung", scene.weighing);
            Request::Json("PUT", path, json!({"gewicht_zweit_kg": 8_000}))
        },
        count: |scene, client| {
            let record = record(client, &format!("/api/v1/wiegungen/{}", scene.weighing));
            usize::from(record["status"] == "fertig" && record["gewicht_netto_kg"] == "12000.000")
        },
    },
    Operation {
        name: "bulk of documents",
        request: |_| {
            let item = |nr: usize| {
                let mut body = document("LS", 1);
                body["external_ref"] = json!(format!("{MARK} {nr}"));
                body
            };
            Request::Json("POST", "/api/v1/belege/stapel".to_owned(), json!({"items": [item(1), item(2)]}))
        },
        count: |_, client| listed(client, "/api/v1/belege?typ=LS", "external_ref", &format!("{MARK} 2")),
    },
    Operation {
        name: "POST of a partner",
        request: |_| {
            Request::Json("POST", "/api/v1/kunden".to_owned(), json!({"name": MARK, "kundennr": "F"}))
        },
        count: |_, client| listed(client, "/api/v1/kunden", "kundennr", "F"),
    },
    Operation {
        name: "attachment of 100 KB",
        request: |scene| {
            let body = json!({"dateiname": "folter.bin", "inhalt_base64": "QUJD".repeat(33_000)});
            Request::Json("POST", format!("/api/v1/kunden/{}/dokumente", scene.partner), body)
        },
        count: |scene, client| {
            let list = record(client, &format!("/api/v1/kunden/{}/dokumente", scene.partner));
            let rows = list["data"].as_array().or(list.as_array()).unwrap().clone();
            rows.iter().filter(|row| row["dateiname"] == "folter.bin").count()
        },
    },
    Operation {
        name: "form of a new partner",
        request: |_| Request::Form("/partner/neu".to_owned(), &[("kundennr", "F"), ("nachname_firma", MARK)]),
        count: |_, client| listed(client, "/api/v1/kunden", "kundennr", "F"),
    },
    Operation {
        name: "form of a changed partner",
        request: |scene| {
            let typed = &[("telefon", "0906 1"), ("notizen", MARK)];
            Request::Form(format!("/partner/{}/aendern", scene.partner), typed)
        },
        count: |scene, client| {
            let record = record(client, &format!("/api/v1/kunden/{}", scene.partner));
            let half = [record["telefon"] == "0906 1", record["notizen"] == MARK];
            if half[0] == half[1] { usize::from(half[0]) } else { usize::MAX }
        },
    },
    Operation {
        name: "form of a storno",
        request: |scene| Request::Form(format!("/belege/{}/storno", scene.invoice), &[("grund", MARK)]),
        count: |scene, client| listed(client, "/api/v1/belege?typ=RE", "storno_von_beleg_id", &scene.invoice),
    },
];

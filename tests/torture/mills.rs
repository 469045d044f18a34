//! Two companies on one database with one record of each kind, for experiments about keys, companies and
//! documents: created once by the executable, and copied for each case.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rusqlite::ToSql;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::process::{Client, Folder};

/// Contained in every text of the other company, and in nothing that is sent: not even in its numbers.
pub const CANARY: &str = "Kanarie";

/// The prefix of the other company's numbers.
pub const MARK: &str = "KN7";

pub struct Mills {
    folder: Folder,
    pub own: Mill,
    pub other: Mill,
}

/// A company: a key that may do everything, and ids and numbers of its records as requests contain them.
pub struct Mill {
    pub name: &'static str,
    mark: &'static str,
    pub key: String,
    pub ids: BTreeMap<&'static str, String>,
}

impl Mills {
    pub fn get() -> &'static Mills {
        static MILLS: OnceLock<Mills> = OnceLock::new();
        MILLS.get_or_init(Mills::new)
    }

    fn new() -> Mills {
        let folder = Folder::new();
        let mut own = Mill::with_master_data(&folder, "Mühle", "MU7", 31);
        let mut other = Mill::with_master_data(&folder, CANARY, MARK, 55_501);
        let mut server = folder.serve(&[]);
        own.trades(&server.client(&own.key));
        other.trades(&server.client(&other.key));
        server.signal("TERM");
        assert!(server.end().0.success());
        Mills { folder, own, other }
    }

    /// Copies the files of the database to a separate folder.
    pub fn copy(&self) -> Folder {
        copied(&self.folder)
    }
}

impl Mill {
    /// Creates the imported records, and those that only another program writes; `number` is used for integer ids.
    fn with_master_data(folder: &Folder, name: &'static str, mark: &'static str, number: i64) -> Mill {
        let key = folder.company(name);
        let kasse = Uuid::now_v7().to_string();
        import(folder, name, mark, number, &kasse);
        let (kontrakt, position) = contract(folder, name, number);
        let ids = [
            ("kasse", kasse),
            ("kontrakt", kontrakt.to_string()),
            ("kontrakt_position", position.to_string()),
            ("nummer", number.to_string()),
            ("kundennr", format!("{mark}-K")),
            ("artikelnr", format!("{mark}-W")),
            ("mark", mark.to_owned()),
            ("bon_nr", format!("{mark}-1")),
        ];
        Mill { name, mark, key, ids: ids.into() }
    }

    /// Creates the records made through the interface.
    fn trades(&mut self, client: &Client) {
        let (name, mark) = (self.name, self.mark);
        let number: i64 = self.ids["nummer"].parse().unwrap();
        let articles = done(client.get(&format!("/api/v1/artikel?gruppe_id={number}")));
        let artikel = |nr: &str| {
            let rows = articles["data"].as_array().unwrap();
            let row = rows.iter().find(|row| row["artikelnummer"] == format!("{mark}-{nr}")).unwrap();
            row["id"].clone()
        };
        let (tracked, plain) = (artikel("W"), artikel("S"));
        let kunde = self.make(
            client,
            "kunde",
            "/api/v1/kunden",
            json!({"name": format!("{name} Hof"),
            "kundennr": format!("{mark}-K"), "kunden_id": number, "partner_typen": ["kunde", "lieferant"]}),
        );
        let schema =
            json!({"nummer": mark, "bezeichnung": name, "gueltig_von": "2026-07-01", "artikel": [plain]});
        self.make(client, "schema", "/api/v1/abrechnungsschemata", schema);
        let file = json!({"dateiname": format!("{name}.txt"), "inhalt_base64": "SGFsbG8="});
        self.make(client, "anhang", &format!("/api/v1/kunden/{}/dokumente", text(&kunde)), file.clone());
        self.make(client, "artikelanhang", &format!("/api/v1/artikel/{}/dokumente", text(&tracked)), file);
        let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": kunde, "fahrer": name});
        self.make(client, "offene_wiegung", "/api/v1/wiegungen", weighing.clone());
        let done_weighing = self.make(client, "wiegung", "/api/v1/wiegungen", weighing);
        let second = format!("/api/v1/wiegungen/{}/zweitwiegung", text(&done_weighing));
        done(client.send("PUT", &second, Some(&json!({"gewicht_zweit_kg": 10}))).unwrap());
        let item = json!({"artikel_id": tracked, "menge": 10, "fremde_charge_nr": name});
        // In separate years, so that the companies' numbers differ.
        let day = if mark == MARK { "2019-05-02" } else { "2020-05-04" };
        let delivery = json!({"beleg_typ": "EL", "beleg_datum": day, "kunden_id": kunde, "items": [item],
            "external_ref": format!("{mark}-E")});
        let delivery = done(client.post("/api/v1/belege", &delivery));
        let batch = delivery["lagerbewegungen"][0]["charge_id"].clone();
        self.ids.insert("lieferung", text(&delivery["id"]));
        self.ids.insert("beleg_nummer", text(&delivery["beleg_nummer"]));
        let item = json!({"artikel_id": tracked, "menge": 1, "charge_id": batch, "bezeichnung": name});
        let invoice = json!({"beleg_typ": "RE", "kunden_id": kunde, "items": [item], "abschliessen": true,
            "notizen": name});
        self.make(client, "rechnung", "/api/v1/belege", invoice);
        self.make(client, "auftrag", "/api/v1/produktionsauftraege", json!({"rezeptur_id": 1}));
        let note =
            json!({"partner_id": kunde, "artikel_id": tracked, "anliefermenge_kg": 5, "bemerkung": name});
        let note = self.make(client, "schein", "/api/v1/annahmescheine", note);
        let advance = json!({"art": "abschlag", "annahmeschein_ids": [note], "preis_je_t": 200,
            "beleg_datum": day, "abschlag": {"prozent": 50}});
        self.make(client, "abrechnung", "/api/v1/abrechnungen", advance);
        for (kind, id) in [("artikel", &tracked), ("artikel_ohne", &plain), ("charge", &batch)] {
            self.ids.insert(kind, text(id));
        }
    }

    /// Creates a record and remembers its id.
    fn make(&mut self, client: &Client, kind: &'static str, path: &str, body: Value) -> Value {
        let id = done(client.post(path, &body))["id"].clone();
        self.ids.insert(kind, text(&id));
        id
    }
}

/// Imports articles, sales representatives, recipes and a cash receipt.
fn import(folder: &Folder, name: &str, mark: &str, number: i64, kasse: &str) {
    let article = |nr: &str| {
        json!({"artikelnummer": format!("{mark}-{nr}"), "bezeichnung": format!("{name} {nr}"), "einheit": "kg",
            "preis": "0.30", "ep_netto": "0.20", "chargenpflichtig": nr == "W", "gruppe": mark, "mwst_satz": 7})
    };
    let receipt = json!([{"bon_nr": format!("{mark}-1"), "kasse_id": kasse, "kassiert_at": "2026-07-01T12:00:00Z",
        "artikelnummer": format!("{mark}-W"), "bezeichnung": name, "menge": 1, "einzelpreis": 1, "mwst_satz": 7,
        "zahlart": mark}]);
    let item = json!({"artikelnummer": format!("{mark}-S"), "menge": 1});
    for (kind, rows) in [
        ("artikelgruppen", json!([{"id": number, "name": format!("{name} Gruppe"), "kuerzel": mark}])),
        ("vertriebler", json!([{"id": number, "name": format!("{name} Vertrieb")}])),
        ("artikel", json!([article("W"), article("S")])),
        ("barverkaeufe", receipt),
        ("rezepturen", json!([{"bezeichnung": name, "inputs": [item], "outputs": [item]}])),
    ] {
        folder.import(name, kind, &rows);
    }
}

/// Inserts an organic certificate and a contract, as other programs do; returns the ids of the contract and
/// its position.
fn contract(folder: &Folder, name: &str, number: i64) -> (Uuid, Uuid) {
    let (kontrakt, position) = (Uuid::now_v7(), Uuid::now_v7());
    let database = folder.database();
    let tenant = "select id from tenant where name = ?1";
    let tenant: i64 = database.query_row(tenant, [name], |row| row.get(0)).unwrap();
    let insert = |statement: &str, values: &[&dyn ToSql]| {
        database.execute(statement, values).unwrap();
    };
    insert(
        "insert into biozertifikat (tenant_id, id, nummer) values (?1, ?2, ?3)",
        &[&tenant, &number, &name],
    );
    insert(
        "insert into kontrakt (tenant_id, id, kontrakt_nr, such_text) values (?1, ?2, ?3, '')",
        &[&tenant, &kontrakt, &name],
    );
    insert(
        "insert into kontrakt_position (tenant_id, id, kontrakt_id, position) values (?1, ?2, ?3, 1)",
        &[&tenant, &position, &kontrakt],
    );
    (kontrakt, position)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The body of an answer, which must be a success.
#[track_caller]
pub fn done(answer: crate::process::Answer) -> Value {
    assert!(answer.status < 300, "{}: {}", answer.status, answer.body);
    answer.body
}

/// Copies the files of a folder to a separate one.
pub fn copied(folder: &Folder) -> Folder {
    let copy = Folder::new();
    for entry in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

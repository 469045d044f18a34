//! The two companies at the beginning of every story.

use std::sync::OnceLock;

use argon2::password_hash::PasswordHasher;
use argon2::{Algorithm, Argon2, Params, Version};
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::access::key::{self, Grant};
use partnerd::rules::choice::Choice;
use partnerd::rules::day::Instant;
use partnerd::rules::scope::Scope;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::model::{LARGE_LIMIT, SMALL_LIMIT};
use super::server::Served;
use super::story::{BEGIN, MEETS};
use crate::calls::browser::Browser;
use crate::process::Folder;

pub const FIRMS: [&str; 2] = ["Mühle", "Handel"];

/// A person who uses the Leitstand of both.
pub const PERSON: &str = "Erika";

/// The articles by their names in stories.
pub const ARTICLES: [(u32, &str); 4] = [(1, "W"), (2, "S"), (3, "Z"), (4, "X")];

pub struct Base {
    folder: Folder,
    /// For each company the key with all scopes, and the small one.
    pub keys: [[String; 2]; 2],
    /// The session of a person in the Leitstand, which begins with the stories.
    pub session: String,
}

impl Base {
    pub fn get() -> &'static Base {
        static BASE: OnceLock<Base> = OnceLock::new();
        BASE.get_or_init(Base::new)
    }

    fn new() -> Base {
        let folder = Folder::new();
        let keys = FIRMS.map(|firm| {
            let set = if firm == FIRMS[MEETS] { "paarung_monate=0" } else { "lagerbuchung=lieferung" };
            let tenant = folder.result(&["tenant", "create", firm, "--set", set]);
            let tenant = tenant.trim().parse().unwrap();
            [(Scope::ALL, LARGE_LIMIT), (&[Scope::BelegeRead][..], SMALL_LIMIT)]
                .map(|(scopes, limit)| key(&folder, tenant, scopes, limit))
        });
        let articles = json!([
            {"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.32", "ep_netto": "0.1985",
             "mwst_satz": 7, "chargenpflichtig": true},
            {"artikelnummer": "S", "bezeichnung": "Säcke", "einheit": "Stk", "preis": 2, "ep_netto": "1.2",
                "mwst_satz": 19},
            {"artikelnummer": "Z", "bezeichnung": "Salz", "einheit": "kg", "preis": "0.5",
                "ep_netto": "0.4111", "mwst_satz": 7},
            {"artikelnummer": "X", "bezeichnung": "Alt", "einheit": "kg", "preis": 1, "mwst_satz": 7,
                "status": "inaktiv"}]);
        let tiers = json!([{"artikelnummer": "W", "ab_menge": 1_000, "preis": "0.29"},
            {"artikelnummer": "W", "ab_menge": 5_000, "preis": "0.27"},
            {"artikelnummer": "W", "ab_menge": 25_000, "preis": "0.2455"}]);
        for firm in FIRMS {
            folder.import(firm, "artikel", &articles);
            folder.import(firm, "staffelpreise", &tiers);
            let contract = json!([{"kontrakt_nr": "V", "kontrakt_typ": "verkauf", "gesamtmenge": 1_000,
                "gesamtmenge_einheit": "kg"}]);
            folder.import(firm, "kontrakte", &contract);
        }
        let link = folder.result(&["user", "create", PERSON, "--role", "buero"]);
        let server = Served::start(&folder.file("partnerd.db"), BEGIN).unwrap();
        let session = Browser::of_link(&server.address, &link);
        server.stop();
        Base { folder, keys, session }
    }

    pub fn copy(&self) -> Folder {
        let copy = Folder::new();
        for file in std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().path()) {
            std::fs::copy(&file, copy.file(file.file_name().unwrap().to_str().unwrap())).unwrap();
        }
        copy
    }
}

/// A key whose hash is verified quickly: each newly started server verifies it again.
fn key(folder: &Folder, tenant: i64, scopes: &[Scope], limit: i64) -> String {
    let connection = open_writer(&folder.file("partnerd.db")).unwrap();
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash = |key: &str| Ok(cheap.hash_password(key.as_bytes()).unwrap().to_string());
    let new = key::generate_with(&key::mac_secret(&connection).unwrap(), hash).unwrap();
    let scopes = scopes.iter().copied().collect();
    let daily_limit = Some(limit.try_into().unwrap());
    let grant = Grant { label: "test".to_owned(), scopes, daily_limit, ..Grant::default() };
    key::insert(&connection, tenant, &new, &grant, Instant::from_millis(BEGIN)).unwrap();
    new.text
}

/// Opens the database beside the server for reading.
pub fn look(folder: &Folder) -> Connection {
    let file = folder.file("partnerd.db");
    let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    database
}

/// The id of an article or the contract of a company.
pub fn id(database: &Connection, firm: usize, table: &str, number: &str) -> String {
    let column = if table == "artikel" { "artikelnummer" } else { "kontrakt_nr" };
    let statement = format!(
        "select a.id from {table} a join tenant t on t.id = a.tenant_id where t.name = ?1 and a.{column} = ?2"
    );
    let id: uuid::Uuid = database.query_row(&statement, [FIRMS[firm], number], |row| row.get(0)).unwrap();
    id.to_string()
}

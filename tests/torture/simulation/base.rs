//! Two companies as every story finds them.

use std::sync::OnceLock;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::model::SMALL_LIMIT;
use crate::process::Folder;

pub const FIRMS: [&str; 2] = ["Mühle", "Handel"];

/// The articles by their names in stories.
pub const ARTICLES: [(u32, &str); 4] = [(1, "W"), (2, "S"), (3, "Z"), (4, "X")];

pub struct Base {
    folder: Folder,
    /// Of each company the key of all, and the small one.
    pub keys: [[String; 2]; 2],
}

impl Base {
    pub fn get() -> &'static Base {
        static BASE: OnceLock<Base> = OnceLock::new();
        BASE.get_or_init(Base::new)
    }

    fn new() -> Base {
        let folder = Folder::new();
        let keys = FIRMS.map(|firm| {
            let all = ["--label", "all", "--all-scopes", "--daily-limit", "100000"];
            let limit = SMALL_LIMIT.to_string();
            let small = ["--label", "small", "--scope", "belege:read", "--daily-limit", &limit];
            folder.result(&["tenant", "create", firm, "--set", "lagerbuchung=lieferung"]);
            let key = |of: &[&str]| {
                folder.result(&[&["key", "create", "--tenant", firm], of].concat()).trim().to_owned()
            };
            [key(&all), key(&small)]
        });
        let articles = json!([
            {"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.32", "ep_netto": "0.1985",
             "mwst_satz": 7, "chargenpflichtig": true},
            {"artikelnummer": "S", "bezeichnung": "Säcke", "einheit": "Stk", "preis": 2, "ep_netto": "1.2", "mwst_satz": 19},
            {"artikelnummer": "Z", "bezeichnung": "Salz", "einheit": "kg", "preis": "0.5", "ep_netto": "0.4111", "mwst_satz": 7},
            {"artikelnummer": "X", "bezeichnung": "Alt", "einheit": "kg", "preis": 1, "mwst_satz": 7, "status": "inaktiv"}]);
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
        Base { folder, keys }
    }

    pub fn copy(&self) -> Folder {
        let copy = Folder::new();
        for file in std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().path()) {
            std::fs::copy(&file, copy.file(file.file_name().unwrap().to_str().unwrap())).unwrap();
        }
        copy
    }
}

/// The database, to look at beside the server.
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

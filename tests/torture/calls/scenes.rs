//! Folders in which trials of commands begin, and whether a command is done in one.

use std::sync::OnceLock;

use rusqlite::Connection;
use serde_json::json;

use crate::power::{oracle, writers};
use crate::process::Folder;

pub const DATABASE: &str = "partnerd.db";
pub const BACKUP: &str = "copy.db";

/// Number of imported articles.
const ARTICLES: i64 = 40;

pub fn nothing() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(Folder::new)
}

/// A company left by a killed server.
pub fn mill() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        let mut server = folder.serve(&[]);
        assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
        server.kill();
        let rows: Vec<_> = (0..ARTICLES)
            .map(|at| json!({"artikelnummer": format!("I{at}"), "bezeichnung": "Saat", "einheit": "kg"}))
            .collect();
        folder.write("artikel.json", &json!(rows).to_string());
        folder
    })
}

/// The same with a backup from before one of its companies was created.
pub fn with_backup() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = same(mill());
        folder.result(&["backup", BACKUP]);
        folder.result(&["tenant", "create", "Zwei"]);
        folder
    })
}

/// Another installation with the same backup beside it.
pub fn elsewhere() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::new();
        folder.company("Zwei");
        std::fs::copy(with_backup().file(BACKUP), folder.file(BACKUP)).unwrap();
        folder
    })
}

/// A company with rows of the audit log that a start drops.
pub fn old() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::new();
        writers::mill(&folder);
        folder
    })
}

pub fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

pub fn same(of: &Folder) -> Folder {
    let folder = Folder::new();
    lay_out(of, &folder);
    folder
}

pub fn lay_out(of: &Folder, folder: &Folder) {
    for name in names(of) {
        std::fs::copy(of.file(&name), folder.file(&name)).unwrap();
    }
}

fn count(folder: &Folder, rows: &str) -> i64 {
    let sql = format!("select count(*) from {rows}");
    folder.database().query_row(&sql, [], |row| row.get(0)).unwrap_or(0)
}

pub fn is_made(folder: &Folder) -> Option<bool> {
    Some(folder.file(DATABASE).exists() && count(folder, "installation") == 1)
}

pub fn is_imported(folder: &Folder) -> Option<bool> {
    match count(folder, "artikel") {
        0 => Some(false),
        ARTICLES => Some(true),
        _ => None,
    }
}

/// A backup with its final name is whole, whatever happened to the command.
pub fn is_backed_up(folder: &Folder) -> Option<bool> {
    if !folder.file(BACKUP).exists() {
        return Some(false);
    }
    let copy = Connection::open(folder.file(BACKUP)).unwrap();
    let whole = "select (select group_concat(integrity_check) from pragma_integrity_check) = 'ok'
        and (select count(*) from tenant) = 1";
    copy.query_row(whole, [], |row| row.get::<_, bool>(0)).ok().filter(|is_whole| *is_whole)
}

pub fn is_restored(folder: &Folder) -> Option<bool> {
    let companies =
        [count(folder, "tenant where name = 'Mühle'"), count(folder, "tenant where name = 'Zwei'")];
    match companies {
        [1, 0] => Some(true),
        [1, 1] | [0, 1] => Some(false),
        _ => None,
    }
}

pub fn is_rolled_over(folder: &Folder) -> Option<bool> {
    Some(!oracle::has_old_rows(folder))
}

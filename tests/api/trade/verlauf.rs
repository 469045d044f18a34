//! The history of a large document: each version stored once, read in pages with a bounded number of bytes (D4).

use serde_json::{Value, json};

use crate::harness::Server;
use crate::trade::lager::{Mill, without_ties};

/// Changes of the notes; then the positions change, then as many again.
const NOTES: i64 = 100;

const POSITIONS: i64 = 300;

/// Used bytes of the database, without free pages.
fn size(server: &Server) -> i64 {
    server.sql(
        "select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, \
         pragma_page_size",
    )
}

#[test]
fn a_note_on_a_large_document_does_not_copy_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let items =
        |menge: i64| Value::Array(vec![json!({"artikelnr": "S", "menge": menge}); POSITIONS as usize]);
    let id = mill.post("LS", items(2)).id();
    let path = format!("/api/v1/belege/{id}");
    let copy = mill.get(&id).to_string().len() as i64;
    assert!(copy > 150_000, "{copy} bytes");
    let before = size(&server);
    let mut versions = vec![without_ties(mill.get(&id))];
    for turn in 0..2 {
        for note in 0..NOTES {
            mill.client.put(&path, json!({"notizen": format!("{turn} {note}")})).is(200);
        }
        versions.push(without_ties(mill.get(&id)));
        if turn == 0 {
            mill.put(&id, items(1)).is(200);
            versions.push(without_ties(mill.get(&id)));
        }
    }
    // Two sets of positions, two hundred heads, an audit row for each request.
    let grown = size(&server) - before;
    assert!(grown < 6 * copy, "{grown} bytes more, a copy has {copy}");
    mill.finalise(&id);
    assert_eq!(server.sql::<i64>("select count(*) from beleg_verlauf_positionen"), 2);

    let changes = 2 * NOTES + 2;
    let (mut rows, mut pages) = (Vec::new(), 0);
    while (rows.len() as i64) < changes {
        let answer = mill.client.get(&format!("{path}/verlauf?offset={}", rows.len()));
        assert_eq!(answer.is(200)["count"], changes);
        let page = answer.body["data"].as_array().unwrap();
        assert!(answer.bytes.len() as i64 <= (8 << 20) + copy, "{} bytes", answer.bytes.len());
        rows.extend(page.iter().cloned());
        let goes_on = (rows.len() as i64) < changes;
        let cut = answer.headers.get("x-limit").cloned();
        assert_eq!(cut, goes_on.then(|| page.len().to_string()), "page {pages}");
        pages += 1;
    }
    assert!(pages > 3, "{pages} pages");
    let numbers: Vec<_> = rows.iter().map(|row| row["version"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=changes).collect::<Vec<_>>());
    // A limit still applies, even if the bytes would allow more.
    let two = mill.client.get(&format!("{path}/verlauf?limit=2&offset=1"));
    assert_eq!((two.is(200)["data"].clone(), two.headers.get("x-limit")), (json!(rows[1..3]), None));

    // Each version reads as it was: the first, those around the new positions, the last.
    let at = |version: i64| &rows[version as usize - 1]["beleg"];
    let [first, noted, changed, last] = versions.as_slice() else { panic!("{} versions", versions.len()) };
    assert_eq!(at(1), first);
    assert_eq!(at(NOTES + 1), noted);
    assert_eq!(at(NOTES + 2), changed);
    assert_eq!(at(changes), last);
    for version in 1..=changes {
        let (beleg, positions) = (at(version), if version <= NOTES + 1 { first } else { last });
        assert_eq!(beleg["positionen"], positions["positionen"], "version {version}");
        let notes = match version {
            1 => Value::Null,
            version if version <= NOTES + 1 => json!(format!("0 {}", version - 2)),
            version if version == NOTES + 2 => json!(format!("0 {}", NOTES - 1)),
            version => json!(format!("1 {}", version - NOTES - 3)),
        };
        assert_eq!(beleg["notizen"], notes, "version {version}");
    }
    let aktionen: Vec<_> = rows.iter().map(|row| row["aktion"].as_str().unwrap()).collect();
    assert!(aktionen[..aktionen.len() - 1].iter().all(|aktion| *aktion == "aendern"));
    assert_eq!(aktionen.last(), Some(&"abschliessen"));
    for change in ["update beleg_verlauf_positionen set version = 7", "delete from beleg_verlauf_positionen"]
    {
        let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
        assert!(
            connection.execute_batch(change).unwrap_err().to_string().contains("append-only"),
            "{change}"
        );
    }
}

#[test]
fn versions_with_long_texts_are_kept_packed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let items = |turn: i64| {
        let text =
            |at: i64| (0..400).map(|n| format!("Zeile {turn} {at} {n}")).collect::<Vec<_>>().join("\n");
        let item = |at| {
            json!({"artikelnr": "S", "menge": 1,
            "langtext": text(at).chars().take(4_000).collect::<String>().trim()})
        };
        Value::Array((0..100).map(item).collect())
    };
    let id = mill.post("AN", items(0)).id();
    let before = size(&server);
    for turn in 1..=10 {
        mill.put(&id, items(turn)).is(200);
    }
    let plain = mill.get(&id).to_string().len() as i64;
    let grown = size(&server) - before;
    assert!(plain > 400_000 && grown < 5 * plain, "{grown} bytes more for ten versions of {plain}");
    let path = format!("/api/v1/belege/{id}/verlauf?limit=1&offset=9");
    let last = mill.client.get(&path).is(200)["data"][0].clone();
    assert_eq!(last["beleg"]["positionen"][99]["langtext"], items(9)[99]["langtext"]);
}

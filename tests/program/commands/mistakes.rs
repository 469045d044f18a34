//! Mistakes of administrators (tests/data/mistakes.md), made with the real program.

use crate::process::Folder;

const TABLE: &str = include_str!("../../data/mistakes.md");

/// The first mistakes of the table are in the call itself.
const OF_THE_CALL: usize = 6;

/// The bytes of a file as written in the table.
fn bytes(written: &str) -> Vec<u8> {
    let mut parts = written.replace("\\n", "\n").into_bytes();
    while let Some(at) = parts.windows(2).position(|two| two == b"\\x") {
        let byte = u8::from_str_radix(std::str::from_utf8(&parts[at + 2..at + 4]).unwrap(), 16).unwrap();
        parts.splice(at..at + 4, [byte]);
    }
    parts
}

/// Everything in the database.
fn content(folder: &Folder) -> String {
    let database = folder.database();
    let count = "select (select count(*) from tenant) || ' ' || (select count(*) from api_key) || ' ' ||
        (select count(*) from person) || ' ' || (select count(*) from artikel) || ' ' || (select count(*) from \
        kunde) || ' ' ||
        (select count(*) from kontrakt) || ' ' || (select count(*) from verwaltung)";
    database.query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn each_mistake_is_told_with_what_to_do() {
    let folder = Folder::new();
    folder.company("Mühle");
    let rows = TABLE.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<Vec<&str>> = rows.map(|line| line.trim_matches('|').split('|').collect()).collect();
    assert_eq!(rows.len(), 31);
    let before = content(&folder);
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<&str> = row.iter().map(|cell| cell.trim()).collect();
        let [mistake, command, file, said, cure] = cells[..] else { panic!("{row:?}") };
        let arguments: Vec<&str> = command.trim_matches('`').split(' ').collect();
        if !file.is_empty() {
            let name = arguments.iter().find(|argument| argument.starts_with("a.")).unwrap();
            std::fs::write(folder.file(name), bytes(file.trim_matches('`'))).unwrap();
        }
        let output = folder.run(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(if at < OF_THE_CALL { 2 } else { 1 }), "{mistake}: {text}");
        assert!(output.stdout.is_empty(), "{mistake}");
        for part in [said, cure] {
            assert!(text.contains(part), "{mistake}: {part:?} is not said: {text}");
        }
        assert!(![" the ", "No such", "os error"].iter().any(|english| text.contains(english)), "{text}");
        assert_eq!(content(&folder), before, "{mistake}");
    }
}

//! Ctrl-C during an import (D22): stored parts stay and are reported, and the same command stores the rest.

use std::fmt::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::commands::said;
use crate::process::Folder;

/// Enough rows for many parts: a part has at most 5,000 rows.
const ROWS: usize = 60_000;

fn press_ctrl_c(child: &Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

fn stored(folder: &Folder) -> usize {
    folder.database().query_row("select count(*) from kunde", [], |row| row.get::<_, u32>(0)).unwrap()
        as usize
}

/// Starts importing a file of customers for a new company.
fn begin(folder: &Folder, rows: usize, more: &[&str]) -> Child {
    folder.company("Mühle");
    let mut text = "kundennr;nachname_firma\n".to_owned();
    (0..rows).for_each(|at| writeln!(text, "N-{at};Hof {at}").unwrap());
    folder.write("kunden.csv", &text);
    let arguments = ["import", "kunden", "kunden.csv", "--tenant", "Mühle"];
    let mut command = folder.command(&[&arguments[..], more].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn parts_that_were_stored_stay_and_are_counted() {
    let folder = Folder::new();
    let mut child = begin(&folder, ROWS, &["--in-parts"]);
    while stored(&folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first part");
        std::thread::yield_now();
    }
    press_ctrl_c(&child);
    let said = said(&child.wait_with_output().unwrap(), 1);
    let kept = stored(&folder);
    assert!(kept > 0 && kept < ROWS, "{kept}");
    assert!(said.contains("Abgebrochen."), "{said}");
    assert!(
        said.contains(&format!("{kept} von {ROWS} Zeilen sind gespeichert und bleiben, die anderen nicht")),
        "{said}"
    );
    let again = folder.result(&["import", "kunden", "kunden.csv", "--tenant", "Mühle", "--in-parts"]);
    assert_eq!(again.trim(), format!("{} neu, 0 geändert, {kept} unverändert", ROWS - kept));
}

#[test]
fn without_parts_nothing_is_stored() {
    let folder = Folder::new();
    let mut child = begin(&folder, 20_000, &[]);
    // It stores as soon as it holds the write lock.
    let beside = folder.database();
    beside.busy_timeout(Duration::ZERO).unwrap();
    while beside.execute_batch("begin immediate; rollback").is_ok() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it stored anything");
    }
    press_ctrl_c(&child);
    let said = said(&child.wait_with_output().unwrap(), 1);
    assert!(said.ends_with("Abgebrochen.\nEs wurde nichts gespeichert.\n"), "{said}");
    assert_eq!(stored(&folder), 0);
}

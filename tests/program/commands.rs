//! An administrator's day at the command line: keys and settings are shown, changes recorded, messages give
//! advice, tables fit, and companies can be created for testing.

mod beside;
mod causes;
mod changes;
mod doctor;
mod hands;
mod interrupt;
mod keys;
mod leitstand;
mod messages;
mod mistakes;
mod rueckgaengig;
mod testfirma;
mod vergessen;
mod width;

use std::process::Output;

use serde_json::Value;

/// The stderr of a command, which must end with this code.
#[track_caller]
fn said(output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// The rows that a command prints with --json.
#[track_caller]
fn rows(folder: &crate::process::Folder, arguments: &[&str]) -> Vec<Value> {
    let text = folder.result(&[&["--json"], arguments].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

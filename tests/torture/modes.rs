//! P25: only the owner can access the files that commands and the server leave on the disk, whatever umask
//! they were started with; and the unit locks the service down.
//!
//! A trial is a file or folder made by a random sequence of commands under umask 000, with a server among
//! them that is killed or told to stop. Certificates are for everybody; their keys are not.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::process::{Folder, Running};
use crate::programs::is_missing;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P25",
    what: "files and folders that commands and the server made under umask 000; the unit's exposure",
    needs: &[],
    seeds: 2,
    case,
    fault: "one file is readable by others",
    control_seeds: 1,
};

/// Commands per seed.
const COMMANDS: usize = 8;

/// Maximum exposure of the unit, in tenths, as systemd-analyze rates it from 0 to 100.
const EXPOSURE_MAX: u32 = 15;

fn case(case: &mut Case) -> Result<u64, String> {
    unit_is_locked_down()?;
    let folder = Folder::new();
    ran(&folder, &["tenant", "create", "Mühle"])?;
    let key = ran(&folder, &["key", "create", "--tenant", "Mühle", "--label", "a", "--all-scopes"])?;
    let mut done = Vec::new();
    for nr in 0..COMMANDS {
        done.push(command(&folder, key.trim(), nr, &mut case.dice)?);
    }
    let made = made(folder.path());
    if case.has_fault {
        let open = &made[case.dice.below(made.len())];
        std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    for path in &made {
        let metadata = std::fs::metadata(path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        if mode != expected && !path.ends_with("partnerd-cert.pem") {
            return Err(format!(
                "{} has mode {mode:o}, must be {expected:o}, after {}",
                path.display(),
                done.join(", ")
            ));
        }
    }
    Ok(made.len() as u64 + 1)
}

/// Runs a random command that writes files; returns its name.
fn command(folder: &Folder, key: &str, nr: usize, dice: &mut Dice) -> Result<String, String> {
    let name = |kind: &str| format!("{kind}-{nr}");
    let arguments = match dice.below(7) {
        0 => vec!["backup".to_owned(), name("backup.db")],
        1 => vec!["backup".to_owned(), name("with.db"), "--with-secret".to_owned()],
        2 => {
            let create = ["key", "create", "--tenant", "Mühle", "--label", "b", "--for", "shop", "--out"];
            create.iter().map(|part| (*part).to_owned()).chain([name("shop.key")]).collect()
        }
        3 => {
            let backup = name("restored.db");
            ran(folder, &["backup", &backup])?;
            vec!["restore".to_owned(), backup]
        }
        4 => vec![
            "user".to_owned(),
            "create".to_owned(),
            name("Erika"),
            "--role".to_owned(),
            "verwalten".to_owned(),
        ],
        5 => vec!["--db".to_owned(), name("other.db"), "migrate".to_owned()],
        _ => return served(folder, key, dice),
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    ran(folder, &arguments)?;
    Ok(arguments.join(" "))
}

/// The executable, started by a shell with umask 000.
fn unmasked(folder: &Folder, arguments: &[&str]) -> Command {
    folder.by_shell("umask 000; exec \"$0\" \"$@\"", arguments)
}

fn ran(folder: &Folder, arguments: &[&str]) -> Result<String, String> {
    let output = unmasked(folder, arguments).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Runs a server for a while, with a folder for backups, and ends it in one of two ways.
fn served(folder: &Folder, key: &str, dice: &mut Dice) -> Result<String, String> {
    let mut command = unmasked(folder, &["serve", "--listen", "127.0.0.1:0"]);
    command.env("PARTNERD_BACKUP_FOLDER", folder.file("backups"));
    let mut server = Running::start(command);
    let client = server.client(key);
    for nr in 0..10 {
        client.post("/api/v1/kunden", &json!({"name": format!("Hof {nr}")}));
        client.get("/api/v1/kunden");
    }
    let signal = ["TERM", "KILL"][dice.below(2)];
    server.signal(signal);
    server.end();
    Ok(format!("a server that got SIG{signal}"))
}

/// All files and folders made by these commands.
fn made(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let with_content = |path: PathBuf| {
        let below = if path.is_dir() { made(&path) } else { Vec::new() };
        std::iter::once(path).chain(below).collect::<Vec<_>>()
    };
    paths.flat_map(with_content).collect()
}

/// Checks systemd's rating of our unit, if systemd is available.
fn unit_is_locked_down() -> Result<(), String> {
    if is_missing("systemd-analyze") {
        return Ok(());
    }
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/debian/partnerd.service");
    let threshold = format!("--threshold={EXPOSURE_MAX}");
    let output = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager", &threshold])
        .arg(unit)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("the unit is too open: {}", String::from_utf8_lossy(&output.stdout))),
    }
}

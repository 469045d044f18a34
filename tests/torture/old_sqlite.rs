//! P26: an SQLite that can corrupt its file is refused at the start.
//!
//! A trial is a copy of the executable in which the version number of its SQLite, returned by one of its
//! functions, was replaced: with a version before 3.51.3 no command may touch a database, with a later one it
//! works. Known vulnerabilities of other parts are checked in `advisories.rs`.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::process::Folder;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P26",
    what: "versions of SQLite that the executable believes to have: older than 3.51.3 is refused",
    needs: &[],
    seeds: 2,
    case,
    fault: "3.51.3 itself is expected to be refused",
    control_seeds: 1,
};

/// docs/promises.md, P26.
const OLDEST: u32 = 3_051_003;

/// Versions per seed.
const VERSIONS: usize = 8;

fn case(case: &mut Case) -> Result<u64, String> {
    // The position of the number is known only for this processor.
    if !cfg!(target_arch = "x86_64") {
        return Ok(0);
    }
    let folder = Folder::new();
    let program = Program::copied(&folder)?;
    let first_good = OLDEST + u32::from(case.has_fault);
    let mut versions = vec![OLDEST - 1, OLDEST];
    versions.extend((2..VERSIONS).map(|_| version(&mut case.dice)));
    for (nr, version) in versions.iter().enumerate() {
        program.says(*version);
        let database = format!("{nr}.db");
        let output = program.runs(&folder, &["--db", &database, "tenant", "create", "Mühle"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let is_refused = !output.status.success() && said.contains("zu alt");
        if is_refused != (*version < first_good) || output.status.success() == is_refused {
            return Err(format!("SQLite {version}: {} {said}", output.status));
        }
    }
    Ok(VERSIONS as u64)
}

/// A random version near the oldest good one, or some years away from it.
fn version(dice: &mut Dice) -> u32 {
    match dice.below(3) {
        0 => OLDEST - 3 + dice.below(6) as u32,
        1 => 3_050_000 + dice.below(3_000) as u32,
        _ => 3_040_000 + 1_000 * dice.below(20) as u32 + dice.below(5) as u32,
    }
}

/// A copy of the executable.
struct Program {
    file: PathBuf,
    /// Offset of SQLite's version number.
    at: u64,
}

impl Program {
    fn copied(folder: &Folder) -> Result<Program, String> {
        let file = folder.file("partnerd");
        let mut content = std::fs::read(folder.command(&[]).get_program()).unwrap();
        // int sqlite3_libversion_number(void): mov eax, number; ret.
        let number = (rusqlite::version_number() as u32).to_le_bytes();
        let function = [&[0xb8][..], &number, &[0xc3]].concat();
        let found: Vec<usize> = memchr::memmem::find_iter(&content, &function).collect();
        let [at] = found[..] else {
            return Err(format!("the number of SQLite is at {} places of the executable", found.len()));
        };
        std::fs::write(&file, std::mem::take(&mut content)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        Ok(Program { file, at: at as u64 + 1 })
    }

    /// Sets the version number of SQLite in the copy.
    fn says(&self, version: u32) {
        let mut file: File = OpenOptions::new().write(true).open(&self.file).unwrap();
        file.seek(SeekFrom::Start(self.at)).unwrap();
        file.write_all(&version.to_le_bytes()).unwrap();
    }

    fn runs(&self, folder: &Folder, arguments: &[&str]) -> Output {
        folder.program(&self.file, arguments).output().unwrap()
    }
}

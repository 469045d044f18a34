//! The disk calls of a server, in order, recorded by a preloaded library (`recorder.c`).

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::disk::{Disk, Image, Stored};
use super::oracle::lay_out;
use crate::experiment::Case;
use crate::process::Folder;

/// A call of the process. Files are identified by inode, names are relative to the folder.
pub enum Call<'l> {
    Write {
        file: u64,
        offset: usize,
        bytes: &'l [u8],
    },
    Truncate {
        file: u64,
        length: usize,
    },
    /// A completed sync; it covers everything in the log before `begun`.
    Sync {
        file: u64,
        begun: usize,
    },
    Create {
        file: u64,
        name: &'l str,
    },
    Link {
        from: &'l str,
        to: &'l str,
    },
    Rename {
        from: &'l str,
        to: &'l str,
    },
    Unlink {
        name: &'l str,
    },
}

/// A call, and where its record ends in the log: the instant at which it was done.
pub struct Record<'l> {
    pub call: Call<'l>,
    pub end: usize,
}

/// The log of a folder, written outside of it.
pub struct Log {
    path: PathBuf,
}

impl Log {
    /// Records the calls of a command that works in this folder.
    pub fn of(command: &mut Command, folder: &Folder, logs: &Folder) -> Log {
        let path = logs.file("calls.log");
        let watched = fs::canonicalize(folder.path()).unwrap();
        command.env("LD_PRELOAD", library()).env("TORTURE_FOLDER", watched).env("TORTURE_LOG", &path);
        Log { path }
    }

    /// Its length now: everything recorded so far is before this.
    pub fn length(&self) -> usize {
        fs::metadata(&self.path).map_or(0, |log| log.len() as usize)
    }

    /// Makes a call of the command fail from now on; counting starts now.
    pub fn set_fault(&self, fault: &Fault) {
        let Fault { kind, number, error, is_half } = *fault;
        let text = format!("{kind} {number} {error} {}", u8::from(is_half));
        // It is read completely or not at all.
        fs::write(self.beside("-part"), text).unwrap();
        fs::rename(self.beside("-part"), self.beside("-fault")).unwrap();
    }

    /// The number of calls of the fault's kind.
    pub fn met(&self) -> u64 {
        let met = fs::read(self.beside("-met")).expect("the library was not loaded");
        met.try_into().map_or(0, u64::from_le_bytes)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_file_name(format!("calls.log{ending}"))
    }

    pub fn read(&self) -> Vec<u8> {
        fs::read(&self.path).expect("the library was not loaded: is the executable a static one?")
    }
}

/// A failing call, as `recorder.c` reads it.
pub struct Fault {
    pub kind: char,
    pub number: u64,
    /// An errno, or -1: the process is killed at the call.
    pub error: i32,
    /// Half of a write is done first.
    pub is_half: bool,
}

/// The disk before a process began, and the calls of the process.
pub struct Recording {
    pub base: Stored,
    pub log: Vec<u8>,
}

impl Recording {
    pub fn records(&self) -> Vec<Record<'_>> {
        records(&self.log)
    }

    /// Cuts it off after each of these numbers of records, and checks the state. `look` gets the position in
    /// the log; an error of it, with the state, is the violation.
    pub fn cut_off(
        &self,
        case: &mut Case,
        instants: &[usize],
        mut look: impl FnMut(Image, usize) -> Result<(), (String, Image)>,
    ) -> Result<(), String> {
        let records = self.records();
        let mut disk = Disk::of(&self.base);
        if case.has_fault {
            disk = disk.without_syncs_of_log();
        }
        let mut done = 0;
        for (nr, instant) in instants.iter().enumerate() {
            records[done..*instant].iter().for_each(|record| disk.proceed(record));
            done = *instant;
            let Record { call, end } = &records[done - 1];
            look(disk.cut(&mut case.dice), *end).map_err(|(found, state)| {
                let (kept, all) = (keep(&state), records.len());
                format!(
                    "state {nr} (kept in {kept}), behind call {done} of {all} ({call}, up to {end}): {found}"
                )
            })?;
        }
        Ok(())
    }
}

/// Stores a state that refutes the promise; returns where.
fn keep(image: &Image) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("P1-state");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    lay_out(image, &folder);
    folder.display().to_string()
}

/// Whether a call is neither a write nor a sync.
pub fn is_seldom(record: &Record<'_>) -> bool {
    !matches!(record.call, Call::Write { .. } | Call::Sync { .. })
}

/// The library, built once per run.
fn library() -> &'static PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let (library, part) =
            (folder.join("recorder.so"), folder.join(format!("recorder-{}.so", std::process::id())));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/power/recorder.c");
        let mut cc = Command::new("cc");
        let built = cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&part).args([source, "-ldl"]).status();
        assert!(built.unwrap().success(), "{source} cannot be built");
        // Another run may have loaded it.
        fs::rename(part, &library).unwrap();
        library
    })
}

/// The records of a log; the last one may be incomplete if the process was killed.
pub fn records(log: &[u8]) -> Vec<Record<'_>> {
    let (mut records, mut at) = (Vec::new(), 0);
    while let Some((head, rest)) = log[at..].split_at_checked(32) {
        let [kind, file, number, length] =
            [0, 8, 16, 24].map(|from| u64::from_le_bytes(head[from..from + 8].try_into().unwrap()));
        let (number, length) = (number as usize, length as usize);
        let Some(bytes) = rest.get(..length) else { break };
        at += 32 + length;
        records.push(Record { call: call(kind as u8, file, number, bytes), end: at });
    }
    records
}

fn call(kind: u8, file: u64, number: usize, bytes: &[u8]) -> Call<'_> {
    let name = || std::str::from_utf8(bytes).unwrap();
    let both = || name().split_once('\0').unwrap();
    match kind {
        b'w' => Call::Write { file, offset: number, bytes },
        b't' => Call::Truncate { file, length: number },
        b's' => Call::Sync { file, begun: number },
        b'c' => Call::Create { file, name: name() },
        b'l' => Call::Link { from: both().0, to: both().1 },
        b'r' => Call::Rename { from: both().0, to: both().1 },
        b'u' => Call::Unlink { name: name() },
        _ => panic!("the log has a record of kind {kind}"),
    }
}

/// For messages.
impl std::fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Call::Write { file, offset, bytes } => {
                write!(f, "write of {} bytes at {offset} to inode {file}", bytes.len())
            }
            Call::Truncate { file, length } => write!(f, "truncate of inode {file} to {length}"),
            Call::Sync { file, .. } => write!(f, "sync of inode {file}"),
            Call::Create { file, name } => write!(f, "creation of {name}, inode {file}"),
            Call::Link { from, to } => write!(f, "link of {from} as {to}"),
            Call::Rename { from, to } => write!(f, "rename of {from} to {to}"),
            Call::Unlink { name } => write!(f, "unlink of {name}"),
        }
    }
}

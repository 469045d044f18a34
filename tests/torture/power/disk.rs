//! A disk that may be cut off: what is certainly on it, and what was written and not synced yet.
//!
//! A sync covers everything written to its file before the sync began; for a new file it also covers its name
//! (as in ext4, XFS and btrfs), for a folder all names in it. Everything else is kept or lost at random, each
//! sector of 512 bytes of a write, each truncate and each name separately: later ones may be kept without
//! earlier ones. A journalling file system does less harm than that, so a loss found here needs to be
//! examined; but if none is found, that holds for all of them.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::recording::{Call, Record};
use crate::dice::Dice;

const SECTOR: usize = 512;

/// The names in a folder and the contents of their files.
pub type Image = BTreeMap<String, Vec<u8>>;

/// A folder that is completely on the disk.
pub struct Stored {
    inode: u64,
    files: Vec<StoredFile>,
}

struct StoredFile {
    name: String,
    inode: u64,
    bytes: Vec<u8>,
}

impl Stored {
    pub fn of(folder: &Path) -> Stored {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let (inode, bytes) = (entry.metadata().unwrap().ino(), std::fs::read(entry.path()).unwrap());
            StoredFile { name: entry.file_name().into_string().unwrap(), inode, bytes }
        });
        Stored { inode: std::fs::metadata(folder).unwrap().ino(), files: files.collect() }
    }

    pub fn image(self) -> Image {
        self.files
            .into_iter()
            .filter(|file| is_kept(&file.name))
            .map(|file| (file.name, file.bytes))
            .collect()
    }
}

enum Change<'l> {
    Write { offset: usize, bytes: &'l [u8] },
    Truncate { length: usize },
}

#[derive(Default)]
struct File<'l> {
    synced: Vec<u8>,
    /// Each with the end of its record.
    unsynced: Vec<(usize, Change<'l>)>,
}

/// A change of names.
#[derive(Clone, Copy)]
enum Naming<'l> {
    /// Gives a name to a file of [`Disk::files`].
    Give {
        file: usize,
        name: &'l str,
    },
    Rename {
        from: &'l str,
        to: &'l str,
    },
    Unlink {
        name: &'l str,
    },
}

impl<'l> Naming<'l> {
    fn is_of(&self, names: &[&str]) -> bool {
        self.names().iter().any(|name| names.contains(name))
    }

    fn names(&self) -> [&'l str; 2] {
        match *self {
            Naming::Give { name, .. } | Naming::Unlink { name } => [name, name],
            Naming::Rename { from, to } => [from, to],
        }
    }
}

type Names = BTreeMap<String, usize>;

#[derive(Default)]
pub struct Disk<'l> {
    folder: u64,
    files: Vec<File<'l>>,
    /// The file that an inode refers to now.
    inodes: HashMap<u64, usize>,
    /// Names as the process sees them, and as they are certainly on the disk.
    names: Names,
    synced_names: Names,
    unsynced_names: Vec<(usize, Naming<'l>)>,
    /// See [`Disk::without_syncs_of_log`].
    is_log_lazy: bool,
    /// Up to which record the log of the database should have been synced but was not.
    due: usize,
}

impl<'l> Disk<'l> {
    pub fn of(stored: &Stored) -> Disk<'l> {
        let mut disk = Disk { folder: stored.inode, ..Disk::default() };
        for (file, stored) in stored.files.iter().enumerate() {
            disk.inodes.insert(stored.inode, file);
            disk.names.insert(stored.name.clone(), file);
            disk.files.push(File { synced: stored.bytes.clone(), unsynced: Vec::new() });
        }
        disk.synced_names = disk.names.clone();
        disk
    }

    /// The control: syncs the log of the database like `synchronous=NORMAL`, not at the end of a transaction,
    /// but only before its pages are moved into the database.
    pub fn without_syncs_of_log(mut self) -> Disk<'l> {
        self.is_log_lazy = true;
        self
    }

    /// Applies the next record.
    pub fn proceed(&mut self, record: &Record<'l>) {
        let at = record.end;
        match record.call {
            Call::Write { file, offset, bytes } => self.change(at, file, Change::Write { offset, bytes }),
            Call::Truncate { file, length } => self.change(at, file, Change::Truncate { length }),
            Call::Sync { file, begun } if file == self.folder => self.sync_names(begun),
            Call::Sync { file, begun } => self.sync(file, begun),
            Call::Create { file, name } => self.create(at, file, name),
            Call::Link { from, to } => {
                if let Some(file) = self.names.get(from).copied() {
                    self.rename(at, Naming::Give { file, name: to });
                }
            }
            Call::Rename { from, to } => self.rename(at, Naming::Rename { from, to }),
            Call::Unlink { name } => self.rename(at, Naming::Unlink { name }),
        }
    }

    fn change(&mut self, at: usize, inode: u64, change: Change<'l>) {
        let Some(&file) = self.inodes.get(&inode) else { return };
        if self.due > 0 && self.is_named(file, ".db") {
            let log = self.names.iter().find(|(name, _)| name.ends_with("-wal")).map(|(_, file)| *file);
            log.into_iter().for_each(|log| settle(&mut self.files[log], self.due));
            self.due = 0;
        }
        self.files[file].unsynced.push((at, change));
    }

    fn is_named(&self, file: usize, ending: &str) -> bool {
        self.names.iter().any(|(name, of)| *of == file && name.ends_with(ending))
    }

    fn sync(&mut self, inode: u64, begun: usize) {
        let Some(&file) = self.inodes.get(&inode) else { return };
        let born = |(at, naming): &(usize, Naming<'_>)| {
            *at <= begun && matches!(naming, Naming::Give { file: named, .. } if *named == file)
        };
        if let Some(born) = self.unsynced_names.iter().position(born) {
            // Together with earlier changes of that name.
            let of = self.unsynced_names[born].1.names();
            let (done, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unsynced_names)
                .into_iter()
                .enumerate()
                .partition(|(at, (_, naming))| *at <= born && naming.is_of(&of));
            done.iter().for_each(|(_, (_, naming))| rename(&mut self.synced_names, naming));
            self.unsynced_names = rest.into_iter().map(|(_, naming)| naming).collect();
        }
        if self.is_log_lazy && self.is_named(file, "-wal") {
            self.due = begun;
            return;
        }
        settle(&mut self.files[file], begun);
    }

    fn sync_names(&mut self, begun: usize) {
        let done = self.unsynced_names.iter().take_while(|(at, _)| *at <= begun).count();
        self.unsynced_names.drain(..done).for_each(|(_, naming)| rename(&mut self.synced_names, &naming));
    }

    /// A file was opened that may have existed already.
    fn create(&mut self, at: usize, inode: u64, name: &'l str) {
        let known = self.inodes.get(&inode).copied();
        if known.is_some() && known == self.names.get(name).copied() {
            return;
        }
        let file = self.files.len();
        self.files.push(File::default());
        self.inodes.insert(inode, file);
        self.rename(at, Naming::Give { file, name });
    }

    fn rename(&mut self, at: usize, naming: Naming<'l>) {
        rename(&mut self.names, &naming);
        self.unsynced_names.push((at, naming));
    }

    /// The files that may be found after a power cut at this instant.
    pub fn cut(&self, dice: &mut Dice) -> Image {
        let mut names = self.synced_names.clone();
        let kept = Kept::new(dice);
        self.unsynced_names.iter().for_each(|(_, naming)| {
            if kept.is_kept(dice) {
                rename(&mut names, naming);
            }
        });
        names.retain(|name, _| is_kept(name));
        names.into_iter().map(|(name, file)| (name, cut(&self.files[file], dice))).collect()
    }
}

/// SQLite creates its shared memory again, so it is ignored.
fn is_kept(name: &str) -> bool {
    !name.ends_with("-shm")
}

fn rename(names: &mut Names, naming: &Naming<'_>) {
    match *naming {
        Naming::Give { file, name } => drop(names.insert(name.to_owned(), file)),
        Naming::Unlink { name } => drop(names.remove(name)),
        Naming::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.to_owned(), file);
            }
        }
    }
}

/// Applies changes from before an instant to the disk.
fn settle(file: &mut File<'_>, until: usize) {
    let done = file.unsynced.iter().take_while(|(at, _)| *at <= until).count();
    for (_, change) in file.unsynced.drain(..done) {
        match change {
            Change::Write { offset, bytes } => put(&mut file.synced, offset, bytes),
            Change::Truncate { length } => file.synced.resize(length, 0),
        }
    }
}

fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}

/// The probability that an unsynced change is kept, in eighths: from nothing to all.
struct Kept(usize);

impl Kept {
    fn new(dice: &mut Dice) -> Kept {
        Kept(dice.below(9))
    }

    fn is_kept(&self, dice: &mut Dice) -> bool {
        dice.below(8) < self.0
    }
}

/// A file after a power cut: each write is kept completely, or not, or some of its sectors.
fn cut(file: &File<'_>, dice: &mut Dice) -> Vec<u8> {
    let mut content = file.synced.clone();
    let (kept, tears) = (Kept::new(dice), dice.once_in(2));
    for (_, change) in &file.unsynced {
        match *change {
            Change::Write { offset, bytes } if tears => {
                for (offset, sector) in sectors(offset, bytes) {
                    if kept.is_kept(dice) {
                        put(&mut content, offset, sector);
                    }
                }
            }
            Change::Write { offset, bytes } if kept.is_kept(dice) => put(&mut content, offset, bytes),
            Change::Truncate { length } if kept.is_kept(dice) => content.resize(length, 0),
            _ => {}
        }
    }
    content
}

/// A write split by sectors, with the offsets of the parts.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = offset;
    std::iter::from_fn(move || {
        let end = (offset + bytes.len()).min((at / SECTOR + 1) * SECTOR);
        let sector = (at < end).then(|| (at, &bytes[at - offset..end - offset]));
        at = end;
        sector
    })
}

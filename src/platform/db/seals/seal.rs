//! Seals: MACs with a secret that is not in the database.
//!
//! A checksum finds what was altered by somebody who did not compute it anew; a seal also finds what somebody altered
//! who did. The secret stands in the file `<database>-secret`, readable for its owner alone. Whoever has both
//! can forge.
//!
//! Every connection that writes has two SQL functions, so that a seal is made by the statement that writes what it
//! seals: `siegel(label, value, …)`, HMAC-SHA256, for heads of chains, and `kurzsiegel(label, value, …)`, SipHash-2-4
//! of 128 bits, which costs a tenth, for rows: what binds a row is the sealed head of its chain, its own seal
//! says which one was altered. Without a secret both are null.

use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hmac::{Hmac, KeyInit, Mac};
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use sha2::Sha256;
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::platform::db::file::files::{beside, broken, folder_of, link, private_options, sync, sync_folder};
use crate::platform::db::file::owner::give_to_owner_of;
use crate::platform::db::random;
use crate::platform::failure::{Failure, Result, locked};
use crate::rules::bytes::{digits_of, hex, unhex};

pub type Seal = [u8; 32];

const BYTES: usize = 32;

const TITLE: &str =
    "# Das Geheimnis, mit dem partnerd Protokoll und Belege versiegelt. Wer es hat, kann sie fälschen.";

#[derive(Clone)]
pub struct Secret {
    bytes: [u8; BYTES],
    heads: Hmac<Sha256>,
    rows: [u8; 16],
    lines: [u8; 16],
    /// The beginnings of sealing that were made with it: one of them must be in the database, whatever else was
    /// removed from there.
    pub begun: Vec<Seal>,
}

impl Secret {
    /// A new one, on the disk beside a database; the one that is there, if another process was faster.
    pub fn create(database: &Path) -> Result<Secret> {
        let secret = Secret::new(random()?, Vec::new());
        let (file, part) = (file_of(database), secret.write_part(database)?);
        match link(&part, &file) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => fs::remove_file(&part),
            linked => linked,
        }
        .map_err(broken(&file, "kann nicht angelegt werden"))?;
        sync_folder(&file)?;
        Secret::read(database)?.ok_or_else(|| Failure::Broken(format!("{} ist verschwunden", file.display())))
    }

    /// The secret beside a database, if there is one.
    pub fn read(database: &Path) -> Result<Option<Secret>> {
        let file = file_of(database);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(broken(&file, "kann nicht gelesen werden")(error)),
        };
        let named = |name: &str| -> Option<Vec<[u8; BYTES]>> {
            let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            values.map(unhex).collect()
        };
        match (named("secret").as_deref(), named("begun")) {
            (Some([bytes]), Some(begun)) => Ok(Some(Secret::new(*bytes, begun))),
            _ => Err(Failure::Broken(format!(
                "{} ist beschädigt: zurücklegen, wie es war, oder wegräumen",
                file.display()
            ))),
        }
    }

    fn new(bytes: [u8; BYTES], begun: Vec<Seal>) -> Secret {
        // HMAC fills a shorter key up with zeros.
        let mut block = [0; 64];
        block[..BYTES].copy_from_slice(&bytes);
        let heads = <Hmac<Sha256> as KeyInit>::new(&block.into());
        let key = |name: &str| first(mac(&heads, name.as_bytes()));
        Secret { bytes, rows: key("rows"), lines: key("lines"), heads, begun }
    }

    /// Says which secret it is, and nothing about it.
    pub fn id(&self) -> [u8; 8] {
        first(mac(&self.heads, b"id"))
    }

    /// The same for a copy, which may be older than the newest beginning.
    pub fn without_beginnings(&self) -> Secret {
        Secret { begun: Vec::new(), ..self.clone() }
    }

    /// Writes down beside a database which beginnings were made with it.
    pub fn set_begun(&mut self, database: &Path, begun: &[Seal]) -> Result<()> {
        self.begun = begun.to_vec();
        self.write(database).map(drop)
    }

    /// Writes it beside a database, in the place of the one that is there; where it is.
    pub fn write(&self, database: &Path) -> Result<PathBuf> {
        let (file, part) = (file_of(database), self.write_part(database)?);
        fs::rename(&part, &file).map_err(broken(&file, "kann nicht geschrieben werden"))?;
        sync_folder(&file)?;
        Ok(file)
    }

    /// The seal of a line of a journal, in hexadecimal digits.
    pub fn line(&self, segment: u64, number: u64, line: &[u8]) -> [u8; 32] {
        let mut hasher = SipHasher24::new_with_key(&self.lines);
        hasher.write(&segment.to_le_bytes());
        hasher.write(&number.to_le_bytes());
        hasher.write(line);
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(hasher.finish128().as_bytes()) {
            pair.copy_from_slice(&digits_of(byte));
        }
        digits
    }

    /// The whole file under another name; nobody but the owner of the database may read it.
    fn write_part(&self, database: &Path) -> Result<PathBuf> {
        let part = beside(&file_of(database), &format!("part-{}", std::process::id()));
        let failed = broken(&part, "kann nicht geschrieben werden");
        let mut text = format!("{TITLE}\nsecret {}\n", hex(&self.bytes));
        self.begun.iter().for_each(|begun| text += &format!("begun {}\n", hex(begun)));
        let _ = fs::remove_file(&part);
        let file = private_options().write(true).create_new(true).open(&part);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
        let owned = if database.exists() { database } else { folder_of(database) };
        give_to_owner_of(owned, &part).map_err(failed)?;
        sync(&part)?;
        Ok(part)
    }
}

pub fn file_of(database: &Path) -> PathBuf {
    beside(database, "secret")
}

/// Gives a connection the functions that seal. Without a secret they are null.
pub fn install(connection: &Connection, secret: Option<&Secret>) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    let heads = secret.map(|secret| secret.heads.clone());
    // A head is looked at before it is moved on: its seal was made a moment ago, as a rule.
    let last = Mutex::new((Content::default(), [0; 32]));
    connection.create_scalar_function("siegel", -1, flags, move |context| {
        let Some(heads) = &heads else { return Ok(None) };
        let content = Content::from_arguments(context);
        let mut last = locked(&last);
        if last.0 != content {
            *last = (content, [0; 32]);
            last.1 = mac(heads, &last.0.0);
        }
        Ok(Some(last.1))
    })?;
    let rows = secret.map(|secret| secret.rows);
    connection.create_scalar_function("kurzsiegel", -1, flags, move |context| {
        let seal = |key: &[u8; 16]| {
            SipHasher24::new_with_key(key).hash(&Content::from_arguments(context).0).as_bytes()
        };
        Ok(rows.as_ref().map(seal))
    })
}

/// Values one after the other, each with its type and its length, so that nothing can be moved from one to the next.
#[derive(Default, PartialEq, Eq)]
pub struct Content(Vec<u8>);

impl Content {
    /// Nothing yet, with room for what there is as a rule.
    pub fn with_room() -> Content {
        Content(Vec::with_capacity(256))
    }

    fn from_arguments(context: &Context<'_>) -> Content {
        let mut content = Content::with_room();
        (0..context.len()).for_each(|at| content.value(context.get_raw(at)));
        content
    }

    pub fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.push(0),
            ValueRef::Integer(number) => self.number(number),
            ValueRef::Text(text) => self.text(text),
            ValueRef::Blob(bytes) => self.bytes(bytes),
            ValueRef::Real(number) => {
                self.0.push(4);
                self.0.extend(number.to_bits().to_le_bytes());
            }
        }
    }

    pub fn number(&mut self, number: i64) {
        self.0.push(1);
        self.length(((number << 1) ^ (number >> 63)) as u64);
    }

    pub fn text(&mut self, text: &[u8]) {
        self.0.push(2);
        self.length(text.len() as u64);
        self.0.extend(text);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(3);
        self.length(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub fn optional<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Content, T)) {
        match value {
            Some(value) => put(self, value),
            None => self.0.push(0),
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Seven bits a byte, the lowest first.
    fn length(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

fn mac(key: &Hmac<Sha256>, content: &[u8]) -> Seal {
    key.clone().chain_update(content).finalize().into_bytes().into()
}

fn first<const N: usize>(seal: Seal) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&seal[..N]);
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart_by_type_and_length() {
        let connection = Connection::open_in_memory().unwrap();
        let secret = Secret::new([7; BYTES], Vec::new());
        install(&connection, Some(&secret)).unwrap();
        let calls = [
            "'a', 'b'",
            "'ab'",
            "'ab', ''",
            "'', 'ab'",
            "x'6162'",
            "1, 2",
            "12",
            "'12'",
            "-1",
            "1",
            "null",
            "null, null",
            "1.0",
            "9223372036854775807",
            "-9223372036854775807 - 1",
            "127",
            "128",
            "0",
        ];
        for function in ["siegel", "kurzsiegel"] {
            let seal = |values: &str| -> Vec<u8> {
                connection.query_row(&format!("select {function}({values})"), [], |row| row.get(0)).unwrap()
            };
            let mut seals: Vec<_> = calls.iter().map(|call| seal(call)).collect();
            assert_eq!(seal("'a', 'b'"), seals[0], "the same again");
            seals.sort();
            seals.dedup();
            assert_eq!(seals.len(), calls.len(), "{function}");
        }
    }

    #[test]
    fn a_head_is_sealed_with_hmac_sha256() {
        let connection = Connection::open_in_memory().unwrap();
        install(&connection, Some(&Secret::new([0x0b; BYTES], Vec::new()))).unwrap();
        let seal: Seal = connection.query_row("select siegel('ab', 3)", [], |row| row.get(0)).unwrap();
        let mut expected = Hmac::<Sha256>::new_from_slice(&[0x0b; BYTES]).unwrap();
        expected.update(&[2, 2, b'a', b'b', 1, 6]);
        assert_eq!(seal[..], expected.finalize().into_bytes()[..]);
        install(&connection, None).unwrap();
        assert!(
            connection.query_row("select siegel('ab', 3) is null", [], |row| row.get::<_, bool>(0)).unwrap()
        );
    }

    #[test]
    fn a_secret_is_read_as_it_was_written() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        assert!(Secret::read(&database).unwrap().is_none());
        let mut secret = Secret::create(&database).unwrap();
        assert_eq!(Secret::create(&database).unwrap().id(), secret.id(), "the one that is there");
        secret.set_begun(&database, &[[1; 32], [2; 32]]).unwrap();
        let read = Secret::read(&database).unwrap().unwrap();
        assert_eq!((read.id(), &read.begun[..]), (secret.id(), &[[1; 32], [2; 32]][..]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let rights = fs::metadata(file_of(&database)).unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&rights) & 0o777, 0o600);
        }
        for damaged in ["", "secret 12", "secret zz", "begun 12"] {
            fs::write(file_of(&database), damaged).unwrap();
            assert!(Secret::read(&database).is_err(), "{damaged:?}");
        }
    }
}

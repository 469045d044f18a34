//! API keys (docs/command-line.md): `ak_<id>_<secret>`.
//!
//! The id is public. The secret is 160 random bits plus a MAC made with the installation's own secret, so
//! that a mistyped or invented key is refused without hashing. Only an argon2id hash is stored. A verified
//! key is remembered by its digest; whether it is active is checked at every request.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use hmac::{Hmac, KeyInit, Mac};
use hyper::HeaderMap;
use rusqlite::{Connection, OptionalExtension, Params, params};
use sha2::{Digest, Sha256};

use super::quota::DAILY_LIMIT;
use crate::choice;
use crate::platform::db::{TenantId, all, random};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Caller, Strictness};
use crate::rules::bytes::{hex, unhex};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Refusal};
use crate::rules::scope::ScopeSet;

const ID_BYTES: usize = 6;

/// Random bytes of the secret: 160 bits.
const SECRET_BYTES: usize = 20;

/// Bytes of the MAC at the end of the secret.
const MAC_BYTES: usize = 8;

/// Verified keys that are remembered; beyond that the set is emptied and all are verified again.
const VERIFIED_KEYS_MAX: usize = 10_000;

pub type Digest32 = [u8; 32];

/// A new key: its public id, the text that is shown once, and the hash that is stored.
pub struct NewKey {
    pub id: String,
    pub text: String,
    /// argon2id of the whole key, PHC format.
    pub hash: String,
}

pub fn generate(mac_secret: &[u8]) -> Result<NewKey> {
    generate_with(mac_secret, hash)
}

/// Generates a key that is stored with a hash of another cost: tests have hundreds of keys.
pub fn generate_with(mac_secret: &[u8], hash: impl FnOnce(&str) -> Result<String>) -> Result<NewKey> {
    let random: [u8; ID_BYTES + SECRET_BYTES] = random()?;
    let id = hex(&random[..ID_BYTES]);
    let body = format!("ak_{id}_{}", hex(&random[ID_BYTES..]));
    let text = format!("{body}{}", hex(&keyed(mac_secret, &body).finalize().into_bytes()[..MAC_BYTES]));
    let hash = hash(&text)?;
    Ok(NewKey { id, text, hash })
}

/// Hashes a key or a password; takes 10 ms or more.
pub fn hash(secret: &str) -> Result<String> {
    let hashed = Argon2::default().hash_password(secret.as_bytes());
    Ok(hashed
        .map_err(|error| Failure::Broken(format!("ein Geheimnis lässt sich nicht verschlüsseln ({error})")))?
        .to_string())
}

/// A hash that matches no secret, so that an unknown id or name takes as long as a wrong secret. Creating it
/// took half of the startup time.
const DECOY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Whether a key or a password has this hash; takes just as long if there is no hash.
pub fn has_hash(secret: &str, hash: Option<&str>) -> Result<bool> {
    let parsed = PasswordHash::new(hash.unwrap_or(DECOY))
        .map_err(|error| Failure::Broken(format!("a stored hash is damaged: {error}")))?;
    let holds = Argon2::default().verify_password(secret.as_bytes(), &parsed).is_ok();
    Ok(holds && hash.is_some())
}

/// Returns the installation's secret, with which the MACs of keys are made.
pub fn mac_secret(connection: &Connection) -> Result<Vec<u8>> {
    Ok(connection.query_row("select mac_secret from installation where id = 1", [], |row| row.get(0))?)
}

/// A key with a valid MAC.
#[derive(Debug, Clone)]
pub struct PresentedKey {
    pub id: String,
    text: String,
    /// sha256 of the whole key.
    pub digest: Digest32,
}

pub struct Keys {
    mac_secret: Vec<u8>,
    /// Digests of keys whose hash was verified.
    verified: RwLock<HashSet<Digest32>>,
}

impl Keys {
    pub fn new(mac_secret: Vec<u8>) -> Keys {
        Keys { mac_secret, verified: RwLock::default() }
    }

    /// Returns the key of a request, if its MAC is valid.
    pub fn presented(&self, headers: &HeaderMap) -> Result<PresentedKey> {
        let mut values = headers.get_all("x-api-key").iter();
        let Some(value) = values.next() else {
            let message = "Es fehlt der Schlüssel. Bitte im Header X-API-Key senden.";
            return Err(Refusal::new(Code::ApiKeyFehlt, message).into());
        };
        let text = value.to_str().map_err(|_| invalid())?;
        let (id, body, mac) = parts(text).filter(|_| values.next().is_none()).ok_or_else(invalid)?;
        if keyed(&self.mac_secret, body).verify_truncated_left(&mac).is_err() {
            return Err(invalid());
        }
        Ok(PresentedKey { id: id.to_owned(), text: text.to_owned(), digest: Sha256::digest(text).into() })
    }

    pub fn is_verified(&self, key: &PresentedKey) -> bool {
        self.verified.read().unwrap_or_else(PoisonError::into_inner).contains(&key.digest)
    }

    /// Whether a key matches the stored hash; if so, it is remembered. Takes 10 ms or more: only for the
    /// thread dedicated to it.
    pub fn verify(&self, connection: &Connection, key: &PresentedKey) -> Result<bool> {
        let hash: Option<String> = connection
            .prepare_cached("select hash from api_key where id = ?1")?
            .query_row([&key.id], |row| row.get(0))
            .optional()?;
        if !has_hash(&key.text, hash.as_deref())? {
            return Ok(false);
        }
        let mut verified = self.verified.write().unwrap_or_else(PoisonError::into_inner);
        if verified.len() >= VERIFIED_KEYS_MAX {
            verified.clear();
        }
        verified.insert(key.digest);
        Ok(true)
    }

    /// Forgets a verified key: a deactivated or expired key then costs as much as a wrong one, each time.
    pub fn forget(&self, key: &PresentedKey) {
        self.verified.write().unwrap_or_else(PoisonError::into_inner).remove(&key.digest);
    }
}

/// Returns the caller of a verified key. Runs at every request, so a deactivation takes effect with the next
/// one. A client with the whole key is told why it is no longer accepted (D19).
pub fn caller(connection: &Connection, key: &PresentedKey, now: Instant) -> Result<Caller> {
    let row = connection
        .prepare_cached(
            "select k.tenant_id, k.scopes, k.gueltig_bis, t.unbekannte_parameter, t.unbekannte_felder, k.tageslimit,
               k.aktiv, t.test
             from api_key k join tenant t on t.id = k.tenant_id
             where k.id = ?1",
        )?
        .query_row([&key.id], |row| {
            let valid_until: Option<Day> = row.get(2)?;
            let caller = Caller {
                key_id: key.id.clone(),
                tenant: row.get(0)?,
                scopes: ScopeSet::from_stored(row.get_ref(1)?.as_str()?),
                daily_limit: row.get::<_, Option<u32>>(5)?.unwrap_or(DAILY_LIMIT),
                strictness: Strictness {
                    unknown_parameters_ignored: row.get_ref(3)?.as_str()? == "ignorieren",
                    unknown_fields_refused: row.get_ref(4)?.as_str()? == "ablehnen",
                },
                test: row.get(7)?,
            };
            Ok((caller, valid_until, row.get(6)?))
        })
        .optional()?;
    let refuse = |code, message: &str| Err(Refusal::new(code, message).into());
    match row {
        None => Err(invalid()),
        Some((.., false)) => refuse(
            Code::ApiKeyDeaktiviert,
            "Der Schlüssel ist abgeschaltet. Bitte einen neuen anlegen lassen.",
        ),
        Some((_, Some(last), _)) if Day::in_utc(now) > last => refuse(
            Code::ApiKeyAbgelaufen,
            &format!("Der Schlüssel galt bis {last}. Bitte einen neuen anlegen lassen."),
        ),
        Some((caller, ..)) => Ok(caller),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Grant {
    pub label: String,
    pub scopes: ScopeSet,
    /// Last day (UTC) on which the key is accepted; `None`: until it is deactivated.
    pub valid_until: Option<Day>,
    /// Requests per UTC day; `None` means [`DAILY_LIMIT`].
    pub daily_limit: Option<u32>,
}

pub fn insert(connection: &Connection, tenant: i64, key: &NewKey, grant: &Grant, now: Instant) -> Result<()> {
    connection.execute(
        "insert into api_key (id, tenant_id, bezeichnung, scopes, hash, gueltig_bis, tageslimit, angelegt_am)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            key.id,
            tenant,
            grant.label,
            grant.scopes.to_stored(),
            key.hash,
            grant.valid_until,
            grant.daily_limit,
            now
        ],
    )?;
    Ok(())
}

/// The same refusal for unknown and wrong keys (D19).
pub fn invalid() -> Failure {
    let message = "Der Schlüssel ist ungültig. Bitte auf Tippfehler prüfen oder einen neuen anlegen lassen.";
    Refusal::new(Code::ApiKeyUngueltig, message).into()
}

fn keyed(secret: &[u8], text: &str) -> Hmac<Sha256> {
    // HMAC takes a key of any length, so this cannot fail; an empty MAC would match nothing.
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret)
        .unwrap_or_else(|_| <Hmac<Sha256> as KeyInit>::new(&Default::default()));
    mac.update(text.as_bytes());
    mac
}

/// Splits a key into its id, the text its MAC is made of, and the MAC. A key has exactly one spelling: with
/// more, one key could take several places in the queue for verification.
fn parts(text: &str) -> Option<(&str, &str, [u8; MAC_BYTES])> {
    let (id, secret) = text.strip_prefix("ak_")?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let has_form = id.len() == 2 * ID_BYTES && secret.len() == 2 * (SECRET_BYTES + MAC_BYTES);
    if !has_form || !is_hex(id) || !is_hex(secret) {
        return None;
    }
    let (body, mac) = text.split_at_checked(text.len() - 2 * MAC_BYTES)?;
    Some((id, body, unhex(mac)?))
}

choice! {
    pub enum KeyState {
        Active = "active",
        /// Its last day has passed.
        Expired = "expired",
        /// Deactivated by somebody, whatever its last day.
        Deactivated = "deactivated",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    pub id: String,
    pub tenant_id: TenantId,
    pub tenant: String,
    pub label: String,
    pub state: KeyState,
    /// Last day (UTC) on which the key is accepted.
    pub valid_until: Option<Day>,
    pub scopes: ScopeSet,
    pub daily_limit: u32,
    /// Requests on the current UTC day.
    pub today: u32,
    pub last_used: Option<Instant>,
}

/// A statement that reads keys. Its first parameters are [`DAILY_LIMIT`] and the UTC day whose requests are
/// counted.
macro_rules! keys {
    ($rest:literal) => {
        concat!(
            "select k.id, t.name, k.bezeichnung, k.aktiv, k.gueltig_bis, k.scopes, coalesce(k.tageslimit, ?1),
               iif(n.tag = ?2, n.anfragen, 0), n.zuletzt_am, k.tenant_id
             from api_key k join tenant t on t.id = k.tenant_id
               left join api_key_nutzung n on n.key_id = k.id ",
            $rest
        )
    };
}

const OF_ALL: &str = keys!("order by k.tenant_id, k.angelegt_am, k.id");
const OF_TENANT: &str = keys!("where k.tenant_id = ?3 order by k.angelegt_am, k.id");
const BY_ID: &str = keys!("where k.id = ?3");

pub fn list(connection: &Connection, now: Instant) -> Result<Vec<StoredKey>> {
    read(connection, OF_ALL, params![DAILY_LIMIT, now.utc_day()], now)
}

pub fn of_tenant(connection: &Connection, tenant: TenantId, now: Instant) -> Result<Vec<StoredKey>> {
    read(connection, OF_TENANT, params![DAILY_LIMIT, now.utc_day(), tenant], now)
}

pub fn find(connection: &Connection, id: &str, now: Instant) -> Result<Option<StoredKey>> {
    Ok(read(connection, BY_ID, params![DAILY_LIMIT, now.utc_day(), id], now)?.pop())
}

fn read(connection: &Connection, sql: &str, params: impl Params, now: Instant) -> Result<Vec<StoredKey>> {
    let keys = all(connection, sql, params, |row| {
        let valid_until: Option<Day> = row.get(4)?;
        Ok(StoredKey {
            id: row.get(0)?,
            tenant_id: row.get(9)?,
            tenant: row.get(1)?,
            label: row.get(2)?,
            state: match row.get(3)? {
                false => KeyState::Deactivated,
                true if valid_until.is_some_and(|last| Day::in_utc(now) > last) => KeyState::Expired,
                true => KeyState::Active,
            },
            valid_until,
            scopes: ScopeSet::from_stored(row.get_ref(5)?.as_str()?),
            daily_limit: row.get(6)?,
            today: row.get::<_, Option<u32>>(7)?.unwrap_or(0),
            last_used: row.get(8)?,
        })
    })?;
    Ok(keys)
}

/// Updates a key; takes effect with the next request, also in a running server.
pub fn change(connection: &Connection, key: &StoredKey) -> Result<()> {
    connection.execute(
        "update api_key set bezeichnung = ?2, scopes = ?3, gueltig_bis = ?4, tageslimit = nullif(?5, ?6) where id = ?1",
        params![key.id, key.label, key.scopes.to_stored(), key.valid_until, key.daily_limit, DAILY_LIMIT],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::db::migrate::tests::plan_of;

    #[test]
    fn keys_of_other_companies_are_neither_sorted_nor_read_for_one() {
        let one = plan_of(BY_ID);
        assert!(one.contains("SEARCH k USING PRIMARY KEY (id=?)"), "{one}");
        assert!(!one.contains("SCAN") && !one.contains("B-TREE"), "{one}");
    }

    #[test]
    fn a_key_has_one_spelling() {
        let secret = vec![7; 32];
        let (key, keys) = (generate(&secret).unwrap().text, Keys::new(secret));
        let is_accepted = |text: &str| {
            let value = hyper::header::HeaderValue::from_str(text).unwrap();
            keys.presented(&HeaderMap::from_iter([("x-api-key".parse().unwrap(), value)])).is_ok()
        };
        assert!(is_accepted(&key));
        assert_eq!((key.len(), key.find('_'), key.rfind('_')), (72, Some(2), Some(15)));
        // The MAC covers everything before the last sixteen digits, so only those could have another
        // spelling.
        for at in 72 - 16..72 {
            for spelled in [key[at..=at].to_uppercase(), "+".to_owned(), " ".to_owned()] {
                let other = format!("{}{spelled}{}", &key[..at], &key[at + 1..]);
                assert_eq!(is_accepted(&other), other == key, "{other}");
            }
        }
        let others = [
            key.to_uppercase(),
            format!(" {key}"),
            format!("{key} "),
            format!("{key}0"),
            key[..71].to_owned(),
            key[3..].to_owned(),
            key.replacen('_', "__", 1),
            String::new(),
            "ak__".to_owned(),
        ];
        for other in others {
            assert!(!is_accepted(&other), "{other}");
        }
    }

    #[test]
    fn an_unknown_id_costs_as_much_as_a_wrong_secret() {
        let key = generate(&[7; 32]).unwrap();
        let [of_key, decoy] = [&key.hash, DECOY].map(|hash| PasswordHash::new(hash).unwrap());
        assert_eq!(
            (of_key.algorithm, of_key.version, &of_key.params),
            (decoy.algorithm, decoy.version, &decoy.params)
        );
        let length = |hash: &PasswordHash| {
            (hash.salt.as_ref().map(|salt| salt.len()), hash.hash.as_ref().map(|hash| hash.len()))
        };
        assert_eq!(length(&of_key), length(&decoy));
        assert!(Argon2::default().verify_password(key.text.as_bytes(), &of_key).is_ok());
        assert!(Argon2::default().verify_password(key.text.as_bytes(), &decoy).is_err());
    }
}

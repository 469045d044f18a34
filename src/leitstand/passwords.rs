//! Passwords: which are taken, and how long one who guesses must wait.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::people::digest;
use crate::failure::Result;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Fewest and most characters of a password. What is hashed has a bound.
const PASSWORD_CHARACTERS: std::ops::RangeInclusive<usize> = 10..=200;

const NAMES_REMEMBERED_MAX: usize = 10_000;

const FREE_ATTEMPTS: u32 = 3;

/// The longest that a name must wait after a wrong password, in seconds.
const WAIT_SECONDS_MAX: i64 = 300;

/// After so many milliseconds without an attempt a name begins anew: an hour.
const FORGOTTEN_AFTER_MILLIS: i64 = 60 * 60 * 1_000;

/// The beginnings that lists of stolen passwords show most often, among those that are long enough.
const COMMON_BEGINNINGS: &[&str] = &[
    "1234567890",
    "0123456789",
    "0987654321",
    "1q2w3e4r5t",
    "1qaz2wsx3e",
    "abcdefghij",
    "adminadmin",
    "administrator",
    "baseball12",
    "changeme12",
    "computer12",
    "fussball12",
    "football12",
    "geheim1234",
    "hallo12345",
    "hallohallo",
    "iloveyou12",
    "ichliebedich",
    "kennwort12",
    "letmein123",
    "master1234",
    "muehle1234",
    "mühle12345",
    "passw0rd12",
    "password",
    "passwort",
    "qwertyuiop",
    "qwertzuiop",
    "qwerty1234",
    "qwertz1234",
    "schatz1234",
    "sommer2025",
    "sommer2026",
    "sonnenschein",
    "startstart",
    "superman12",
    "trustno123",
    "welcome123",
    "willkommen",
    "winter2025",
    "winter2026",
    "zaq12wsxcd",
    "partnerd12",
    "leitstand1",
];

/// Refuses a password that is too short or among the first that anybody tries.
pub fn check(password: &str, name: &str) -> Result<()> {
    let refuse = |message: &str| Err(Refusal::field(Code::WertUngueltig, "passwort", message).into());
    if !PASSWORD_CHARACTERS.contains(&password.chars().count()) {
        return refuse("Das Passwort braucht 10 bis 200 Zeichen.");
    }
    let lower = password.to_lowercase();
    let first = lower.chars().next();
    let is_known =
        COMMON_BEGINNINGS.iter().any(|common| lower.starts_with(common) && lower.len() < common.len() + 5);
    let is_one_letter = lower.chars().all(|letter| Some(letter) == first);
    let is_name = lower.contains(&name.to_lowercase()) && lower.len() < name.len() + 6;
    if is_known || is_one_letter || is_name {
        return refuse("Dieses Passwort wird oft benutzt und als erstes probiert. Bitte ein anderes wählen.");
    }
    Ok(())
}

/// The attempts of each name that were no success, whether somebody has the name or not.
#[derive(Default)]
pub struct Attempts(Mutex<HashMap<[u8; 32], (u32, i64)>>);

impl Attempts {
    /// Counts an attempt before its password is looked at, so that many at once count as many; refused while the name
    /// must wait.
    pub fn begin(&self, name: &str, now: Instant) -> Result<()> {
        let (name, now) = (digest(&name.trim().to_lowercase()), now.millis());
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= NAMES_REMEMBERED_MAX {
            seen.retain(|_, (_, last)| now - *last < FORGOTTEN_AFTER_MILLIS);
            if seen.len() >= NAMES_REMEMBERED_MAX {
                seen.clear();
            }
        }
        let (count, last) = seen.entry(name).or_insert((0, now));
        if now - *last >= FORGOTTEN_AFTER_MILLIS || now < *last {
            (*count, *last) = (0, now);
        }
        let pause = if *count < FREE_ATTEMPTS {
            0
        } else {
            2_i64.pow((*count - FREE_ATTEMPTS + 1).min(9)).min(WAIT_SECONDS_MAX)
        };
        let left = *last + pause * 1_000 - now;
        if left > 0 && *count >= FREE_ATTEMPTS {
            let message =
                format!("Nach mehreren Fehlversuchen bitte {} Sekunden warten.", (left + 999) / 1_000);
            return Err(Refusal::field(Code::ZuVieleAnfragen, "passwort", message).into());
        }
        (*count, *last) = (count.saturating_add(1), now);
        Ok(())
    }

    pub fn succeeded(&self, name: &str) {
        let name = digest(&name.trim().to_lowercase());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_anybody_tries_are_refused() {
        for (password, is_taken) in [
            ("kurz", false),
            ("neunzeich", false),
            ("passwort123", false),
            ("Passwort!", false),
            ("1234567890", false),
            ("aaaaaaaaaaaaaaa", false),
            ("Erika-12345", false),
            ("Roggen im Silo drei", true),
            ("passwort ist es gewiss nicht", true),
        ] {
            assert_eq!(check(password, "Erika-1").is_ok(), is_taken, "{password}");
        }
    }

    #[test]
    fn who_guesses_waits_longer_and_longer() {
        let attempts = Attempts::default();
        let at = |second: i64| Instant::from_millis(second * 1_000);
        for second in 0..3 {
            assert!(attempts.begin("Erika", at(second)).is_ok());
        }
        assert!(attempts.begin("erika ", at(3)).is_err());
        assert!(attempts.begin("Paul", at(3)).is_ok());
        assert!(attempts.begin("Erika", at(4)).is_ok());
        assert!(attempts.begin("Erika", at(7)).is_err());
        assert!(attempts.begin("Erika", at(8)).is_ok());
        attempts.succeeded("ERIKA");
        assert!(attempts.begin("Erika", at(8)).is_ok());
    }
}

//! Passwords: which are accepted, and how long somebody who guesses must wait.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use super::people::digest;
use crate::platform::failure::{Result, locked};
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Fewest and most characters of a password. The upper bound limits the bytes to hash.
const PASSWORD_CHARACTERS: std::ops::RangeInclusive<usize> = 10..=200;

/// Most names, and names with an address, that are remembered.
const ATTEMPTS_REMEMBERED_MAX: usize = 20_000;

/// Wrong passwords for a name from one address that cause no delay.
const FREE_ATTEMPTS: u32 = 3;

/// Wrong passwords for a name from all addresses together. Beyond it each address has one attempt and then
/// waits the longest time: guessing from many addresses is slowed, and somebody who knows the password still
/// gets in.
const SPREAD_ATTEMPTS: u32 = 20;

/// Longest delay for a name after a wrong password, in seconds.
const WAIT_SECONDS_MAX: i64 = 300;

/// Milliseconds without an attempt that clear a name's failures: an hour.
const FORGOTTEN_AFTER_MILLIS: i64 = 60 * 60 * 1_000;

/// The most common beginnings in lists of stolen passwords, among the passwords that are long enough.
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

/// Refuses a password that is too short or among the first to be guessed.
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

/// Digest of a name, or of a name with an address.
type Who = [u8; 32];

/// Failed attempts for each name and for each name with an address, whether the name exists or not: how many,
/// and when the last one was, in milliseconds.
#[derive(Default)]
pub struct Attempts(Mutex<HashMap<Who, (u32, i64)>>);

/// An attempt under way. If it is dropped before the password was checked, it does not count.
pub struct Attempt {
    attempts: Arc<Attempts>,
    whose: [Who; 2],
    counts: bool,
}

impl Attempts {
    /// Counts an attempt before its password is checked, so that parallel attempts all count. Refuses while
    /// the name must wait at this address.
    pub fn begin(self: &Arc<Attempts>, name: &str, address: IpAddr, now: Instant) -> Result<Attempt> {
        let (name, now) = (name.trim().to_lowercase(), now.millis());
        let whose = [digest(&name), digest(&format!("{name}\n{address}"))];
        let mut seen = locked(&self.0);
        if seen.len() >= ATTEMPTS_REMEMBERED_MAX {
            seen.retain(|_, (_, last)| now - *last < FORGOTTEN_AFTER_MILLIS);
            if seen.len() >= ATTEMPTS_REMEMBERED_MAX {
                seen.clear();
            }
        }
        let [(by_all, _), (here, last)] = whose.map(|who| {
            let known = seen.get(&who).copied();
            known.filter(|(_, last)| (0..FORGOTTEN_AFTER_MILLIS).contains(&(now - last))).unwrap_or((0, now))
        });
        let left = last + pause_seconds(by_all, here) * 1_000 - now;
        if left > 0 {
            let message =
                format!("Nach mehreren Fehlversuchen bitte {} Sekunden warten.", (left + 999) / 1_000);
            return Err(Refusal::field(Code::ZuVieleAnfragen, "passwort", message).into());
        }
        for (who, count) in whose.into_iter().zip([by_all, here]) {
            seen.insert(who, (count.saturating_add(1), now));
        }
        Ok(Attempt { attempts: Arc::clone(self), whose, counts: false })
    }
}

/// Seconds that a name waits at an address after so many wrong passwords, from all addresses and from this
/// one.
fn pause_seconds(by_all: u32, here: u32) -> i64 {
    match here {
        0 => 0,
        _ if by_all >= SPREAD_ATTEMPTS => WAIT_SECONDS_MAX,
        _ if here < FREE_ATTEMPTS => 0,
        _ => 2_i64.pow((here - FREE_ATTEMPTS + 1).min(9)).min(WAIT_SECONDS_MAX),
    }
}

impl Attempt {
    /// Ends an attempt whose password was checked; a wrong one counts.
    pub fn end(mut self, is_right: bool) {
        self.counts = !is_right;
        if is_right {
            locked(&self.attempts.0).remove(&self.whose[1]);
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.counts {
            return;
        }
        let mut seen = locked(&self.attempts.0);
        for who in self.whose {
            seen.entry(who).and_modify(|(count, _)| *count = count.saturating_sub(1));
        }
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

    fn at(second: i64) -> Instant {
        Instant::from_millis(second * 1_000)
    }

    /// Whether an attempt is admitted; its password is right, wrong, or never checked.
    fn tries(attempts: &Arc<Attempts>, name: &str, from: u8, second: i64, is_right: Option<bool>) -> bool {
        let attempt = attempts.begin(name, IpAddr::from([192, 0, 2, from]), at(second));
        let is_let_in = attempt.is_ok();
        if let (Ok(attempt), Some(is_right)) = (attempt, is_right) {
            attempt.end(is_right);
        }
        is_let_in
    }

    #[test]
    fn who_guesses_waits_longer_and_longer() {
        let attempts = Arc::<Attempts>::default();
        let wrong = |name: &str, second| tries(&attempts, name, 1, second, Some(false));
        for second in 0..3 {
            assert!(wrong("Erika", second));
        }
        assert!(!wrong("erika ", 3));
        assert!(wrong("Paul", 3));
        assert!(wrong("Erika", 4));
        assert!(!wrong("Erika", 7));
        assert!(tries(&attempts, "ERIKA", 1, 8, Some(true)));
        assert!(wrong("Erika", 8));
    }

    #[test]
    fn what_was_never_looked_at_does_not_count() {
        let attempts = Arc::<Attempts>::default();
        for second in 0..50 {
            assert!(tries(&attempts, "Erika", 1, second, None));
        }
        let begun: Vec<_> =
            (0..4).map(|_| attempts.begin("Erika", IpAddr::from([192, 0, 2, 1]), at(60))).collect();
        assert_eq!(begun.iter().filter(|attempt| attempt.is_ok()).count(), 3, "many at once count as many");
    }

    #[test]
    fn who_guesses_from_many_addresses_keeps_nobody_out() {
        let attempts = Arc::<Attempts>::default();
        let wrong = |from| tries(&attempts, "Erika", from, 0, Some(false));
        assert!((1..=7).all(|from| wrong(from) && wrong(from) && wrong(from) == (from < 7)), "20 in all");
        assert!(wrong(9));
        assert!(!wrong(9), "each further address has one attempt");
        assert!(!tries(&attempts, "Erika", 9, 299, Some(false)));
        assert!(tries(&attempts, "Erika", 9, 300, Some(false)));
        assert!(tries(&attempts, "Erika", 10, 0, Some(true)), "who knows the password is let in");
    }
}

//! Limits how much work of normal priority each key may cause while others are served: short reads on the
//! socket threads, and bodies that go to the writer and through the write-ahead log into the database.
//! Without it, many clients of one key, each needing only a millisecond, would keep everybody else waiting.
//!
//! So a key has an account, in ticks of about 10 µs (`platform::db::readers`), and is granted a twentieth of
//! a core. If it has spent more, its longer reads run on the slow lane and its larger bodies wait, until the
//! account is balanced. As long as no other key sends requests, it is not limited.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use crate::platform::db::readers::IN_PLACE;
use crate::platform::failure::locked;
use crate::rules::day::Instant;

/// Ticks credited to a key per millisecond, which has about a hundred.
const TICKS_PER_MILLI: i64 = 5;

/// Ticks that a key may owe before it is slowed down: about 10 ms.
const CREDIT_TICKS: i64 = 1_000;

/// Ticks that a key can owe at most: two seconds, enough to pay off the largest bodies. Anything beyond is
/// forgotten.
const DEBT_TICKS_MAX: i64 = 10_000;

/// Ticks that a read may always cost, whatever the account says: a short read takes one now and then.
const READ_TICKS_MIN: i64 = 3;

/// Bytes of a body that cost a tick: a key can write 20 MiB a second beside others.
const BYTES_PER_TICK: usize = 4 << 10;

/// How long after its last request, in milliseconds, a key counts as active, and so as one that others would
/// delay.
const ACTIVE_MILLIS: u64 = 1_000;

#[derive(Default)]
pub struct Shares(Mutex<HashMap<String, Account>>);

#[derive(Default)]
struct Account {
    /// When the account is balanced again, in milliseconds times [`TICKS_PER_MILLI`].
    level_at: i64,
    /// The key's last request, in milliseconds.
    last: i64,
}

impl Shares {
    /// Registers a request of a key; returns the ticks it may cost in place.
    pub fn in_place(&self, key: &str, now: Instant) -> u32 {
        let mut accounts = locked(&self.0);
        match accounts.get_mut(key) {
            Some(own) => own.last = now.millis(),
            None => drop(accounts.insert(key.to_owned(), Account { level_at: 0, last: now.millis() })),
        }
        let left = (CREDIT_TICKS - owed(&accounts, key, now)).max(READ_TICKS_MIN);
        u32::try_from(left).unwrap_or(u32::MAX).min(IN_PLACE)
    }

    /// Charges the cost of a read in place to its key.
    pub fn charge_read(&self, key: &str, ticks: u32, now: Instant) {
        if ticks > 0 {
            self.spend(key, i64::from(ticks), now);
        }
    }

    /// Charges a body to its key; returns how long the body must wait until earlier debts are paid off.
    pub fn charge_body(&self, key: &str, bytes: usize, now: Instant) -> Duration {
        let ticks = i64::try_from(bytes / BYTES_PER_TICK).unwrap_or(DEBT_TICKS_MAX);
        let too_much = self.spend(key, ticks, now) - CREDIT_TICKS;
        Duration::from_millis(u64::try_from(too_much / TICKS_PER_MILLI).unwrap_or(0))
    }

    /// Charges ticks to a key; returns how many it owed before.
    fn spend(&self, key: &str, ticks: i64, now: Instant) -> i64 {
        let mut accounts = locked(&self.0);
        let before = owed(&accounts, key, now);
        if let Some(own) = accounts.get_mut(key) {
            let now = now.millis() * TICKS_PER_MILLI;
            own.level_at = own.level_at.clamp(now, now + DEBT_TICKS_MAX) + ticks;
        }
        before
    }
}

/// Returns the ticks that a key owes; 0 as long as no other key is active.
fn owed(accounts: &HashMap<String, Account>, key: &str, now: Instant) -> i64 {
    let level_at = accounts.get(key).map_or(0, |own| own.level_at);
    let owed = (level_at - now.millis() * TICKS_PER_MILLI).clamp(0, DEBT_TICKS_MAX);
    let is_beside =
        |(name, other): (&String, &Account)| name != key && other.last.abs_diff(now.millis()) < ACTIVE_MILLIS;
    if owed > 0 && accounts.iter().any(is_beside) { owed } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_spent_too_much_steps_back_until_it_is_paid_back_where_it_is_not_alone() {
        let shares = Shares::default();
        let at = Instant::from_millis;
        let in_place = |key: &str, now: i64| shares.in_place(key, at(now));
        assert_eq!(in_place("a", 10_000), IN_PLACE);
        shares.charge_read("a", 1_500, at(10_000));
        assert_eq!(in_place("a", 10_000), IN_PLACE, "alone");
        assert_eq!(in_place("b", 10_000), IN_PLACE, "another");
        let least = READ_TICKS_MIN as u32;
        for (now, expected) in
            [(10_000, least), (10_100, least), (10_110, 50), (10_120, IN_PLACE), (9_500, least)]
        {
            assert_eq!(in_place("a", now), expected, "at {now}");
        }
        // Half a second for the earlier body, less the credit; then the key is alone again.
        let sends = |now: i64| shares.charge_body("c", 14 << 20, at(now)).as_millis();
        in_place("c", 20_000);
        in_place("b", 20_000);
        assert_eq!([sends(20_000), sends(20_000), sends(20_500), sends(21_000)], [0, 516, 733, 0]);
    }
}

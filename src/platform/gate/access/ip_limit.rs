//! The IP limit (D20): ten critical requests a minute from one address. Critical are requests without a valid
//! key and requests to the routes that the configuration names.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Mutex;

use crate::platform::failure::locked;
use crate::rules::day::Instant;

/// Critical requests of an address per minute (specification, Limits).
const REQUESTS_PER_MINUTE_MAX: usize = 10;

/// A minute in milliseconds.
const MINUTE_MILLIS: i64 = 60_000;

/// Addresses that are remembered: about 2 MiB.
const ADDRESSES_MAX: usize = 10_000;

/// The kind of request that is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limited {
    WithoutKey,
    /// Login forms of the web pages, before anybody is logged in.
    LogIn,
    /// Requests to a route that the configuration names; its index in the route table.
    Route(usize),
}

/// The times of the last critical requests of each address.
#[derive(Default)]
pub struct IpLimit {
    seen: Mutex<HashMap<(IpAddr, Limited), VecDeque<i64>>>,
}

impl IpLimit {
    /// Counts a critical request; if the limit is exceeded, returns the seconds until the next one is
    /// allowed.
    pub fn take(&self, address: IpAddr, kind: Limited, now: Instant) -> Result<(), i64> {
        let now = now.millis();
        let mut seen = locked(&self.seen);
        if seen.len() >= ADDRESSES_MAX && !seen.contains_key(&(address, kind)) {
            make_room(&mut seen, now);
        }
        let times = seen.entry((address, kind)).or_default();
        // A clock that was set back must not lock anybody out.
        times.retain(|time| now - MINUTE_MILLIS < *time && *time <= now);
        if times.len() < REQUESTS_PER_MINUTE_MAX {
            times.push_back(now);
            return Ok(());
        }
        let first = times.front().copied().unwrap_or(now);
        Err((first + MINUTE_MILLIS - now + 999) / 1_000)
    }
}

/// Forgets the addresses whose last request is a minute old; if there are none, forgets all: then a flood
/// from many addresses gets more answers 401, which cost nothing.
fn make_room(seen: &mut HashMap<(IpAddr, Limited), VecDeque<i64>>, now: i64) {
    seen.retain(|_, times| times.back().is_some_and(|last| now - MINUTE_MILLIS < *last));
    if seen.len() >= ADDRESSES_MAX {
        seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_ten_requests_a_minute() {
        let limit = IpLimit::default();
        let at = |second: i64| Instant::from_millis(1_000_000 + second * 1_000);
        let one: IpAddr = "1.2.3.4".parse().unwrap();
        let other: IpAddr = "1.2.3.5".parse().unwrap();
        for second in 0..10 {
            assert_eq!(limit.take(one, Limited::WithoutKey, at(second)), Ok(()));
        }
        assert_eq!(limit.take(one, Limited::WithoutKey, at(10)), Err(50));
        assert_eq!(limit.take(other, Limited::WithoutKey, at(10)), Ok(()));
        assert_eq!(limit.take(one, Limited::Route(3), at(10)), Ok(()));
        assert_eq!(limit.take(one, Limited::WithoutKey, at(60)), Ok(()), "the first is a minute ago");
        assert_eq!(limit.take(one, Limited::WithoutKey, at(60)), Err(1));
        assert_eq!(limit.take(one, Limited::WithoutKey, at(-500)), Ok(()), "the clock was put back");
    }

    #[test]
    fn memory_is_bounded() {
        let limit = IpLimit::default();
        for number in 0..3 * ADDRESSES_MAX as u32 {
            let address = IpAddr::from(number.to_be_bytes());
            assert_eq!(limit.take(address, Limited::WithoutKey, Instant::from_millis(5)), Ok(()));
        }
        assert!(limit.seen.lock().unwrap().len() <= ADDRESSES_MAX);
    }
}

//! Requests without a valid key (D20): each address gets a limited number of audit rows a minute; further requests
//! are only counted. The counts wait in memory, without lines in the journal, and go into the table of floods when
//! the writer next takes in the journal. So nobody can fill the disk with requests that need no key. A kill -9 loses
//! the counts that still wait.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant as Ticks};

use super::row::Row;
use crate::platform::failure::locked;
use crate::rules::day::Instant;

/// Most rows of one address in a minute (D20).
const ROWS_PER_MINUTE_MAX: u32 = 60;

/// Most addresses with rows of their own in a minute, and most counts that wait. Requests from further addresses are
/// counted together. This limits strangers to 60,000 rows a minute, 15 MiB, from however many networks.
const ADDRESSES_MAX: usize = 1_000;

/// How long a count waits at least, so that an address costs at most one upsert a second.
const COUNT_AGE: Duration = Duration::from_secs(1);

/// Replaces the address where many are counted together.
const TOGETHER: &str = "*";

const MINUTE_MILLIS: i64 = 60_000;

/// The number of rows that strangers had in this minute, and the counts that wait.
#[derive(Default)]
pub struct Strangers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    minute: i64,
    /// Number of rows in this minute, by address (for IPv6, by /64).
    listed: HashMap<IpAddr, u32>,
    /// Counts by address and minute. The joint count of many addresses is the only one of minute 0.
    counted: HashMap<(String, i64), Row>,
    /// When counts were last handed over.
    since: Option<Ticks>,
}

impl Strangers {
    /// Returns the row if it is to be listed. Otherwise counts it and returns `None`. `network` sent the request.
    pub fn listed(&self, row: Row, network: IpAddr, now: Instant) -> Option<Row> {
        let mut state = locked(&self.state);
        let minute = now.millis().div_euclid(MINUTE_MILLIS);
        if state.minute != minute {
            state.minute = minute;
            state.listed.clear();
        }
        let is_known = state.listed.len() < ADDRESSES_MAX || state.listed.contains_key(&network);
        if !row.flut && is_known {
            let rows = state.listed.entry(network).or_default();
            if *rows < ROWS_PER_MINUTE_MAX {
                *rows += 1;
                return Some(row);
            }
        }
        let adresse = if is_known { network.to_string() } else { TOGETHER.to_owned() };
        state.count(Row { adresse, key_id: None, route_id: None, flut: true, ..row });
        None
    }

    /// Whether there are counts to hand over: `COUNT_AGE` after the last time, or at once if the service stops.
    pub fn are_due(&self, at_stop: bool) -> bool {
        let state = locked(&self.state);
        !state.counted.is_empty() && (at_stop || state.since.is_none_or(|since| since.elapsed() >= COUNT_AGE))
    }

    /// Hands over the counts, one row for each address and minute.
    pub fn hand_over(&self) -> Vec<Row> {
        let mut state = locked(&self.state);
        state.since = Some(Ticks::now());
        state.counted.drain().map(|(_, row)| row).collect()
    }

    /// Takes back a row from [`Self::hand_over`] that could not be stored; returns any other row unchanged.
    pub fn take_back(&self, row: Row) -> Option<Row> {
        if !row.flut || row.key_id.is_some() {
            return Some(row);
        }
        locked(&self.state).count(row);
        None
    }
}

impl State {
    fn count(&mut self, row: Row) {
        let mut own = (row.adresse.clone(), row.am.div_euclid(MINUTE_MILLIS));
        if row.adresse == TOGETHER || self.counted.len() >= ADDRESSES_MAX && !self.counted.contains_key(&own)
        {
            own = (TOGETHER.to_owned(), 0);
        }
        match self.counted.entry(own) {
            Entry::Occupied(mut counted) => counted.get_mut().anzahl += row.anzahl,
            Entry::Vacant(vacant) => {
                let adresse = vacant.key().0.clone();
                vacant.insert(Row { adresse, ..row });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(am: i64) -> Row {
        Row {
            am,
            adresse: "the address itself".to_owned(),
            methode: "GET".to_owned(),
            route_id: Some(1),
            pfad: "/api/v1".to_owned(),
            status: 200,
            anzahl: 1,
            ..Row::default()
        }
    }

    /// Returns how many of these requests, all at the same millisecond, are listed.
    fn listed(strangers: &Strangers, network: u32, am: i64, requests: usize) -> usize {
        let network = IpAddr::from(network.to_be_bytes());
        let one = |_| strangers.listed(row(am), network, Instant::from_millis(am));
        (0..requests).filter_map(one).count()
    }

    /// Returns address, instant and number of the waiting counts, sorted.
    fn counted(strangers: &Strangers) -> Vec<(String, i64, i64)> {
        let rows = strangers.hand_over();
        let mut counted: Vec<_> = rows.into_iter().map(|row| (row.adresse, row.am, row.anzahl)).collect();
        counted.sort();
        counted
    }

    #[test]
    fn what_goes_beyond_sixty_a_minute_is_counted_by_address_and_minute() {
        let strangers = Strangers::default();
        assert_eq!(listed(&strangers, 1, 5, 200), 60);
        assert_eq!(listed(&strangers, 2, 6, 61), 60);
        assert_eq!(listed(&strangers, 1, MINUTE_MILLIS, 62), 60);
        assert_eq!(listed(&strangers, 2, MINUTE_MILLIS + 1, 3), 3);
        assert!(strangers.are_due(true));
        let expected = [("0.0.0.1", 5, 140), ("0.0.0.1", MINUTE_MILLIS, 2), ("0.0.0.2", 6, 1)];
        assert_eq!(counted(&strangers), expected.map(|(adresse, am, n)| (adresse.to_owned(), am, n)));
        assert_eq!((counted(&strangers), strangers.are_due(true)), (vec![], false));
    }

    #[test]
    fn memory_and_rows_are_bounded_however_many_addresses_there_are() {
        let strangers = Strangers::default();
        let rows: usize = (0..5_000).map(|network| listed(&strangers, network, 5, 61)).sum();
        assert_eq!(rows, ADDRESSES_MAX * 60);
        let of_many = counted(&strangers);
        assert_eq!(of_many.len(), ADDRESSES_MAX + 1);
        assert_eq!(of_many[0], ("*".to_owned(), 5, 4_000 * 61));
        assert!(of_many[1..].iter().all(|(_, _, requests)| *requests == 1));
        // What nobody takes does not grow either, whatever the minute.
        for minute in 1..6 {
            for network in 0..1_000 {
                assert_eq!(listed(&strangers, network, minute * MINUTE_MILLIS, 61), 60);
            }
        }
        let waiting = counted(&strangers);
        assert_eq!(waiting.len(), ADDRESSES_MAX + 1);
        assert_eq!(waiting.iter().map(|(_, _, requests)| requests).sum::<i64>(), 5_000);
    }

    #[test]
    fn what_could_not_be_written_is_taken_back() {
        let strangers = Strangers::default();
        listed(&strangers, 1, 5, 63);
        for row in strangers.hand_over() {
            assert_eq!(strangers.take_back(row), None);
        }
        listed(&strangers, 1, 7, 4);
        assert_eq!(counted(&strangers), [("0.0.0.1".to_owned(), 5, 7)]);
        let own = Row { flut: true, key_id: Some("k".to_owned()), ..row(1) };
        assert_eq!(strangers.take_back(own.clone()), Some(own));
        assert_eq!(strangers.take_back(row(1)), Some(row(1)));
    }
}

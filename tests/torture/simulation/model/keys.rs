//! Keys, their scopes and limits; and malformed requests.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Expected, Model, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::DAY;
use crate::simulation::step::{Malformed, Small};

/// Requests of the small key per day in UTC.
pub const SMALL_LIMIT: i64 = 12;
/// Requests of the large key per day in UTC.
pub const LARGE_LIMIT: i64 = 100_000;

/// Refusals of one address in a minute, after which the status changes; half of the limit, as there are two companies.
const STRANGERS_MAX: u32 = 4;

#[derive(Debug, Clone, Default)]
pub struct Key {
    pub limit: i64,
    pub is_off: bool,
    /// Requests by day in UTC.
    pub counted: BTreeMap<i64, i64>,
    /// Refusals since the server was started.
    pub strangers: u32,
}

impl Key {
    pub fn all() -> Key {
        Key { limit: LARGE_LIMIT, ..Key::default() }
    }

    pub fn small() -> Key {
        Key { limit: SMALL_LIMIT, ..Key::default() }
    }

    pub fn switch(&mut self) {
        self.is_off = !self.is_off;
    }

    pub fn may_be_tried(&self) -> bool {
        !self.is_off || self.strangers < STRANGERS_MAX
    }
}

impl Model {
    fn counted(&mut self, firm: usize, key: usize) -> &mut i64 {
        let day = if self.breaks(Broken::QuotaGoesOn) { 0 } else { self.now.div_euclid(DAY) };
        self.firms[firm].keys[key].counted.entry(day).or_default()
    }

    /// The remaining requests of the key with all scopes on this day.
    pub fn remaining(&mut self, firm: usize, key: usize) -> i64 {
        self.firms[firm].keys[key].limit - *self.counted(firm, key)
    }

    /// Counts an answered request of the key with all scopes.
    pub fn count(&mut self, firm: usize, status: u16) {
        if !(status >= 400 && self.breaks(Broken::RefusedIsFree)) {
            *self.counted(firm, 0) += 1;
        }
    }

    /// Takes over the remaining quota reported by the server.
    pub fn adopt_remaining(&mut self, firm: usize, key: usize, remaining: i64) {
        let limit = self.firms[firm].keys[key].limit;
        *self.counted(firm, key) = limit - remaining;
    }

    pub fn small(&mut self, firm: usize, small: Small) -> Expected {
        if self.firms[firm].keys[1].is_off && !self.breaks(Broken::KeyGoesOn) {
            self.firms[firm].keys[1].strangers += 1;
            return refused(401, "API_KEY_DEAKTIVIERT");
        }
        if self.remaining(firm, 1) <= 0 {
            return refused(429, "TAGESLIMIT_ERREICHT");
        }
        *self.counted(firm, 1) += 1;
        match small {
            Small::Countries => Expected::new(200, json!({})),
            Small::Documents => Expected::new(200, json!({"count": self.firms[firm].documents.len()})),
            Small::Partners | Small::Write => refused(403, "SCOPE_FEHLT"),
        }
    }
}

pub fn malformed(malformed: Malformed) -> Expected {
    match malformed {
        Malformed::Path | Malformed::Id => refused(404, "NICHT_GEFUNDEN"),
        Malformed::Method => refused(405, "METHODE_NICHT_ERLAUBT"),
        Malformed::Parameter => refused(400, "UNBEKANNTER_PARAMETER"),
        Malformed::Day => refused(400, "DATUM_UNGUELTIG"),
        Malformed::Limit | Malformed::Status => refused(400, "PARAMETER_UNGUELTIG"),
    }
}

//! Orders to restore a backup, from the page that takes them to the process that executes them, and their
//! outcome.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use tokio::sync::Notify;

use crate::platform::failure::locked;
use crate::rules::day::Instant;

/// The backup to restore, and the person who ordered it.
#[derive(Debug, Clone)]
pub struct Order {
    pub backup: PathBuf,
    /// The name of the backup on the pages.
    pub id: String,
    pub person: String,
}

/// The outcome of an order.
#[derive(Debug, Clone)]
pub struct Restored {
    pub id: String,
    pub at: Instant,
    /// Where the previous database is, or why nothing was restored.
    pub outcome: std::result::Result<Option<PathBuf>, String>,
}

/// The current order and the outcome of the last one. Only a process that can restore accepts orders
/// ([`Restoring::take_orders`]).
#[derive(Default)]
pub struct Restoring {
    last: OnceLock<Option<Restored>>,
    order: Mutex<Option<Order>>,
    ordered: Notify,
}

impl Restoring {
    /// Accepts orders from now on; `last` is the outcome of the last one.
    pub fn take_orders(&self, last: Option<Restored>) {
        let _ = self.last.set(last);
    }

    pub fn is_possible(&self) -> bool {
        self.last.get().is_some()
    }

    pub fn begin(&self, order: Order) {
        *locked(&self.order) = Some(order);
        self.ordered.notify_one();
    }

    /// Resolves once there is an order.
    pub fn ordered(&self) -> impl Future<Output = ()> {
        self.ordered.notified()
    }

    pub fn last(&self) -> Option<&Restored> {
        self.last.get()?.as_ref()
    }

    pub fn order(&self) -> Option<Order> {
        locked(&self.order).take()
    }
}

//! Orders to restore a backup, from the page that takes them to the process that carries them out, and what they came to.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use tokio::sync::Notify;

use crate::platform::failure::locked;
use crate::rules::day::Instant;

/// What is to be restored, and who wants it.
#[derive(Debug, Clone)]
pub struct Order {
    pub backup: PathBuf,
    /// What people call the backup.
    pub id: String,
    pub person: String,
}

/// What an order came to.
#[derive(Debug, Clone)]
pub struct Restored {
    pub id: String,
    pub at: Instant,
    /// Where the database of before is, or why nothing was restored.
    pub outcome: std::result::Result<Option<PathBuf>, String>,
}

/// Orders to restore. Only a process that carries them out takes them ([`Restoring::take_orders`]).
#[derive(Default)]
pub struct Restoring {
    last: OnceLock<Option<Restored>>,
    order: Mutex<Option<Order>>,
    ordered: Notify,
}

impl Restoring {
    /// Has orders taken from now on; says what the last one came to.
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

    /// Is done once there is an order.
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

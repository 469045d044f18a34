//! Metrics of the service, in the text format of Prometheus.

use std::path::PathBuf;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::platform::db::writer::WriterQueue;

/// Upper bounds of the duration buckets, in seconds.
const DURATIONS: [f64; 12] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: &'static str,
    /// The pattern of the route; empty if no route has the path.
    route: &'static str,
    status: u16,
}

pub struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    durations: Histogram,
    slow_lane: Counter,
    unnamed_proxy: Counter,
    waiting: Gauge,
    wal_bytes: Gauge,
    oldest_read: Gauge<f64, std::sync::atomic::AtomicU64>,
    wal: PathBuf,
}

/// Metric of requests that were forwarded by a proxy on this machine that `trusted_proxies` does not name.
pub const UNNAMED_PROXY: &str = "unnamed_proxy";

impl Metrics {
    /// Starts measuring; `wal` is the path of the write-ahead log.
    pub fn new(wal: PathBuf, writer: &WriterQueue) -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::default(),
            requests: Family::default(),
            durations: Histogram::new(DURATIONS),
            slow_lane: Counter::default(),
            unnamed_proxy: Counter::default(),
            waiting: Gauge::default(),
            wal_bytes: Gauge::default(),
            oldest_read: Gauge::default(),
            wal,
        };
        let watch = &writer.watch;
        let registry = metrics.registry.sub_registry_with_prefix("partnerd");
        registry.register("requests", "Requests by route and status", metrics.requests.clone());
        let durations = metrics.durations.clone();
        registry.register_with_unit("request_duration", "From arrival to answer", Unit::Seconds, durations);
        let slow_lane = metrics.slow_lane.clone();
        registry.register("slow_lane", "Requests that went on on the slow lane", slow_lane);
        let unnamed = metrics.unnamed_proxy.clone();
        registry.register(
            UNNAMED_PROXY,
            "Requests of a proxy here that trusted_proxies does not name",
            unnamed,
        );
        registry.register("write_queue", "Requests that wait for the writer", watch.queued.clone());
        registry.register("write_batch", "Requests in one transaction", watch.batches.clone());
        registry.register("waiting_requests", "Requests that wait for a change", metrics.waiting.clone());
        let wal = metrics.wal_bytes.clone();
        registry.register_with_unit("wal", "Size of the write-ahead log", Unit::Bytes, wal);
        let oldest = metrics.oldest_read.clone();
        registry.register_with_unit("oldest_read", "Age of the oldest running read", Unit::Seconds, oldest);
        metrics
    }

    pub fn count(&self, method: &'static str, route: &'static str, status: u16, duration: Duration) {
        self.requests.get_or_create(&Labels { method, route, status }).inc();
        self.durations.observe(duration.as_secs_f64());
    }

    pub fn count_unnamed_proxy(&self) {
        self.unnamed_proxy.inc();
    }

    pub fn count_slow(&self) {
        self.slow_lane.inc();
    }

    pub fn text(&self, oldest_read: Duration, waiting: usize) -> String {
        let wal = std::fs::metadata(&self.wal).map_or(0, |wal| wal.len());
        self.wal_bytes.set(i64::try_from(wal).unwrap_or(i64::MAX));
        self.waiting.set(waiting as i64);
        self.oldest_read.set(oldest_read.as_secs_f64());
        let mut text = String::new();
        // Fails only if the string cannot be written to.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

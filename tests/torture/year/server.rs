//! The service in this process, with a settable clock.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use partnerd::master::tenants;
use partnerd::platform::db::Clock;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::migrate::migrate;
use partnerd::platform::gate::access::key::{self, Grant};
use partnerd::platform::gate::{Nightly, Policy};
use partnerd::platform::http::server::Limits;
use partnerd::rules::choice::Choice;
use partnerd::rules::day::Instant;
use partnerd::rules::scope::Scope;
use partnerd::start::service::{Service, runtime};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::process::Client;

/// Number of nightly backups that are kept.
pub const KEEP: usize = 3;

/// A clock that stands still until it is set.
#[derive(Clone, Default)]
pub struct Time(Arc<AtomicI64>);

impl Time {
    /// Sets it to an hour and minute of a day since 1970, in UTC.
    pub fn set(&self, day: i64, hour: i64, minute: i64) {
        self.0.store(((day * 24 + hour) * 60 + minute) * 60_000, Ordering::SeqCst);
    }

    pub fn now(&self) -> Instant {
        Instant::from_millis(self.0.load(Ordering::SeqCst))
    }

    pub fn clock(&self) -> Clock {
        let time = self.clone();
        Arc::new(move || time.now())
    }
}

/// Creates a company whose open invoices become final at the end of their day; returns a key of it.
pub fn company(database: &Path, now: Instant) -> String {
    migrate(database, now).unwrap();
    let connection = open_writer(database).unwrap();
    let tenant = tenants::create(&connection, "Mühle", false, now).unwrap();
    tenants::set(&connection, tenant, &[("abschluss_tagesende", "RE")], now).unwrap();
    let new = key::generate(&key::mac_secret(&connection).unwrap()).unwrap();
    let scopes = Scope::ALL.iter().copied().collect();
    let grant = Grant { label: "test".to_owned(), scopes, ..Grant::default() };
    key::insert(&connection, tenant, &new, &grant, now).unwrap();
    new.text
}

pub struct Server {
    pub client: Client,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Starts it; nightly backups go into a folder from 02:30 in Berlin on.
    pub fn start(database: &Path, nights: &Path, time: &Time, key: &str) -> Server {
        let (stop, stopped) = oneshot::channel::<()>();
        let (started, address) = std::sync::mpsc::channel();
        let (database, clock) = (database.to_owned(), time.clock());
        let nightly = Nightly { folder: nights.to_owned(), minute: 150, keep: KEEP };
        let policy = Policy { nightly: Some(nightly), ..Policy::default() };
        let thread = std::thread::spawn(move || {
            let app = Service::open(&database, clock, &policy).unwrap();
            let runtime = runtime().unwrap();
            let seconds = Duration::from_secs;
            let limits = Limits {
                connections: 100,
                per_address: 100,
                header: seconds(10),
                body: seconds(10),
                write: seconds(10),
                shutdown: seconds(5),
            };
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                started.send(listener.local_addr().unwrap()).unwrap();
                let stopped = async {
                    let _ = stopped.await;
                };
                app.serve(listener, limits, None, stopped).await;
            });
            drop(runtime);
            app.close();
        });
        let client = Client::new(&address.recv().unwrap().to_string(), key);
        Server { client, stop, thread }
    }

    pub fn stop(self) {
        let _ = self.stop.send(());
        self.thread.join().unwrap();
    }
}

//! A server of its own for each test, and clients that check on every call what must always hold:
//! a request id, JSON, that the answer is as the description says, no 5xx. When the server goes, each answered request
//! must stand in the audit log exactly once, and `partnerd check` must be clean.
//!
//! ```text
//! let server = Server::start();
//! let mill = server.company("Mühle");
//! let answer = mill.post("/api/v1/kunden", json!({"name": "Müller"}));
//! answer.is(201);
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use argon2::password_hash::PasswordHasher;
use argon2::{Algorithm, Argon2, Params, Version};
use flate2::read::GzDecoder;
use partnerd::master::tenants;
use partnerd::platform::db::Clock;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::migrate::migrate;
use partnerd::platform::gate::Policy;
use partnerd::platform::gate::access::key::{self, Grant};
use partnerd::platform::http::server::Limits;
use partnerd::rules::choice::Choice;
use partnerd::rules::day::Instant;
use partnerd::rules::scope::Scope;
use partnerd::start::service::Service;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::http::{Method, Request};

use crate::contract;

/// When the tests take place unless they say otherwise: noon in Berlin, summer time.
pub const NOON: &str = "2026-07-10T10:00:00Z";

/// Settings with which the master data of a company are complete (D24).
pub const COMPLETE: &[(&str, &str)] = &[
    ("firma", "Mühle Beispiel GmbH"),
    ("strasse", "An der Mühle 1"),
    ("plz", "86609"),
    ("ort", "Donauwörth"),
    ("ust_id", "DE123456789"),
    ("iban", "DE02120300000000202051"),
];

/// A running server, its database in a folder of its own, and a clock that tests can shift.
pub struct Server {
    pub address: SocketAddr,
    pub database: PathBuf,
    now: Arc<AtomicI64>,
    policy: Policy,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    answered: Arc<Mutex<Vec<Answered>>>,
    _folder: TempDir,
}

impl Server {
    pub fn start() -> Server {
        Server::start_at(NOON)
    }

    pub fn start_at(now: &str) -> Server {
        Server::start_with(now, Policy::default())
    }

    /// A server whose configuration says something of clients.
    pub fn start_with(now: &str, policy: Policy) -> Server {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        std::fs::write(&database, migrated(now)).unwrap();
        let now = Arc::new(AtomicI64::new(Instant::parse(now).unwrap().millis()));
        let (address, stop, thread) = serve(database.clone(), Arc::clone(&now), policy.clone());
        let (stop, thread) = (Some(stop), Some(thread));
        Server { address, database, now, policy, stop, thread, answered: Arc::default(), _folder: folder }
    }

    /// Sets the server's clock.
    pub fn set_clock(&self, now: &str) {
        self.now.store(Instant::parse(now).unwrap().millis(), Ordering::SeqCst);
    }

    /// Expects no audit rows of what was answered so far: they are old enough to be dropped.
    pub fn expect_no_audit_rows(&self) {
        self.answered.lock().unwrap().clear();
    }

    /// Stops the server and starts it again on the same database.
    pub fn restart(&mut self) {
        self.stop();
        self.start_again();
    }

    /// The same with another clock, which the server that stops never sees: what it begins by itself at its start may
    /// still be to come.
    pub fn restart_at(&mut self, now: &str) {
        self.stop();
        self.set_clock(now);
        self.start_again();
    }

    fn start_again(&mut self) {
        let (address, stop, thread) =
            serve(self.database.clone(), Arc::clone(&self.now), self.policy.clone());
        (self.address, self.stop, self.thread) = (address, Some(stop), Some(thread));
    }

    /// A company with a key that may do everything.
    pub fn company(&self, name: &str) -> Client {
        let connection = open_writer(&self.database).unwrap();
        let tenant = tenants::create(&connection, name, false, self.instant()).unwrap();
        self.key(tenant, Scope::ALL)
    }

    /// A company with settings, for example `("negativbestand", "ablehnen")`.
    pub fn company_with(&self, name: &str, settings: &[(&str, &str)]) -> Client {
        let client = self.company(name);
        self.set(&client, settings);
        client
    }

    /// Changes settings of a company.
    pub fn set(&self, client: &Client, settings: &[(&str, &str)]) {
        let connection = open_writer(&self.database).unwrap();
        tenants::set(&connection, client.tenant, settings, self.instant()).unwrap();
    }

    /// A key of a company with some scopes.
    pub fn key(&self, tenant: i64, scopes: &[Scope]) -> Client {
        let scopes = scopes.iter().copied().collect();
        self.key_with(tenant, Grant { label: "test".to_owned(), scopes, ..Grant::default() })
    }

    /// A key of a company.
    pub fn key_with(&self, tenant: i64, grant: Grant) -> Client {
        let connection = open_writer(&self.database).unwrap();
        // A hash that is soon made and verified: hundreds of tests have a key each.
        let cheap = |key: &str| {
            let argon2 =
                Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
            Ok(argon2.hash_password(key.as_bytes()).unwrap().to_string())
        };
        let new = key::generate_with(&key::mac_secret(&connection).unwrap(), cheap).unwrap();
        key::insert(&connection, tenant, &new, &grant, self.instant()).unwrap();
        self.client(tenant, Some(new.text))
    }

    /// A client with any key, or none.
    pub fn client(&self, tenant: i64, key: Option<String>) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(600)))
            .build();
        let answered = Arc::clone(&self.answered);
        Client { tenant, key, base: format!("http://{}", self.address), agent: config.into(), answered }
    }

    /// Runs the real command line on the database of this server.
    pub fn cli(&self, arguments: &[&str]) -> Output {
        cli(&self.database, arguments)
    }

    /// Imports a text of JSON or CSV with the real command line, also what is hardly meant.
    pub fn import(&self, client: &Client, kind: &str, text: &str) -> String {
        let file = self.database.with_file_name(format!("{kind}.import"));
        std::fs::write(&file, text).unwrap();
        let tenant = client.tenant.to_string();
        let file = file.to_str().unwrap();
        let output = self.cli(&["import", kind, file, "--tenant", &tenant, "--accept-warnings"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "import {kind}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The value of a statement on the database file.
    pub fn sql<T: rusqlite::types::FromSql>(&self, statement: &str) -> T {
        open_writer(&self.database).unwrap().query_row(statement, [], |row| row.get(0)).unwrap()
    }

    fn instant(&self) -> Instant {
        Instant::from_millis(self.now.load(Ordering::SeqCst))
    }

    fn stop(&mut self) {
        if let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) {
            let _ = stop.send(());
            thread.join().unwrap();
        }
    }

    /// Each answered request stands in the audit log exactly once. What came without a valid key is counted
    /// where it was too much (D20).
    fn check_audit(&self) {
        let connection = open_writer(&self.database).unwrap();
        let mut statement = connection.prepare("select request_id from audit").unwrap();
        let ids = statement.query_map([], |row| row.get::<_, uuid::Uuid>(0)).unwrap();
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        ids.for_each(|id| *rows.entry(id.unwrap().to_string()).or_default() += 1);
        let answered = self.answered.lock().unwrap();
        let of_strangers = answered.iter().filter(|answered| !answered.has_key).count();
        let are_listed = of_strangers <= 60 && answered.iter().all(|answered| !answered.is_flood);
        for Answered { id, .. } in answered.iter().filter(|answered| answered.has_key || are_listed) {
            assert_eq!(rows.get(id), Some(&1), "audit rows of request {id}");
        }
        assert!(rows.values().all(|rows| *rows == 1));
        let counted = "select (select coalesce(sum(anzahl), 0) from audit where key_id is null)
            + (select count(*) from audit where key_id is not null and status = 401)
            + (select coalesce(sum(anzahl), 0) from audit_flut where key_id = '')";
        let counted: i64 = connection.query_row(counted, [], |row| row.get(0)).unwrap();
        assert!(counted >= of_strangers as i64, "{counted} of {of_strangers} requests without a key");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.stop();
        self.check_audit();
        let check = self.cli(&["check"]);
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    }
}

/// An empty database as `migrate` makes it at an instant, made once for all tests that begin then.
fn migrated(now: &str) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        migrate(&database, Instant::parse(now).unwrap()).unwrap();
        std::fs::read(&database).unwrap()
    };
    made.entry(now.to_owned()).or_insert_with(make).clone()
}

fn serve(
    database: PathBuf,
    now: Arc<AtomicI64>,
    policy: Policy,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let (started, address) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let clock: Clock = Arc::new(move || Instant::from_millis(now.load(Ordering::SeqCst)));
        let app = Service::open(&database, clock, &policy).unwrap();
        let runtime = partnerd::start::service::runtime().unwrap();
        let seconds = Duration::from_secs;
        let limits = Limits {
            connections: 1_000,
            per_address: 1_000,
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
    (address.recv().unwrap(), stop, thread)
}

/// Runs the real command line on a database, in this process: a process of its own costs more than most tests. Where
/// signals, the log or the environment are what is tested, `tests/process` starts the executable.
pub fn cli(database: &Path, arguments: &[&str]) -> Output {
    let all = [OsStr::new("--db"), database.as_os_str()].into_iter().chain(arguments.iter().map(OsStr::new));
    let (code, [stdout, stderr]) = partnerd::start::cli::captured(all.map(OsStr::to_owned));
    Output { status: ExitStatus::from_raw(i32::from(code) << 8), stdout, stderr }
}

/// A request that must be in the audit log.
struct Answered {
    id: String,
    /// It came with a valid key.
    has_key: bool,
    /// It was refused because its address sent too many.
    is_flood: bool,
}

/// A client of one company.
#[derive(Clone)]
pub struct Client {
    pub tenant: i64,
    pub key: Option<String>,
    base: String,
    agent: Agent,
    answered: Arc<Mutex<Vec<Answered>>>,
}

impl Client {
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None)
    }

    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &[], Some(body.to_string().as_bytes()))
    }

    pub fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, &[], Some(body.to_string().as_bytes()))
    }

    /// Any request; checks on the way back what must always hold.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let answer = self.send_unchecked(method, path, headers, body);
        assert!(answer.status < 500, "{method} {path}: {} {}", answer.status, answer.body);
        answer
    }

    /// Any request, where even a 5xx may be right.
    pub fn send_unchecked(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.header("x-api-key", key);
        }
        if body.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // Without a body there is no Content-Length either.
        let response = match body {
            Some(body) => {
                let request = self.agent.configure_request(request.body(body.to_vec()).unwrap());
                self.agent.run(request.allow_non_standard_methods(true).build())
            }
            None => {
                let request = self.agent.configure_request(request.body(()).unwrap());
                self.agent.run(request.allow_non_standard_methods(true).build())
            }
        };
        Answer::read(method, path, response.unwrap(), &self.answered)
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    /// The body; null where there is none.
    pub body: Value,
    /// The body as it came, compressed or not.
    pub bytes: Vec<u8>,
    what: String,
}

impl Answer {
    fn read(
        method: &str,
        path: &str,
        response: ureq::http::Response<ureq::Body>,
        answered: &Mutex<Vec<Answered>>,
    ) -> Answer {
        let status = response.status().as_u16();
        let headers: BTreeMap<String, String> = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        let bytes = response.into_body().into_with_config().limit(64 << 20).read_to_vec().unwrap();
        let what = format!("{method} {path}");
        let request_id = headers.get("x-request-id").unwrap_or_else(|| panic!("{what}: no request id"));
        // Sheets, e-invoices and metrics are no JSON.
        let others = ["text/", "application/pdf", "application/xml", "application/zip"];
        let kind = headers.get("content-type").map_or("", String::as_str);
        let body = if bytes.is_empty() || others.iter().any(|other| kind.starts_with(other)) {
            Value::Null
        } else {
            assert_eq!(headers.get("content-type").unwrap(), "application/json; charset=utf-8", "{what}");
            match headers.contains_key("content-encoding") {
                true => serde_json::from_reader(GzDecoder::new(bytes.as_slice())).unwrap(),
                false => serde_json::from_slice(&bytes).unwrap(),
            }
        };
        // Probes are no part of the interface.
        let is_probe = ["/healthz", "/readyz", "/metrics"].iter().any(|probe| path.starts_with(probe));
        if !(is_probe && status != 401) {
            let has_key = headers.contains_key("x-ratelimit-limit");
            let is_flood = body["error"] == "ZU_VIELE_ANFRAGEN";
            answered.lock().unwrap().push(Answered { id: request_id.clone(), has_key, is_flood });
        }
        if status >= 400 && !bytes.is_empty() {
            assert!(body["error"].as_str().is_some_and(|code| !code.is_empty()), "{what}: {body}");
            assert!(
                body["message"].as_str().is_some_and(|text| text.ends_with(['.', '}', ')'])),
                "{what}: {body}"
            );
            assert_eq!(body["request_id"], json!(request_id), "{what}: {body}");
        }
        if let Err(mistake) = contract::check(method, path, status, &headers, &body) {
            let shown: String = body.to_string().chars().take(500).collect();
            panic!("{what}: not as described: {mistake}: {status} {shown}");
        }
        Answer { status, headers, body, bytes, what }
    }

    /// Asserts the status; the body.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}: {}", self.what, self.body);
        &self.body
    }

    /// Asserts a refusal with this status and code.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> &Value {
        assert_eq!(
            (self.status, self.body["error"].as_str()),
            (status, Some(code)),
            "{}: {}",
            self.what,
            self.body
        );
        &self.body
    }

    /// Asserts that there is a hint with this code.
    #[track_caller]
    pub fn hints(&self, code: &str) -> &Value {
        assert!(self.hint_codes().contains(&code.to_owned()), "{}: no {code} in {}", self.what, self.body);
        &self.body
    }

    /// The codes of all hints.
    pub fn hint_codes(&self) -> Vec<String> {
        let hints = self.body["hinweise"].as_array().cloned().unwrap_or_default();
        hints.iter().map(|hint| hint["code"].as_str().unwrap().to_owned()).collect()
    }

    /// The id of the record that was written.
    #[track_caller]
    pub fn id(&self) -> String {
        assert!(self.status < 300, "{}: {} {}", self.what, self.status, self.body);
        self.body["id"].as_str().unwrap().to_owned()
    }
}

/// The data of a file in tests/data.
pub fn data(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

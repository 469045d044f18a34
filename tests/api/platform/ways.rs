//! Which requests are answered on a socket thread, and which leave it.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use partnerd::master::tenants;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::system_clock;
use partnerd::platform::db::writer::fair_queue::QueueKey;
use partnerd::platform::gate::Policy;
use partnerd::platform::gate::access::key::{self, Grant};
use partnerd::platform::http::answering::Answering;
use partnerd::platform::http::client::Client;
use partnerd::platform::http::reply::Reply;
use partnerd::platform::http::request::{Body, Request};
use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use partnerd::start::service;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::platform::lanes::fill;

/// A service without a socket, and two keys of a company that were never verified.
struct Service {
    app: service::Service,
    key: String,
    other_key: String,
    runtime: Runtime,
    _folder: TempDir,
}

impl Service {
    fn with_articles(articles: i64) -> Service {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        let app = service::Service::open(&database, system_clock(), &Policy::default()).unwrap();
        let connection = open_writer(&database).unwrap();
        let now = system_clock()();
        let tenant = tenants::create(&connection, "Mühle", false, now).unwrap();
        let grant = Grant {
            label: "test".to_owned(),
            scopes: Scope::ALL.iter().copied().collect(),
            ..Grant::default()
        };
        let [key, other_key] = [(); 2].map(|()| {
            let new = key::generate(&key::mac_secret(&connection).unwrap()).unwrap();
            key::insert(&connection, tenant, &new, &grant, now).unwrap();
            new.text
        });
        fill(&database, tenant, articles);
        Service { app, key, other_key, runtime: service::runtime().unwrap(), _folder: folder }
    }

    /// The same request with the other key.
    fn of_other_key(&self, request: Request) -> Request {
        let headers = [("x-api-key".parse().unwrap(), self.other_key.parse().unwrap())].into_iter().collect();
        Request { headers, ..request }
    }

    /// Polls a request once, as its socket does; its answer must not be ready yet.
    fn begun(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        let gate = Arc::clone(&self.app.gate);
        let mut answer = Box::pin(async move { gate.answer(request, &mut Client::within()).await });
        let polled = self.runtime.block_on(poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))));
        assert!(polled.is_pending());
        answer
    }

    /// Builds a request as the socket does.
    fn request(&self, method: &str, path: &str, query: &str, body: Vec<u8>) -> Request {
        Request {
            id: Uuid::now_v7(),
            at: system_clock()(),
            started: std::time::Instant::now(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: method.to_owned(),
            path: format!("/api/v1/{path}"),
            query: query.to_owned(),
            headers: [("x-api-key".parse().unwrap(), self.key.parse().unwrap())].into_iter().collect(),
            malformed: None,
            body: Body::from_bytes(body),
        }
    }

    /// Polls a request as a socket does; returns its answer, and whether that was ready at once. A request
    /// that has to wait leaves the thread.
    fn answered(&self, request: Request) -> (Reply, bool) {
        let mut client = Client::within();
        let mut answer = pin!(Arc::clone(&self.app.gate).answer(request, &mut client));
        self.runtime.block_on(async {
            match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
                Poll::Ready(reply) => (reply, true),
                Poll::Pending => (answer.await, false),
            }
        })
    }

    fn get(&self, path: &str, query: &str) -> Reply {
        self.answered(self.request("GET", path, query, Vec::new())).0
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.answered(self.request("POST", path, "", body.to_string().into_bytes())).0
    }

    fn close(self) {
        drop(self.runtime);
        self.app.close();
    }
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

#[test]
fn what_takes_long_leaves_the_thread_of_its_socket() {
    let service = Service::with_articles(1_500);
    let get = |path: &str, query: &str| service.answered(service.request("GET", path, query, Vec::new()));
    let post = |body: String| service.answered(service.request("POST", "kunden", "", body.into_bytes()));
    // The first request of a key waits for the thread that verifies keys; the next one does not.
    let (laender, at_once) = get("laender", "limit=1");
    assert_eq!((body(&laender)["data"].as_array().unwrap().len(), at_once), (1, false));
    assert!(get("laender", "limit=1").1);
    // Long lists go to the slow lane.
    assert!(get("artikel", "limit=100").1);
    let (artikel, at_once) = get("artikel", "limit=5000");
    assert_eq!((body(&artikel)["count"].as_i64(), at_once), (Some(1_500), false));
    // A small body is refused at once; a large one is parsed on another thread.
    let refused = json!({"name": []}).to_string();
    let (small, at_once) = post(refused.clone());
    assert_eq!((small.status, at_once), (400, true));
    let (large, at_once) = post(refused + &" ".repeat(70_000));
    assert_eq!((large.status, at_once), (400, false));
    // A route with files.
    let (pdf, at_once) = get(&format!("belege/{}/pdf", Uuid::nil()), "");
    assert_eq!((body(&pdf)["error"].as_str(), at_once), (Some("NICHT_GEFUNDEN"), false));
    service.close();
}

#[test]
fn a_write_is_answered_whatever_its_key_has_not_read_yet() {
    let service = Service::with_articles(5_000);
    let customer = service.post("kunden", &json!({"name": "Hof"}));
    // Each unknown field is named in the answer.
    let unknown = "x".repeat(150);
    let items = vec![json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1, unknown: 1}); 1_000];
    let document = json!({"beleg_typ": "AN", "kundennummer": body(&customer)["kundennr"], "items": items});
    let answer = service.post("belege", &document);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    let (bytes, small) = (answer.body.len(), service.get("artikel", "limit=60").body.len());
    assert!(small > 16 << 10 && bytes > small, "{small} and {bytes} bytes");
    drop(answer);
    // Answers that nobody reads, until there is no room even for a small list.
    let mut unread = Vec::new();
    for limit in [5_000, 500, 60] {
        loop {
            let reply = service.get("artikel", &format!("limit={limit}"));
            match reply.status {
                503 => break,
                _ => unread.push(reply),
            }
            assert!(unread.len() < 1_000);
        }
    }
    // It was carried out, so it must be answered; afterwards there is still no room.
    let answer = service.post("belege", &document);
    assert!(answer.status == 201 && answer.held.is_some(), "{}", answer.status);
    assert_eq!(service.post("belege", &document).status, 503);
    assert_eq!(service.get("kunden", "limit=1").status, 200);
    drop((answer, unread));
    assert_eq!(service.get("artikel", "limit=5000").status, 200);
    service.close();
}

#[test]
fn who_sends_many_long_reads_keeps_no_other_key_waiting() {
    let service = Service::with_articles(1_100);
    let long = || service.request("GET", "artikel", "limit=5000", Vec::new());
    for request in [long(), service.of_other_key(long())] {
        assert_eq!(service.answered(request).0.status, 200);
    }
    // Other companies occupy the threads until all have asked.
    let (go, waits) = channel::<()>();
    let waits = Arc::new(Mutex::new(waits));
    for firma in 100..103 {
        let (gate, waits) = (Arc::clone(&service.app.gate), Arc::clone(&waits));
        let account = QueueKey { firma, name: String::new() };
        service
            .runtime
            .spawn(async move { gate.slowly(account, move || waits.lock().unwrap().recv().is_err()).await });
    }
    let mut answers = JoinSet::new();
    let mut begin = |request: Request, name: &'static str| {
        let answer = service.begun(request);
        answers.spawn_on(async move { (name, answer.await.status) }, service.runtime.handle());
    };
    (0..500).for_each(|_| begin(long(), "many"));
    begin(service.of_other_key(long()), "one");
    drop(go);
    let mut order = Vec::new();
    while let Some(answered) = service.runtime.block_on(answers.join_next()) {
        order.push(answered.unwrap());
    }
    assert!(order.iter().all(|(_, status)| *status == 200), "none is refused");
    let before = order.iter().position(|(name, _)| *name == "one").unwrap();
    assert!(before < 50, "{before} of 500 were served first");
    service.close();
}

#[test]
fn an_answer_of_the_slow_lane_counts_once_it_is_made() {
    let service = Service::with_articles(1_100);
    let long = || service.request("GET", "artikel", "limit=5000", Vec::new());
    assert_eq!(service.answered(long()).0.status, 200);
    let memory = &service.app.gate.answers;
    assert_eq!(memory.taken(), 0);
    // Nobody polls it, so it never learns that its answer is ready.
    let answer = service.begun(long());
    let last = Instant::now() + Duration::from_secs(60);
    while memory.taken() == 0 {
        assert!(Instant::now() < last, "an answer that was made counts for nobody");
        std::thread::sleep(Duration::from_millis(5));
    }
    let reply = service.runtime.block_on(answer);
    assert_eq!((reply.status, memory.taken()), (200, reply.body.len()));
    drop(reply);
    assert_eq!(memory.taken(), 0);
    service.close();
}

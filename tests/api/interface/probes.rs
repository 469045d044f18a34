//! Answers for monitoring: health, readiness, metrics.

use partnerd::platform::gate::Policy;
use serde_json::json;

use crate::harness::{Client, NOON, Server};
use crate::leitstand::Browser;

fn metrics(client: &Client) -> String {
    let answer = client.get("/metrics");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    String::from_utf8(answer.bytes).unwrap()
}

/// The value of a metric, by its name with labels.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[test]
fn health_and_readiness_need_no_key() {
    let server = Server::start();
    let nobody = server.client(0, None);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(nobody.get(path).is(200)["status"], "ok", "{path}");
        assert_eq!(nobody.send("HEAD", path, &[], None).status, 200, "{path}");
        nobody.send("POST", path, &[], Some(b"{}")).refused(401, "API_KEY_FEHLT");
    }
    nobody.get("/healthz?x=1").refused(400, "UNBEKANNTER_PARAMETER");
}

#[test]
fn requests_are_counted_by_route_and_status() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Müller"})).id();
    for _ in 0..3 {
        mill.get(&format!("/api/v1/kunden/{id}")).is(200);
    }
    mill.get("/api/v1/kunden/x").refused(404, "NICHT_GEFUNDEN");
    server.client(0, None).get("/api/v1/nichts").refused(401, "API_KEY_FEHLT");
    assert_eq!(Browser::on(&server).post("/leitstand/nichts", &[]).status, 404);
    let text = metrics(&mill);
    let requests = |method: &str, route: &str, status: u16| {
        value(
            &text,
            &format!("partnerd_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}"),
        )
    };
    assert_eq!(requests("POST", "/api/v1/kunden", 201), 1.0);
    assert_eq!(requests("GET", "/api/v1/kunden/{id}", 200), 3.0);
    assert_eq!(requests("GET", "/api/v1/kunden/{id}", 404), 1.0);
    assert_eq!(requests("", "", 401), 1.0);
    assert_eq!(requests("POST", "/leitstand", 404), 1.0);
    assert_eq!(value(&text, "partnerd_request_duration_seconds_count"), 7.0);
    assert_eq!(value(&text, "partnerd_write_queue"), 0.0);
    assert!(value(&text, "partnerd_write_batch_count") >= 1.0, "{text}");
    assert!(value(&text, "partnerd_wal_bytes") > 0.0, "{text}");
    assert_eq!(value(&text, "partnerd_oldest_read_seconds"), 0.0);
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn metrics_are_for_this_machine_unless_they_are_public() {
    for (public_metrics, expected) in [(false, 404), (true, 200)] {
        let proxies = vec!["127.0.0.1/32".parse().unwrap()];
        let server = Server::start_with(NOON, Policy { proxies, public_metrics, ..Policy::default() });
        let nobody = server.client(0, None);
        let from = |address: &str| nobody.send("GET", "/metrics", &[("X-Forwarded-For", address)], None);
        assert_eq!(from("198.51.100.7").status, expected, "{public_metrics}");
        assert_eq!([from("::1").status, nobody.get("/metrics").status], [200, 200], "{public_metrics}");
        let unnamed = Server::start_with(NOON, Policy { public_metrics, ..Policy::default() });
        let sent = [("X-Real-IP", "198.51.100.7")];
        assert_eq!(unnamed.client(0, None).send("GET", "/metrics", &sent, None).status, expected);
    }
}

#[test]
fn metrics_are_not_for_a_page_that_gives_its_name_this_address() {
    let server = Server::start();
    let nobody = server.client(0, None);
    let of = |host: &str| nobody.send("GET", "/metrics", &[("Host", host)], None).status;
    assert_eq!(["localhost", "LOCALHOST:8080", "127.0.0.2", "[::1]:80"].map(of), [200; 4]);
    assert_eq!(["example.org", "localhost.example.org", "192.0.2.7", "[::2]"].map(of), [404; 4]);
    let public = Server::start_with(NOON, Policy { public_metrics: true, ..Policy::default() });
    let anybody = public.client(0, None);
    assert_eq!(anybody.send("GET", "/metrics", &[("Host", "example.org")], None).status, 200);
}

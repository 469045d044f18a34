//! The cost of a request depends on what it touches, never on the length of a history (D8): counted in steps
//! of SQLite's virtual machine, which are the same in every run, not in time.

#[path = "../load/lines.rs"]
mod lines;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::process::Folder;
use hyper::HeaderMap;
use lines::{History, IN_ONE_BATCH, OPERATIONS, Operation};
use partnerd::platform::db::file::connection;
use partnerd::platform::db::system_clock;
use partnerd::platform::db::tx::{Tx, WriteTx};
use partnerd::platform::http::call::{Call, Strictness};
use partnerd::platform::http::request::{Body, Request};
use partnerd::platform::http::route::Run;
use partnerd::trade::belege::ROUTES;
use rusqlite::Connection;
use uuid::Uuid;

/// A company with a long history, and a counter of the steps of its statements.
struct Company {
    connection: Connection,
    steps: Arc<AtomicU64>,
    history: History,
    folder: Folder,
}

impl Company {
    fn with(history: History) -> Company {
        let folder = Folder::new();
        folder.company("Mühle");
        lines::fill(folder.path(), history);
        let connection = connection::open_writer(&folder.file("partnerd.db")).unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&steps);
        let count = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(count)).unwrap();
        Company { connection, steps, history, folder }
    }

    /// Steps of the third request of a kind: by then all statements are prepared.
    fn steps(&self, operation: &Operation) -> u64 {
        (0..3).map(|at| self.once(operation, at)).last().unwrap()
    }

    fn once(&self, operation: &Operation, at: u64) -> u64 {
        let (method, path, body) = (operation.request)(self.history, at);
        let segments: Vec<&str> = path.split('/').collect();
        let ids: Vec<_> = segments.iter().skip(1).take(1).map(|id| Uuid::parse_str(id).ok()).collect();
        let pattern = match segments.as_slice() {
            [first] => format!("/api/v1/{first}"),
            [first, _, rest @ ..] => [&["/api/v1", first, "{id}"][..], rest].concat().join("/"),
            [] => unreachable!(),
        };
        let route = ROUTES.iter().find(|r| r.pattern == pattern && r.method.as_str() == method).unwrap();
        let request = Request {
            id: Uuid::now_v7(),
            at: system_clock()(),
            started: std::time::Instant::now(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: method.to_owned(),
            path,
            query: String::new(),
            headers: HeaderMap::new(),
            malformed: None,
            body: Body::from_bytes(body.into_bytes()),
        };
        let call = Call::new(&request, route.query, ids, Strictness::default()).unwrap();
        let Run::Write(run) = route.run else { panic!("{pattern} does not write") };
        let work = run(&call).unwrap();
        let before = self.steps.load(Ordering::Relaxed);
        self.connection.execute_batch("begin immediate").unwrap();
        let reply = WriteTx::carry_out(Tx::new(&self.connection, 1, request.at), None, |tx| work(tx));
        self.connection.execute_batch("commit").unwrap();
        let reply = reply.unwrap_or_else(|failure| panic!("{}: {failure:?}", operation.name));
        assert!(reply.status < 300);
        self.steps.load(Ordering::Relaxed) - before
    }
}

#[test]
fn no_request_costs_more_because_a_partner_has_many_lines() {
    for batches in [0, 20] {
        let [few, many] = [200, 5_000].map(|lines| Company::with(History { lines, batches }));
        let named = if batches == 0 { &[] } else { IN_ONE_BATCH };
        for operation in OPERATIONS.iter().chain(named) {
            let [few, many] = [few.steps(operation), many.steps(operation)];
            assert!(many < 2 * few, "{}: {few} steps, with 25 times the lines {many}", operation.name);
        }
        for company in [few, many] {
            drop(company.connection);
            company.folder.result(&["check"]);
        }
    }
}

#[test]
fn no_sale_costs_more_because_many_batches_are_used_up() {
    let sale = Operation {
        name: "LS that takes batches by date",
        request: |_, _| {
            let items = r#"[{"artikelnr": "L1", "menge": 3}]"#;
            let body = format!(r#"{{"beleg_typ": "LS", "kundennummer": "L-1", "items": {items}}}"#);
            ("POST", "belege".to_owned(), body)
        },
    };
    let steps = [10, 2_000].map(|used_up| {
        let company = Company::with(History { lines: 10, batches: 2 });
        let all = format!(
            "update tenant set charge_automatik = 'fefo';
             with recursive n(nr) as (select 1 union all select nr + 1 from n where nr < {used_up})
             insert into charge (tenant_id, id, charge_nr, artikel_id, eingang_quelle, bestand, mhd, \
             angelegt_am, charge_nr_key)
             select 1, randomblob(16), 'V' || nr, artikel_id, 'manuell', 0, '2024-01-01', 0, 'v' || nr
             from (select artikel_id from charge limit 1) cross join n"
        );
        company.connection.execute_batch(&all).unwrap();
        company.steps(&sale)
    });
    assert!(steps[1] < 2 * steps[0], "with 10 and 2,000 used up batches: {steps:?} steps");
}

#[test]
fn each_item_of_an_invoice_costs_the_same_however_long_the_delivery_is_that_all_of_them_name() {
    fn delivery(history: History) -> String {
        let (_, path, _) = (OPERATIONS[0].request)(history, 0);
        path.trim_start_matches("belege/").to_owned()
    }
    let invoice = Operation {
        name: "RE that names a delivery",
        request: |history, _| {
            let named = delivery(history);
            let item = format!(r#"{{"artikelnr": "L1", "menge": 1, "bezug_beleg_id": "{named}"}}"#);
            let items = vec![item; usize::try_from(history.lines).unwrap()].join(",");
            let body = format!(r#"{{"beleg_typ": "RE", "kundennummer": "L-1", "items": [{items}]}}"#);
            ("POST", "belege".to_owned(), body)
        },
    };
    let steps = [100, 800].map(|lines| {
        let company = Company::with(History { lines, batches: 0 });
        let id = delivery(company.history).replace('-', "");
        let copy = format!(
            "create temp table copy as select * from beleg_position where beleg_id = x'{id}' and position = 5"
        );
        company.connection.execute_batch(&copy).unwrap();
        for _ in 5..lines {
            let line = "update copy set position = position + 1, id = randomblob(16);
                insert into beleg_position select * from copy";
            company.connection.execute_batch(line).unwrap();
        }
        company.steps(&invoice)
    });
    assert!(steps[1] < 16 * steps[0], "with 100 and 800 items: {steps:?} steps");
}

#[test]
fn each_batch_of_a_purchase_costs_the_same_however_many_come_with_it() {
    fn purchase(history: History, typ: &str, says: impl Fn(u64) -> String) -> (&'static str, String, String) {
        let items =
            (0..history.lines).map(|lot| format!(r#"{{"artikelnr": "L1", "menge": 1{}}}"#, says(lot)));
        let items = items.collect::<Vec<_>>().join(",");
        let body = format!(r#"{{"beleg_typ": "{typ}", "kundennummer": "L-1", "items": [{items}]}}"#);
        ("POST", "belege".to_owned(), body)
    }
    let delivery = Operation {
        name: "EL of new batches",
        request: |history, at| {
            purchase(history, "EL", |lot| format!(r#", "ep_netto": 2, "fremde_charge_nr": "{at}-{lot}""#))
        },
    };
    let invoice = Operation {
        name: "ER that meets them",
        request: |history, _| purchase(history, "ER", |_| r#", "ep_netto": 2"#.to_owned()),
    };
    let steps = [50, 400].map(|lines| {
        let company = Company::with(History { lines, batches: 0 });
        [&delivery, &invoice].map(|operation| company.steps(operation))
    });
    for (at, operation) in [delivery, invoice].iter().enumerate() {
        let [few, many] = [steps[0][at], steps[1][at]];
        assert!(many < 16 * few, "{} with 50 and 400 items: {few} and {many} steps", operation.name);
    }
}

#[test]
fn what_is_out_of_reach_is_walked_over_once_in_a_request() {
    fn invoice(items: impl Iterator<Item = String>) -> (&'static str, String, String) {
        let items = items.collect::<Vec<_>>().join(",");
        let body = format!(r#"{{"beleg_typ": "RE", "kundennummer": "L-1", "items": [{items}]}}"#);
        ("POST", "belege".to_owned(), body)
    }
    fn plain(_: usize) -> String {
        r#"{"artikelnr": "L1", "menge": 3}"#.to_owned()
    }
    fn named(batch: usize) -> String {
        let charge = format!("01900000-0000-7000-8000-0000000000{batch:02x}");
        format!(r#"{{"artikelnr": "L1", "menge": 3, "charge_id": "{charge}"}}"#)
    }
    let operations = [
        Operation { name: "RE of one item", request: |_, _| invoice((0..1).map(plain)) },
        Operation { name: "RE of fifty items", request: |_, _| invoice((0..50).map(plain)) },
        Operation {
            name: "RE of fifty items in as many batches",
            request: |_, _| invoice((0..50).map(named)),
        },
    ];
    let [few, many] = [200, 5_000].map(|lines| {
        let company = Company::with(History { lines, batches: 0 });
        let closed = "update beleg set ohne_gegenbeleg = 1, status = 'erledigt';
             with recursive n(nr) as (select 0 union all select nr + 1 from n where nr < 49)
             insert into charge (tenant_id, id, charge_nr, artikel_id, eingang_quelle, bestand, angelegt_am, \
             charge_nr_key)
             select 1, unhex('019000000000700080000000000000' || printf('%02x', nr)), 'N' || nr, artikel_id, 'manuell',
               0, 0, 'n' || nr
             from (select id as artikel_id from artikel where artikelnummer = 'L1') cross join n";
        company.connection.execute_batch(closed).unwrap();
        operations.each_ref().map(|operation| company.steps(operation))
    });
    let walk = many[0] - few[0];
    for at in [1, 2] {
        assert!(
            many[at] < few[at] + 3 * walk,
            "{}, 100 and 2,500 lines passed over: {few:?}, {many:?}",
            operations[at].name
        );
    }
}

#[test]
fn no_credit_of_a_batch_looks_at_pairs_that_lie_in_others() {
    let credit = Operation {
        name: "credit of a batch that nobody got",
        request: |_, _| {
            let charge = "01900000-0000-7000-8000-00000000000b";
            let items = format!(r#"[{{"artikelnr": "L1", "menge": -1, "charge_id": "{charge}"}}]"#);
            let body = format!(r#"{{"beleg_typ": "RE", "kundennummer": "L-1", "items": {items}}}"#);
            ("POST", "belege".to_owned(), body)
        },
    };
    let steps = [200, 5_000].map(|lines| {
        let company = Company::with(History { lines, batches: 2 });
        let chosen = "update lager_paar set genannt_id = null;
             insert into charge (tenant_id, id, charge_nr, artikel_id, eingang_quelle, bestand, angelegt_am, \
             charge_nr_key)
             select 1, unhex('0190000000007000800000000000000b'), 'X', artikel_id, 'manuell', 0, 0, 'x'
             from (select artikel_id from charge limit 1)";
        company.connection.execute_batch(chosen).unwrap();
        company.steps(&credit)
    });
    assert!(steps[1] < 2 * steps[0], "with 100 and 2,500 pairs in other batches: {steps:?} steps");
}

//! Batches for the tax adviser under `kill -9` (D32).

use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use crate::crash::mill;
use crate::process::{Client, Folder};

/// Posts invoices of January and hands them over, until the server is gone.
fn hand_over(client: &Client, mark: &str, made: &Sender<Value>) {
    for at in 0..100 {
        let invoice = json!({"beleg_typ": "RE", "kunden_id": 2, "beleg_datum": "2026-01-15",
            "external_ref": format!("{mark}-{at}"),
            "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 10 + at, "mwst_satz": 19}]});
        let Ok(_) = client.send("POST", "/api/v1/belege", Some(&invoice)) else { return };
        let wish = json!({"bis": "2026-01-31"});
        let Ok(answer) = client.send("POST", "/api/v1/datev/stapel", Some(&wish)) else { return };
        assert!([200, 201].contains(&answer.status), "{}", answer.body);
        made.send(answer.body["nr"].clone()).unwrap();
    }
}

/// D32: each invoice is in exactly one batch, and each answered batch exists with its files.
#[test]
fn each_invoice_is_handed_over_once_whatever_is_killed() {
    let folder = Folder::new();
    let key = mill(&folder);
    let set = ["datev_berater=1001", "datev_mandant=1", "datev_ab=2026-01-01", "abschluss_bei_anlage=RE"];
    folder.result(&[&["tenant", "set", "Mühle"][..], &set].concat());
    folder.import("Mühle", "konten", &json!([{"fall": "erloes", "satz": "19", "konto": 8400}]));
    let mut answered: Vec<Value> = Vec::new();
    for round in 0..20 {
        let mut server = folder.serve(&[]);
        let (sender, made) = channel();
        let workers: Vec<_> = (0..4)
            .map(|thread| {
                let (client, sender) = (server.client(&key), sender.clone());
                std::thread::spawn(move || hand_over(&client, &format!("D{round}-{thread}"), &sender))
            })
            .collect();
        drop(sender);
        answered.extend(made.iter().take(8 + round % 7));
        server.kill();
        answered.extend(made.iter());
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let check = folder.run(&["check"]);
        assert!(check.status.success(), "round {round}: {}", String::from_utf8_lossy(&check.stdout));
    }
    let server = folder.serve(&[]);
    server.client(&key).post("/api/v1/datev/stapel", &json!({"bis": "2026-01-31"}));
    let connection = folder.database();
    let value = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let invoices = value("select count(*) from beleg");
    assert!(invoices > 160, "only {invoices} invoices");
    assert_eq!(value("select count(*) from datev_beleg"), invoices);
    assert_eq!(value("select count(distinct beleg_id) from datev_beleg"), invoices);
    assert_eq!(
        value(
            "select count(*) from datev_stapel s where s.belege <> (select count(*) from datev_beleg d
      where d.stapel_nr = s.nr) or not exists (select 1 from datev_datei f where f.stapel_nr = s.nr)"
        ),
        0
    );
    for nr in answered.iter().filter_map(Value::as_i64) {
        assert_eq!(value(&format!("select count(*) from datev_stapel where nr = {nr}")), 1, "batch {nr}");
    }
}

//! Searching many customers: every search strategy finds the same (D17).

use partnerd::platform::db::file::connection::open_writer;
use serde_json::json;

use crate::harness::{Client, Server};

/// More than are sorted directly (`master::kunden::sql`), and more than one row of the search text holds.
const CUSTOMERS: i64 = 3_000;

fn fill(server: &Server, tenant: i64) {
    let connection = open_writer(&server.database).unwrap();
    connection
        .execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
             insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, staat, status, ist_kunde,
               ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text)
             select ?1, unhex(printf('%032x', ?2 - i)), i, 'X-' || i, 'Hof ' || i, 'Hof ' || i, 'DE', 'aktiv', i % 2,
               1 - i % 2, 0, 0, 0, 'x-' || i, printf('x-%09d', i),
               iif(i % 3 = 0, 'mueller', 'hof') || char(10) || 'nr ' || i from n",
            [tenant, CUSTOMERS],
        )
        .unwrap();
}

/// The integer ids of a page, and the count.
fn found(client: &Client, query: &str) -> (Vec<i64>, i64) {
    let answer = client.get(&format!("/api/v1/kunden?{query}"));
    let body = answer.is(200);
    let ids = body["data"].as_array().unwrap().iter().map(|kunde| kunde["kunden_id"].as_i64().unwrap());
    (ids.collect(), body["count"].as_i64().unwrap())
}

#[test]
fn many_are_sorted_by_name_page_by_page() {
    let server = Server::start();
    let mill = server.company("Mühle");
    fill(&server, mill.tenant);
    let name = |i: &i64| (if i % 3 == 0 { "mueller" } else { "hof" }, format!("nr {i}"));
    type Rule = fn(i64) -> bool;
    let table: &[(&str, Rule)] = &[
        ("", |_| true),
        ("suche=nr&", |_| true),
        ("suche=nr+29&", |i| i.to_string().contains("29")),
        ("partner_typ=kunde&", |i| i % 2 == 1),
        ("suche=hof&partner_typ=lieferant&", |i| i % 3 != 0 && i % 2 == 0),
    ];
    for (query, rule) in table {
        let mut expected: Vec<i64> = (1..=CUSTOMERS).filter(|i| rule(*i)).collect();
        expected.sort_by_key(name);
        for sortierung in ["name", "-name"] {
            for offset in [0, 990] {
                let page: Vec<i64> = expected.iter().copied().skip(offset).take(70).collect();
                let query = format!("{query}sortierung={sortierung}&limit=70&offset={offset}");
                assert_eq!(found(&mill, &query), (page, expected.len() as i64), "{query}");
            }
            expected.reverse();
        }
    }
}

#[test]
fn few_and_many_are_found_page_by_page_in_the_order_of_the_list() {
    let server = Server::start();
    let mill = server.company("Mühle");
    fill(&server, mill.tenant);
    let other = server.company("Andere");
    other.post("/api/v1/kunden", json!({"name": "Hof Müller"})).is(201);
    type Rule = fn(i64) -> bool;
    let table: &[(&str, Rule)] = &[
        ("suche=hof", |i| i % 3 != 0),
        ("suche=m%C3%BCller", |i| i % 3 == 0),
        ("suche=hof&partner_typ=kunde", |i| i % 3 != 0 && i % 2 == 1),
        ("suche=m%C3%BCller&partner_typ=lieferant", |i| i % 3 == 0 && i % 2 == 0),
        ("suche=hof+nr+29", |i| i % 3 != 0 && i.to_string().contains("29")),
        ("suche=nr", |_| true),
        ("suche=nr+2999", |i| i == 2_999),
        ("suche=nirgends", |_| false),
        ("suche=", |_| true),
    ];
    for (query, rule) in table {
        let expected: Vec<i64> = (1..=CUSTOMERS).filter(|i| rule(*i)).collect();
        for offset in [0, 40, 990, 1_900, 5_000] {
            let page: Vec<i64> = expected.iter().copied().skip(offset).take(70).collect();
            let (ids, count) = found(&mill, &format!("{query}&limit=70&offset={offset}"));
            assert_eq!((ids, count), (page, expected.len() as i64), "{query} from {offset}");
        }
    }
}

/// A search that is not blank but has no letter left after folding finds nothing; beside a word only the rest counts.
#[test]
fn marks_alone_find_nothing_anywhere() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Hof Müller"})).is(201);
    let article = r#"[{"artikelnummer": "1", "bezeichnung": "Weizen Müller"}]"#;
    server.import(&mill, "artikel", article);
    server.import(&mill, "kontrakte", r#"[{"kontrakt_nr": "Müller-1"}]"#);
    let table = [
        ("%CC%81", 0),
        ("%CD%85", 0),
        ("%E2%83%9D", 0),
        ("%EF%B8%8F", 0),
        ("%CC%81+%CC%81", 0),
        ("%C2%B4", 0),
        ("%CC%81+muller", 1),
        ("muller+%EF%B8%8F", 1),
        ("%CC%81+nirgends", 0),
        ("", 1),
        ("+++", 1),
    ];
    for list in ["kunden", "artikel", "kontrakte"] {
        for (suche, expected) in table {
            let answer = mill.get(&format!("/api/v1/{list}?suche={suche}"));
            let (count, rows) = (&answer.is(200)["count"], answer.body["data"].as_array().unwrap().len());
            assert_eq!((count, rows), (&json!(expected), expected), "{list} {suche}");
        }
    }
    mill.get(&format!("/api/v1/kunden?suche={}", ["%CC%81"; 11].join("+")))
        .refused(400, "PARAMETER_UNGUELTIG");
    for typ in ["kunde", "lieferant"] {
        assert_eq!(found(&mill, &format!("suche=%CC%81&partner_typ={typ}")), (vec![], 0));
    }
}

#[test]
fn a_change_is_found_at_once_beside_its_neighbours() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = |id: &str| format!("/api/v1/kunden/{id}");
    let ids: Vec<_> =
        (1..=130).map(|i| mill.post("/api/v1/kunden", json!({"name": format!("Hof {i}")})).id()).collect();
    assert_eq!(found(&mill, "suche=hof&limit=200").1, 130);
    for at in [0, 63, 64, 129] {
        mill.put(&path(&ids[at]), json!({"name": "Gut Groß", "nachname_firma": "Gut Groß"})).is(200);
    }
    assert_eq!(found(&mill, "suche=gross"), (vec![1, 64, 65, 130], 4));
    assert_eq!(found(&mill, "suche=hof&limit=200").1, 126);
    assert_eq!(found(&mill, "suche=hof+63"), (vec![63], 1));
    let check = server.cli(&["check"]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    let texts = |from: &str, to: &str| {
        let change = format!("update kunde_suche set texte = replace(texte, '{from}', '{to}')");
        open_writer(&server.database).unwrap().execute_batch(&change).unwrap();
        server.cli(&["check"]).status.success()
    };
    assert!(!texts("gross", "klein"));
    assert!(texts("klein", "gross"));
}

/// Imported customers keep their integer ids, in any order; `check` verifies the search text (D22).
#[test]
fn customers_are_found_whose_ids_come_out_of_order() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (id, name) in [(24, "Zweiter"), (7, "Erster"), (130, "Ferner"), (23, "Dritter")] {
        server.import(&mill, "kunden", &format!("kunden_id;kundennr;name\n{id};N-{id};{name}\n"));
    }
    let found = mill.get("/api/v1/kunden?suche=Dritter");
    assert_eq!(found.is(200)["data"][0]["kundennr"], "N-23");
}

//! Open quantities of documents, for each position, until something matches them (D8).

use serde_json::json;

use super::{Mill, and, moves, plain, sell};
use crate::harness::Server;

/// The open quantities of positions, in the order of their documents.
fn open(server: &Server) -> String {
    server.sql(
        "select group_concat(line, ' ') from (
           select beleg_typ || position || ':' || (menge / 1000000) as line from lager_offen
           order by beleg_id, position, nr)",
    )
}

#[test]
fn what_a_document_moved_is_open_until_something_meets_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let sack = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    let two = |first: i64, second: i64| json!([sell(first, &charge), sack(second)]);
    mill.post("LS", two(10, 3)).is(201);
    let second = mill.post("LS", two(5, 1)).id();
    let other = mill.post_for("Kd2", "LS", two(7, 7)).id();
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:3 LS1:5 LS2:1 LS1:7 LS2:7");

    let of_second = |item| and(item, json!({"bezug_beleg_id": second}));
    let invoice = mill.post("RE", json!([of_second(plain(5)), of_second(sack(2))]));
    assert_eq!(moves(&invoice), [""; 0], "one sack more than was delivered moves nothing");
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:3 LS1:7 LS2:7");

    assert_eq!(moves(&mill.post("RE", sack(2))), [""; 0]);
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:1 LS1:7 LS2:7");

    let back = mill.post_for("Kd2", "LS", sack(-2));
    assert_eq!(moves(&back), ["2.000"]);
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:1 LS1:7 LS2:5", "a return lowers what was delivered");

    assert_eq!(mill.post("AU", two(1, 1)).is(201)["lagerbewegungen"], json!([]));
    assert_eq!(moves(&mill.post("LS", sack(4))), ["-4.000"]);
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:1 LS1:7 LS2:5 LS1:4");

    let third = mill.post_for("Kd2", "LS", two(1, 1)).id();
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:1 LS1:7 LS2:5 LS1:4 LS1:1 LS2:1");
    mill.storno(&third).is(200);
    assert_eq!(
        open(&server),
        "EL1:100 LS1:10 LS2:1 LS1:7 LS2:5 LS1:4",
        "what nobody met goes without a trace"
    );
    mill.put(&other, two(2, 6)).is(200);
    assert_eq!(open(&server), "EL1:100 LS1:10 LS2:1 LS1:2 LS2:6 LS1:4", "the return waits for its credit");
    assert_eq!(mill.stock("C1"), "83.000", "100 - 10 - 5 - 2");
}

#[test]
fn one_invoice_meets_many_lines_of_several_deliveries() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let lines = |count: usize| json!(vec![json!({"artikelnr": "S", "menge": 1}); count]);
    let rows = || -> i64 { server.sql("select count(*) from lager_offen") };
    for count in [500, 100, 1] {
        mill.post("LS", lines(count)).is(201);
    }
    assert_eq!(rows(), 601);
    assert_eq!(moves(&mill.post("RE", json!({"artikelnr": "S", "menge": 602}))), ["-1.000"]);
    assert_eq!(rows(), 1);
}

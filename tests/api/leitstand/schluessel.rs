//! Keys made, changed and deactivated in the Leitstand: this takes effect with the next request.

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::access::key::Grant;
use partnerd::platform::gate::{Policy, Zugang};
use partnerd::rules::scope::Scope;
use serde_json::json;

use super::{Browser, PASSWORD, Shown, person};
use crate::harness::{Client, NOON, Server};

/// The key that a page shows only once.
fn shown(page: &Shown) -> String {
    let after = page.is(200).text.split("class=\"once\">").nth(1).unwrap();
    after.split('<').next().unwrap().to_owned()
}

/// The public part of a key.
pub fn id(key: &str) -> &str {
    key.split('_').nth(1).unwrap()
}

/// Creates a key on the page with these fields.
fn made(browser: &mut Browser, firma: i64, fields: &[(&str, &str)]) -> String {
    shown(&browser.fill(&format!("/leitstand/f/{firma}/schluessel/neu"), fields))
}

/// The administrative changes: action, object, and the fields before and after.
fn changes(server: &Server) -> Vec<String> {
    let output = server.cli(&["--json", "audit", "changes"]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let said = |row: &serde_json::Value| {
        ["tat", "gegenstand", "vorher", "nachher"].map(|column| row[column].to_string()).join(" ")
    };
    rows.iter().map(said).collect()
}

#[test]
fn a_key_made_on_the_page_works_at_once_and_is_refused_at_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let list = format!("/leitstand/f/{}/schluessel", mill.tenant);
    let fields = [("bezeichnung", " Waage Hof "), ("zweck", "waage"), ("scope", "belege:read")];
    let key = made(&mut browser, mill.tenant, &fields);
    let one = format!("{list}/{}", id(&key));
    let scale = server.client(mill.tenant, Some(key.clone()));
    scale.get("/api/v1/wiegungen").is(200);
    scale.get("/api/v1/belege").is(200);
    scale.post("/api/v1/kunden", json!({"name": "Huber"})).refused(403, "SCOPE_FEHLT");
    let page = browser.get(&one);
    for text in ["Waage Hof", "Wiegungen lesen", "Belege lesen", "von 10.000"] {
        assert!(page.is(200).text.contains(text), "{text}: {}", page.text);
    }
    assert!(browser.get(&list).is(200).text.contains(&one));

    browser.fill(&format!("{one}/sperren"), &[]).is(303);
    scale.get("/api/v1/wiegungen").refused(401, "API_KEY_DEAKTIVIERT");
    assert!(browser.get(&list).text.contains("gesperrt"));
    browser.fill(&format!("{one}/freigeben"), &[]).is(303);
    scale.get("/api/v1/wiegungen").is(200);

    let fields = [
        ("bezeichnung", "Waage"),
        ("scope", "kunden:write"),
        ("tageslimit", "7"),
        ("gueltig_bis", "2026-07-10"),
    ];
    browser.fill(&format!("{one}/aendern"), &fields).is(303);
    scale.get("/api/v1/wiegungen").refused(403, "SCOPE_FEHLT");
    let answer = scale.post("/api/v1/kunden", json!({"name": "Huber"}));
    answer.is(201);
    assert_eq!(answer.headers["x-ratelimit-limit"], "7");
    server.set_clock("2026-07-11T00:00:00Z");
    scale.get("/api/v1/kunden").refused(401, "API_KEY_ABGELAUFEN");
    browser.log_in("Erika", PASSWORD).is(303);
    assert!(browser.get(&one).text.contains("abgelaufen am 10.07.2026"));
    // The label of an expired key can be changed, but it gets no date in the past.
    let fields = [fields[0], fields[1], ("gueltig_bis", "2026-07-10")];
    browser.fill(&format!("{one}/aendern"), &fields).is(303);
    browser.fill(&format!("{one}/aendern"), &[fields[0], fields[1], ("gueltig_bis", "2026-07-09")]).is(400);
}

#[test]
fn the_page_leaves_the_rows_that_the_command_line_leaves() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let before = changes(&server).len();
    let fields = [("bezeichnung", "Büro \"1\""), ("zweck", "buchhaltung"), ("gueltig_bis", "2099-12-31")];
    let key = made(&mut browser, mill.tenant, &fields);
    let one = format!("/leitstand/f/{}/schluessel/{}", mill.tenant, id(&key));
    let fields = [("bezeichnung", "Büro"), ("alles", "ja"), ("tageslimit", "50"), ("gueltig_bis", "")];
    browser.fill(&format!("{one}/aendern"), &fields).is(303);
    browser.fill(&format!("{one}/aendern"), &fields).is(303);
    for _ in 0..2 {
        browser.fill(&format!("{one}/sperren"), &[]).is(303);
    }
    browser.fill(&format!("{one}/freigeben"), &[]).is(303);
    let by_page = changes(&server);
    let cli = |arguments: &[&str]| {
        let output = server.cli(&[&["key"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let other = cli(&[
        "create",
        "--tenant",
        "Mühle",
        "--label",
        "Büro \"1\"",
        "--for",
        "buchhaltung",
        "--expires",
        "2099-12-31",
    ]);
    let other = id(&other);
    let change =
        ["change", other, "--label", "Büro", "--all-scopes", "--daily-limit", "50", "--expires", "never"];
    cli(&change);
    cli(&change);
    for _ in 0..2 {
        cli(&["deactivate", other]);
    }
    cli(&["activate", other]);
    let by_command = changes(&server);
    let of = |rows: &[String], id: &str| {
        let of_key = rows.iter().filter(|row| row.contains(id));
        let mut texts: Vec<_> = of_key.map(|row| row.replace(id, "ID")).collect();
        texts.sort();
        texts
    };
    assert_eq!(of(&by_page, id(&key)), of(&by_command, other));
    assert_eq!((by_page.len() - before, by_command.len() - by_page.len()), (4, 4), "{by_command:?}");
    // The log names the person.
    let named = "select count(*) from verwaltung where akteur ->> 'person' = 1
        and gegenstand ->> 'art' = 'schluessel' and gegenstand ->> 'firma' = 1";
    assert_eq!(server.sql::<i64>(named), 4);
    let of_key = server.cli(&["--json", "audit", "changes", "--key", id(&key)]);
    let of_key: Vec<serde_json::Value> = serde_json::from_slice(&of_key.stdout).unwrap();
    assert_eq!(of_key.len(), 4);
}

#[test]
fn a_key_gets_no_more_requests_a_day_here_than_the_setting_allows() {
    let leitstand = Zugang { max_daily_limit: Some(20_000), ..Zugang::default() };
    let server = Server::start_with(NOON, Policy { leitstand, ..Policy::default() });
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let list = format!("/leitstand/f/{}/schluessel", mill.tenant);
    let fields = |limit: &'static str| [("bezeichnung", "shop"), ("zweck", "shop"), ("tageslimit", limit)];
    let is_refused = |page: Shown| {
        let text = &page.is(400).text;
        assert!(text.contains("id=\"fehler-tageslimit\"") && text.contains("Höchstens 20.000"), "{text}");
    };
    for limit in ["20001", "4294967295"] {
        is_refused(browser.fill(&format!("{list}/neu"), &fields(limit)));
    }
    let key = made(&mut browser, mill.tenant, &fields("20000"));
    let change = format!("{list}/{}/aendern", id(&key));
    is_refused(browser.fill(&change, &fields("20001")));
    // A limit set by the command line stays, and can be lowered.
    assert!(server.cli(&["key", "change", id(&key), "--daily-limit", "500000"]).status.success());
    browser.fill(&change, &fields("500000")).is(303);
    is_refused(browser.fill(&change, &fields("499999")));
    browser.fill(&change, &fields("19999")).is(303);
    is_refused(browser.fill(&change, &fields("500000")));
}

#[test]
fn where_the_setting_allows_less_than_usual_a_new_key_has_no_more() {
    let leitstand = Zugang { max_daily_limit: Some(50), ..Zugang::default() };
    let server = Server::start_with(NOON, Policy { leitstand, ..Policy::default() });
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let new = format!("/leitstand/f/{}/schluessel/neu", mill.tenant);
    assert!(browser.get(&new).is(200).text.contains("value=\"50\""));
    browser.fill(&new, &[("bezeichnung", "shop"), ("zweck", "shop"), ("tageslimit", "")]).is(400);
}

#[test]
fn what_is_wrong_is_refused_at_its_field() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let new = format!("/leitstand/f/{}/schluessel/neu", mill.tenant);
    let long = "x".repeat(101);
    let label = ("bezeichnung", "shop");
    let purpose = ("zweck", "shop");
    for (field, fields) in [
        ("bezeichnung", vec![purpose]),
        ("bezeichnung", vec![("bezeichnung", long.as_str()), purpose]),
        ("bezeichnung", vec![("bezeichnung", "zwei\nZeilen"), purpose]),
        ("scope", vec![label]),
        ("scope", vec![label, ("zweck", "alles"), ("scope", "geld:drucken")]),
        ("gueltig_bis", vec![label, purpose, ("gueltig_bis", "2026-02-30")]),
        ("gueltig_bis", vec![label, purpose, ("gueltig_bis", "2026-07-09")]),
        ("tageslimit", vec![label, purpose, ("tageslimit", "0")]),
        ("tageslimit", vec![label, purpose, ("tageslimit", "4294967296")]),
        ("tageslimit", vec![label, purpose, ("tageslimit", "1,5")]),
    ] {
        let refused = browser.fill(&new, &fields);
        assert!(
            refused.is(400).text.contains(&format!("id=\"fehler-{field}\"")),
            "{fields:?}: {}",
            refused.text
        );
        // Ticked boxes stay ticked.
        if fields.contains(&purpose) {
            assert!(refused.text.contains("value=\"shop\" checked"), "{}", refused.text);
        }
    }
    assert_eq!(server.sql::<i64>("select count(*) from api_key"), 1);
    let evil = "<script>alert(1)</script>\"><img src=x>";
    let key = made(&mut browser, mill.tenant, &[("bezeichnung", evil), purpose]);
    let one = format!("/leitstand/f/{}/schluessel/{}", mill.tenant, id(&key));
    let list = format!("/leitstand/f/{}/schluessel", mill.tenant);
    server.client(mill.tenant, Some(key.clone())).get("/api/v1/wiegungen").is(403);
    let log = format!("/leitstand/f/{}/protokoll", mill.tenant);
    for path in [&list, &one, &log, &format!("{one}/aendern"), &format!("{one}/sperren")] {
        let shown = browser.get(path);
        assert!(shown.is(200).text.contains("&lt;script&gt;"), "{path}: {}", shown.text);
        assert!(!shown.text.contains("<script") && !shown.text.contains("<img"), "{path}");
    }
}

#[test]
fn the_key_is_shown_once_and_stands_nowhere() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let key = made(&mut browser, mill.tenant, &[("bezeichnung", "shop"), ("zweck", "shop")]);
    let secret = key.rsplit('_').next().unwrap().to_owned();
    assert_eq!(secret.len(), 56);
    let firma = mill.tenant;
    let one = id(&key).to_owned();
    for path in [
        "schluessel",
        &format!("schluessel/{one}"),
        &format!("schluessel/{one}/aendern"),
        "protokoll",
        "schluessel/neu",
    ] {
        let shown = browser.get(&format!("/leitstand/f/{firma}/{path}"));
        assert!(!shown.is(200).text.contains(&secret), "{path}");
    }
    server.client(firma, Some(key.clone())).get("/api/v1/kunden").is(200);
    server.restart();
    let folder = server.database.parent().unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!holds(&secret), "the key stands in {}", path.display());
    }
    let control: i64 = server.sql(&format!("select count(*) from api_key where id = '{one}'"));
    assert_eq!(control, 1);
}

#[test]
fn the_key_of_another_company_is_unknown() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let foreign = other.key.clone().unwrap();
    let foreign = id(&foreign);
    let mut browser = person(&server, &["Erika", "--role", "verwalten", "--tenant", "Mühle"]);
    let own = mill.key.clone().unwrap();
    let path = |id: &str, end: &str| format!("/leitstand/f/{}/schluessel/{id}{end}", mill.tenant);
    let token = browser.get(&path(id(&own), "/sperren")).hidden("token").unwrap();
    assert!(!browser.get(&path("", "")).text.contains(foreign));
    let fields = [("token", token.as_str()), ("bezeichnung", "x"), ("zweck", "shop")];
    for end in ["", "/aendern", "/sperren", "/freigeben"] {
        let unknown = browser.get(&path("000000000000", end));
        let hidden = browser.get(&path(foreign, end));
        assert_eq!((hidden.is(404).status, &hidden.text), (unknown.status, &unknown.text));
        if !end.is_empty() {
            browser.post(&path(foreign, end), &fields).is(404);
        }
        browser.get(&format!("/leitstand/f/{}/schluessel/{foreign}{end}", other.tenant)).is(404);
    }
    other.get("/api/v1/kunden").is(200);
    // A person who may only look sees keys but cannot create any.
    let mut paul = person(&server, &["Paul", "--tenant", "Mühle"]);
    assert!(!paul.get(&path(id(&own), "")).is(200).text.contains("sperren"));
    let token = paul.get("/leitstand/abmelden").hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("bezeichnung", "x"), ("zweck", "shop")];
    paul.post(&format!("/leitstand/f/{}/schluessel/neu", mill.tenant), &fields).is(403);
    for end in ["/aendern", "/sperren", "/freigeben"] {
        paul.post(&path(id(&own), end), &fields).is(403);
    }
    mill.get("/api/v1/kunden").is(200);
}

#[test]
fn two_changes_of_the_same_state_do_not_undo_each_other() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let own = mill.key.clone().unwrap();
    let path = format!("/leitstand/f/{}/schluessel/{}/aendern", mill.tenant, id(&own));
    let page = browser.get(&path);
    let (token, stand) = (page.hidden("token").unwrap(), page.hidden("stand").unwrap());
    browser.fill(&path, &[("bezeichnung", "zuerst"), ("alles", "ja")]).is(303);
    let late =
        [("token", token.as_str()), ("stand", stand.as_str()), ("bezeichnung", "zu spät"), ("alles", "ja")];
    let refused = browser.post(&path, &late);
    assert!(refused.is(412).text.contains("zu spät"), "{}", refused.text);
    // The same form again is refused, too: its input refers to the earlier state.
    assert_eq!(refused.hidden("stand"), Some(stand));
    assert_eq!(server.sql::<String>("select bezeichnung from api_key"), "zuerst");
}

/// Sends requests with a new key that has this label and limit.
fn used(server: &Server, tenant: i64, label: &str, limit: u32, requests: u32) -> Client {
    let scopes = [Scope::KundenRead].into_iter().collect();
    let grant = Grant { label: label.to_owned(), scopes, daily_limit: Some(limit), ..Grant::default() };
    let client = server.key_with(tenant, grant);
    (0..requests).for_each(|_| drop(client.get("/api/v1/kunden")));
    client
}

#[test]
fn requests_are_counted_by_day_and_refused_ones_apart() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let other = server.company("Andere");
    let shop = used(&server, mill.tenant, "shop", 10, 8);
    used(&server, mill.tenant, "still", 10, 7);
    used(&server, mill.tenant, "voll", 5, 6);
    shop.get("/api/v1/wiegungen").refused(403, "SCOPE_FEHLT");
    other.get("/api/v1/kunden").is(200);
    server.restart();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let list = browser.get(&format!("/leitstand/f/{}/schluessel", mill.tenant));
    assert!(list.is(200).text.contains("20 ausgeführt, 2 abgelehnt"), "{}", list.text);
    let key = shop.key.unwrap();
    let one = browser.get(&format!("/leitstand/f/{}/schluessel/{}", mill.tenant, id(&key)));
    assert!(one.is(200).text.contains("8 ausgeführt, 1 abgelehnt"), "{}", one.text);
    assert!(one.text.contains("9 von 10"), "{}", one.text);
    // Keys near their limit need attention.
    let home = browser.get(&format!("/leitstand/f/{}", mill.tenant));
    assert!(home.is(200).text.contains("„shop“ hat heute 9 von 10 Anfragen"), "{}", home.text);
    assert!(home.text.contains("„voll“ hat seine 5 Anfragen"), "{}", home.text);
    assert!(!home.text.contains("„still“"), "{}", home.text);
    // Each error links to similar rows of the log.
    let link = format!("protokoll?wer=schluessel-{}&amp;code=SCOPE%5FFEHLT", id(&key));
    let refused = browser.get(&format!("/leitstand/f/{}/abgelehnt", mill.tenant));
    assert!(refused.is(200).text.contains(&link), "{link}: {}", refused.text);
}

#[test]
fn days_with_too_many_requests_are_not_counted() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let list = format!("/leitstand/f/{}/schluessel", mill.tenant);
    let write = |statement: &str| open_writer(&server.database).unwrap().execute_batch(statement).unwrap();
    // Three days ago.
    let rows = |first: i64, last: i64| {
        write(&format!(
            "with recursive n (nr) as (select {first} union all select nr + 1 from n where nr < {last})
             insert into audit (nr, am, request_id, tenant_id, key_id, adresse, methode, pfad, status, \
                  dauer_us, bytes_ein,
               bytes_aus, anzahl, pruefsumme)
             select nr, 20641 * 86400000, randomblob(16), iif(nr = 0, 1, 2), 'k', '::1', 'GET', '/x', 200, 1, 0, 0, 3,
               zeroblob(32) from n"
        ));
    };
    // Before the existing ones: with numbers up to 0.
    rows(-89_999, 0);
    let counted = browser.get(&list);
    rows(-100_000, -90_000);
    let too_many = browser.get(&list);
    write("delete from audit where nr <= 0");
    assert!(counted.is(200).text.contains("In 14 Tagen 3 ausgeführte, 0 abgelehnte"), "{}", counted.text);
    assert!(too_many.is(200).text.contains("Noch keine Anfragen"), "{}", too_many.text);
}

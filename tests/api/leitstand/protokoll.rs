//! The log in the Leitstand: searched by each field, page by page, verified, and complete where somebody
//! changed something.

use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::rules::scope::Scope;
use serde_json::json;

use super::schluessel::id;
use super::sicherung::carried_out;
use super::{Browser, PASSWORD, Shown, person};
use crate::harness::{Client, Server};
use crate::platform::audit::tampered;

const HOUSE: &str = "/leitstand/protokoll";

/// Starts a server with a company whose log has rows of every kind, and a person who manages all companies.
fn busy() -> (Server, Client, Browser) {
    let mut server = Server::start_at("2026-07-09T10:00:00Z");
    let mill = server.company("Mühle");
    let scale = server.key(mill.tenant, &[Scope::WaageRead]);
    scale.get("/api/v1/wiegungen").is(200);
    server.set_clock("2026-07-10T10:00:00Z");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
    mill.post("/api/v1/belege", body).is(201);
    server.set_clock("2026-07-10T11:30:00Z");
    mill.get("/api/v1/kunden?gibt_es_nicht=1").is(400);
    scale.get("/api/v1/kunden").refused(403, "SCOPE_FEHLT");
    server.client(0, None).get("/api/v1/geheim").refused(401, "API_KEY_FEHLT");
    assert!(server.cli(&["tenant", "set", "Mühle", "negativbestand=ablehnen"]).status.success());
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    browser.fill(&settings, &[("negativbestand", "hinweis")]).is(303);
    // Rows of reads and refusals reach the log a little later; a restart moves them there at once.
    server.restart();
    let base = format!("http://{}", server.address);
    let cookie = browser.cookie.clone();
    (server, mill, Browser { base, cookie, ..browser })
}

/// The text in the log for a setting that was changed, and changed back.
const NEGATIVE: &str = "Was geschieht, wenn von einer Charge mehr verkauft wird, als da ist: ";
const BACK: &str = "bisher ablehnen, jetzt annehmen, mit Hinweis";

/// The cells of a column of a page.
fn cells(shown: &Shown, head: &str) -> Vec<String> {
    let mark = format!("data-head=\"{head}\">");
    let cells = shown.is(200).text.split(&mark).skip(1);
    cells.map(|cell| cell.split('<').next().unwrap().to_owned()).collect()
}

/// The rows of a page: the request without the status of its answer, or the change.
fn rows(shown: &Shown) -> Vec<String> {
    let is_status = |word: &&str| word.len() == 3 && word.parse::<u16>().is_ok();
    let asked = |cell: &String| cell.split(' ').filter(|word| !is_status(word)).collect::<Vec<_>>().join(" ");
    match cells(shown, "Technisch") {
        technical if technical.is_empty() => cells(shown, "Was"),
        technical => technical.iter().map(asked).collect(),
    }
}

#[test]
fn the_log_says_what_happened_in_words_and_small_beside_it_what_programs_call_it() {
    let (_server, mill, mut browser) = busy();
    let log = format!("/leitstand/f/{}/protokoll", mill.tenant);
    let shown = browser.get(&log);
    let said: Vec<_> = cells(&shown, "Was").into_iter().zip(cells(&shown, "Technisch")).collect();
    let settings = format!("POST /leitstand/f/{}/einstellungen 303", mill.tenant);
    for (words, technical) in [
        ("Beleg anlegen", "POST /api/v1/belege 201"),
        ("Gelesen: Wiegungen, die neueste zuerst", "GET /api/v1/wiegungen 200"),
        ("Einstellungen: geändert", settings.as_str()),
    ] {
        assert!(said.contains(&(words.to_owned(), technical.to_owned())), "{words}: {said:?}");
    }
    let refused: Vec<_> = said.iter().filter(|(_, technical)| technical.ends_with(" 403")).collect();
    assert!(
        !refused.is_empty() && refused.iter().all(|(words, _)| words.ends_with(": abgelehnt")),
        "{said:?}"
    );
    let pages = browser.get(&format!("{log}?ergebnis=seiten"));
    let pages = cells(&pages, "Was");
    assert!(pages.contains(&"Einstellungen: angesehen".to_owned()), "{pages:?}");
}

#[test]
fn rows_are_found_by_each_field() {
    let (server, mill, mut browser) = busy();
    let all = id(mill.key.as_ref().unwrap()).to_owned();
    let scale: String = server.sql("select id from api_key where scopes = 'waage:read'");
    let log = format!("/leitstand/f/{}/protokoll", mill.tenant);
    let customer = "POST /api/v1/kunden".to_owned();
    let document = "POST /api/v1/belege".to_owned();
    let (bad, forbidden) = ("GET /api/v1/kunden".to_owned(), "GET /api/v1/kunden".to_owned());
    let weighings = "GET /api/v1/wiegungen".to_owned();
    let by_command = NEGATIVE.to_owned() + "bisher annehmen, mit Hinweis, jetzt ablehnen";
    let by_page = NEGATIVE.to_owned() + BACK;
    let form = format!("POST /leitstand/f/{}/einstellungen", mill.tenant);
    let cases: Vec<(String, Vec<&String>)> = vec![
        ("wer=programme".to_owned(), vec![&forbidden, &bad, &document, &customer, &weighings]),
        (format!("wer=schluessel-{scale}"), vec![&forbidden, &weighings]),
        (format!("wer=schluessel-{all}"), vec![&bad, &document, &customer]),
        ("wer=leute".to_owned(), vec![&form]),
        ("wer=person-1".to_owned(), vec![&form]),
        ("wer=person-2".to_owned(), vec![]),
        ("ergebnis=aenderungen&wer=leute".to_owned(), vec![&by_page]),
        ("ergebnis=aenderungen&wer=person-1".to_owned(), vec![&by_page]),
        ("ergebnis=aenderungen&wer=person-2".to_owned(), vec![]),
        ("ergebnis=aenderungen&wer=programme".to_owned(), vec![]),
        (format!("ergebnis=aenderungen&wer=schluessel-{all}"), vec![]),
        ("ergebnis=aenderungen&bis=2026-07-10".to_owned(), vec![&by_page]),
        ("ergebnis=aenderungen&bis=2026-07-09".to_owned(), vec![]),
        ("wer=befehl".to_owned(), vec![&by_command]),
        ("wer=fremde".to_owned(), vec![]),
        ("ergebnis=aenderungen".to_owned(), vec![&by_page, &by_command]),
        ("ergebnis=abgelehnt".to_owned(), vec![&forbidden, &bad]),
        ("status=403".to_owned(), vec![&forbidden]),
        ("status=4xx".to_owned(), vec![&forbidden, &bad]),
        ("code=scope_fehlt".to_owned(), vec![&forbidden]),
        ("pfad=%2Fbelege".to_owned(), vec![&document]),
        ("pfad=POST%20%2Fapi%2Fv1%2Fkunden".to_owned(), vec![&customer]),
        ("wer=programme&von=2026-07-10T13:30".to_owned(), vec![&forbidden, &bad]),
        ("wer=programme&bis=2026-07-10T13:29".to_owned(), vec![&document, &customer, &weighings]),
        ("wer=programme&von=2026-07-10&bis=2026-07-10T12:00".to_owned(), vec![&document, &customer]),
        ("bis=2026-07-09".to_owned(), vec![&weighings]),
    ];
    for (query, expected) in cases {
        let mut expected: Vec<_> = expected.into_iter().cloned().collect();
        let mut found = rows(&browser.get(&format!("{log}?{query}")));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{query}");
    }
    // Newest first, with names and the meaning of codes.
    let shown = browser.get(&format!("{log}?wer=programme"));
    assert_eq!(rows(&shown), [forbidden, bad, document, customer, weighings]);
    let text = &browser.get(&log).text;
    for word in ["Erika", "Dem Schlüssel fehlt die Berechtigung", "Was jemand geändert hat"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let changes = &browser.get(&format!("{log}?ergebnis=aenderungen")).text;
    for word in ["Erika", "Kommandozeile: tenant set ("] {
        assert!(changes.contains(word), "{word}: {changes}");
    }
    // Pages that were only looked at are shown on request.
    assert!(!text.contains("GET /leitstand"), "{text}");
    assert!(browser.get(&format!("{log}?ergebnis=seiten")).text.contains("GET /leitstand"));
    for wrong in ["status=viele", "von=gestern", "bis=2026-13-01"] {
        let shown = browser.get(&format!("{log}?{wrong}"));
        assert!(shown.is(200).text.contains("Erwartet wird"), "{wrong}: {}", shown.text);
        assert!(rows(&shown).is_empty(), "{wrong}");
    }
    browser.get(&format!("{log}?vor=unsinn&wer=unsinn")).is(200);
}

/// The first link of a page that begins like this.
fn link(shown: &Shown, begin: &str) -> Option<String> {
    let after = shown.text.split(&format!("href=\"{begin}")).nth(1)?;
    Some(format!("{begin}{}", after.split('"').next().unwrap().replace("&amp;", "&")))
}

#[test]
fn a_row_says_all_and_leads_to_its_record() {
    let (_server, mill, mut browser) = busy();
    let log = format!("/leitstand/f/{}/protokoll", mill.tenant);
    let found = browser.get(&format!("{log}?pfad=belege"));
    let one = link(&found, &format!("{log}/")).unwrap();
    let shown = browser.get(&one);
    let document = link(shown.is(200), &format!("/leitstand/f/{}/belege/", mill.tenant)).unwrap();
    assert!(browser.get(&document).is(200).text.contains("AN-2026-00001"));
    let found = browser.get(&format!("{log}?pfad=POST%20%2Fapi%2Fv1%2Fkunden"));
    let shown = browser.get(&link(&found, &format!("{log}/")).unwrap());
    let partner = link(shown.is(200), &format!("/leitstand/f/{}/partner/", mill.tenant)).unwrap();
    assert!(browser.get(&partner).is(200).text.contains("Huber"));
    let refused = browser.get(&format!("{log}?code=SCOPE_FEHLT"));
    let refused = browser.get(&link(&refused, &format!("{log}/")).unwrap());
    for text in
        ["<dd>403</dd>", "SCOPE_FEHLT: Dem Schlüssel fehlt die Berechtigung", "127.0.0.1", "/api/v1/kunden"]
    {
        assert!(refused.is(200).text.contains(text), "{text}: {}", refused.text);
    }
    // The log of all companies has the same row, with a link to the same document.
    let whole = browser.get(&format!("{HOUSE}?pfad=belege"));
    let shown = browser.get(&link(&whole, &format!("{HOUSE}/")).unwrap());
    assert_eq!(link(shown.is(200), "/leitstand/f/1/belege/"), Some(document));
    for nothing in ["99999", "0", "-1", "x", "20644-1"] {
        browser.get(&format!("{log}/{nothing}")).is(404);
    }
}

#[test]
fn a_company_sees_its_own_rows_and_the_house_all() {
    let (mut server, mill, mut browser) = busy();
    let other = server.company("Andere");
    other.post("/api/v1/kunden", json!({"name": "fremd"})).is(201);
    server.client(0, None).get("/api/v1/geheim").refused(401, "API_KEY_FEHLT");
    server.restart();
    browser.base = format!("http://{}", server.address);
    let whole = browser.get(HOUSE);
    assert!(
        whole.is(200).text.contains(">Andere<") && whole.text.contains("/api/v1/geheim"),
        "{}",
        whole.text
    );
    let of_other = browser.get(&format!("/leitstand/f/{}/protokoll", other.tenant));
    assert_eq!(rows(&of_other), ["POST /api/v1/kunden"]);
    let own = link(&of_other, &format!("/leitstand/f/{}/protokoll/", other.tenant)).unwrap();
    let place = own.rsplit('/').next().unwrap();
    browser.get(&format!("{HOUSE}/{place}")).is(200);
    let mut paul = person(&server, &["Paul", "--role", "verwalten", "--tenant", "Mühle"]);
    let log = format!("/leitstand/f/{}/protokoll", mill.tenant);
    assert!(!paul.get(&format!("{log}?ergebnis=seiten")).is(200).text.contains("Andere"));
    paul.get(&format!("{log}/{place}")).is(404);
    for path in [HOUSE.to_owned(), format!("{HOUSE}/{place}"), format!("{HOUSE}/pruefen")] {
        paul.get(&path).is(403);
    }
    // Names of other people are not offered to a person who shares no company with them.
    let mut anna = person(&server, &["Anna", "--tenant", "Andere"]);
    let shown = anna.get(&format!("/leitstand/f/{}/protokoll", other.tenant));
    assert!(!shown.is(200).text.contains(">Paul<") && shown.text.contains(">Erika<"), "{}", shown.text);
}

#[test]
fn the_log_goes_on_page_by_page_over_days_and_what_was_kept() {
    let mut server = Server::start_at("2026-01-10T10:00:00Z");
    let mill = server.company("Mühle");
    let client = |server: &Server| server.client(mill.tenant, mill.key.clone());
    for day in ["2026-07-08", "2026-07-09", "2026-07-10"] {
        server.set_clock(&format!("{day}T10:00:00Z"));
        for _ in 0..41 {
            client(&server).get("/api/v1/kunden").is(200);
        }
    }
    server.restart();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let log = format!("/leitstand/f/{}/protokoll?wer=programme", mill.tenant);
    let (mut at, mut seen) = (log.clone(), Vec::new());
    for _ in 0..10 {
        let shown = browser.get(&at);
        seen.push(rows(&shown).len());
        if !shown.text.contains("rel=\"next\"") {
            break;
        }
        at = next_of(&shown);
    }
    assert_eq!(seen, [50, 50, 23]);
    // No row is shown twice and none is left out; the days are those that were written.
    let days = ["08.07.2026", "09.07.2026", "10.07.2026"];
    let first = browser.get(&log);
    let count = |text: &str, day: &str| text.matches(&format!(">{day}, 12:00")).count();
    assert_eq!(days.map(|day| count(&first.text, day)), [0, 9, 41]);
}

/// The link to older rows.
fn next_of(shown: &Shown) -> String {
    let before = shown.text.split("\" rel=\"next\"").next().unwrap();
    before.rsplit("href=\"").next().unwrap().replace("&amp;", "&")
}

#[test]
fn what_a_person_changed_outlives_the_ninety_days() {
    let (server, mill, mut browser) = busy();
    let firma = mill.tenant;
    let made = browser
        .fill(&format!("/leitstand/f/{firma}/schluessel/neu"), &[("bezeichnung", "shop"), ("zweck", "shop")]);
    made.is(200);
    browser.fill("/leitstand/zugaenge/neu", &[("name", "Paul"), ("rolle", "ansehen")]).is(200);
    browser.fill("/leitstand/zugaenge/2/sperren", &[]).is(303);
    browser.get(&format!("/leitstand/f/{firma}/belege")).is(200);
    server.expect_no_audit_rows();
    // The command uses the clock of this machine, for which these days are in the past.
    let dropped = server.cli(&["--json", "audit", "rollover", "--days", "1"]);
    assert!(dropped.status.success(), "{}", String::from_utf8_lossy(&dropped.stderr));
    assert_eq!(server.sql::<i64>("select count(*) from audit where tag < 20645"), 0, "nothing was dropped");
    let kept = |what: &str| -> i64 {
        server.sql(&format!("select count(*) from verwaltung where akteur = '{{\"person\":1}}' and {what}"))
    };
    for what in [
        "tat = 'geaendert' and vorher = '{\"negativbestand\":\"ablehnen\"}' and gegenstand ->> 'firma' = 1",
        "tat = 'angelegt' and gegenstand ->> 'art' = 'schluessel' and gegenstand ->> 'name' = 'shop'",
        "tat = 'angelegt' and gegenstand ->> 'name' = 'Paul' and nachher = '{\"role\":\"ansehen\"}'",
        "tat = 'gesperrt' and gegenstand ->> 'art' = 'zugang' and gegenstand ->> 'id' = '2'",
        "tat = 'passwort_gesetzt' and gegenstand ->> 'name' = 'Erika'",
    ] {
        assert_eq!(kept(what), 1, "{what}");
    }
    let proved = server.cli(&["audit", "verify"]);
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stderr));
    // They are still found on the page, the page of a key links to them, and those without a company are in
    // the log of all.
    let shown = browser.get(&format!("/leitstand/f/{firma}/protokoll?ergebnis=aenderungen"));
    let found = rows(&shown);
    assert!(found.contains(&(NEGATIVE.to_owned() + BACK)), "{}", shown.text);
    assert!(!found.iter().any(|row| row.contains("Paul")), "{found:?}");
    let key = link(&shown, &format!("/leitstand/f/{firma}/schluessel/")).unwrap();
    assert!(browser.get(&key).is(200).text.contains("shop"));
    let of_key = key.rsplit('/').next().unwrap();
    let of_key =
        browser.get(&format!("/leitstand/f/{firma}/protokoll?ergebnis=aenderungen&wer=schluessel-{of_key}"));
    assert_eq!(rows(&of_key).len(), 1, "{}", of_key.text);
    let house = browser.get(&format!("{HOUSE}?ergebnis=aenderungen"));
    assert!(
        rows(&house).contains(&"Zugang „Paul“ angelegt: Rolle: ansehen; alle Firmen".to_owned()),
        "{}",
        house.text
    );
    // An altered row is found.
    let alter = "drop trigger verwaltung_nie_aendern; update verwaltung set akteur = '{\"person\":2}'
        where nr = (select max(nr) from verwaltung)";
    let (is_whole, said) = tampered(&server, alter);
    assert!(!is_whole && said.contains("der Kette der Änderungen wurde geändert"), "{said}");
}

#[test]
fn changes_go_on_page_by_page() {
    let (server, mill, mut browser) = busy();
    for at in 0..52 {
        assert!(server.cli(&["tenant", "set", "Mühle", &format!("ort=O{at}")]).status.success());
    }
    let shown = browser.get(&format!("/leitstand/f/{}/protokoll?ergebnis=aenderungen", mill.tenant));
    let first = rows(&shown);
    let second = rows(&browser.get(&next_of(&shown)));
    assert_eq!((first.len(), first[0].as_str()), (50, "Ort: bisher O50, jetzt O51"));
    assert_eq!(second[0], "Ort: bisher O0, jetzt O1");
    assert!(second.len() >= 4 && second.contains(&(NEGATIVE.to_owned() + BACK)), "{second:?}");
}

#[test]
fn a_clock_that_is_months_ahead_costs_nothing_that_a_person_changed() {
    let (mut server, mill, mut browser) = busy();
    server.expect_no_audit_rows();
    // More than 90 days after these rows, but not after those that the command line wrote with the clock of
    // this machine.
    server.set_clock("2026-10-25T10:00:00Z");
    server.restart();
    // The server trusts the clock once a request has used it, and drops the two oldest days by itself.
    server.client(mill.tenant, mill.key.clone()).get("/api/v1/laender").is(200);
    server.restart();
    let until = Instant::now() + Duration::from_secs(120);
    while server.sql::<i64>("select count(*) from audit where tag in (20643, 20644)") > 0 {
        assert!(Instant::now() < until, "old rows are never dropped");
        sleep(Duration::from_millis(20));
    }
    server.set_clock("2026-07-10T12:00:00Z");
    server.restart();
    browser.base = format!("http://{}", server.address);
    browser.log_in("Erika", PASSWORD).is(303);
    let shown = browser.get(&format!("/leitstand/f/{}/protokoll?ergebnis=aenderungen", mill.tenant));
    assert!(rows(&shown).contains(&(NEGATIVE.to_owned() + BACK)), "{}", shown.text);
    let proves = |command: &[&str]| {
        let output = server.cli(&[&["audit"], command].concat());
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    proves(&["verify"]);
    // A day continues whose rows were dropped.
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    server.client(mill.tenant, mill.key.clone()).post("/api/v1/kunden", json!({"name": "Maier"})).is(201);
    for value in ["ablehnen", "hinweis"].iter().cycle().take(20) {
        browser.fill(&settings, &[("negativbestand", value)]).is(303);
    }
    server.expect_no_audit_rows();
    proves(&["rollover", "--days", "1"]);
    proves(&["verify"]);
    let kept =
        "select count(*) from verwaltung where akteur ->> 'person' = 1 and vorher ->> 'negativbestand' <> ''";
    assert_eq!(server.sql::<i64>(kept), 21);
}

#[test]
fn the_proof_says_whether_a_row_was_forged() {
    let (server, _mill, mut browser) = busy();
    let form = format!("{HOUSE}/pruefen");
    let whole = carried_out(&mut browser, &form, HOUSE);
    assert!(
        whole.text.contains("Das Protokoll ist echt") && whole.text.contains("Versiegelt ist es"),
        "{}",
        whole.text
    );
    let write = |statement: &str| open_writer(&server.database).unwrap().execute(statement, []).unwrap();
    assert_eq!(write("update audit set code = 'FORGED' where code = 'SCOPE_FEHLT'"), 1);
    let forged = carried_out(&mut browser, &form, HOUSE);
    assert!(
        forged.text.contains("ist verändert worden") && forged.text.contains("wurde geändert"),
        "{}",
        forged.text
    );
    assert!(!forged.text.contains("ist echt"), "{}", forged.text);
    // Once the original value is restored, the log is valid again.
    assert_eq!(write("update audit set code = 'SCOPE_FEHLT' where code = 'FORGED'"), 1);
    let again = carried_out(&mut browser, &form, HOUSE);
    assert!(again.text.contains("Das Protokoll ist echt"), "{}", again.text);
}

/// Inserts a day with more rows than are examined for one page; deleting them restores the log.
#[test]
fn a_page_costs_no_more_where_hardly_a_row_fits() {
    let (server, mill, mut browser) = busy();
    let write = |statement: &str| open_writer(&server.database).unwrap().execute_batch(statement).unwrap();
    // Behind the existing ones. (Numbers below 1 are dropped by the work that a start begins.)
    write(
        "insert into audit (nr, am, request_id, tenant_id, key_id, adresse, methode, pfad, status, dauer_us, bytes_ein,
             bytes_aus, anzahl, pruefsumme)
           with recursive n (nr) as (select 1 union all select nr + 1 from n where nr < 120000)
           select nr + 100, 20640 * 86400000 + nr, randomblob(16), 1, 'andere', '::1', 'GET', '/x', 200, 1, 0, 0, 1,
             zeroblob(32)
           from n",
    );
    write("update audit set pfad = '/selten' where nr in (100 + 1, 100 + 60000)");
    let mut at = format!("/leitstand/f/{}/protokoll?pfad=%2Fselten", mill.tenant);
    let (mut seen, mut last) = (Vec::new(), String::new());
    for _ in 0..5 {
        let shown = browser.get(&at);
        seen.push(rows(&shown).len());
        last.clone_from(&shown.text);
        if !shown.text.contains("rel=\"next\"") {
            break;
        }
        assert!(seen.len() > 1 || shown.text.contains("sucht weiter"), "{}", shown.text);
        at = next_of(&shown);
    }
    write("delete from audit where nr > 100");
    assert_eq!(seen, [0, 1, 1], "{last}");
}

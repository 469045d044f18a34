//! Data for the tax adviser, in the browser: a batch is previewed, created, downloaded and discarded, and
//! missing accounts are set.

use serde_json::{Value, json};

use super::partner::{at_field, shows};
use super::{Browser, Shown, person};
use crate::harness::{Client, Server};
use crate::office::buchhaltung::{KONTEN, STAPEL, advised, kunde, re};

/// A company set up for its tax adviser, with a partner.
struct Mill {
    client: Client,
    kunde: String,
    /// The path of its pages.
    firma: String,
}

impl Mill {
    fn of(server: &Server) -> Mill {
        let client = advised(server);
        let (kunde, firma) = (kunde(&client, json!({})), format!("/leitstand/f/{}", client.tenant));
        Mill { client, kunde, firma }
    }

    fn page(&self) -> String {
        format!("{}/steuerberater", self.firma)
    }

    /// Creates a final invoice over 107.00 with an article of this number; returns its own number.
    fn invoice(&self, day: &str, artikel: &str) -> String {
        let items = json!([{"artikelnr": artikel, "menge": 1, "ep_netto": 100}]);
        let body = json!({"beleg_typ": "RE", "kunden_id": self.kunde, "beleg_datum": day, "items": items});
        let made = self.client.post("/api/v1/belege", body);
        made.is(201)["beleg_nummer"].as_str().unwrap().to_owned()
    }
}

fn batches(mill: &Mill) -> Value {
    mill.client.get(STAPEL).is(200)["data"].clone()
}

/// The row of a table that begins with this cell.
fn row<'t>(shown: &'t Shown, first: &str) -> &'t str {
    let begin = shown.text.find(&format!(">{first}<")).unwrap_or_else(|| panic!("{first}: {}", shown.text));
    shown.text[begin..].split("</tr>").next().unwrap()
}

#[test]
fn a_batch_is_tried_made_once_and_loaded_as_programs_get_it() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = Mill::of(&server);
    mill.invoice("2026-10-05", "A");
    server.set(&mill.client, &[("abschluss_bei_anlage", ""), ("abschluss_tagesende", "")]);
    let open = mill.invoice("2026-10-06", "A");
    server.set_clock("2026-11-02T10:00:00Z");
    let mut bert = person(&server, &["Bert", "--role", "buero"]);

    let page = mill.page();
    let begin = bert.get(&page);
    shows(at_field(&begin.is(200).text, "bis"), &["type=\"date\"", "value=\"2026-10-31\""]);
    let october = row(&begin, "Oktober 2026");
    shows(october, &["data-head=\"Belege\">2<", "?bis=2026-10-31#neu", "data-head=\"noch offen\">1<"]);
    // He may create batches, but not lock the period or set the accounts.
    assert!(
        !begin.text.contains("name=\"sperren\"") && !begin.text.contains(">Konten</a>"),
        "{}",
        begin.text
    );
    bert.fill(&page, &[("bis", "2026-10-31"), ("sperren", "ja")]).is(403);

    let seen = bert.fill(&page, &[("bis", "2026-10-31"), ("schritt", "pruefen")]);
    shows(
        &seen.is(200).text,
        &["noch ist nichts gespeichert", "107,00", ">8300<", "Noch offen und nicht dabei", &open],
    );
    assert_eq!(batches(&mill), json!([]));

    // The button is pressed twice.
    let token = seen.hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("bis", "2026-10-31")];
    let [first, second] = [bert.post(&page, &fields), bert.post(&page, &fields)];
    assert_eq!(batches(&mill).as_array().unwrap().len(), 1);
    let one = first.is(303).header("location").to_owned();
    shows(
        &bert.get(&one).is(200).text,
        &["Stapel 1 ist angelegt.", "EXTF_Buchungsstapel_2026-10_1.csv", &open],
    );
    assert_eq!(second.is(303).header("location"), page);
    let after = bert.get(&page);
    shows(&after.is(200).text, &["Nichts ist neu: Es ist kein Stapel angelegt."]);
    shows(row(&after, "Oktober 2026"), &["data-head=\"noch nicht übergeben\">0<"]);

    let id = one.rsplit('/').next().unwrap();
    let zip = [("accept", "application/zip")];
    let of_programs = mill.client.send("GET", &format!("{STAPEL}/{id}"), &zip, None);
    assert_eq!(bert.get_bytes(&format!("{one}/datei")), of_programs.bytes);
    assert_eq!(bert.get(&format!("{one}/datei")).header("content-type"), "application/zip");
    assert!(!bert.get(&one).text.contains("Verwerfen"));
    bert.get(&format!("{one}/verwerfen")).is(403);
}

#[test]
fn a_wrong_day_is_refused_at_its_field() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = Mill::of(&server);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    for step in ["", "pruefen"] {
        for (bis, why) in [
            ("", "bis"),
            ("morgen", "bis"),
            ("2026-11-02", "vorbei"),
            ("2025-12-31", "beginnt erst am 01.01.2026"),
        ] {
            let refused = browser.fill(&mill.page(), &[("bis", bis), ("schritt", step)]);
            shows(at_field(&refused.is(400).text, "bis"), &["role=\"alert\"", why]);
        }
    }
    assert_eq!(batches(&mill), json!([]));
}

#[test]
fn what_the_adviser_has_not_said_is_named_with_the_way_there() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = server.company_with("Mühle", &[("datev_mandant", "7")]);
    let firma = format!("/leitstand/f/{}", mill.tenant);
    let page = format!("{firma}/steuerberater");
    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let shown = erika.get(&page);
    let way = |name: &str| format!("{firma}/einstellungen#feld-{name}\"");
    shows(&shown.is(200).text, &[&way("datev_berater"), &way("datev_ab")]);
    assert!(
        !shown.text.contains(&way("datev_mandant")) && !shown.text.contains("Erstellen</button>"),
        "{}",
        shown.text
    );
    let settings = erika.get(&format!("{firma}/einstellungen"));
    let group = settings.is(200).text.split("Für den Steuerberater (DATEV)").nth(1).unwrap();
    shows(at_field(group, "datev_berater"), &["Beraternummer"]);
    shows(at_field(group, "datev_rahmen"), &["SKR04"]);
    // A person without access sees no link, and a form sent anyway is refused.
    let mut bert = person(&server, &["Bert", "--role", "buero"]);
    let shown = bert.get(&page);
    shows(&shown.is(200).text, &["die Beraternummer", "wer diese Firma verwaltet"]);
    assert!(!shown.text.contains(&way("datev_berater")), "{}", shown.text);
    let token = bert.get("/leitstand/abmelden").hidden("token").unwrap();
    let refused = bert.post(&page, &[("token", &token), ("bis", "2026-10-31")]);
    assert_eq!(refused.status, 400);
    assert_eq!(server.sql::<i64>("select count(*) from datev_stapel"), 0);
}

#[test]
fn a_missing_account_is_entered_beside_what_waits_for_it() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = Mill::of(&server);
    rusqlite::Connection::open(&server.database).unwrap().execute("delete from konto", []).unwrap();
    let [a, b, p] = ["A", "B", "P"].map(|artikel| mill.invoice("2026-10-05", artikel));
    let again = mill.invoice("2026-10-06", "A");
    server.set_clock("2026-11-02T10:00:00Z");
    let (page, fill) = (mill.page(), format!("{}/konten/fehlende", mill.page()));
    let mut bert = person(&server, &["Bert", "--role", "buero"]);
    let shown = bert.fill(&page, &[("bis", "2026-10-31"), ("schritt", "pruefen")]);
    shows(
        &shown.is(400).text,
        &["Was noch fehlt", "Erlöse 7 %, Artikelgruppe A", "wer diese Firma verwaltet", &p],
    );
    assert!(!shown.text.contains("name=\"konto-0\""), "{}", shown.text);

    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let shown = erika.fill(&page, &[("bis", "2026-10-31"), ("schritt", "pruefen")]);
    let of_a = row(&shown, "Erlöse 7 %, Artikelgruppe A");
    shows(of_a, &[&a, &again, "name=\"konto-0\"", "name=\"bu-0\"", "name=\"alle-0\""]);
    shows(row(&shown, "Erlöse 7 %, Artikelgruppe B"), &[&b]);
    let token = shown.hidden("token").unwrap();
    let mut send = |fields: &[(&str, &str)]| {
        let asked = [("luecke-0", "erloes/7/A"), ("luecke-1", "erloes/7/B"), ("luecke-2", "erloes/19/Büro")];
        let all = [("token", token.as_str()), ("bis", "2026-10-31")].into_iter().chain(asked);
        erika.post(&fill, &all.chain(fields.iter().copied()).collect::<Vec<_>>())
    };
    let at = |shown: &Shown, id: &str| {
        shown.text.split(&format!("id=\"fehler-{id}\"")).nth(1).unwrap()[..200].to_owned()
    };
    send(&[]).is(400);
    let refused = send(&[("konto-0", "8400"), ("konto-1", "viel"), ("konto-2", "8400")]);
    shows(&at(refused.is(400), "konto-1"), &["ganze Zahl"]);
    let refused = send(&[("konto-0", "8400"), ("konto-2", "8400"), ("bu-2", "3")]);
    shows(&at(refused.is(400), "konto-0"), &["rechnet in DATEV 19 % Umsatzsteuer"]);
    shows(&at(&refused, "bu-2"), &["BU-Schlüssel ist dort nicht erlaubt"]);
    shows(&refused.text, &["value=\"8400\"", "value=\"3\""]);
    let twice = send(&[("konto-0", "8300"), ("alle-0", "ja"), ("konto-1", "8301"), ("alle-1", "ja")]);
    shows(&at(twice.is(400), "konto-1"), &["weiter oben"]);
    assert_eq!(mill.client.get(KONTEN).is(200), &json!([]));
    assert_eq!(send(&[("luecke-3", "mehr"), ("konto-3", "1")]).status, 404);

    let done = send(&[("konto-0", "8300"), ("alle-0", "ja"), ("konto-2", "4711"), ("bu-2", "3")]);
    assert_eq!(done.is(303).header("location"), format!("{page}?bis=2026%2D10%2D31"));
    let stored = mill.client.get(KONTEN);
    let stored: Vec<_> =
        stored.is(200).as_array().unwrap().iter().map(|k| (&k["konto"], &k["artikelgruppe"])).collect();
    assert_eq!(stored, [(&json!(8300), &Value::Null), (&json!(4711), &json!("Büro"))]);
    shows(&erika.get(&page).is(200).text, &["Bitte noch einmal prüfen."]);
    erika.fill(&page, &[("bis", "2026-10-31"), ("schritt", "pruefen")]).is(200);
    let log = erika.get(&format!("{}/protokoll?ergebnis=aenderungen", mill.firma));
    shows(
        &log.is(200).text,
        &[
            "Konto für Erlöse 19 %, Artikelgruppe Büro: bisher nichts, jetzt 4711 BU 3; Konto für Erlöse 7 %: \
             bisher nichts, jetzt 8300",
        ],
    );
    // A refusal that is not about a missing account still links to the accounts.
    server.set(&mill.client, &[("datev_rahmen", "keiner")]);
    let shown = erika.fill(&page, &[("bis", "2026-10-31"), ("schritt", "pruefen")]);
    shows(
        &shown.is(400).text,
        &["Auf dem Konto 8300 rechnet DATEV keine Steuer von selbst", "Zu den Konten"],
    );
}

#[test]
fn accounts_are_proposed_set_and_removed() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = server.company_with("Mühle", &[("datev_sachkontenlaenge", "6"), ("datev_rahmen", "04")]);
    let page = format!("/leitstand/f/{}/steuerberater/konten", mill.tenant);
    let proposal = format!("{page}/vorschlag");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    shows(
        &browser.get(&page).is(200).text,
        &["--rahmen skr04", "einstellungen#feld-datev_berater", &proposal],
    );
    shows(
        &browser.get(&proposal).is(200).text,
        &["Der Steuerberater muss diese Konten gelesen haben", "554000"],
    );
    browser.fill(&proposal, &[]).is(303);
    let listed = browser.get(&page);
    shows(
        &listed.is(200).text,
        &["rechnet 7,8 % Vorsteuer", "ohne Steuer", "rechnet 19 % als Steuer, die die Firma selbst schuldet"],
    );
    let count = || mill.get(KONTEN).is(200).as_array().unwrap().len();
    assert_eq!(count(), 16);
    assert!(browser.get(&proposal).is(200).text.contains("schon eingetragen"));

    let konto = |satz, konto, bu| [("fall", "aufwand"), ("satz", satz), ("konto", konto), ("bu", bu)];
    for (fields, at) in [
        (konto("19", "540000", "9"), "bu"),
        (konto("19", "471000", ""), "bu"),
        (konto("7", "540000", ""), "konto"),
        (konto("19", "viel", ""), "konto"),
        (konto("viel", "540000", ""), "satz"),
        (konto("19", "5400000", ""), "konto"),
    ] {
        let refused = browser.fill(&page, &fields);
        shows(at_field(&refused.is(400).text, at), &["role=\"alert\""]);
    }
    browser.fill(&page, &konto("19", "471000", "401")).is(303);
    shows(&browser.get(&page).is(200).text, &["Das Konto ist gespeichert.", "Schlüssel 401"]);
    assert_eq!(count(), 16);

    let remove = format!("{page}/entfernen?fall=aufwand&satz=7%2C8&artikelgruppe=");
    shows(&browser.get(&remove).is(200).text, &["554000", "Einkauf 7,8 %"]);
    let token = browser.get(&remove).hidden("token").unwrap();
    browser.post(&remove, &[("token", &token)]).is(303);
    assert_eq!(count(), 15);
    for gone in [&remove, &format!("{page}/entfernen?fall=nichts"), &format!("{page}/entfernen")] {
        browser.get(gone).is(404);
        assert_eq!(browser.post(gone, &[("token", &token)]).status, 404);
    }
    let log = browser.get(&format!("/leitstand/f/{}/protokoll?ergebnis=aenderungen", mill.tenant));
    shows(
        &log.is(200).text,
        &["Konto für Einkauf 7,8 %: bisher 554000, jetzt nichts", "bisher 540000, jetzt 471000 BU 401"],
    );
    // A company with its own chart gets no proposal.
    server.set(&mill, &[("datev_rahmen", "keiner")]);
    assert!(!browser.get(&proposal).is(200).text.contains("Diese Konten eintragen"));
    browser.post(&proposal, &[("token", &token)]).is(303);
    assert_eq!(count(), 15);
}

#[test]
fn the_newest_batch_is_discarded_with_a_reason() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = Mill::of(&server);
    mill.invoice("2026-09-05", "A");
    mill.invoice("2026-10-05", "A");
    server.set_clock("2026-11-02T10:00:00Z");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let made = |browser: &mut Browser, bis: &str, locks: &[(&str, &str)]| {
        let fields = [&[("bis", bis)], locks].concat();
        browser.fill(&mill.page(), &fields).is(303).header("location").to_owned()
    };
    let first = made(&mut browser, "2026-09-30", &[]);
    let second = made(&mut browser, "2026-10-31", &[("sperren", "ja")]);
    assert_eq!(server.sql::<String>("select gesperrt_bis from tenant"), "2026-10-31");
    let before = browser.get_bytes(&format!("{second}/datei"));

    assert!(!browser.get(&first).is(200).text.contains("Verwerfen"));
    let refused = browser.fill(&format!("{first}/verwerfen"), &[("grund", "falsch")]);
    shows(&refused.is(400).text, &["Verworfen wird nur der neueste."]);
    let discard = format!("{second}/verwerfen");
    shows(at_field(&browser.fill(&discard, &[("grund", " ")]).is(400).text, "grund"), &["role=\"alert\""]);
    browser.fill(&discard, &[("grund", "Konto 8300 falsch")]).is(303);
    shows(&browser.get(&second).is(200).text, &["verworfen am 02.11.2026", "Konto 8300 falsch"]);
    assert_eq!(browser.get_bytes(&format!("{second}/datei")), before);
    browser.fill(&discard, &[("grund", "noch einmal")]).is(400);
    shows(row(&browser.get(&mill.page()), "Oktober 2026"), &["?bis=2026-10-31#neu"]);
    shows(&browser.get(&first).text, &["Verwerfen"]);

    let third = made(&mut browser, "2026-10-31", &[]);
    shows(&browser.get(&third).is(200).text, &["<h1>Stapel 3</h1>"]);
    let log = browser.get(&format!("{}/protokoll?ergebnis=aenderungen", mill.firma));
    shows(
        &log.is(200).text,
        &[
            "DATEV-Stapel 2 angelegt: gesperrt bis: 31.10.2026",
            "DATEV-Stapel 2 verworfen",
            &format!("href=\"{second}\""),
        ],
    );
}

#[test]
fn the_log_finds_what_a_program_changed() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = Mill::of(&server);
    mill.invoice("2026-10-05", "A");
    let key = mill.client.key.as_deref().map(super::schluessel::id).unwrap();
    server.set_clock("2026-11-02T10:00:00Z");
    mill.client.post(STAPEL, json!({"bis": "2026-10-31"})).is(201);
    let mut browser = person(&server, &["Hans", "--role", "verwalten"]);
    let log = format!("{}/protokoll?ergebnis=aenderungen", mill.firma);
    let mut found = |who: &str| browser.get(&format!("{log}&wer={who}")).is(200).text.clone();
    for who in ["programme", &format!("schluessel-{key}")] {
        shows(&found(who), &[&format!("Schlüssel {key}"), "DATEV-Stapel 1 angelegt"]);
    }
    for who in ["leute", "befehl", "fremde", "schluessel-AAAAAAAA"] {
        assert!(!found(who).contains("DATEV-Stapel"), "{who}");
    }
}

#[test]
fn another_company_sees_none_of_it() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = Mill::of(&server);
    mill.invoice("2026-10-05", "A");
    let hof = server.company_with(
        "Hof",
        &[("datev_berater", "1001"), ("datev_mandant", "2"), ("datev_ab", "2026-01-01")],
    );
    server.set_clock("2026-11-02T10:00:00Z");
    let stapel = mill.client.post(STAPEL, json!({"bis": "2026-10-31"})).id();
    let mut browser = person(&server, &["Hans", "--role", "verwalten", "--tenant", "Hof"]);
    let own = format!("/leitstand/f/{}/steuerberater", hof.tenant);
    for page in ["", "/konten", "/konten/vorschlag", &format!("/{stapel}"), &format!("/{stapel}/datei")] {
        browser.get(&format!("{}{page}", mill.page())).is(404);
    }
    let shown = browser.get(&own);
    shows(&shown.is(200).text, &["noch keine Rechnung", "Noch ist nichts übergeben"]);
    shows(&browser.get(&format!("{own}/konten")).is(200).text, &["Noch ist kein Konto eingetragen."]);
    for page in ["", "/datei", "/verwerfen"] {
        browser.get(&format!("{own}/{stapel}{page}")).is(404);
    }
    let token = shown.hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("grund", "fremd"), ("bis", "2026-10-31")];
    for path in
        [format!("{own}/{stapel}/verwerfen"), format!("{}/{stapel}/verwerfen", mill.page()), mill.page()]
    {
        assert_eq!(browser.post(&path, &fields).status, 404, "{path}");
    }
    shows(
        &browser.fill(&own, &[("bis", "2026-10-31"), ("schritt", "pruefen")]).is(200).text,
        &["Nichts ist neu"],
    );
    let remove = format!("{own}/konten/entfernen?fall=erloes&satz=7&artikelgruppe=");
    assert_eq!(browser.post(&remove, &fields).status, 404);
    assert_eq!(batches(&mill)[0]["verworfen_am"], Value::Null);
}

#[test]
fn the_account_of_a_partner_is_entered_once() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = Mill::of(&server);
    re(&mill.client, &mill.kunde, "2026-10-05", "1");
    let mut browser = person(&server, &["Bert", "--role", "buero"]);
    let one = format!("{}/partner/{}", mill.firma, mill.kunde);
    let form = format!("{one}/aendern");
    for wrong in ["9", "70000", "viel"] {
        let refused = browser.fill(&form, &[("debitor_konto", wrong)]);
        shows(
            at_field(&refused.is(400).text, "debitor_konto"),
            &["role=\"alert\"", &format!("value=\"{wrong}\"")],
        );
    }
    browser.fill(&form, &[("debitor_konto", "20000"), ("kreditor_konto", "")]).is(303);
    shows(&browser.get(&one).is(200).text, &["<dt>Debitorenkonto</dt><dd>20000</dd>", ">20000</td>"]);
    let shown = browser.get(&form);
    assert!(!shown.is(200).text.contains("feld-debitor_konto"), "{}", shown.text);
    shows(&shown.text, &["feld-kreditor_konto"]);
    browser.fill(&form, &[("ort", "Ulm")]).is(303);
    assert_eq!(mill.client.get(&format!("/api/v1/kunden/{}", mill.kunde)).is(200)["debitor_konto"], 20000);
    let new = browser.fill(
        &format!("{}/partner/neu", mill.firma),
        &[("nachname_firma", "Hof"), ("kreditor_konto", "70001")],
    );
    shows(
        &browser.get(new.is(303).header("location")).is(200).text,
        &["<dt>Kreditorenkonto</dt><dd>70001</dd>"],
    );
}

//! A backup restored in the browser: the process stops serving, restores and serves again by itself, and
//! whenever it is killed, one of the two databases is whole.

use std::time::{Duration, Instant};

use serde_json::json;
use ureq::Agent;
use ureq::http::Request;

use crate::admin::count;
use crate::process::{Folder, Running};

const PASSWORD: &str = "Roggen im Silo drei";
const LIST: &str = "/leitstand/sicherung";

/// A browser that opens one page after the other.
struct Browser {
    agent: Agent,
    base: String,
    cookie: String,
    /// The form sent last.
    last: String,
}

struct Shown {
    status: u16,
    text: String,
    refresh: String,
}

impl Browser {
    /// Creates a person who manages all companies, with a session.
    fn of_erika(folder: &Folder, server: &Running) -> Browser {
        let link = folder.result(&["user", "create", "Erika", "--role", "verwalten"]);
        let mut browser = Browser::on(server);
        let path = format!("/leitstand/{}", link.trim().split_once("/leitstand/").unwrap().1);
        let fields = [("passwort", PASSWORD), ("wiederholung", PASSWORD)];
        assert_eq!(browser.fill(&path, &fields).status, 303);
        browser
    }

    fn on(server: &Running) -> Browser {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(0)
            .timeout_global(Some(Duration::from_secs(120)));
        let agent = config.build().into();
        Browser {
            agent,
            base: format!("http://{}", server.address),
            cookie: String::new(),
            last: String::new(),
        }
    }

    fn send(&mut self, path: &str, body: Option<String>) -> Result<Shown, ureq::Error> {
        let request = Request::builder()
            .method(if body.is_some() { "POST" } else { "GET" })
            .uri(format!("{}{path}", self.base))
            .header("cookie", format!("leitstand={}", self.cookie))
            .header("content-type", "application/x-www-form-urlencoded");
        let response = match body {
            Some(body) => self.agent.run(request.body(body).unwrap())?,
            None => self.agent.run(request.body(()).unwrap())?,
        };
        let header =
            |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, refresh, set) = (response.status().as_u16(), header("refresh"), header("set-cookie"));
        if let Some(cookie) = set.strip_prefix("leitstand=") {
            self.cookie = cookie.split(';').next().unwrap().to_owned();
        }
        Ok(Shown { status, refresh, text: response.into_body().read_to_string()? })
    }

    #[track_caller]
    fn get(&mut self, path: &str) -> Shown {
        self.send(path, None).unwrap()
    }

    /// Opens a page, fills in its form and sends it.
    #[track_caller]
    fn fill(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let page = self.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        let token = page.text.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let stand =
            page.text.split("name=\"stand\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        let stand = stand.map(|stand| ("stand", stand));
        let fields = stand.iter().chain(fields).map(|(name, value)| format!("&{name}={}", encode(value)));
        self.last = format!("token={token}{}", fields.collect::<String>());
        self.send(path, Some(self.last.clone())).unwrap()
    }

    /// Waits for the backups page to show the result of a restore. Until the old service has stopped, that
    /// one may still answer.
    fn after_restore(&mut self) -> Shown {
        let until = Instant::now() + Duration::from_secs(120);
        loop {
            let page = self.send(LIST, None);
            let said = ["zurückgespielt worden", "nicht gelungen"];
            match page {
                Ok(page) if said.iter().any(|said| page.text.contains(said)) => return page,
                page => assert!(Instant::now() < until, "nothing was said: {:?}", page.map(|page| page.text)),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes a backup; returns its page.
    fn back_up(&mut self) -> String {
        assert_eq!(self.fill(LIST, &[]).status, 303);
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let page = self.get(LIST);
            if let Some(rest) = page.text.split(&format!("href=\"{LIST}/")).nth(1) {
                return format!("{LIST}/{}", rest.split('"').next().unwrap());
            }
            assert!(Instant::now() < until, "no backup was made: {}", page.text);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The databases that restores set aside.
fn aside(folder: &Folder) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.to_string_lossy().contains("before-restore")).collect()
}

#[test]
fn a_backup_is_put_back_in_the_browser_by_the_server_itself() {
    let folder = Folder::new();
    let mut server = folder.serve(&[]);
    let client = server.client(&folder.company("Mühle"));
    let create = |name: &str| assert_eq!(client.post("/api/v1/kunden", &json!({"name": name})).status, 201);
    create("Huber");
    let mut erika = Browser::of_erika(&folder, &server);
    let one = erika.back_up();
    create("Meier");
    let restore = format!("{one}/zurueckspielen");
    assert!(erika.get(&one).text.contains(&restore));

    // The page first shows what would be lost, then asks for the password.
    let page = erika.get(&restore);
    let row = page.text.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let cells: Vec<_> = row
        .split("<td")
        .skip(1)
        .map(|cell| cell.split('>').nth(1).unwrap().split('<').next().unwrap())
        .collect();
    assert_eq!(cells[..4], ["Mühle", "0", "0", "1"], "{row}");
    let wrong = erika.fill(&restore, &[("passwort", "ein falsches Passwort")]);
    assert!(wrong.status == 400 && wrong.text.contains("Das Passwort stimmt nicht"), "{}", wrong.text);
    assert_eq!(client.get("/api/v1/kunden").body["count"], 2);

    for round in 1..=2 {
        let pid = server.pid();
        let begun = erika.fill(&restore, &[("passwort", PASSWORD)]);
        assert!(begun.status == 200 && begun.refresh.contains(LIST), "{} {}", begun.status, begun.text);
        // Requests wait until the service is back; the session is newer than the backup, so it is gone.
        let mut page = erika.after_restore();
        // For a moment the old service may still show the result of the previous restore.
        while aside(&folder).len() < round {
            page = erika.after_restore();
        }
        assert!(page.text.contains("zurückgespielt worden; sie ist geprüft"), "{}", page.text);
        let kept = aside(&folder);
        assert_eq!(kept.len(), round, "{kept:?}");
        assert!(kept.iter().all(|kept| count(kept, "kunde") == 2), "{kept:?}");
        assert!(kept.iter().any(|kept| page.text.contains(kept.to_str().unwrap())), "{}", page.text);
        // Reloading the page sends its form again.
        let reloaded = erika.send(&restore, Some(erika.last.clone())).unwrap();
        assert!(
            reloaded.status == 412 && reloaded.text.contains("Noch einmal geschieht es nicht"),
            "{}",
            reloaded.text
        );
        assert_eq!(aside(&folder).len(), round);
        let stranger = Browser::on(&server).get("/leitstand/anmelden").text;
        assert!(stranger.contains("zurückgespielt") && !stranger.contains("before-restore"), "{stranger}");
        assert_eq!(client.get("/api/v1/kunden").body["count"], 1);
        assert_eq!(server.pid(), pid);
        folder.result(&["check"]);
        folder.result(&["audit", "verify"]);
        let changes = folder.result(&["--json", "audit", "changes"]);
        assert!(changes.contains("zurueckgespielt") && changes.contains("Leitstand: Erika"), "{changes}");
        // Everything works as before, also the second time.
        create("Schmid");
    }
    server.signal("TERM");
    assert!(server.end().0.success());
}

/// A server with two customers, and the page of a backup that contains one of them.
struct BackedUp {
    folder: Folder,
    server: Running,
    key: String,
    erika: Browser,
    backup: String,
}

impl BackedUp {
    fn new() -> BackedUp {
        let folder = Folder::new();
        let server = folder.serve(&[]);
        let key = folder.company("Mühle");
        let erika = Browser::of_erika(&folder, &server);
        let mut of = BackedUp { folder, server, key, erika, backup: String::new() };
        of.create("Huber");
        of.backup = of.erika.back_up();
        of.create("Meier");
        of
    }

    fn create(&self, name: &str) {
        let created = self.server.client(&self.key).post("/api/v1/kunden", &json!({"name": name}));
        assert_eq!(created.status, 201);
    }

    /// Orders the restore.
    fn restore(&mut self) {
        let form = format!("{}/zurueckspielen", self.backup);
        assert_eq!(self.erika.fill(&form, &[("passwort", PASSWORD)]).status, 200);
    }

    /// Starts a server again on the files left; returns whether it is the backup, which then gets two customers again.
    fn serve_again(&mut self) -> bool {
        self.server = self.folder.serve(&[]);
        self.erika.base = format!("http://{}", self.server.address);
        self.folder.result(&["check"]);
        let is_restored = match count(&self.folder.file("partnerd.db"), "kunde") {
            1 => true,
            2 => false,
            other => panic!("{other} customers"),
        };
        if is_restored {
            self.create("Schmid");
        }
        is_restored
    }
}

#[test]
fn whenever_it_is_killed_while_it_restores_one_of_the_two_databases_is_whole() {
    let mut of = BackedUp::new();
    let (mut before, mut after) = (0, 0);
    // The last server is killed once the restore is done, however long that takes.
    for pause in [0, 20, 40, 60, 80, 120, 160, 240, 400, 800, u64::MAX] {
        of.restore();
        match pause {
            u64::MAX => assert!(of.erika.after_restore().text.contains("zurückgespielt worden")),
            pause => std::thread::sleep(Duration::from_millis(pause)),
        }
        of.server.kill();
        *if of.serve_again() { &mut after } else { &mut before } += 1;
    }
    assert!(before > 0 && after > 0, "killed {before} times before it was done and {after} times after");
}

#[test]
fn a_server_that_is_stopped_while_it_restores_ends_in_order_with_one_of_the_two_databases() {
    let mut of = BackedUp::new();
    let part = of.folder.file("partnerd.db-restore-part");
    let (mut before, mut after) = (0, 0);
    // Stops the server once the copy has begun, until that was early enough once, and then once the previous
    // database has got its second name.
    while before == 0 || after == 0 {
        assert!(before + after < 20, "stopped {before} times before the exchange and {after} times after");
        of.restore();
        let until = Instant::now() + Duration::from_secs(60);
        let is_exchanged = || aside(&of.folder).len() > after;
        while !(is_exchanged() || before == 0 && part.exists()) {
            assert!(Instant::now() < until, "it does not restore");
            std::thread::sleep(Duration::from_millis(1));
        }
        of.server.signal("TERM");
        let (status, _) = of.server.end();
        assert!(status.success() && !part.exists(), "{status}");
        let is_exchanged = is_exchanged();
        if is_exchanged {
            let changes = of.folder.result(&["--json", "audit", "changes"]);
            assert!(changes.contains("zurueckgespielt"), "{changes}");
        }
        assert_eq!(of.serve_again(), is_exchanged);
        *if is_exchanged { &mut after } else { &mut before } += 1;
    }
}

#[test]
fn what_is_no_longer_whole_is_not_put_back_and_the_old_database_serves_again() {
    let folder = Folder::new();
    let mut server = folder.serve(&[]);
    let client = server.client(&folder.company("Mühle"));
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Huber"})).status, 201);
    let mut erika = Browser::of_erika(&folder, &server);
    let one = erika.back_up();
    let file = folder.file(&format!("partnerd-{}.db", one.rsplit('/').next().unwrap()));
    let backup = rusqlite::Connection::open(&file).unwrap();
    let index = "select name from sqlite_schema where type = 'index' and sql is not null limit 1";
    let index: String = backup.query_row(index, [], |row| row.get(0)).unwrap();
    backup.execute_batch(&format!("drop index {index}")).unwrap();
    drop(backup);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Meier"})).status, 201);
    assert_eq!(erika.fill(&format!("{one}/zurueckspielen"), &[("passwort", PASSWORD)]).status, 200);
    let page = erika.after_restore();
    assert!(page.text.contains("nicht gelungen") && page.text.contains("ist nicht heil"), "{}", page.text);
    assert_eq!(client.get("/api/v1/kunden").body["count"], 2);
    assert!(aside(&folder).is_empty());
    server.signal("TERM");
    assert!(server.end().0.success());
}

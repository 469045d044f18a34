//! Small files that expand to large ones: refused before they do, in the Leitstand and on the command line,
//! and no process that reads them grows beyond a bound (P19, D22).
#![cfg(target_os = "linux")]

use std::process::Stdio;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Request};

use crate::import::sheets::{ods, ods_of, xlsx, xlsx_of, xlsx_with, zipped};
use crate::process::{Folder, Running, most_memory};

const SHARED: &str = "xl/sharedStrings.xml";

/// Maximum memory of a server or an import, in MiB.
const MEMORY: usize = 400;

const PASSWORD: &str = "Roggen im Silo drei";

struct Bomb {
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    /// The message of the page and the command line.
    said: &'static str,
}

const TOO_LARGE: &str = "Ausgeschrieben ist die Tabelle größer als";
const TOO_LONG: &str = "ein Element oder Text von mehr als 1024 KiB";
const TOO_WIDE: &str = "1024 KiB in einer Zeile";

fn bomb(name: &'static str, file: &'static str, bytes: Vec<u8>, said: &'static str) -> Bomb {
    Bomb { name, file, bytes, said }
}

fn cell(columns: u32, text: &str) -> String {
    format!(
        "<table:table-cell office:value-type=\"string\" \
         table:number-columns-repeated=\"{columns}\"><text:p>{text}</text:p></table:table-cell>"
    )
}

/// An .ods with a header and a row that is repeated a million times.
fn repeated(cells: &str) -> Vec<u8> {
    let head = format!("<table:table-row>{}</table:table-row>", cell(1, "name"));
    let rows = format!("<table:table-row table:number-rows-repeated=\"1000000\">{cells}</table:table-row>");
    ods_of(&format!("<table:table table:name=\"A\">{head}{rows}</table:table>"))
}

/// An .xlsx whose column of names has one shared text in all rows, and the count of texts that it claims.
fn shared(text: &str, rows: usize, count: u64) -> Vec<u8> {
    let texts = format!("<sst uniqueCount=\"{count}\"><si><t>name</t></si><si><t>{text}</t></si></sst>");
    let rows = "<row><c t=\"s\"><v>1</v></c></row>".repeat(rows);
    let sheet = format!("<sheetData><row><c t=\"s\"><v>0</v></c></row>{rows}</sheetData>");
    xlsx_with(&[("A", "visible", &sheet)], &[(SHARED, &texts)])
}

fn spreadsheets() -> Vec<Bomb> {
    let long = "A".repeat(30_000);
    let texts = format!("<sst>{}</sst>", "<si/>".repeat(9_000_000));
    let deep = format!("<office:document-content>{}", "<a>".repeat(8_000_000));
    let parts: Vec<String> = (0..12_000).map(|at| at.to_string()).collect();
    let parts: Vec<(&str, &str)> = parts.iter().map(|name| (name.as_str(), "")).collect();
    // Incompressible data, so that the zip is not refused for its compression ratio alone.
    let mut state = 7u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 58) as u8)
    });
    let noise: String = noise.take(400_000).collect();
    let deep_sheet = format!("<sheetData>{}", "<a>".repeat(8_000_000));
    let texts = xlsx_with(&[("A", "visible", "<sheetData/>")], &[(SHARED, &texts), ("noise", &noise)]);
    let styles = format!("<styleSheet><cellXfs>{}</cellXfs></styleSheet>", "<xf/>".repeat(2_000_000));
    let styles = xlsx_with(&[("A", "visible", "<sheetData/>")], &[("xl/styles.xml", &styles)]);
    let runs = format!("<c t=\"inlineStr\"><is>{}</is></c>", format!("<r><t>{long}</t></r>").repeat(1_000));
    let repeated_row = repeated(&cell(1_000, &long));
    assert!(repeated_row.len() < 1_000, "{}", repeated_row.len());
    vec![
        bomb("a long row a million times", "a.ods", repeated_row, TOO_WIDE),
        bomb("a long cell a million times", "b.ods", repeated(&cell(1, &long)), TOO_LARGE),
        bomb("a shared text in 58,000 cells", "c.xlsx", shared(&long, 58_000, 2), TOO_LARGE),
        bomb("shared texts that are not there", "l.xlsx", shared("A", 1, 100_000_000_000_000), TOO_LARGE),
        bomb("millions of shared texts", "d.xlsx", texts, TOO_LARGE),
        bomb("millions of styles", "m.xlsx", styles, TOO_LARGE),
        bomb("a cell of many texts", "o.xlsx", xlsx(&[&["name"], &[&runs]]), TOO_LONG),
        bomb("a deep sheet", "n.xlsx", xlsx_of(&[("A", "visible", &deep_sheet)]), "256 Elemente"),
        bomb("a deep document", "e.ods", zipped(&[("content.xml", &deep)]), "256 Elemente"),
        bomb("a cell of 30 MiB", "f.ods", ods(&[&["name"], &[&"A".repeat(30 << 20)]]), "1024 KiB"),
        bomb("a zip of many parts", "g.xlsx", zipped(&parts), "10000 Teile"),
    ]
}

fn texts() -> Vec<Bomb> {
    let row = format!("[{{\"name\":[{}0]}}]", "0,".repeat(3_000_000));
    vec![
        bomb(
            "a row in every second byte",
            "h.csv",
            format!("name\n{}", "a\n".repeat(6_000_000)).into(),
            TOO_LARGE,
        ),
        bomb("empty objects", "i.json", format!("[{}{{}}]", "{},".repeat(4_500_000)).into(), TOO_LARGE),
        bomb("a long object", "j.json", row.into(), TOO_WIDE),
    ]
}

/// The message about a bomb if a table may take this many MiB.
fn expected(said: &str, mib: usize) -> String {
    if said == TOO_LARGE { format!("{said} {mib} MiB") } else { said.to_owned() }
}

/// Runs a command; returns its stderr, and its highest observed memory.
fn run(folder: &Folder, arguments: &[&str]) -> (String, usize) {
    let mut child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(most_memory(child.id()).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(5));
    }
    (String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap(), most)
}

#[test]
fn the_command_line_refuses_what_becomes_large_before_it_does() {
    let folder = Folder::new();
    folder.result(&["tenant", "create", "Mühle"]);
    for Bomb { name, file, bytes, said: why } in spreadsheets().into_iter().chain(texts()) {
        std::fs::write(folder.file(file), bytes).unwrap();
        let (said, most) = run(&folder, &["import", "kunden", file, "--tenant", "Mühle"]);
        assert!(said.contains(&expected(why, 256)), "{name}: {said}");
        assert!(most <= MEMORY, "{name}: {most} MiB");
    }
    let count: i64 = folder.database().query_row("select count(*) from kunde", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
}

/// A manager of the company, in a browser.
struct Browser {
    agent: Agent,
    base: String,
    cookie: String,
}

impl Browser {
    fn log_in(folder: &Folder, server: &Running) -> Browser {
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
        let (agent, base) = (config.into(), format!("http://{}", server.address));
        let mut browser = Browser { agent, base, cookie: String::new() };
        let link = folder.result(&["user", "create", "Erika", "--role", "verwalten"]);
        let path = link.split_whitespace().find_map(|word| Some(&word[word.find("/leitstand/")?..])).unwrap();
        let (page, _) = browser.send("GET", path, "", Vec::new());
        let form = format!(
            "token={}&passwort={}&wiederholung={}",
            token(&page),
            PASSWORD.replace(' ', "+"),
            PASSWORD.replace(' ', "+")
        );
        browser.send("POST", path, "application/x-www-form-urlencoded", form.into());
        browser
    }

    fn send(&mut self, method: &str, path: &str, kind: &str, body: Vec<u8>) -> (String, HeaderMap) {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request = request.header("cookie", &self.cookie).header("content-type", kind);
        let response = match method {
            "GET" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        let response = response.unwrap();
        let headers = response.headers().clone();
        if let Some(cookie) = headers.get("set-cookie") {
            self.cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        }
        (response.into_body().read_to_string().unwrap(), headers)
    }

    /// Uploads a file of a company to be checked; returns the page of that job.
    fn upload(&mut self, company: u8, file: &str, content: &[u8]) -> String {
        let path = format!("/leitstand/f/{company}/import");
        let (page, _) = self.send("GET", &path, "", Vec::new());
        let mut body = Vec::new();
        for (name, value) in [("token", token(&page).as_str()), ("art", "kunden")] {
            let field = format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend(field.as_bytes());
        }
        let head =
            format!("--x\r\ncontent-disposition: form-data; name=\"datei\"; filename=\"{file}\"\r\n\r\n");
        body.extend([head.as_bytes(), content, b"\r\n--x--\r\n"].concat());
        let kind = "multipart/form-data; boundary=x";
        let (page, headers) = self.send("POST", &path, kind, body);
        headers.get("location").unwrap_or_else(|| panic!("{page}")).to_str().unwrap().to_owned()
    }

    /// The result of a job, once it has ended.
    fn ended(&mut self, work: &str) -> String {
        loop {
            let (page, headers) = self.send("GET", work, "", Vec::new());
            if headers.get("refresh").is_none() {
                return page;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("{page}"));
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn the_page_refuses_what_becomes_large_before_it_does() {
    let folder = Folder::new();
    folder.result(&["tenant", "create", "Mühle"]);
    folder.result(&["tenant", "create", "Landhandel"]);
    let server = folder.serve(&[]);
    let mut browser = Browser::log_in(&folder, &server);
    let bombs: Vec<Bomb> = spreadsheets().into_iter().chain(texts()).collect();
    for Bomb { name, file, bytes, said } in &bombs {
        let work = browser.upload(1, file, bytes);
        let page = browser.ended(&work);
        assert!(page.contains(&expected(said, 64)), "{name}: {page}");
        assert!(page.contains("Es wurde nichts gespeichert."), "{name}: {page}");
        assert!(server.most_memory() <= MEMORY, "{name}: {} MiB", server.most_memory());
    }
    // Two at once, of the largest tables that are read to the end.
    let largest = shared(&"A".repeat(30_000), 2_200, 2);
    let works = [1, 2].map(|company| browser.upload(company, "k.xlsx", &largest));
    for work in works {
        let page = browser.ended(&work);
        assert!(page.contains("Es gibt noch mehr davon."), "{page}");
    }
    assert!(server.most_memory() <= MEMORY, "{} MiB", server.most_memory());
}

//! The Leitstand (D27): who gets in, and what is refused to everybody else. Forms and addresses come from the
//! table of pages, so that a new page is tested once it has a row there.

mod abrechnen;
mod angriffe;
mod anhaenge;
mod artikel;
mod belege;
mod chargen;
mod einrichten;
mod email;
mod hand;
mod hilfe;
mod importe;
mod kontrakte;
mod lager;
mod mailserver;
mod offen;
mod partner;
mod personen;
mod protokoll;
mod rollen;
mod ruecknahme;
mod schemata;
mod schluessel;
mod seiten;
pub mod sicherung;
mod steuerberater;
mod tippen;
mod umsatzsteuer;
mod vergessen;
mod vorschau;
mod waren;
mod wege;
mod worte;
mod zustand;

use std::time::Duration;

use partnerd::leitstand::PAGES;
use partnerd::leitstand::kit::page::{Page, Take};
use ureq::Agent;
use ureq::http::Request;

use crate::harness::Server;

/// A password that is in no list of common passwords.
pub const PASSWORD: &str = "Roggen im Silo drei";

/// A browser that keeps the cookie and follows no redirect by itself.
pub struct Browser {
    agent: Agent,
    pub base: String,
    pub cookie: Option<String>,
    /// Its address, as reported by a trusted proxy.
    pub from: Option<String>,
}

/// An answer as the browser got it.
pub struct Shown {
    pub status: u16,
    pub text: String,
    pub bytes: Vec<u8>,
    headers: ureq::http::HeaderMap,
}

impl Shown {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Shown {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The value of a hidden field.
    pub fn hidden(&self, name: &str) -> Option<String> {
        let after = self.text.split(&format!("type=\"hidden\" name=\"{name}\" value=\"")).nth(1)?;
        Some(after.split('"').next().unwrap().to_owned())
    }
}

impl Browser {
    pub fn on(server: &Server) -> Browser {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(600)))
            .build();
        Browser { agent: config.into(), base: format!("http://{}", server.address), cookie: None, from: None }
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Shown {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let headers: Vec<_> = form.iter().chain(headers).copied().collect();
        self.send_bytes(method, path, &headers, body.as_bytes().to_owned())
    }

    fn send_bytes(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Shown {
        let shown = self.send_unchecked(method, path, headers, body);
        assert!(shown.status < 500, "{method} {path}: {} {}", shown.status, shown.text);
        shown
    }

    /// Sends a request whose answer may also be a 5xx.
    pub fn send_unchecked(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Shown {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("leitstand={cookie}"));
        }
        let from = self.from.as_deref().map(|from| ("x-forwarded-for", from));
        for (name, value) in headers.iter().copied().chain(from) {
            request = request.header(name, value);
        }
        let response = match method {
            "GET" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        let response = response.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        if let Some(set) = headers.get("set-cookie") {
            let value = set.to_str().unwrap().strip_prefix("leitstand=").unwrap();
            self.cookie = Some(value.split(';').next().unwrap().to_owned()).filter(|value| !value.is_empty());
        }
        let bytes = response.into_body().into_with_config().limit(64 << 20).read_to_vec().unwrap();
        Shown { status, text: String::from_utf8_lossy(&bytes).into_owned(), bytes, headers }
    }

    pub fn get(&mut self, path: &str) -> Shown {
        self.send("GET", path, &[], "")
    }

    /// The bytes of a file.
    pub fn get_bytes(&mut self, path: &str) -> Vec<u8> {
        let cookie = format!("leitstand={}", self.cookie.as_deref().unwrap());
        let request = Request::builder().uri(format!("{}{path}", self.base)).header("cookie", cookie);
        let response = self.agent.run(request.body(()).unwrap()).unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response.into_body().into_with_config().limit(64 << 20).read_to_vec().unwrap()
    }

    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.send("POST", path, &[], &encoded(fields))
    }

    /// Opens a page, fills in its form and sends it.
    pub fn fill(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let page = self.get(path);
        page.is(200);
        let hidden = ["token", "version", "stand"].map(|name| (name, page.hidden(name)));
        let hidden = hidden.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        self.post(path, &hidden.chain(fields.iter().copied()).collect::<Vec<_>>())
    }

    /// Opens a page, fills in its form and sends it with a file, given as field, name and content; a blank
    /// field means no file.
    pub fn upload(&mut self, path: &str, fields: &[(&str, &str)], file: (&str, &str, &[u8])) -> Shown {
        let page = self.get(path);
        page.is(200);
        let hidden = ["token", "version", "stand"].map(|name| (name, page.hidden(name)));
        let hidden = hidden.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        self.post_file(path, &hidden.chain(fields.iter().copied()).collect::<Vec<_>>(), file)
    }

    /// Sends a form with a file, like [`Browser::upload`], without opening its page.
    pub fn post_file(&mut self, path: &str, fields: &[(&str, &str)], file: (&str, &str, &[u8])) -> Shown {
        let (kind, body) = form_with_file(fields, file);
        self.send_bytes("POST", path, &[("content-type", kind)], body)
    }

    pub fn log_in(&mut self, name: &str, password: &str) -> Shown {
        self.fill("/leitstand/anmelden", &[("name", name), ("passwort", password)])
    }
}

/// The fields of the last form of a page with their values, as a browser would send them.
fn fields(page: &str) -> Vec<(String, String)> {
    let form = page.rsplit("<form").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let after = tag.split(&format!(" {name}=\"")).nth(1)?;
        let text = after.split('"').next().unwrap();
        Some(text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    };
    let mut fields = Vec::new();
    for part in form.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let name = || attribute(tag, "name").unwrap_or_default();
        match tag.split(' ').next().unwrap() {
            "input" => fields.push((name(), attribute(tag, "value").unwrap_or_default())),
            "textarea" => fields.push((name(), text.to_owned())),
            "select" => fields.push((name(), String::new())),
            "option" if tag.contains(" selected") => {
                fields.last_mut().unwrap().1 = attribute(tag, "value").unwrap_or_default();
            }
            _ => {}
        }
    }
    fields
}

/// Fills in the form that is shown, and presses a button; a blank name saves.
pub fn press(
    browser: &mut Browser,
    path: &str,
    shown: &Shown,
    typed: &[(&str, &str)],
    button: &str,
) -> Shown {
    let mut sent = fields(&shown.text);
    for (name, value) in typed {
        sent.retain(|(known, _)| known != name);
        sent.push(((*name).to_owned(), (*value).to_owned()));
    }
    if !button.is_empty() {
        sent.push(("schritt".to_owned(), button.to_owned()));
    }
    let sent: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(path, &sent)
}

/// The body of a form with a file, and its content-type.
pub fn form_with_file(fields: &[(&str, &str)], file: (&str, &str, &[u8])) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(head.as_bytes());
    }
    let (field, name, content) = file;
    if !field.is_empty() {
        let head =
            format!("--x\r\ncontent-disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n");
        body.extend(head.as_bytes());
        body.extend(content);
        body.extend(b"\r\n");
    }
    body.extend(b"--x--\r\n");
    ("multipart/form-data; boundary=x", body)
}

pub fn encoded(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// Creates a person; returns the path of the link that the command line prints.
pub fn link(server: &Server, arguments: &[&str]) -> String {
    let output = server.cli(&[&["user"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let link = String::from_utf8(output.stdout).unwrap();
    let (_, path) = link.trim().split_once("/leitstand/").unwrap();
    format!("/leitstand/{path}")
}

/// Creates a person who is logged in.
pub fn person(server: &Server, arguments: &[&str]) -> Browser {
    let path = link(server, &[&["create"], arguments].concat());
    let mut browser = Browser::on(server);
    browser.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    browser
}

/// The address of a page of a company, for a record.
pub fn address(page: &Page, firma: i64, id: &str) -> String {
    page.pattern.replace("{firma}", &firma.to_string()).replace("{id}", id)
}

/// Pages with a form that only some people may send.
pub fn forms() -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| !matches!(page.take, Take::Nothing))
}

/// Pages of a company.
pub fn of_companies() -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| page.access.is_of_firma())
}

//! A browser that opens the page of a form and sends it.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::process::{Answer, Running};

const PASSWORD: &str = "Roggen im Silo drei";

pub struct Browser {
    agent: Agent,
    base: String,
    session: String,
}

/// The form of a page, filled in, and its session.
pub struct Form {
    session: String,
    path: String,
    fields: Vec<(String, String)>,
}

impl Browser {
    pub fn new(server: &Running, session: &str) -> Browser {
        Browser::at(&format!("http://{}", server.address), session)
    }

    /// A browser for a server at `http://127.0.0.1:PORT`.
    pub fn at(base: &str, session: &str) -> Browser {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(600)))
            .build();
        Browser { agent: config.into(), base: base.to_owned(), session: session.to_owned() }
    }

    /// Sets the password of a new person by this link; returns the new session.
    pub fn of_link(address: &str, link: &str) -> String {
        let (_, path) = link.trim().split_once("/leitstand/").expect("a link into the Leitstand");
        let browser = Browser::at(&format!("http://{address}"), "");
        let form = browser.open(&format!("/leitstand/{path}")).unwrap();
        let form = form.typed(&[("passwort", PASSWORD), ("wiederholung", PASSWORD)]);
        let response = browser.post(&form).unwrap();
        session(&response).expect("a session")
    }

    /// Logs that person in again.
    pub fn log_in(base: &str, name: &str) -> Result<String, String> {
        let browser = Browser::at(base, "");
        let form = browser.open("/leitstand/anmelden")?.typed(&[("name", name), ("passwort", PASSWORD)]);
        let response = browser.post(&form).map_err(|error| error.to_string())?;
        session(&response).ok_or_else(|| format!("a log-in was answered {}", response.status()))
    }

    /// Opens the page of a form, with its values.
    pub fn open(&self, path: &str) -> Result<Form, String> {
        let request = self.request("GET", path, &self.session).body(()).unwrap();
        let response = self.agent.run(request).map_err(|error| error.to_string())?;
        let status = response.status();
        let session = session(&response).unwrap_or_else(|| self.session.clone());
        let page = response.into_body().read_to_string().map_err(|error| error.to_string())?;
        if status != 200 {
            return Err(format!("{path} is answered {status}"));
        }
        let hidden = ["token", "version", "stand"].into_iter().filter_map(|name| {
            let value = page.split(&format!("type=\"hidden\" name=\"{name}\" value=\"")).nth(1)?;
            Some((name.to_owned(), value.split('"').next()?.to_owned()))
        });
        Ok(Form { session, path: path.to_owned(), fields: hidden.collect() })
    }

    pub fn send(&self, form: &Form) -> Result<Answer, String> {
        let response = self.post(form).map_err(|error| error.to_string())?;
        let id = response.headers().get("x-request-id").map(|id| id.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        response.into_body().read_to_vec().map_err(|error| error.to_string())?;
        Ok(Answer { status, request_id: id.unwrap_or_default(), body: Value::Null })
    }

    fn post(&self, form: &Form) -> Result<Response<ureq::Body>, ureq::Error> {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let fields = form.fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        let request = self.request("POST", &form.path, &form.session);
        self.agent
            .run(request.header("content-type", "application/x-www-form-urlencoded").body(body).unwrap())
    }

    fn request(&self, method: &str, path: &str, session: &str) -> ureq::http::request::Builder {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let cookie = Some(format!("leitstand={session}")).filter(|_| !session.is_empty());
        cookie.into_iter().fold(request, |request, cookie| request.header("cookie", cookie))
    }
}

/// The session that begins with an answer.
fn session(response: &Response<ureq::Body>) -> Option<String> {
    let cookie = response.headers().get("set-cookie")?.to_str().unwrap();
    let value = cookie.strip_prefix("leitstand=").and_then(|value| value.split(';').next());
    value.map(str::to_owned)
}

impl Form {
    pub fn typed(mut self, fields: &[(&str, &str)]) -> Form {
        self.fields.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }
}

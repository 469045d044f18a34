//! A person in the Leitstand who deactivates keys.

use crate::process::{Folder, Running};
use crate::wire::{Heard, Talk};

const PASSWORD: &str = "Roggen im Silo drei";

pub struct Person<'s> {
    server: &'s Running,
    talk: Talk<'s>,
    cookie: String,
}

impl Person<'_> {
    /// Creates a person with a password, logged in.
    pub fn new<'s>(folder: &Folder, server: &'s Running) -> Result<Person<'s>, String> {
        let link = folder.result(&["user", "create", "Erika", "--role", "verwalten"]);
        let (_, path) = link.trim().split_once("/leitstand/").unwrap();
        let mut person = Person { server, talk: Talk::with(server), cookie: String::new() };
        let password = [("passwort", PASSWORD), ("wiederholung", PASSWORD)];
        person.fills(&format!("/leitstand/{path}"), &password)?;
        Ok(person)
    }

    /// Opens a page and sends its form; returns an error if that is refused.
    pub fn fills(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<(), String> {
        let page = self.asks("GET", path, "")?.text();
        let hidden = |name: &str| {
            let after = page.split(&format!("type=\"hidden\" name=\"{name}\" value=\"")).nth(1)?;
            after.split('"').next().map(|value| format!("{name}={}", encoded(value)))
        };
        let mut form: Vec<String> =
            ["token", "version", "stand"].iter().filter_map(|name| hidden(name)).collect();
        form.extend(fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))));
        let answer = self.asks("POST", path, &form.join("&"))?;
        match answer.status {
            303 => Ok(()),
            status => Err(format!("the form at {path} was answered {status}: {}", answer.text())),
        }
    }

    fn asks(&mut self, method: &str, path: &str, form: &str) -> Result<Heard, String> {
        let (host, cookie, length) = (&self.server.address, &self.cookie, form.len());
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n");
        let body = match method {
            "GET" => "\r\n".to_owned(),
            _ => format!(
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
            ),
        };
        let answer = self.talk.ask(method, (head + &body).as_bytes())?;
        if let Some(cookie) = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next()) {
            self.cookie = cookie.to_owned();
        }
        Ok(answer)
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

//! Who is let in: from where, by which name of this machine, with which session, to which page and company.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::HeaderMap;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::frame;
use super::page::{Access, Ask, House, Page, Take, fields};
use super::people::{self, Person, Rolle};
use crate::db::readers::Lane;
use crate::failure::Result;
use crate::gate::address::host_name;
use crate::gate::{Gate, Modus, Zugang};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::rules::bytes::hex;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};
use crate::tenants::{self, Tenant};

/// Whether a request comes from a proxy of ours.
fn is_of_proxy(gate: &Gate, request: &Request) -> bool {
    gate.proxies.iter().any(|network| network.contains(&request.peer.to_canonical()))
}

/// Whether the browser speaks TLS: to us, or to a proxy of ours that says so.
pub fn is_encrypted(zugang: &Zugang, gate: &Gate, request: &Request) -> bool {
    let says_so = request.headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    zugang.certificate.is_some() || is_of_proxy(gate, request) && says_so
}

/// Whether the Host of a request is this machine (D27): localhost, an address of it, or in the setting `hosts`. A page
/// elsewhere can point its own name here (DNS rebinding). Of the addresses of this machine those are known that every
/// machine has, and the one that was connected to, `local`; those of a proxy of ours are not.
fn knows_host(zugang: &Zugang, headers: &HeaderMap, local: IpAddr, is_of_proxy: bool) -> bool {
    let Some(name) = host_name(headers) else { return false };
    match name.trim_matches(['[', ']']).parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(address) => {
            let is_own = address.is_loopback() || address == local.to_canonical();
            is_own || is_of_proxy || zugang.hosts.contains(&address.to_string())
        }
        Err(_) => name == "localhost" || zugang.hosts.contains(&name),
    }
}

pub struct Entry<'h> {
    pub house: &'h Arc<House>,
    pub zugang: &'h Zugang,
    pub address: IpAddr,
}

/// Why a request is not let in, and what its row in the log names.
pub struct Refused {
    pub reply: Reply,
    pub person: Option<Person>,
    /// The company in its path, where they see it.
    pub firma: Option<i64>,
}

impl From<Reply> for Box<Refused> {
    /// Of a stranger.
    fn from(reply: Reply) -> Box<Refused> {
        Box::new(Refused { reply, person: None, firma: None })
    }
}

struct Wanted {
    page: &'static Page,
    firma: Option<Tenant>,
    ids: Vec<String>,
    query: Vec<(String, String)>,
}

impl Entry<'_> {
    pub fn admit(&self, request: &Request) -> std::result::Result<Ask, Box<Refused>> {
        self.check_way(request)?;
        let now = (self.house.gate.clock)();
        let cookie = cookie(&request.headers);
        let known = self.who(cookie.as_deref(), now);
        let (person, firmen) = known.map_err(|failure| frame::failed(&failure, request))?;
        let cookie = match cookie {
            Some(cookie) => cookie,
            None => people::secret().map_err(|failure| frame::failed(&failure, request))?,
        };
        let Wanted { page, firma, ids, query } = match self.wanted(request, person.as_ref(), &firmen) {
            Ok(wanted) => wanted,
            Err(reply) => {
                let firma = firma_in(&request.path, &firmen).map(|firma| firma.id);
                return Err(Box::new(Refused { reply, person, firma }));
            }
        };
        let (house, token) = (Arc::clone(self.house), token(&cookie));
        let (form, files, refusal, notes) = Default::default();
        Ok(Ask {
            house,
            page,
            now,
            person,
            firmen,
            firma,
            ids,
            query,
            query_text: request.query.clone(),
            form,
            files,
            refusal,
            notes,
            cookie,
            token,
        })
    }

    fn wanted(
        &self,
        request: &Request,
        person: Option<&Person>,
        firmen: &[Tenant],
    ) -> std::result::Result<Wanted, Reply> {
        let is_post = match request.method.as_str() {
            "GET" | "HEAD" => false,
            "POST" => true,
            _ => return Err(coded(405, Code::MethodeNichtErlaubt, "Diese Methode gibt es hier nicht.")),
        };
        if is_post && !is_from_here(&request.headers) {
            return Err(coded(403, Code::ScopeFehlt, FOREIGN));
        }
        let (page, ids) = self.page(request, is_post)?;
        let (firma, ids) = check(page, person, firmen, ids, is_post)?;
        let query = fields(&request.query).map_err(|failure| frame::failed(&failure, request))?;
        Ok(Wanted { page, firma, ids, query })
    }

    /// Refuses what comes from where nobody may come from, or to a name that is not this machine's.
    fn check_way(&self, request: &Request) -> std::result::Result<(), Reply> {
        if self.zugang.modus == Modus::Lokal && !self.address.is_loopback() {
            let message = "Der Leitstand ist nur an dem Rechner zu sehen, auf dem er läuft. Die Einstellung leitstand = \"netz\" öffnet ihn für das Netz.";
            return Err(coded(403, Code::ScopeFehlt, message));
        }
        let is_of_proxy = is_of_proxy(&self.house.gate, request);
        if !knows_host(self.zugang, &request.headers, request.local, is_of_proxy) {
            let message = "Unter diesem Namen ist der Leitstand nicht zu sehen. Bitte die Adresse des Rechners benutzen, oder das, was in der Adresszeile steht, in die Einstellung hosts eintragen (ohne https:// und Port).";
            return Err(coded(421, Code::AnfrageUngueltig, message));
        }
        Ok(())
    }

    /// Who is logged in with a cookie, and the companies that they see.
    fn who(&self, cookie: Option<&str>, now: Instant) -> Result<(Option<Person>, Vec<Tenant>)> {
        self.house.gate.readers.read(Lane::Fast, |connection| {
            let person = match cookie {
                Some(cookie) => people::of_session(connection, cookie, now)?,
                None => None,
            };
            let firmen = seen_by(connection, person.as_ref())?;
            Ok((person, firmen))
        })
    }

    /// The page of a path, and the variable segments of the path.
    fn page(
        &self,
        request: &Request,
        is_post: bool,
    ) -> std::result::Result<(&'static Page, Vec<String>), Reply> {
        let found = self.house.pages.iter().find_map(|page| Some((page, page.matches(&request.path)?)));
        let Some((page, ids)) = found else { return Err(unknown()) };
        if is_post && matches!(page.take, Take::Nothing) {
            let message = "Diese Seite hat kein Formular.";
            return Err(coded(405, Code::MethodeNichtErlaubt, message).with("allow", "GET"));
        }
        Ok((page, ids))
    }
}

const FOREIGN: &str = "Das Formular kommt nicht von dieser Seite, oder es ist zu alt. Bitte die Seite neu laden und noch einmal absenden.";

fn seen_by(connection: &Connection, person: Option<&Person>) -> Result<Vec<Tenant>> {
    let Some(person) = person else { return Ok(Vec::new()) };
    Ok(tenants::list(connection)?.into_iter().filter(|firma| person.sees(firma.id)).collect())
}

/// The company in a path, where it is one of these.
fn firma_in<'f>(path: &str, firmen: &'f [Tenant]) -> Option<&'f Tenant> {
    let number = path.strip_prefix("/leitstand/f/")?.split('/').next()?;
    firmen.iter().find(|firma| firma.id.to_string() == number)
}

/// Whether this person may see the page, or send its form; the company in its path, and the segments behind it. A
/// company that they do not see is as one that is not there.
fn check(
    page: &'static Page,
    person: Option<&Person>,
    firmen: &[Tenant],
    mut ids: Vec<String>,
    is_post: bool,
) -> std::result::Result<(Option<Tenant>, Vec<String>), Reply> {
    if page.access == Access::Open {
        return Ok((None, ids));
    }
    let Some(person) = person else {
        return Err(frame::redirect("/leitstand/anmelden"));
    };
    let may = match page.access {
        Access::Open | Access::Person => true,
        Access::Firma => !is_post || person.rolle == Rolle::Verwalten,
        Access::Haus => person.keeps_house(),
    };
    if page.access != Access::Firma {
        return if may { Ok((None, ids)) } else { Err(forbidden()) };
    }
    let number = if ids.is_empty() { String::new() } else { ids.remove(0) };
    let firma = firmen.iter().find(|firma| firma.id.to_string() == number).ok_or_else(unknown)?;
    if may { Ok((Some(firma.clone()), ids)) } else { Err(forbidden()) }
}

pub fn forbidden() -> Reply {
    let message = "Dafür fehlt die Berechtigung. Wer alles verwalten darf, kann sie unter Zugänge geben.";
    coded(403, Code::ScopeFehlt, message)
}

fn unknown() -> Reply {
    coded(404, Code::NichtGefunden, "Diese Seite gibt es nicht.")
}

fn coded(status: u16, code: Code, message: &str) -> Reply {
    Reply { code: Some(code), ..frame::refused(status, message) }
}

/// Whether a form was sent by a page of ours, as far as the browser says.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let host = text("host").unwrap_or_default();
    let origin = text("origin").is_none_or(|origin| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
    });
    site && origin
}

/// The cookie of a browser, if it has the form of ours.
pub fn cookie(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all("cookie").iter().filter_map(|value| value.to_str().ok());
    let mut cookies = values.flat_map(|value| value.split(';'));
    let found = cookies.find_map(|cookie| cookie.trim().strip_prefix("leitstand="))?;
    let is_ours = found.len() == 64 && found.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_ours.then(|| found.to_owned())
}

/// What the forms of a cookie carry: whoever knows it does not know the cookie.
fn token(cookie: &str) -> String {
    hex(&Sha256::digest(format!("form of {cookie}")))
}

/// Refuses a form without the token of its cookie.
pub fn check_token(ask: &Ask) -> Result<()> {
    // Digests are compared, so that the time says nothing.
    if people::digest(ask.field("token")) == people::digest(&ask.token) {
        return Ok(());
    }
    Err(Refusal::new(Code::ScopeFehlt, FOREIGN).into())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_this_machine_is_known() {
        let hosts = ["muehle.local", "198.51.100.4", "2001:db8::4"].map(str::to_owned).to_vec();
        let zugang = Zugang { hosts, ..Zugang::default() };
        // The Host; whether it is known where 192.0.2.7 was connected to, and where a proxy of ours connected to ::1.
        for (host, directly, by_proxy) in [
            ("localhost", true, true),
            ("LOCALHOST:8080", true, true),
            ("127.0.0.1:8080", true, true),
            ("[::1]:8080", true, true),
            ("192.0.2.7", true, true),
            ("192.0.2.7:8443", true, true),
            ("[::ffff:192.0.2.7]:8443", true, true),
            ("192.0.2.8", false, true),
            ("[2001:db8::7]", false, true),
            ("0.0.0.0:8080", false, true),
            ("198.51.100.4:8443", true, true),
            ("[2001:DB8::4]:8443", true, true),
            ("Muehle.local:8443", true, true),
            ("andere.local", false, false),
            ("192.0.2.7.example.org", false, false),
            ("", false, false),
        ] {
            let headers = HeaderMap::from_iter([(hyper::header::HOST, HeaderValue::from_static(host))]);
            let address = |text: &str| text.parse::<IpAddr>().unwrap();
            for local in ["192.0.2.7", "::ffff:192.0.2.7"] {
                assert_eq!(knows_host(&zugang, &headers, address(local), false), directly, "{host} {local}");
            }
            assert_eq!(knows_host(&zugang, &headers, address("::1"), true), by_proxy, "{host}");
        }
        let local = IpAddr::from([192, 0, 2, 7]);
        assert!(!knows_host(&zugang, &HeaderMap::new(), local, true), "without a Host");
    }
}

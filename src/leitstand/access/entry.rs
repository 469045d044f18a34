//! Admits or refuses a request for a page, by the client's address, the Host header, the session, the page and
//! the company.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::HeaderMap;

use super::Access;
use super::anmelden::LOG_IN_PATH;
use super::people::{self, Person};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{AppState, Page, PageRequest, Take, fields};
use crate::leitstand::kit::upload::Form;
use crate::master::tenants::{self, Tenant};
use crate::platform::db::TenantId;
use crate::platform::db::readers::Lane;
use crate::platform::failure::Result;
use crate::platform::gate::access::address::{host_name, neighbourhood};
use crate::platform::gate::{Gate, Modus, Zugang};
use crate::platform::http::host;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

fn is_of_proxy(gate: &Gate, request: &Request) -> bool {
    gate.policy.proxies.iter().any(|network| network.contains(&request.peer.to_canonical()))
}

/// Whether the browser uses TLS: with us, or with a proxy of ours that says so.
pub fn is_encrypted(app: &AppState, request: &Request) -> bool {
    let says_so = request.headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    app.gate.policy.leitstand.certificate.is_some() || is_of_proxy(&app.gate, request) && says_so
}

/// Whether the Host of a request names this machine (D27): localhost, one of its addresses, or an entry of
/// the setting `hosts`. This stops DNS rebinding, where a page elsewhere points its own name here. The known
/// addresses are loopback and `local`, the one connected to; the addresses of our proxies are unknown, so
/// behind them any address passes.
fn knows_host(zugang: &Zugang, headers: &HeaderMap, local: IpAddr, is_of_proxy: bool) -> bool {
    let Some(name) = host_name(headers) else { return false };
    match host::address(&name).map(|address| address.to_canonical()) {
        Some(address) => {
            let is_own = address.is_loopback() || address == local.to_canonical();
            is_own || is_of_proxy || zugang.hosts.contains(&address.to_string())
        }
        None => name == "localhost" || zugang.hosts.contains(&name),
    }
}

/// The answer to a request that is not admitted, and the data of its audit row.
pub struct Refused {
    pub reply: Reply,
    pub person: Option<i64>,
    /// The company in its path, if the person sees it.
    pub firma: Option<TenantId>,
}

impl From<Reply> for Box<Refused> {
    fn from(reply: Reply) -> Box<Refused> {
        Box::new(Refused { reply, person: None, firma: None })
    }
}

/// Admits a request: finds the person, the page and the company.
pub fn admit(
    app: &Arc<AppState>,
    request: &Request,
    address: IpAddr,
) -> std::result::Result<PageRequest, Box<Refused>> {
    check_way(app, request)?;
    let now = (app.gate.clock)();
    let cookie = cookie(&request.headers);
    let known = who(app, cookie.as_deref(), now);
    let (person, firmen) = known.map_err(|failure| frame::failed(&failure, request))?;
    let cookie = cookie.map_or_else(people::secret, Ok);
    let cookie = cookie.map_err(|failure| frame::failed(&failure, request))?;
    let firma = firma_in(&request.path, &firmen).cloned();
    let wanted = wanted(app, request, person.as_ref(), firma.as_ref());
    let (page, ids, query) = wanted.map_err(|reply| Refused {
        reply,
        person: person.as_ref().map(|person| person.id),
        firma: firma.as_ref().map(|firma| firma.id),
    })?;
    let (address, base) = (neighbourhood(address), base(app, request));
    Ok(PageRequest {
        app: Arc::clone(app),
        page,
        now,
        base,
        address,
        person,
        firmen,
        firma,
        ids,
        query,
        query_text: request.query.clone(),
        form: Form::default(),
        refusal: None,
        tried: None,
        notes: Vec::new(),
        cookie,
    })
}

/// The address of this machine in the browser.
fn base(app: &AppState, request: &Request) -> String {
    let scheme = if is_encrypted(app, request) { "https" } else { "http" };
    let host = request.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("{scheme}://{host}")
}

/// Refuses requests from disallowed addresses and to names that are not this machine's.
fn check_way(app: &AppState, request: &Request) -> std::result::Result<(), Reply> {
    if app.gate.policy.leitstand.modus == Modus::Lokal && !app.gate.is_local(request) {
        let message = "Der Leitstand ist nur an dem Rechner zu sehen, auf dem er läuft. Die Einstellung \
             leitstand = \"netz\" öffnet ihn für das Netz; vor einem Proxy braucht es dazu trusted_proxies.";
        return Err(coded(403, Code::ScopeFehlt, message));
    }
    let is_of_proxy = is_of_proxy(&app.gate, request);
    if !knows_host(&app.gate.policy.leitstand, &request.headers, request.local, is_of_proxy) {
        let message = "Unter diesem Namen ist der Leitstand nicht zu sehen. Bitte die Adresse des Rechners \
             benutzen, oder das, was in der Adresszeile steht, in die Einstellung hosts eintragen (ohne \
             https:// und Port).";
        return Err(coded(421, Code::AnfrageUngueltig, message));
    }
    Ok(())
}

fn who(app: &AppState, cookie: Option<&str>, now: Instant) -> Result<(Option<Person>, Vec<Tenant>)> {
    let Some(cookie) = cookie else { return Ok((None, Vec::new())) };
    app.gate.readers.read(Lane::Fast, |connection| {
        let Some(person) = people::of_session(connection, cookie, now)? else {
            return Ok((None, Vec::new()));
        };
        let firmen = tenants::list(connection)?.into_iter().filter(|firma| person.sees(firma.id)).collect();
        Ok((Some(person), firmen))
    })
}

fn firma_in<'f>(path: &str, firmen: &'f [Tenant]) -> Option<&'f Tenant> {
    let number = path.strip_prefix("/leitstand/f/")?.split('/').next()?;
    firmen.iter().find(|firma| firma.id.to_string() == number)
}

type Wanted = (&'static Page, Vec<String>, Vec<(String, String)>);

/// Returns the page of a path, the variable segments after the company, and the query.
fn wanted(
    app: &AppState,
    request: &Request,
    person: Option<&Person>,
    firma: Option<&Tenant>,
) -> std::result::Result<Wanted, Reply> {
    let is_post = match request.method.as_str() {
        "GET" | "HEAD" => false,
        "POST" => true,
        _ => return Err(coded(405, Code::MethodeNichtErlaubt, "Diese Methode gibt es hier nicht.")),
    };
    if is_post && !is_from_here(&request.headers) {
        return Err(coded(403, Code::ScopeFehlt, FOREIGN));
    }
    let found = app.pages.iter().find_map(|page| Some((page, page.matches(&request.path)?)));
    let (page, mut ids) = found.ok_or_else(unknown)?;
    if is_post && matches!(page.take, Take::Nothing) {
        let message = "Diese Seite hat kein Formular.";
        return Err(coded(405, Code::MethodeNichtErlaubt, message).with("allow", "GET"));
    }
    if is_post && person.is_none() && page.access != Access::Open {
        // The typed values pass through the log-in page ([`crate::leitstand::kit::resume`]).
        let log_in = app.pages.iter().find(|page| page.pattern == LOG_IN_PATH);
        return Ok((log_in.ok_or_else(unknown)?, Vec::new(), Vec::new()));
    }
    check(page, person, firma, is_post)?;
    if page.access.is_of_firma() {
        ids.remove(0);
    }
    let query = fields(&request.query).map_err(|failure| frame::failed(&failure, request))?;
    Ok((page, ids, query))
}

const FOREIGN: &str = "Das Formular kommt nicht von dieser Seite, oder es ist zu alt. Bitte die Seite neu \
     laden und noch einmal absenden.";

/// Checks that this person may see the page, or send its form. A company that they do not see does not exist
/// for them.
fn check(
    page: &Page,
    person: Option<&Person>,
    firma: Option<&Tenant>,
    is_post: bool,
) -> std::result::Result<(), Reply> {
    let may = match (page.access, person) {
        (Access::Open, _) => true,
        (_, None) => return Err(frame::redirect(LOG_IN_PATH)),
        (access, _) if access.is_of_firma() && firma.is_none() => return Err(unknown()),
        (access, Some(person)) if is_post => access.rights(person).sends,
        (access, Some(person)) => access.rights(person).sees,
    };
    if may { Ok(()) } else { Err(forbidden()) }
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

/// Whether the form was sent from one of our pages, as far as the browser tells.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let host = text("host").unwrap_or_default();
    let origin = text("origin").is_none_or(|origin| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
    });
    site && origin
}

/// The cookie of the browser, if it looks like one of ours.
pub fn cookie(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all("cookie").iter().filter_map(|value| value.to_str().ok());
    let mut cookies = values.flat_map(|value| value.split(';'));
    let found = cookies.find_map(|cookie| cookie.trim().strip_prefix("leitstand="))?;
    let is_ours = found.len() == 64 && found.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_ours.then(|| found.to_owned())
}

pub fn check_token(page_request: &PageRequest) -> Result<()> {
    // Compares digests, so that the timing reveals nothing.
    if people::digest(page_request.field("token")) == people::digest(&page_request.token()) {
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
        // The Host; whether it is known after a direct connection to 192.0.2.7, and through a proxy of ours
        // to ::1.
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

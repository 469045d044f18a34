//! Settings of the server, from flag, environment, configuration file or default, in this order.

mod file;
mod settings;

pub use settings::{SETTINGS, Setting};

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::Serialize;

use crate::interface::routes;
use crate::platform::db::file::logging::{Format, Verbosity};
use crate::platform::gate::{Modus, Nightly, Origins, Policy, Zugang};
use crate::platform::http::host;
use crate::platform::http::route::Route;
use crate::platform::http::server::Limits;
use crate::rules::choice::Choice;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InForce {
    #[serde(rename = "setting")]
    pub name: &'static str,
    pub value: String,
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub db: PathBuf,
    pub listen: SocketAddr,
    pub tls: Option<(PathBuf, PathBuf)>,
    pub policy: Policy,
    pub log_format: Format,
    pub log_level: Verbosity,
    pub limits: Limits,
    pub in_force: Vec<InForce>,
}

impl Config {
    /// Reads the settings from `flags` by name, from the environment, and from the file, if there is one.
    pub fn load(
        flags: &BTreeMap<&'static str, String>,
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Config, String> {
        let from_file = match file {
            Some(path) => file::read(path)?,
            None => BTreeMap::new(),
        };
        let in_force = SETTINGS.iter().map(|setting| {
            let name = setting.name;
            let variable = format!("PARTNERD_{}", name.to_uppercase());
            let by_flag = flags.get(name).map(|value| (value.clone(), format!("Schalter --{name}")));
            let by_variable = || Some((environment(&variable)?, format!("Umgebung {variable}")));
            let by_file = || from_file.get(name).cloned();
            let default = || (setting.default.to_owned(), "Voreinstellung".to_owned());
            let (value, source) = by_flag.or_else(by_variable).or_else(by_file).unwrap_or_else(default);
            InForce { name, value, source }
        });
        Config::from_values(Values(in_force.collect()))
    }

    fn from_values(values: Values) -> Result<Config, String> {
        Ok(Config {
            db: PathBuf::from(values.text("db")),
            listen: values.parsed(
                "listen",
                |text| text.parse().ok(),
                &format!("Adresse und Port: {}", meant(values.text("listen"))),
            )?,
            tls: tls(&values)?,
            policy: policy(&values)?,
            log_format: values.parsed("log_format", Format::parse, &Format::texts())?,
            log_level: values.parsed("log_level", Verbosity::parse, &Verbosity::texts())?,
            limits: Limits {
                connections: values.number("max_connections", 1_000_000)? as usize,
                per_address: values.number("max_connections_per_address", 1_000_000)? as usize,
                header: values.seconds("header_timeout")?,
                body: values.seconds("body_timeout")?,
                write: values.seconds("write_timeout")?,
                shutdown: values.seconds("shutdown_timeout")?,
            },
            in_force: values.0,
        })
    }
}

fn tls(values: &Values) -> Result<Option<(PathBuf, PathBuf)>, String> {
    match (values.text("tls_certificate"), values.text("tls_key")) {
        ("", "") => Ok(None),
        ("", _) => Err(values.complain("tls_certificate", "eine Datei, denn tls_key ist gesetzt")),
        (_, "") => Err(values.complain("tls_key", "eine Datei, denn tls_certificate ist gesetzt")),
        (certificate, key) => Ok(Some((PathBuf::from(certificate), PathBuf::from(key)))),
    }
}

fn policy(values: &Values) -> Result<Policy, String> {
    Ok(Policy {
        proxies: values.list("trusted_proxies", network, "Adressen oder Netze wie 10.0.0.0/8")?,
        critical_routes: values.list("critical_routes", route, "Routen, wie GET /api/v1 sie nennt")?,
        public_metrics: values.is_second("metrics", ["local", "public"])?,
        nightly: nightly(values)?,
        leitstand: leitstand(values)?,
        foreign_checkpoints: values.is_second("checkpoints", ["own", "litestream"])?,
        origins: Origins(values.list(
            "cors_origins",
            origin,
            "Webseiten wie https://shop.example oder http://10.0.0.5:3000: mit http und Port, ohne Pfad, ohne *",
        )?),
    })
}

fn leitstand(values: &Values) -> Result<Zugang, String> {
    let modus = values.parsed("leitstand", Modus::parse, &Modus::texts())?;
    let certificate = Some(values.text("tls_certificate")).filter(|path| !path.is_empty()).map(PathBuf::from);
    if modus == Modus::Netz && certificate.is_none() && values.text("trusted_proxies").is_empty() {
        return Err(
            "leitstand = \"netz\" ohne TLS schickte Passwörter lesbar durch das Netz: tls_certificate und \
             tls_key setzen (`partnerd tls self-signed` macht beide), oder trusted_proxies, wo ein Proxy TLS spricht"
                .to_owned(),
        );
    }
    let expected =
        "Namen dieses Rechners wie muehle.local, mit Komma getrennt, ohne http, Port, Pfad und Leerzeichen";
    let hosts = values.list("hosts", host, expected)?;
    let max_daily_limit = u32::try_from(values.number("max_daily_limit", u32::MAX.into())?).ok();
    Ok(Zugang { modus, hosts, certificate, max_daily_limit })
}

/// Parses the name or address of a machine as browsers send it: in lower case, an address without brackets.
/// Refuses what no browser would send.
fn host(text: &str) -> Option<String> {
    if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some(address.to_canonical().to_string());
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let fits = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
    text.split('.').all(fits).then(|| text.to_ascii_lowercase())
}

fn nightly(values: &Values) -> Result<Option<Nightly>, String> {
    // Checked even while no backups are made: the day they are switched on would be too late.
    let minute = values.parsed("backup_time", minute, "eine Uhrzeit wie 02:30")?;
    let keep = values.number("backup_keep", 10_000)? as usize;
    let folder = values.text("backup_folder");
    Ok((!folder.is_empty()).then(|| Nightly { folder: PathBuf::from(folder), minute, keep }))
}

/// The values in force, and how to parse them; an invalid one is refused with its name and origin.
struct Values(Vec<InForce>);

impl Values {
    fn find(&self, name: &str) -> Option<&InForce> {
        self.0.iter().find(|setting| setting.name == name)
    }

    fn text(&self, name: &str) -> &str {
        self.find(name).map_or("", |setting| &setting.value)
    }

    fn complain(&self, name: &str, expected: &str) -> String {
        let (value, source) = self.find(name).map_or(("", ""), |s| (s.value.as_str(), s.source.as_str()));
        format!("{name} = {value:?} ({source}): erwartet wird {expected}")
    }

    fn parsed<T>(&self, name: &str, read: fn(&str) -> Option<T>, expected: &str) -> Result<T, String> {
        read(self.text(name)).ok_or_else(|| self.complain(name, expected))
    }

    fn list<T>(&self, name: &str, read: fn(&str) -> Option<T>, expected: &str) -> Result<Vec<T>, String> {
        let entries = self.text(name).split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let entries: Option<_> = entries.map(read).collect();
        entries.ok_or_else(|| self.complain(name, expected))
    }

    fn is_second(&self, name: &str, words: [&str; 2]) -> Result<bool, String> {
        let found = words.iter().position(|word| *word == self.text(name));
        found.map(|at| at == 1).ok_or_else(|| self.complain(name, &words.join(" oder ")))
    }

    /// Parses a number from 1 to `max`.
    fn number(&self, name: &str, max: u64) -> Result<u64, String> {
        match self.text(name).parse::<u64>() {
            Ok(number) if (1..=max).contains(&number) => Ok(number),
            _ => Err(self.complain(name, &format!("eine Zahl von 1 bis {max}"))),
        }
    }

    fn seconds(&self, name: &str) -> Result<Duration, String> {
        self.number(name, 3_600).map(Duration::from_secs)
    }
}

/// Returns the address and port that an invalid text probably means.
fn meant(text: &str) -> String {
    let text = text.trim();
    let text = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    let text = text.trim_end_matches('/');
    let port = |text: &str| text.parse::<u16>().is_ok();
    match host::split(text) {
        _ if text.parse::<SocketAddr>().is_ok() => text.to_owned(),
        _ if port(text) => format!("127.0.0.1:{text}"),
        ("localhost", None) => "127.0.0.1:8080".to_owned(),
        ("localhost", Some(number)) if port(number) => format!("127.0.0.1:{number}"),
        ("" | "*", Some(number)) if port(number) => {
            format!("0.0.0.0:{number} für das ganze Netz, oder 127.0.0.1:{number} nur für diesen Rechner")
        }
        _ => match text.parse::<IpAddr>() {
            Ok(address) => SocketAddr::new(address, 8080).to_string(),
            Err(_) => {
                "127.0.0.1:8080 nur für diesen Rechner, oder 0.0.0.0:8080 für das ganze Netz".to_owned()
            }
        },
    }
}

fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Parses a time such as 02:30 into minutes since midnight.
fn minute(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// Parses the origin of a web page as browsers send it: scheme, host, and the port unless it is the default.
/// Refuses what no browser would send.
fn origin(text: &str) -> Option<String> {
    let uri: hyper::Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?.to_lowercase(), uri.authority()?);
    let usual = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let has_more = uri.path() != "/" || text.contains(['?', '#', '@', '*']) || !text.is_ascii();
    let host = authority.host().to_lowercase();
    let port = authority.port_u16();
    // An invalid port is refused rather than dropped silently.
    if has_more || (port.is_none() && authority.as_str().len() != host.len()) {
        return None;
    }
    Some(match port {
        Some(port) if port != usual => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    })
}

/// Parses a route given by method and path, such as `POST /api/v1/kunden`.
fn route(text: &str) -> Option<String> {
    let mut names = routes::all().map(Route::name);
    names.find(|name| name == text)
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Config, meant, origin};

    #[test]
    fn the_pages_are_given_the_daily_limit_of_the_setting() {
        for (said, expected) in [(None, 100_000), (Some("50"), 50)] {
            let variable =
                |name: &str| said.filter(|_| name == "PARTNERD_MAX_DAILY_LIMIT").map(str::to_owned);
            let config = Config::load(&BTreeMap::new(), variable, None).unwrap();
            assert_eq!(config.policy.leitstand.max_daily_limit, Some(expected));
        }
    }

    #[test]
    fn of_an_address_that_is_none_the_nearest_one_is_named() {
        for (written, meant_by_it) in [
            ("localhost:8080", "127.0.0.1:8080"),
            ("localhost", "127.0.0.1:8080"),
            ("8081", "127.0.0.1:8081"),
            ("192.168.1.20", "192.168.1.20:8080"),
            ("::1", "[::1]:8080"),
            ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ] {
            assert_eq!(meant(written), meant_by_it, "{written}");
        }
        for both in [":8080", "*:8080", "waage.local:8080", "überall", "127.0.0.1:99999", ""] {
            let meant = meant(both);
            assert!(meant.contains("127.0.0.1:8080") && meant.contains("0.0.0.0:8080"), "{both}: {meant}");
        }
    }

    #[test]
    fn an_origin_is_kept_as_browsers_send_it() {
        for (written, sent) in [
            ("https://shop.example", "https://shop.example"),
            ("https://shop.example/", "https://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("http://shop.example:80/", "http://shop.example"),
            ("http://shop.example:443", "http://shop.example:443"),
            ("HTTPS://Shop.Example:8443", "https://shop.example:8443"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://xn--mhle-0ra.example", "https://xn--mhle-0ra.example"),
        ] {
            assert_eq!(origin(written).as_deref(), Some(sent), "{written}");
        }
        for never_sent in [
            "*",
            "null",
            "shop.example",
            "ftp://shop.example",
            "https://*.shop.example",
            "https://shop.example/app",
            "https://shop.example?a",
            "https://shop.example#a",
            "https://you@shop.example",
            "https://mühle.example",
            "https://shop.example:",
            "https://shop.example:99999",
        ] {
            assert_eq!(origin(never_sent), None, "{never_sent}");
        }
    }
}

//! Settings of the server: flag, else environment, else configuration file, else default.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use serde::Serialize;

use crate::app::routes;
use crate::db::logging::{Format, Verbosity};
use crate::gate::{Nightly, Origins, Policy};
use crate::http::route::Route;
use crate::http::server::Limits;
use crate::rules::choice::Choice;
use crate::rules::text::nearest;

/// A setting. In the environment its name is PARTNERD_ and the name in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name in the configuration file.
    pub name: &'static str,
    /// What holds when nobody says anything.
    pub default: &'static str,
    /// What it does, with its unit.
    pub summary: &'static str,
}

/// Every setting.
pub const SETTINGS: &[Setting] = &[
    Setting { name: "db", default: "partnerd.db", summary: "The database file. It must be on a local disk." },
    Setting {
        name: "listen",
        default: "127.0.0.1:8080",
        summary: "Address and port to serve on. Port 0 picks a free one.",
    },
    Setting {
        name: "tls_certificate",
        default: "",
        summary: "File with the certificate for https (PEM). Nothing: http.",
    },
    Setting { name: "tls_key", default: "", summary: "File with the private key of the certificate (PEM)." },
    Setting {
        name: "trusted_proxies",
        default: "",
        summary: "Addresses or networks of proxies whose X-Forwarded-For counts, separated by commas.",
    },
    Setting {
        name: "critical_routes",
        default: "",
        summary: "Routes that one address may use ten times a minute, such as \"POST /api/v1/kunden\", separated by commas.",
    },
    Setting {
        name: "metrics",
        default: "local",
        summary: "Who may read /metrics: local (this machine) or public.",
    },
    Setting {
        name: "cors_origins",
        default: "",
        summary: "Web pages whose scripts may call the interface, such as https://shop.example, separated by commas.",
    },
    Setting {
        name: "backup_folder",
        default: "",
        summary: "Folder for a proved backup every day, best a subfolder of another disk; one for each database. Nothing: no backups by itself.",
    },
    Setting {
        name: "backup_time",
        default: "02:30",
        summary: "From when on in the day the backup is made, on the clocks of Berlin.",
    },
    Setting {
        name: "backup_keep",
        default: "14",
        summary: "How many of these backups are kept; the oldest go.",
    },
    Setting {
        name: "checkpoints",
        default: "own",
        summary: "Who moves the write-ahead log into the database: own, or litestream where that replicates it.",
    },
    Setting { name: "log_format", default: "text", summary: "How the log is written: text or json." },
    Setting {
        name: "log_level",
        default: "info",
        summary: "What is logged: error, warn, or info (a line for each request).",
    },
    Setting {
        name: "max_connections",
        default: "12000",
        summary: "Open connections at most. When there are more, the oldest goes on which nothing was ever answered.",
    },
    Setting {
        name: "max_connections_per_address",
        default: "512",
        summary: "The same for one address, or one /64 of IPv6. Those of trusted_proxies are exempt.",
    },
    Setting {
        name: "header_timeout",
        default: "30",
        summary: "Seconds in which the head of a request must arrive; also how long a connection may be idle.",
    },
    Setting {
        name: "body_timeout",
        default: "60",
        summary: "Seconds in which the body of a request must arrive.",
    },
    Setting {
        name: "write_timeout",
        default: "30",
        summary: "Seconds in which a client must accept the next part of an answer.",
    },
    Setting {
        name: "shutdown_timeout",
        default: "8",
        summary: "Seconds that running requests get when the server stops.",
    },
];

/// A setting in force, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// Its name.
    #[serde(rename = "setting")]
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// flag, environment, the file, or default.
    pub source: String,
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The database file.
    pub db: PathBuf,
    /// Where to serve.
    pub listen: SocketAddr,
    /// Certificate and key, where https is served.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// What holds for clients.
    pub policy: Policy,
    /// How the log is written.
    pub log_format: Format,
    /// What is logged.
    pub log_level: Verbosity,
    /// Limits of the socket.
    pub limits: Limits,
    /// All of them, for `partnerd config`.
    pub in_force: Vec<InForce>,
}

impl Config {
    /// Reads the settings: `flags` by name, the environment, and the file, if there is one.
    pub fn load(
        flags: &BTreeMap<&'static str, String>,
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Config, String> {
        let from_file = match file {
            Some(path) => read_file(path)?,
            None => BTreeMap::new(),
        };
        let in_force = SETTINGS.iter().map(|setting| {
            let variable = format!("PARTNERD_{}", setting.name.to_uppercase());
            let (value, source) = if let Some(value) = flags.get(setting.name) {
                (value.clone(), format!("flag --{}", setting.name))
            } else if let Some(value) = environment(&variable) {
                (value, format!("environment {variable}"))
            } else if let (Some(value), Some(path)) = (from_file.get(setting.name), file) {
                (value.clone(), path.display().to_string())
            } else {
                (setting.default.to_owned(), "default".to_owned())
            };
            InForce { name: setting.name, value, source }
        });
        Config::from_values(Values(in_force.collect()))
    }

    fn from_values(values: Values) -> Result<Config, String> {
        Ok(Config {
            db: PathBuf::from(values.text("db")),
            listen: values.parsed(
                "listen",
                |text| text.parse().ok(),
                "an address and a port, such as 127.0.0.1:8080",
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
        ("", _) => Err(values.complain("tls_certificate", "a file, because there is a tls_key")),
        (_, "") => Err(values.complain("tls_key", "a file, because there is a tls_certificate")),
        (certificate, key) => Ok(Some((PathBuf::from(certificate), PathBuf::from(key)))),
    }
}

fn policy(values: &Values) -> Result<Policy, String> {
    Ok(Policy {
        proxies: values.list("trusted_proxies", network, "addresses or networks such as 10.0.0.0/8")?,
        critical_routes: values.list("critical_routes", route, "routes as GET /api/v1 lists them")?,
        public_metrics: values.is_second("metrics", ["local", "public"])?,
        nightly: nightly(values)?,
        without_audit: false,
        foreign_checkpoints: values.is_second("checkpoints", ["own", "litestream"])?,
        origins: Origins(values.list(
            "cors_origins",
            origin,
            "origins such as https://shop.example or http://10.0.0.5:3000: scheme, host and port, no path, no *",
        )?),
    })
}

fn nightly(values: &Values) -> Result<Option<Nightly>, String> {
    let folder = values.text("backup_folder");
    if folder.is_empty() {
        return Ok(None);
    }
    Ok(Some(Nightly {
        folder: PathBuf::from(folder),
        minute: values.parsed("backup_time", minute, "a time such as 02:30")?,
        keep: values.number("backup_keep", 10_000)? as usize,
    }))
}

/// The values in force, and how they are read: what cannot be read is refused with its name and where it came from.
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
        format!("{name} = {value:?} ({source}): expected is {expected}")
    }

    fn parsed<T>(&self, name: &str, read: fn(&str) -> Option<T>, expected: &str) -> Result<T, String> {
        read(self.text(name)).ok_or_else(|| self.complain(name, expected))
    }

    /// The entries of a list that is separated by commas.
    fn list<T>(&self, name: &str, read: fn(&str) -> Option<T>, expected: &str) -> Result<Vec<T>, String> {
        let entries = self.text(name).split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let entries: Option<_> = entries.map(read).collect();
        entries.ok_or_else(|| self.complain(name, expected))
    }

    /// Which of two words a setting has.
    fn is_second(&self, name: &str, words: [&str; 2]) -> Result<bool, String> {
        let found = words.iter().position(|word| *word == self.text(name));
        found.map(|at| at == 1).ok_or_else(|| self.complain(name, &words.join(" or ")))
    }

    /// From 1 to max.
    fn number(&self, name: &str, max: u64) -> Result<u64, String> {
        match self.text(name).parse::<u64>() {
            Ok(number) if (1..=max).contains(&number) => Ok(number),
            _ => Err(self.complain(name, &format!("a number from 1 to {max}"))),
        }
    }

    /// At most an hour.
    fn seconds(&self, name: &str) -> Result<Duration, String> {
        self.number(name, 3_600).map(Duration::from_secs)
    }
}

fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Minutes since midnight of a time, as 02:30.
fn minute(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// The origin of a web page as browsers send it: scheme, host, and the port where it is not the usual
/// one. What would never be sent is refused.
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
    // A port that is none is not left out silently.
    if has_more || (port.is_none() && authority.as_str().len() != host.len()) {
        return None;
    }
    Some(match port {
        Some(port) if port != usual => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    })
}

/// A route by method and path, as `POST /api/v1/kunden`.
fn route(text: &str) -> Option<String> {
    let mut names = routes().map(Route::name);
    names.find(|name| name == text)
}

/// The settings of a file; a name that nobody knows is refused with the nearest known one.
fn read_file(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let table: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let setting = |(name, value): (String, toml::Value)| {
        if !SETTINGS.iter().any(|setting| setting.name == name) {
            let nearest = nearest(&name, SETTINGS.iter().map(|setting| setting.name)).unwrap_or_default();
            return Err(format!("{}: there is no setting {name}; did you mean {nearest}?", path.display()));
        }
        match value {
            toml::Value::String(text) => Ok((name, text)),
            toml::Value::Integer(number) => Ok((name, number.to_string())),
            _ => Err(format!("{}: {name} must be a text or a whole number", path.display())),
        }
    };
    table.into_iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::origin;

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

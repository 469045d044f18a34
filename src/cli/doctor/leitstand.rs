//! The pages for people: from where and at which address they are reached, and whether anybody can log in (D27).

use rusqlite::Connection;

use crate::cli::finding::{Finding, ok, warning, wrong};
use crate::cli::user::base;
use crate::config::Config;
use crate::gate::Modus;
use crate::leitstand::people::{self, Person};

const LOOK: &str = "leitstand";

/// From where the pages are reached, and at which address. What cannot be served at all is refused with the settings.
pub fn reach(config: &Config) -> Finding {
    let (listen, port) = (config.listen, config.listen.port());
    let ip = listen.ip().to_canonical();
    match config.policy.leitstand.modus {
        Modus::Aus => ok(LOOK, "off: nobody can use the pages (setting leitstand)"),
        // A connection of this machine to one of its other addresses comes from that address.
        Modus::Lokal if !ip.is_loopback() && !ip.is_unspecified() => {
            let advice = format!("set leitstand = \"netz\", or listen = \"0.0.0.0:{port}\"");
            warning(
                LOOK,
                format!("for this machine alone, but nothing reaches {listen} from 127.0.0.1: {advice}"),
            )
        }
        Modus::Lokal => {
            let proxies = "a proxy on this machine that passes requests on needs trusted_proxies and leitstand = \"netz\"";
            ok(LOOK, format!("for this machine alone, at {}/leitstand; {proxies}", base(config)))
        }
        Modus::Netz if ip.is_loopback() && config.policy.proxies.is_empty() => {
            let advice = format!("set listen = \"0.0.0.0:{port}\"");
            warning(
                LOOK,
                format!("for the network, but {listen} takes connections of this machine alone: {advice}"),
            )
        }
        Modus::Netz if config.tls.is_some() => ok(LOOK, format!("for the network, at {}", addresses(config))),
        Modus::Netz => behind_proxy(config),
    }
}

fn addresses(config: &Config) -> String {
    let port = config.listen.port();
    let hosts = &config.policy.leitstand.hosts;
    let address = |host: &String| match host.contains(':') {
        true => format!("https://[{host}]:{port}/leitstand"),
        false => format!("https://{host}:{port}/leitstand"),
    };
    let named = hosts.iter().map(address).collect::<Vec<_>>().join(", ");
    match (hosts.is_empty(), config.listen.ip().is_unspecified()) {
        (false, _) => named,
        (true, true) => {
            format!(
                "the addresses of this machine, https://ADDRESS:{port}/leitstand; names need an entry in hosts"
            )
        }
        (true, false) => format!("{}/leitstand; names need an entry in hosts", base(config)),
    }
}

fn behind_proxy(config: &Config) -> Finding {
    let hosts = &config.policy.leitstand.hosts;
    if hosts.is_empty() {
        let finding = "for the network, behind the proxy in trusted_proxies, but hosts names none: who opens them by a name is refused; enter the names that people use";
        return warning(LOOK, finding);
    }
    ok(LOOK, format!("for the network, behind the proxy in trusted_proxies, as {}", hosts.join(", ")))
}

/// Whether anybody can log in; nothing where nobody shall.
pub fn people(connection: &Connection, config: &Config) -> Option<Finding> {
    const LOOK: &str = "people";
    if config.policy.leitstand.modus == Modus::Aus {
        return None;
    }
    let people = match people::list(connection) {
        Ok(people) => people,
        Err(failure) => return Some(wrong(LOOK, failure.to_string())),
    };
    let able: Vec<&Person> = people.iter().filter(|person| person.aktiv && person.has_password).collect();
    let keepers = able.iter().filter(|person| person.keeps_house()).count();
    let waiting = people.iter().find(|person| person.aktiv);
    Some(match (able.len(), waiting) {
        (0, Some(Person { name, .. })) => {
            let advice = format!("`partnerd user link {name:?}` prints a link for it");
            warning(LOOK, format!("nobody has set a password yet: {advice}"))
        }
        (0, None) => warning(LOOK, format!("nobody can log in: {FIRST}")),
        (count, _) if keepers == 0 => {
            warning(LOOK, format!("{count} can log in, but none of them manages all companies: {FIRST}"))
        }
        (count, _) => ok(LOOK, format!("{count} can log in, {keepers} of them manage all companies")),
    })
}

const FIRST: &str = "`partnerd user create NAME --role verwalten` prints a link to begin";

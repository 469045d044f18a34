//! Checks the Leitstand: from where and at which address it can be reached, and whether anybody can log in (D27).

use rusqlite::Connection;

use crate::leitstand::access::people::{self, Person};
use crate::platform::gate::Modus;
use crate::platform::http::host::with_port;
use crate::start::cli::finding::{Finding, ok, warning, wrong};
use crate::start::cli::user::base;
use crate::start::config::Config;

const LOOK: &str = "leitstand";

/// Says from where and at which address the pages can be reached. Impossible combinations were refused with
/// the settings.
pub fn reach(config: &Config) -> Finding {
    let (listen, port) = (config.listen, config.listen.port());
    let ip = listen.ip().to_canonical();
    match config.policy.leitstand.modus {
        Modus::Aus => ok(LOOK, "aus: niemand kann die Seiten benutzen (Einstellung leitstand)"),
        // A connection from this machine to one of its other addresses has that address as its source.
        Modus::Lokal if !ip.is_loopback() && !ip.is_unspecified() => {
            let advice = format!("leitstand = \"netz\" setzen, oder listen = \"0.0.0.0:{port}\"");
            warning(
                LOOK,
                format!(
                    "nur für diesen Rechner, aber von 127.0.0.1 aus ist {listen} nicht zu erreichen: {advice}"
                ),
            )
        }
        Modus::Lokal => {
            let proxies = "ein Proxy auf diesem Rechner, der Anfragen weiterreicht, braucht trusted_proxies und \
                           leitstand = \"netz\"";
            ok(LOOK, format!("nur für diesen Rechner, unter {}/leitstand; {proxies}", base(config)))
        }
        Modus::Netz if ip.is_loopback() && config.policy.proxies.is_empty() => {
            let advice = format!("listen = \"0.0.0.0:{port}\" setzen");
            warning(
                LOOK,
                format!("für das Netz, aber {listen} nimmt nur Verbindungen dieses Rechners an: {advice}"),
            )
        }
        Modus::Netz if config.tls.is_some() => ok(LOOK, format!("für das Netz, unter {}", addresses(config))),
        Modus::Netz => behind_proxy(config),
    }
}

fn addresses(config: &Config) -> String {
    let port = config.listen.port();
    let hosts = &config.policy.leitstand.hosts;
    let address = |host: &String| format!("https://{}/leitstand", with_port(host, port));
    let named = hosts.iter().map(address).collect::<Vec<_>>().join(", ");
    match (hosts.is_empty(), config.listen.ip().is_unspecified()) {
        (false, _) => named,
        (true, true) => {
            format!(
                "den Adressen dieses Rechners, https://ADRESSE:{port}/leitstand; Namen brauchen einen Eintrag in hosts"
            )
        }
        (true, false) => format!("{}/leitstand; Namen brauchen einen Eintrag in hosts", base(config)),
    }
}

fn behind_proxy(config: &Config) -> Finding {
    let hosts = &config.policy.leitstand.hosts;
    if hosts.is_empty() {
        let finding = "für das Netz, hinter dem Proxy aus trusted_proxies, aber hosts nennt keinen Namen: wer \
                       sie unter einem Namen öffnet, wird abgewiesen; die Namen eintragen, die benutzt werden";
        return warning(LOOK, finding);
    }
    ok(LOOK, format!("für das Netz, hinter dem Proxy aus trusted_proxies, als {}", hosts.join(", ")))
}

/// Checks whether anybody can log in; `None` if the Leitstand is off.
pub fn people(connection: &Connection, config: &Config) -> Option<Finding> {
    const LOOK: &str = "people";
    if config.policy.leitstand.modus == Modus::Aus {
        return None;
    }
    let people = match people::list(connection) {
        Ok(people) => people,
        Err(failure) => return Some(wrong(LOOK, failure.in_german())),
    };
    let able: Vec<&Person> = people.iter().filter(|person| person.aktiv && person.has_password).collect();
    let keepers = able.iter().filter(|person| person.manages_installation()).count();
    let waiting = people.iter().find(|person| person.aktiv);
    Some(match (able.len(), waiting) {
        (0, Some(Person { name, .. })) => {
            let advice = format!("`partnerd user link {name:?}` gibt einen Link dafür aus");
            warning(LOOK, format!("noch niemand hat ein Passwort gesetzt: {advice}"))
        }
        (0, None) => warning(LOOK, format!("niemand kann sich anmelden: {FIRST}")),
        (count, _) if keepers == 0 => warning(
            LOOK,
            format!("{count} können sich anmelden, aber niemand davon verwaltet alle Firmen: {FIRST}"),
        ),
        (count, _) => {
            ok(LOOK, format!("{count} können sich anmelden, {keepers} davon verwalten alle Firmen"))
        }
    })
}

const FIRST: &str = "`partnerd user create NAME --role verwalten` gibt einen Link zum Anfangen aus";

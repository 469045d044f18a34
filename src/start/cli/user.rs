//! `user`: the people who use the Leitstand (D27).

use std::path::Path;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;

use super::changes::note;
use super::database::{change, find_tenant, in_transaction, now, open};
use super::terminal::{Outcome, Terminal};
use crate::leitstand::access::people::{self, Person, Rolle, State};
use crate::master::tenants;
use crate::platform::db::file::connection::open_sealed;
use crate::platform::gate::Modus;
use crate::platform::http::host::with_port;
use crate::rules::admin_event::AdminAction;
use crate::rules::choice::Choice;
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Eine Person anlegen und den Link ausgeben, mit dem sie ihr Passwort setzt
    #[command(after_help = "Beispiele:\n  \
                            partnerd user create Erika --role verwalten\n  \
                            partnerd user create Paul --tenant \"Mühle Beispiel\"")]
    Create {
        /// Der Name zum Anmelden
        name: String,
        /// ansehen: alles sehen; buero: die tägliche Arbeit tun; verwalten: alles ändern
        #[arg(long, value_name = "ROLLE", default_value = "ansehen", value_parser = roles())]
        role: Rolle,
        /// Eine Firma, die die Person sieht; mehrmals möglich; keine: alle
        #[arg(long, value_name = "NAME")]
        tenant: Vec<String>,
    },
    /// Alle Personen zeigen
    #[command(after_help = "Beispiele:\n  partnerd user list")]
    List,
    /// Eine Person überall abmelden und nicht mehr hereinlassen
    #[command(after_help = "Beispiele:\n  partnerd user deactivate Erika")]
    Deactivate(Named),
    /// Eine Person wieder hereinlassen
    #[command(after_help = "Beispiele:\n  partnerd user activate Erika")]
    Activate(Named),
    /// Einen neuen Link ausgeben, der das Passwort setzt
    #[command(after_help = "Beispiele:\n  partnerd user link Erika")]
    Link(Named),
}

#[derive(clap::Args)]
pub struct Named {
    /// Der Name zum Anmelden
    name: String,
}

fn roles() -> impl TypedValueParser<Value = Rolle> {
    PossibleValuesParser::new(Rolle::ALL.iter().map(|role| role.as_str()))
        .map(|text| Rolle::parse(&text).unwrap_or(Rolle::Ansehen))
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { name, role, tenant } => create(&name, role, &tenant, config, terminal),
        Command::List => list(config, terminal),
        Command::Deactivate(person) => set_active(&person.name, false, config, terminal),
        Command::Activate(person) => set_active(&person.name, true, config, terminal),
        Command::Link(person) => link(&person.name, config, terminal),
    }
}

fn create(name: &str, role: Rolle, companies: &[String], config: &Config, terminal: &Terminal) -> Outcome {
    let link = change(config, |connection| {
        let ids = companies.iter().map(|company| Ok(find_tenant(connection, company)?.id));
        let ids = ids.collect::<Outcome<Vec<_>>>()?;
        let seen = (!ids.is_empty()).then_some(ids.as_slice());
        let id = people::create(connection, name, role, seen, now())?;
        let firmen: Vec<_> = companies.iter().map(String::as_str).collect();
        note(connection, None, "user create", &people::created(id, name, role, &firmen))?;
        new_link(connection, id, config)
    })?;
    print_link(name, &link, terminal);
    Ok(())
}

/// Returns the URL of the server as seen from this machine, as far as the settings tell.
pub fn base(config: &Config) -> String {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let ip = config.listen.ip();
    let host = if ip.is_unspecified() { "localhost".to_owned() } else { ip.to_string() };
    format!("{scheme}://{}", with_port(&host, config.listen.port()))
}

fn new_link(connection: &Connection, id: i64, config: &Config) -> Outcome<String> {
    let secret = people::secret()?;
    people::store_link(connection, id, &secret, now())?;
    Ok(format!("{}/leitstand/passwort?link={secret}", base(config)))
}

fn print_link(name: &str, link: &str, terminal: &Terminal) {
    terminal.result(link, &json!({"name": name, "link": link}));
    terminal.say(&format!("Mit diesem Link setzt {name} ein Passwort, einmal und innerhalb einer Stunde."));
}

/// Shows the link for the first login if nobody has a password yet.
pub fn say_first_link(database: &Path, base: &str, config: &Config, terminal: &Terminal) -> Outcome {
    if config.policy.leitstand.modus == Modus::Aus {
        return Ok(());
    }
    let mut connection = open_sealed(database)?;
    let first = in_transaction(&mut connection, |connection| {
        let first = people::first_link(connection, now())?;
        if let Some((person, Some(_))) = &first {
            note(connection, None, "serve", &person.event(AdminAction::LinkErzeugt))?;
        }
        Ok(first)
    })?;
    match first {
        None => {}
        Some((Person { name, .. }, Some(secret))) => {
            let link = format!("{base}/leitstand/passwort?link={secret}");
            terminal.say(&format!(
                "Zum Anfangen im Browser als {name}, einmal und innerhalb einer Stunde:\n  {link}"
            ));
        }
        Some((Person { name, .. }, None)) => terminal.say(&format!(
            "Der Link von {name}, der schon ausgegeben wurde, gilt noch; `partnerd user link {name:?}` gibt \
             einen anderen statt seiner aus."
        )),
    }
    Ok(())
}

#[derive(Serialize)]
struct PersonLine {
    id: i64,
    name: String,
    role: &'static str,
    companies: Option<Vec<String>>,
    state: State,
}

fn list(config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let companies = tenants::list(&connection)?;
    let line = |person: Person| PersonLine {
        state: person.state(),
        companies: person.firmen.as_ref().map(|_| {
            let seen = companies.iter().filter(|company| person.sees(company.id));
            seen.map(|company| company.name.clone()).collect()
        }),
        id: person.id,
        role: person.rolle.as_str(),
        name: person.name,
    };
    let people = people::list(&connection)?;
    let lines: Vec<_> = people.into_iter().map(line).collect();
    terminal.rows(&["Name", "Rolle", "Firmen", "Stand"], &lines, |line| {
        let companies = line.companies.as_ref().map_or("alle".to_owned(), |companies| companies.join(", "));
        vec![line.name.clone(), line.role.to_owned(), companies, line.state.in_words().to_owned()]
    })
}

fn find(connection: &Connection, name: &str) -> Outcome<Person> {
    people::find(connection, name)?
        .ok_or_else(|| format!("die Person {name} gibt es nicht: `partnerd user list` nennt alle").into())
}

fn set_active(name: &str, active: bool, config: &Config, terminal: &Terminal) -> Outcome {
    let person = change(config, |connection| {
        let person = find(connection, name)?;
        if person.aktiv != active {
            people::set_active(connection, person.id, active)?;
            let verb = if active { "activate" } else { "deactivate" };
            let tat = if active { AdminAction::Freigegeben } else { AdminAction::Gesperrt };
            note(connection, None, &format!("user {verb}"), &person.event(tat))?;
        }
        Ok(person)
    })?;
    terminal.result(&person.name, &json!({"name": person.name, "active": active}));
    Ok(())
}

fn link(name: &str, config: &Config, terminal: &Terminal) -> Outcome {
    let link = change(config, |connection| {
        let person = find(connection, name)?;
        if !person.aktiv {
            return Err(format!("{name} ist gesperrt: erst `partnerd user activate {name}`").into());
        }
        note(connection, None, "user link", &person.event(AdminAction::LinkErzeugt))?;
        new_link(connection, person.id, config)
    })?;
    print_link(name, &link, terminal);
    Ok(())
}

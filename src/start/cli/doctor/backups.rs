//! Checks the nightly backups: whether they exist, how old the newest is, whether it is intact and on another disk.

use std::path::Path;

use crate::operations::nightly::made;
use crate::platform::db::file::connection::open_to_look;
#[cfg(unix)]
use crate::platform::db::file::files::folder_of;
use crate::platform::gate::Nightly;
use crate::rules::day::Day;
use crate::start::cli::database::now;
use crate::start::cli::finding::{Finding, ok, warning, wrong};
use crate::start::config::Config;

const LOOK: &str = "backups";

pub fn look(config: &Config) -> Vec<Finding> {
    let Some(nightly) = &config.policy.nightly else {
        let advice = "backup_folder setzen, am besten auf einen Ordner einer anderen Platte";
        return vec![warning(LOOK, format!("von selbst wird keine gemacht: {advice}"))];
    };
    let mut damaged = Vec::new();
    let made = made(&config.db, nightly, |file, why| damaged.push(damage(file, &why.in_german())));
    let made = match made {
        Ok(made) => made,
        Err(failure) if nightly.folder.is_dir() => return vec![wrong(LOOK, failure.in_german())],
        Err(failure) => {
            let advice = "den Ordner von backup_folder anlegen, oder seine Platte einhängen";
            return vec![wrong(LOOK, format!("{}: {advice}", failure.in_german()))];
        }
    };
    damaged.extend(made.last().and_then(|newest| Some(damage(newest, &broken_page(newest)?))));
    let mut findings = vec![of_day(&made, nightly)];
    findings.extend(damaged);
    findings.extend(same_disk(&config.db, nightly));
    findings
}

fn of_day(made: &[std::path::PathBuf], nightly: &Nightly) -> Finding {
    let Some(newest) = made.last() else {
        return warning(LOOK, format!("in {} ist noch keine", nightly.folder.display()));
    };
    let yesterday = Day::of_number(Day::in_berlin(now()).number() - 1).to_string();
    let name = newest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let day: String = name.chars().skip(name.chars().count().saturating_sub(10)).collect();
    let finding = format!("{} aufgehoben, die neueste vom {day}", made.len());
    match day < yesterday {
        true => warning(LOOK, format!("{finding}: warum, sagt das Protokoll des Servers")),
        false => ok(LOOK, finding),
    }
}

fn damage(file: &Path, why: &str) -> Finding {
    wrong(
        LOOK,
        format!(
            "die Sicherung {} ist beschädigt ({why}): in einen anderen Ordner verschieben, gleich mit `partnerd \
             backup` eine neue machen, und die Platte prüfen, auf der sie liegt",
            file.display()
        ),
    )
}

/// Returns SQLite's message about the first damaged page, `None` if there is none.
fn broken_page(file: &Path) -> Option<String> {
    let looked = open_to_look(file).and_then(|connection| {
        Ok(connection.query_row("pragma quick_check(1)", [], |row| row.get::<_, String>(0))?)
    });
    match looked {
        Ok(text) if text == "ok" => None,
        Ok(text) => Some(text),
        Err(failure) => Some(failure.in_german()),
    }
}

/// Warns if database and backups share a disk, which would take both with it.
#[cfg(unix)]
fn same_disk(database: &Path, nightly: &Nightly) -> Option<Finding> {
    let device = |folder: &Path| {
        std::fs::metadata(folder).ok().map(|metadata| std::os::unix::fs::MetadataExt::dev(&metadata))
    };
    let folder = &nightly.folder;
    (device(folder).is_some() && device(folder) == device(folder_of(database))).then(|| {
        let finding = "liegt auf derselben Platte wie die Datenbank: fällt sie aus, ist beides weg; einen Ordner einer \
                       anderen Platte nehmen";
        warning("backup_folder", format!("{} {finding}", folder.display()))
    })
}

#[cfg(not(unix))]
fn same_disk(_: &Path, _: &Nightly) -> Option<Finding> {
    None
}

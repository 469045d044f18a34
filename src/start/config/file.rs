//! Reads the configuration file (TOML), one setting per line. Errors give the line, the name and what to
//! write instead.

use std::collections::BTreeMap;
use std::path::Path;

use super::settings::{SETTINGS, Setting};
use crate::platform::db::file::files::as_whom;
use crate::platform::db::file::german::in_german;
use crate::rules::text::nearest;

/// Reads the settings of a file by name: the value, and the file with the line number.
pub fn read(path: &Path) -> Result<BTreeMap<String, (String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let (file, why) = (path.display(), in_german(&error) + &as_whom(path, &error));
        format!("die Einstellungsdatei {file}: {why}. Sie steht hinter --config, oder in PARTNERD_CONFIG")
    })?;
    let table = text.parse::<toml::Table>().map_err(|error| {
        let line =
            error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("{}, Zeile {line}: {}", path.display(), unreadable(&text, line, error.message()))
    })?;
    let setting = |(name, value): (String, toml::Value)| {
        let place = format!("{}, Zeile {}", path.display(), line_of(&text, &name));
        let value = value_of(&name, value).map_err(|complaint| format!("{place}: {complaint}"))?;
        Ok((name, (value, place)))
    };
    table.into_iter().map(setting).collect()
}

/// Returns the value as text, else what is wrong with it.
fn value_of(name: &str, value: toml::Value) -> Result<String, String> {
    if matches!(&value, toml::Value::Table(_)) {
        return Err(format!(
            "[{name}] beginnt einen Abschnitt, und solche gibt es nicht: diese Zeile löschen; jede Einstellung \
             steht für sich, etwa {}",
            example("listen")
        ));
    }
    if known(name).is_none() {
        let nearest = nearest(name, SETTINGS.iter().map(|setting| setting.name)).unwrap_or_default();
        return Err(format!(
            "die Einstellung {name} gibt es nicht; gemeint ist vielleicht {nearest}: {}",
            example(nearest)
        ));
    }
    match value {
        toml::Value::String(text) if text.chars().any(char::is_control) => {
            Err(format!("{name} enthält ein Steuerzeichen: {}", backslashes(name)))
        }
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        _ => Err(format!("{name} ist ein Text oder eine ganze Zahl: {}", example(name))),
    }
}

fn known(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Shows how a setting is written, with its default, or with a placeholder if the default is empty.
fn example(name: &str) -> String {
    match known(name).map_or("", |setting| setting.default) {
        "" => format!("{name} = \"...\""),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{name} = {number}"),
        text => format!("{name} = {text:?}"),
    }
}

fn backslashes(name: &str) -> String {
    format!(
        "zwischen \" und \" beginnt \\ ein Sonderzeichen; ein Pfad steht so: {name} = 'C:\\Ordner\\Datei', oder mit /"
    )
}

fn unreadable(text: &str, line: usize, complaint: &str) -> String {
    let written = text.lines().nth(line - 1).unwrap_or_default();
    let name = written.split('=').next().unwrap_or_default().trim();
    if written.contains('\\') && known(name).is_some() {
        return backslashes(name);
    }
    let known = known(name).map_or("listen", |setting| setting.name);
    let complaint = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "das ist nicht zu lesen ({complaint}): NAME = \"TEXT\" oder NAME = ZAHL schreiben, etwa {}",
        example(known)
    )
}

fn line_of(text: &str, name: &str) -> usize {
    let begins = |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '[' | '"' | '\''));
        let rest = line.strip_prefix(name)?;
        rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '=' | ']' | '"' | '\'' | '.'))
            .then_some(())
    };
    text.lines().position(|line| begins(line).is_some()).map_or(1, |at| at + 1)
}

//! German words for clap, which writes help and usage errors in English.

use std::ffi::OsString;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error, FromArgMatches};

use super::arguments::Arguments;
use super::terminal::Terminal;

/// Parses the arguments, of which the first is the name of the program. Prints help or reports wrong usage, and then
/// returns the exit code as the error: 0 or 2.
pub fn parse(arguments: impl Iterator<Item = OsString>, terminal: &Terminal) -> Result<Arguments, u8> {
    let read = command(Arguments::command())
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    read.map_err(|error| {
        let _ = match (error.use_stderr(), is_help(&error)) {
            (false, _) => write!(terminal.stdout(), "{}", shown(&error, terminal.shows_stdout())),
            (true, true) => write!(terminal.stderr(), "{}", shown(&error, terminal.shows_stderr())),
            (true, false) => writeln!(terminal.stderr(), "partnerd: {}", complaint(&error)),
        };
        u8::try_from(error.exit_code()).unwrap_or(u8::MAX)
    })
}

/// Returns the commands with German words for what clap adds by itself.
pub fn command(mut command: Command) -> Command {
    // Before this, clap's own arguments and commands do not exist.
    command.build();
    in_words(command)
}

fn in_words(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let help = match argument.get_id().as_str() {
            "help" => "Diese Hilfe zeigen (-h: kurz)",
            "version" => "Die Version zeigen",
            "subcommand" => "Befehle, deren Hilfe gezeigt wird",
            _ => return argument,
        };
        argument.help(help).long_help(help)
    });
    command.mut_subcommands(|command| match command.get_name() {
        "help" => in_words(command.about("Diese Hilfe zeigen, oder die eines Befehls")),
        _ => in_words(command),
    })
}

/// Clap's own words. A line may break between two of them, so each is replaced alone.
const WORDS: [(&str, &str); 25] = [
    ("Usage:", "Aufruf:"),
    ("Commands:", "Befehle:"),
    ("Arguments:", "Angaben:"),
    ("Options:", "Optionen:"),
    ("[OPTIONS]", "[OPTIONEN]"),
    ("[COMMAND]", "[BEFEHL]"),
    ("<COMMAND>", "<BEFEHL>"),
    ("[default:", "[sonst:"),
    ("[possible", "[mögliche"),
    ("Possible", "Mögliche"),
    ("values:", "Werte:"),
    ("[aliases:", "[auch:"),
    ("[alias:", "[auch:"),
    // For man pages.
    (".SH SYNOPSIS", ".SH AUFRUF"),
    (".SH DESCRIPTION", ".SH BESCHREIBUNG"),
    (".SH OPTIONS", ".SH OPTIONEN"),
    (".SH SUBCOMMANDS", ".SH BEFEHLE"),
    (".SH EXTRA", ".SH \"SIEHE AUCH\""),
    ("\\fIOPTIONS\\fR", "\\fIOPTIONEN\\fR"),
    ("\\fISUBCOMMANDS\\fR", "\\fIBEFEHL\\fR"),
    ("May also be specified with the", "Auch mit der Variablen"),
    ("environment variable.", "der Umgebung."),
    // In complaints about values.
    (" is not in ", " liegt nicht in "),
    ("invalid digit found in string", "das ist keine ganze Zahl"),
    ("..=", " bis "),
];

pub fn translated(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (word, german)| text.replace(word, german))
}

fn is_help(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

fn shown(error: &Error, has_colours: bool) -> String {
    let text = error.render();
    translated(&if has_colours { text.ansi().to_string() } else { text.to_string() })
}

/// Says what is wrong, what was probably meant, and how the command is used.
fn complaint(error: &Error) -> String {
    let mut complaint = wrong(error);
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
        if let Some(meant) = words(error, kind) {
            complaint += &format!("; gemeint ist vielleicht {meant}");
        }
    }
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        complaint += &format!("\n\n{}", translated(&usage.to_string()));
    }
    complaint + "\n\nMehr sagt --help."
}

fn wrong(error: &Error) -> String {
    let [argument, value, command, prior] = [
        ContextKind::InvalidArg,
        ContextKind::InvalidValue,
        ContextKind::InvalidSubcommand,
        ContextKind::PriorArg,
    ]
    .map(|kind| words(error, kind).unwrap_or_default());
    match error.kind() {
        ErrorKind::ArgumentConflict if prior == argument => format!("{argument} darf nur einmal stehen"),
        ErrorKind::ArgumentConflict => format!("{argument} geht nicht zusammen mit {prior}"),
        ErrorKind::InvalidSubcommand => format!("den Befehl {command} gibt es nicht"),
        ErrorKind::MissingSubcommand => format!("hinter {command} fehlt ein Befehl"),
        ErrorKind::MissingRequiredArgument => format!("es fehlt: {argument}"),
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("den Schalter {argument} gibt es nicht")
        }
        ErrorKind::UnknownArgument => format!("{argument} ist hier zu viel"),
        ErrorKind::TooManyValues => format!("{value} ist bei {argument} zu viel"),
        ErrorKind::InvalidValue if value.is_empty() => format!("hinter {argument} fehlt der Wert"),
        ErrorKind::InvalidValue => {
            let possible = words(error, ContextKind::ValidValue);
            let possible = possible.map_or_else(String::new, |values| format!("; möglich ist {values}"));
            format!("{argument} kann nicht {value} sein{possible}")
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(|why| translated(&format!(": {why}")));
            format!("{argument} kann nicht {value} sein{}", why.unwrap_or_default())
        }
        ErrorKind::InvalidUtf8 => "eine Angabe ist kein Text in UTF-8".to_owned(),
        _ => format!("so geht der Aufruf nicht: {argument} {value}"),
    }
}

/// Returns clap's words for this kind of context, separated by commas; `None` if it has none.
fn words(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(texts.join(", ")),
        _ => None,
    }
}

//! The log on stderr, as text or JSON lines. A thread of its own writes it: a request never waits for a slow
//! terminal, and a closed stderr is harmless.

use std::io::Write;

use tracing::Level;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::choice;
use crate::rules::text::shown;

choice! {
    pub enum Format {
        Text = "text",
        Json = "json",
    }
}

choice! {
    /// What is logged: errors only, warnings too, or also a line for each request.
    pub enum Verbosity {
        Error = "error",
        Warn = "warn",
        Info = "info",
    }
}

/// Lines that may wait for stderr; further ones are dropped.
const LINES_QUEUED_MAX: usize = 65_536;

/// The timestamp of a line, formatted like the interface's instants.
struct Now;

impl FormatTime for Now {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{}", (crate::platform::db::system_clock())())
    }
}

/// Escapes characters that would control the terminal or forge a line: paths and names come from others.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        writeln!(self.0, "{}", shown(text.strip_suffix('\n').unwrap_or(&text)))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Starts the log. Dropping the guard writes the lines that are still waiting.
pub fn start(to: impl Write + Send + 'static, format: Format, verbosity: Verbosity) -> WorkerGuard {
    let builder =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES_QUEUED_MAX).thread_name("log");
    let (writer, guard) = builder.finish(Harmless(to));
    let level = match verbosity {
        Verbosity::Error => Level::ERROR,
        Verbosity::Warn => Level::WARN,
        Verbosity::Info => Level::INFO,
    };
    let log = tracing_subscriber::fmt()
        .with_writer(writer)
        .with_max_level(level)
        .with_timer(Now)
        .with_target(false)
        .with_ansi(false);
    // This fails only for a second log in one process; then the first one stays.
    let _ = match format {
        Format::Text => tracing::subscriber::set_global_default(log.finish()),
        Format::Json => tracing::subscriber::set_global_default(log.json().flatten_event(true).finish()),
    };
    guard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_whatever_stands_in_it() {
        let mut log = Harmless(Vec::new());
        log.write_all("path=/a\u{202e}b\u{1b}[2J\nERROR forged\n".as_bytes()).unwrap();
        log.write_all("{\"path\":\"Mühle\u{2066}\"}\n".as_bytes()).unwrap();
        let written = String::from_utf8(log.0).unwrap();
        let expected = "path=/a\\u202eb\\u001b[2J\\u000aERROR forged\n{\"path\":\"Mühle\\u2066\"}\n";
        assert_eq!(written, expected);
    }
}

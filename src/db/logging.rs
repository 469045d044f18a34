//! The log, on stderr where somebody sees it: text or JSON lines. A thread of its own writes it: a request never waits for
//! a slow terminal, and a closed stderr is nobody's problem.

use std::io::Write;

use tracing::Level;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::choice;

choice! {
    /// How lines are written.
    pub enum Format {
        Text = "text",
        Json = "json",
    }
}

choice! {
    /// What is written: errors only, warnings too, or also a line for each request.
    pub enum Verbosity {
        Error = "error",
        Warn = "warn",
        Info = "info",
    }
}

/// Lines that wait for stderr at most; what is beyond is left out.
const WAITING: usize = 65_536;

/// The instant of a line, as the interface writes instants.
struct Now;

impl FormatTime for Now {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{}", (super::system_clock())())
    }
}

/// Starts the log. What is still waiting is written when the guard is dropped.
pub fn start(to: impl Write + Send + 'static, format: Format, verbosity: Verbosity) -> WorkerGuard {
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING).thread_name("log");
    let (writer, guard) = builder.finish(to);
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
    // Only a second log in one process is refused; then the first one stands.
    let _ = match format {
        Format::Text => tracing::subscriber::set_global_default(log.finish()),
        Format::Json => tracing::subscriber::set_global_default(log.json().flatten_event(true).finish()),
    };
    guard
}

//! Handles Ctrl-C during an import.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::Poll;

use crate::start::cli::terminal::{Outcome, Terminal};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// Once this returns, Ctrl-C no longer ends the process: the import rolls back the part in progress and
/// reports what is stored. Signals are left alone where the command runs inside another program.
pub fn watch_for_interrupts(terminal: &Terminal) {
    if !terminal.is_of_process() {
        return;
    }
    let (began, is_begun) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let Ok(runtime) = runtime else { return };
        let mut pressed = pin!(tokio::signal::ctrl_c());
        // The first poll installs the signal handler.
        let already = runtime.block_on(poll_fn(|context| Poll::Ready(pressed.as_mut().poll(context))));
        let _ = began.send(());
        let pressed = match already {
            Poll::Ready(pressed) => pressed,
            Poll::Pending => runtime.block_on(pressed),
        };
        if pressed.is_ok() {
            PRESSED.store(true, Ordering::Relaxed);
        }
    });
    // If the thread failed, Ctrl-C ends the process, and only whole parts are stored.
    let _ = is_begun.recv();
}

pub const INTERRUPTED: &str = "Abgebrochen.";

pub fn is_interrupted() -> bool {
    PRESSED.load(Ordering::Relaxed)
}

pub fn refuse_interrupted() -> Outcome {
    if is_interrupted() { Err(INTERRUPTED.into()) } else { Ok(()) }
}

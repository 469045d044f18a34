//! What must hold for any input of a parser: no panic, bounded memory, an end.

use std::fs::File;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::path::PathBuf;
use std::process::abort;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;

/// Counts the allocations of all threads of this process, and their maximum.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A longer case counts as endless: the slowest takes a second.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Stack of the parsing thread: that of the threads which serve sockets.
const STACK_BYTES: usize = 2 << 20;

/// The message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// When the running case began.
static BEGUN: Mutex<Option<Instant>> = Mutex::new(None);

/// Memory that may be allocated: a constant number of bytes, and a number for each byte of the input.
#[derive(Clone, Copy)]
pub struct Room(pub usize, pub usize);

/// Runs `read` on one input, which parses it and checks the result; returns what is wrong.
pub fn tried(bytes: &[u8], room: Room, read: &dyn Fn(&[u8]) -> Result<(), String>) -> Result<(), String> {
    *BEGUN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(bytes)));
    let taken = MEMORY.peak_usage().saturating_sub(before);
    let most = room.0 + room.1 * bytes.len();
    match outcome {
        Err(_) => Err(format!("panics: {}", last_panic())),
        Ok(Err(wrong)) => Err(wrong),
        Ok(Ok(())) if taken > most => Err(format!("takes {taken} bytes at once, more than {most}")),
        Ok(Ok(())) => Ok(()),
    }
}

fn last_panic() -> String {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The running case, in a file: if it kills the process, by stack overflow or lack of memory, the file remains.
pub struct Trace(File, PathBuf);

impl Trace {
    fn new() -> Trace {
        let name = format!("fuzz-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        Trace(File::create(&path).unwrap(), path)
    }

    pub fn note(&mut self, parser: &str, bytes: &[u8]) {
        self.0.rewind().unwrap();
        self.0.set_len(0).unwrap();
        self.0.write_all(&[parser.as_bytes(), b"\n", bytes].concat()).unwrap();
    }
}

/// Runs work on a separate thread, recording panics instead of printing them, while another thread watches
/// that each case ends.
pub fn watched<T: Send>(seed: u64, work: impl FnOnce(&mut Trace) -> T + Send) -> T {
    let mut trace = Trace::new();
    let path = trace.1.clone();
    set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let (works, ended) = channel::<()>();
    let outcome = thread::scope(|scope| {
        let at = &path;
        scope.spawn(move || watch(seed, at, &ended));
        let parse = || {
            let _works = works;
            work(&mut trace)
        };
        let named = thread::Builder::new().name(format!("seed {seed}")).stack_size(STACK_BYTES);
        named.spawn_scoped(scope, parse).unwrap().join()
    });
    // Restores the previous hook.
    drop(take_hook());
    std::fs::remove_file(&path).unwrap();
    outcome.unwrap_or_else(|panic| {
        eprintln!("P23, seed {seed}, the harness itself: {}", last_panic());
        resume_unwind(panic)
    })
}

fn watch(seed: u64, path: &std::path::Path, ended: &Receiver<()>) {
    while ended.recv_timeout(TIME_MAX) == Err(RecvTimeoutError::Timeout) {
        let begun = *BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.is_some_and(|begun| begun.elapsed() >= TIME_MAX) {
            let seconds = TIME_MAX.as_secs();
            eprintln!(
                "P23, seed {seed}: a case runs for more than {seconds} s; it stands in {}",
                path.display()
            );
            abort();
        }
    }
}

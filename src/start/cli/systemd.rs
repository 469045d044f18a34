//! Notifies systemd (sd_notify(3)) that the service answers, still works, or stops. Does nothing without a
//! systemd socket.

use std::future::poll_fn;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant as Ticks};

use sd_notify::NotifyState::{self, Ready, Stopping, Watchdog};
use sd_notify::watchdog_enabled;
use tokio::runtime::Handle;

use crate::platform::db::file::german::in_german;
use crate::platform::db::log;
use crate::platform::gate::Gate;

/// Pause between checks until the first answer, and the timeout of a check without a watchdog.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How long one piece of work of the writer or of a read may take before only a restart helps. Work that
/// makes progress ends sooner: the writer spends at most half a minute on an import, and a long read ends
/// after a minute.
const HANGS_AFTER: Duration = Duration::from_secs(300);

/// Notifies systemd once the service answers, and then, if a watchdog is set (WatchdogSec), as long as it
/// works; ends when the sender is dropped.
///
/// Each check takes the path of a request: a socket thread reads the database, and the gate looks at the
/// writer ([`Gate::works`]). Without an answer nothing is sent, and systemd restarts the service. A negative
/// answer counts as an answer: a restart does not mend a full disk.
pub fn notify(runtime: &Handle, gate: &Arc<Gate>) -> Result<Option<Sender<()>>, String> {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return Ok(None);
    }
    // A weak reference, so that this thread does not keep a closed service open.
    let (runtime, gate) = (runtime.clone(), Arc::downgrade(gate));
    let (stop, stopped) = channel();
    let work = move || {
        let watched = watchdog_enabled().filter(|limit| !limit.is_zero());
        // Half of the limit is usual; a quarter leaves room for a late answer.
        let pause = watched.map_or(ASK_AGAIN, |limit| limit / 4);
        let (mut news, mut wait, mut complained) = (Ready, Duration::ZERO, false);
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let asked = Ticks::now();
            let is_sent = works(&runtime, &gate, pause) && send(&news, &mut complained);
            if is_sent {
                news = Watchdog;
                if watched.is_none() {
                    return;
                }
            }
            let next = if is_sent { pause } else { pause.min(ASK_AGAIN) };
            wait = next.saturating_sub(asked.elapsed());
        }
    };
    let started = std::thread::Builder::new().name("systemd".into()).spawn(work);
    started.map_err(|error| format!("ein Thread lässt sich nicht starten: {}", in_german(&error)))?;
    Ok(Some(stop))
}

/// Keeps notifying the watchdog during work that blocks all requests.
pub fn with_watchdog_fed<T>(work: impl FnOnce() -> T) -> T {
    let Some(limit) = watchdog_enabled().filter(|limit| !limit.is_zero()) else { return work() };
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.recv_timeout(limit / 4) == Err(RecvTimeoutError::Timeout) {
                send(&Watchdog, &mut false);
            }
        });
        // Dropped on a panic, too, so that the thread ends.
        let _stop = stop;
        work()
    })
}

pub fn stopping() {
    send(&Stopping, &mut false);
}

fn works(runtime: &Handle, gate: &Weak<Gate>, patience: Duration) -> bool {
    let Some(gate) = gate.upgrade() else { return false };
    let (sender, receiver) = sync_channel(1);
    runtime.spawn(poll_fn(move |_| {
        // A late answer has no receiver any more.
        let _ = sender.try_send(gate.works(HANGS_AFTER));
        Poll::Ready(())
    }));
    receiver.recv_timeout(patience) == Ok(true)
}

/// Notifies systemd; returns whether that succeeded. Logs the first failure only.
fn send(news: &NotifyState<'_>, complained: &mut bool) -> bool {
    let sent = sd_notify::notify(std::slice::from_ref(news));
    if let Err(error) = &sent
        && !std::mem::replace(complained, true)
    {
        log(&format!("systemd cannot be notified: {error}"));
    }
    sent.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::db::system_clock;
    use crate::platform::db::writer::fair_queue::QueueKey;
    use crate::platform::gate::Policy;
    use crate::start::service::Service;

    #[test]
    fn what_hangs_is_seen() {
        let folder = tempfile::TempDir::new().unwrap();
        let app = Service::open(&folder.path().join("test.db"), system_clock(), &Policy::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (gate, patience) = (Arc::downgrade(&app.gate), Duration::from_secs(5));
        assert!(works(runtime.handle(), &gate, patience));
        // The socket thread hangs.
        let (go_on, hangs) = channel::<()>();
        runtime.spawn(poll_fn(move |_| Poll::Ready(hangs.recv())));
        assert!(!works(runtime.handle(), &gate, Duration::from_millis(300)));
        drop(go_on);
        assert!(works(runtime.handle(), &gate, patience));
        // The writer hangs.
        let (go_on, hangs) = channel::<()>();
        app.gate.writer.submit(QueueKey::house(), 0, move |_| hangs.recv(), |_, _| ());
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(!app.gate.works(Duration::from_millis(1_000)));
        assert!(app.gate.works(HANGS_AFTER), "it may well be at work for a while");
        drop(go_on);
        while !app.gate.works(Duration::from_millis(1_000)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        app.close();
    }
}

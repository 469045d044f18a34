//! Notifies systemd (sd_notify(3)) that the service answers, that it still works, that it stops; without a
//! socket of systemd, nobody.

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

/// How often the first answer is asked for, and how long it is waited for without a watchdog.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How long the writer or a read may take for one piece of work before only a restart helps. Work that gets on is
/// done sooner: the writer waits half a minute at most for an import, and a long read ends after a minute.
const HANGS_AFTER: Duration = Duration::from_secs(300);

/// Notifies systemd once the service answers, and from then on, where a watchdog is set (WatchdogSec), that it works;
/// until the sender is dropped.
///
/// Each check takes the way of a request: a thread of the socket reads the database, and the gate looks at the writer
/// ([`Gate::works`]). Without an answer nothing is sent, and systemd restarts the service. A bad answer is an answer: a
/// restart does not mend a full disk.
pub fn notify(runtime: &Handle, gate: &Arc<Gate>) -> Result<Option<Sender<()>>, String> {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return Ok(None);
    }
    // A service that has ended is not held open by this.
    let (runtime, gate) = (runtime.clone(), Arc::downgrade(gate));
    let (stop, stopped) = channel();
    let work = move || {
        let watched = watchdog_enabled().filter(|limit| !limit.is_zero());
        // Half of it is usual; a quarter leaves room for an answer that comes late.
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

/// Tells the watchdog that something works that no request can be answered beside.
pub fn patiently<T>(work: impl FnOnce() -> T) -> T {
    let Some(limit) = watchdog_enabled().filter(|limit| !limit.is_zero()) else { return work() };
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.recv_timeout(limit / 4) == Err(RecvTimeoutError::Timeout) {
                send(&Watchdog, &mut false);
            }
        });
        // Also where it panics, so that the thread ends.
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
        // An answer that comes too late has no receiver.
        let _ = sender.try_send(gate.works(HANGS_AFTER));
        Poll::Ready(())
    }));
    receiver.recv_timeout(patience) == Ok(true)
}

/// Whether systemd was notified; why not is logged once.
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
        // The socket.
        let (go_on, hangs) = channel::<()>();
        runtime.spawn(poll_fn(move |_| Poll::Ready(hangs.recv())));
        assert!(!works(runtime.handle(), &gate, Duration::from_millis(300)));
        drop(go_on);
        assert!(works(runtime.handle(), &gate, patience));
        // The writer.
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

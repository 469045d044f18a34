//! Messages of the real executable to systemd (sd_notify(3)).
#![cfg(target_os = "linux")]

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use crate::process::{Folder, Running};

/// The socket on which systemd listens.
struct Systemd(UnixDatagram);

impl Systemd {
    fn listen(folder: &Folder) -> Systemd {
        let socket = UnixDatagram::bind(folder.file("notify")).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        Systemd(socket)
    }

    /// The next message, if any.
    fn hears(&self) -> Option<String> {
        let mut text = [0; 256];
        let length = self.0.recv(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text[..length]).trim_end().to_owned())
    }

    /// The messages so far.
    fn heard(&self) -> Vec<String> {
        self.0.set_nonblocking(true).unwrap();
        let heard = std::iter::from_fn(|| self.hears()).collect();
        self.0.set_nonblocking(false).unwrap();
        heard
    }
}

/// Whether all threads of a process are stopped (proc(5)).
fn stands_still(pid: u32) -> bool {
    let stopped = |task: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')))
    };
    std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().all(stopped)
}

fn serve(folder: &Folder, variables: &[(&str, &str)]) -> Running {
    let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("NOTIFY_SOCKET", folder.file("notify")).envs(variables.iter().copied());
    Running::start(command)
}

#[test]
fn systemd_hears_that_it_answers_that_it_works_and_that_it_stops() {
    let folder = Folder::new();
    let systemd = Systemd::listen(&folder);
    let begun = Instant::now();
    let mut server = serve(&folder, &[("WATCHDOG_USEC", "400000")]);
    assert_eq!(systemd.hears().unwrap(), "READY=1");
    assert_eq!(server.client("").get("/healthz").status, 200, "it is ready");
    for _ in 0..10 {
        assert_eq!(systemd.hears().unwrap(), "WATCHDOG=1");
    }
    let pause = begun.elapsed() / 10;
    assert!(pause > Duration::from_millis(50), "not all the time: every {pause:?}");

    // Another program that writes is no reason for a restart.
    let other = folder.database();
    other.execute_batch("begin immediate").unwrap();
    systemd.heard();
    for _ in 0..6 {
        assert_eq!(systemd.hears().unwrap(), "WATCHDOG=1");
    }
    drop(other);

    // A stopped process sends nothing.
    server.signal("STOP");
    while !stands_still(server.pid()) {
        std::thread::yield_now();
    }
    systemd.heard();
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(systemd.heard(), Vec::<String>::new());
    server.signal("CONT");
    assert_eq!(systemd.hears().unwrap(), "WATCHDOG=1");

    server.signal("TERM");
    assert!(server.end().0.success());
    let heard = systemd.heard();
    assert_eq!(heard.iter().filter(|news| *news == "STOPPING=1").count(), 1, "{heard:?}");
}

#[test]
fn only_who_is_watched_says_more_than_that_it_answers() {
    let folder = Folder::new();
    let systemd = Systemd::listen(&folder);
    for variables in [&[][..], &[("WATCHDOG_USEC", "200000"), ("WATCHDOG_PID", "1")]] {
        let mut server = serve(&folder, variables);
        assert_eq!(systemd.hears().unwrap(), "READY=1");
        std::thread::sleep(Duration::from_millis(400));
        assert_eq!(systemd.heard(), Vec::<String>::new(), "{variables:?}");
        server.signal("INT");
        assert!(server.end().0.success());
        assert_eq!(systemd.heard(), ["STOPPING=1"]);
    }
}

#[test]
fn what_could_not_be_said_is_said_again() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    assert_eq!(server.client("").get("/healthz").status, 200);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(Systemd::listen(&folder).hears().unwrap(), "READY=1");
}

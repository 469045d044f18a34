//! A server in its own process, and its use of CPU, memory and transactions (proc(5)).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::client::{Load, Seen, answer};

/// How long a load runs before measuring begins.
pub const WARM: Duration = Duration::from_millis(300);

/// How long a server may take to stop.
const STOP: Duration = Duration::from_secs(60);

/// The executable that is measured, and the folder of its database.
pub struct Service {
    pub binary: PathBuf,
    pub folder: PathBuf,
}

/// A running server.
pub struct Server {
    child: Child,
    pub address: String,
}

/// The result of one round, in pieces of work.
pub struct Round {
    pub rate: f64,
    pub p50: Duration,
    pub p99: Duration,
    pub cpu_us: f64,
}

impl Service {
    /// Starts the server on its database.
    pub fn start(&self) -> Server {
        self.start_by(Command::new(&self.binary))
    }

    /// The same, with its disk syncs recorded in a file, if strace is installed.
    pub fn start_traced(&self, trace: &Path) -> Option<Server> {
        Command::new("strace").arg("--version").output().ok()?;
        let mut command = Command::new("strace");
        // -D: the server is our child, not that of strace.
        command.args(["-D", "-f", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o"]);
        command.arg(trace).arg(&self.binary);
        Some(self.start_by(command))
    }

    fn start_by(&self, mut command: Command) -> Server {
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(&self.folder);
        Server::start(command.env("PARTNERD_LOG_LEVEL", "warn"))
    }
}

impl Server {
    /// Starts a program whose first line of output ends with its address.
    pub fn start(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Server { child, address }
    }

    /// Measures one load, after a warm-up.
    pub fn measure(&self, load: &Load, time: Duration) -> Round {
        load.run(&self.address, WARM);
        let before = self.cpu();
        let seen = load.run(&self.address, time);
        Round::of(seen, self.cpu() - before)
    }

    /// The body of the answer to a GET without a key.
    pub fn get(&self, path: &str) -> String {
        let body = answer(&self.address, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"));
        String::from_utf8(body).unwrap()
    }

    /// One of the server's own figures.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Resident memory in KiB: `VmRSS` is the current value, `VmHWM` the maximum so far.
    pub fn memory(&self, line: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let figure = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).unwrap();
        figure.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Resets the maximum of its memory.
    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    /// CPU time it has used, user and system, in ticks of a hundredth of a second.
    fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Stops it as systemd does; returns how long that took.
    pub fn stop(mut self) -> Duration {
        let begun = Instant::now();
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "the server stopped with {status}");
                return begun.elapsed();
            }
            assert!(begun.elapsed() < STOP, "the server does not stop");
            sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Round {
    /// Combines what the client saw with the CPU it cost.
    pub fn of(seen: Seen, cpu: Duration) -> Round {
        let Seen { mut durations, elapsed } = seen;
        assert!(!durations.is_empty(), "not one answer");
        durations.sort_unstable();
        let count = durations.len() as f64;
        Round {
            rate: count / elapsed.as_secs_f64(),
            p50: durations[durations.len() / 2],
            p99: durations[durations.len() * 99 / 100],
            cpu_us: cpu.as_secs_f64() * 1e6 / count,
        }
    }
}

/// The median time to write 4 KiB to the disk of a folder, including the sync.
pub fn fsync(folder: &Path) -> Duration {
    use std::io::{Seek, SeekFrom, Write};
    let path = folder.join("fsync");
    let mut file = std::fs::File::create(&path).unwrap();
    let mut durations: Vec<Duration> = (0..100_u64)
        .map(|at| {
            let begun = Instant::now();
            file.seek(SeekFrom::Start(at % 10 * 4096)).unwrap();
            file.write_all(&[at as u8; 4096]).unwrap();
            file.sync_all().unwrap();
            begun.elapsed()
        })
        .collect();
    std::fs::remove_file(path).unwrap();
    durations.sort_unstable();
    durations[durations.len() / 2]
}

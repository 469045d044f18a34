//! A server in a separate process whose clock is set from outside: this programme, started again. It can be
//! killed like the executable, and no day has to be waited for.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use partnerd::platform::gate::Policy;
use partnerd::platform::http::server::Limits;
use partnerd::rules::day::Instant;
use partnerd::start::service::{Service, runtime};
use tokio::net::TcpListener;

/// The argument that makes this programme a server, followed by the database and the time in milliseconds.
pub const SERVES: &str = "serve-with-a-clock";

/// Serves until the standard input ends. It prints its address, then a line each time the clock is set.
pub fn serve(arguments: &[String]) {
    let [database, now] = arguments else { panic!("a database and a time are needed") };
    let now = Arc::new(AtomicI64::new(now.parse().unwrap()));
    let told = Arc::clone(&now);
    let clock = Arc::new(move || Instant::from_millis(now.load(Ordering::SeqCst)));
    let app = Service::open(Path::new(database), clock, &Policy::default()).unwrap();
    let runtime = runtime().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    println!("{}", listener.local_addr().unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            told.store(line.unwrap().parse().unwrap(), Ordering::SeqCst);
            println!("told");
        }
        let _ = stop.send(());
    });
    let stopped = async {
        let _ = stopped.await;
    };
    runtime.block_on(app.serve(listener, limits(), None, stopped));
    drop(runtime);
    app.close();
}

fn limits() -> Limits {
    let minute = Duration::from_secs(60);
    Limits {
        connections: 100,
        per_address: 100,
        header: minute,
        body: minute,
        write: minute,
        shutdown: minute,
    }
}

/// A running server; it is killed when it is dropped.
pub struct Served {
    child: Child,
    tells: Option<ChildStdin>,
    says: BufReader<ChildStdout>,
    /// `127.0.0.1:PORT`
    pub address: String,
}

impl Served {
    pub fn start(database: &Path, now: i64) -> Result<Served, String> {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([SERVES, database.to_str().unwrap(), &now.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let tells = child.stdin.take();
        let says = BufReader::new(child.stdout.take().unwrap());
        let mut served = Served { child, tells, says, address: String::new() };
        served.address = served.line().ok_or("the server does not start")?;
        Ok(served)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.strip_suffix('\n').map(str::to_owned)
    }

    pub fn set_clock(&mut self, now: i64) {
        let tells = self.tells.as_mut().unwrap();
        writeln!(tells, "{now}").unwrap();
        tells.flush().unwrap();
        assert_eq!(self.line().as_deref(), Some("told"));
    }

    /// Lets it finish its work and end.
    pub fn stop(mut self) {
        drop(self.tells.take());
        self.child.wait().unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, like a power cut.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

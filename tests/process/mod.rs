//! The real executable in its own folder: commands that end, and servers that run until they are told to stop
//! or dropped.

// Each test binary uses only a part of this.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;
use ureq::http::{Method, Request};

/// How long a server may take to start or to stop (docs/command-line.md: it finishes running requests).
const PATIENCE: Duration = Duration::from_secs(120);

/// Reads once. A read of a socket with a timeout ends if the machine pauses (signal(7)); it is made again.
pub fn read_once(mut from: impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// An empty folder in which the executable is run.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    /// Another folder with the same files; none of them may be in use.
    pub fn copy(&self) -> Folder {
        let copy = Folder::new();
        for entry in std::fs::read_dir(self.path()).unwrap().map(Result::unwrap) {
            std::fs::copy(entry.path(), copy.file(entry.file_name().to_str().unwrap())).unwrap();
        }
        copy
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file; returns its path as an argument.
    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name).to_str().unwrap().to_owned()
    }

    /// The executable, to be run in this folder without our own settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.program(Path::new(env!("CARGO_BIN_EXE_partnerd")), arguments)
    }

    /// The executable, to be run by a shell whose script ends in `exec "$0" "$@"`.
    pub fn by_shell(&self, script: &str, arguments: &[&str]) -> Command {
        self.program(Path::new("sh"), &[&["-c", script, env!("CARGO_BIN_EXE_partnerd")], arguments].concat())
    }

    /// Another program instead of the executable, in the same way.
    pub fn program(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARTNERD_")) {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; returns its stdout.
    #[track_caller]
    pub fn result(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts `serve` on a free port.
    pub fn serve(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat()))
    }

    /// Starts `serve`, stops it once it answers, and returns its log.
    pub fn log_of_start(&self, arguments: &[&str]) -> String {
        let mut command = self.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 1]).unwrap();
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Creates a company and a key that may do everything; returns the key.
    pub fn company(&self, name: &str) -> String {
        self.result(&["tenant", "create", name]);
        let create = ["key", "create", "--tenant", name, "--label", "test", "--all-scopes"];
        self.result(&create).trim().to_owned()
    }

    /// Imports a JSON text.
    pub fn import(&self, tenant: &str, kind: &str, rows: &Value) {
        let file = self.write("import.json", &rows.to_string());
        self.result(&["import", kind, &file, "--tenant", tenant]);
    }

    /// Opens the database, beside whatever runs.
    pub fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file("partnerd.db")).unwrap()
    }
}

/// Maximum memory of a process so far, in MiB; `None` once it has ended (proc(5)).
pub fn most_memory(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024)
}

/// A server; it is killed when it is dropped.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// `127.0.0.1:PORT`
    pub address: String,
}

impl Running {
    /// Starts a command that serves, and reads the address from its first line.
    pub fn start(command: Command) -> Running {
        Running::try_start(command, Stdio::null()).unwrap_or_else(|output| panic!("it ended: {output:?}"))
    }

    /// Starts a command that may end instead; then returns its output.
    pub fn try_start(mut command: Command, stderr: Stdio) -> Result<Running, Output> {
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        match line.trim_end().strip_prefix("partnerd listening on http://") {
            Some(address) => Ok(Running { child, stdout, address: address.to_owned() }),
            None => {
                // It prints something else first, and may go on.
                if !line.is_empty() {
                    child.kill().unwrap();
                }
                Err(child.wait_with_output().unwrap())
            }
        }
    }

    /// The next line of stdout.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its maximum memory so far, in MiB.
    pub fn most_memory(&self) -> usize {
        most_memory(self.pid()).unwrap()
    }

    /// Kills it, like a power cut.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal such as TERM.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.pid());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end; returns the rest of stdout.
    pub fn end(&mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let mut rest = String::new();
                self.stdout.read_to_string(&mut rest).unwrap();
                return (status, rest);
            }
            assert!(Instant::now() < until, "the server did not stop in {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A client of this server.
    pub fn client(&self, key: &str) -> Client {
        Client::new(&self.address, key)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client with a key; with an empty key it sends none.
#[derive(Clone)]
pub struct Client {
    base: String,
    key: String,
    agent: Agent,
}

/// An answer of a server.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub request_id: String,
    pub body: Value,
}

impl Client {
    /// A client of a server at an address such as `127.0.0.1:8080`.
    pub fn new(address: &str, key: &str) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(600)))
            // Less than the server keeps a connection idle, so that no request meets a closing connection.
            .max_idle_age(Duration::from_secs(2))
            .build();
        Client { base: format!("http://{address}"), key: key.to_owned(), agent: config.into() }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// An answer that is not JSON, byte for byte.
    pub fn text(&self, path: &str) -> String {
        let mut answer = self.agent.get(format!("{}{path}", self.base)).call().unwrap();
        answer.body_mut().read_to_string().unwrap()
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body)).unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// Sends a request that may get no answer.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, ureq::Error> {
        self.send_text(method, path, &[], body.map(Value::to_string))
    }

    /// The same with additional headers, and a body that need not be JSON.
    pub fn send_text(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Result<Answer, ureq::Error> {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(format!("{}{path}", self.base))
            .header("content-type", "application/json");
        let key = Some(("x-api-key", self.key.as_str())).filter(|(_, key)| !key.is_empty());
        let headers = headers.iter().copied().chain(key);
        let request = headers.fold(request, |request, (name, value)| request.header(name, value));
        let response = match body {
            Some(body) => self.agent.run(request.body(body).unwrap())?,
            None => self.agent.run(request.body(()).unwrap())?,
        };
        let status = response.status().as_u16();
        let id = response.headers().get("x-request-id").map(|id| id.to_str().unwrap().to_owned());
        let bytes = response.into_body().read_to_vec()?;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Answer { status, request_id: id.unwrap_or_default(), body })
    }
}

//! strace beside a server.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::process::Folder;

/// Makes calls of a server fail.
pub struct Strace(Child);

impl Strace {
    pub fn attach(folder: &Folder, server: u32, inject: &str) -> Strace {
        let calls = inject.split(':').next().unwrap_or_default();
        let mut command = Command::new("strace");
        command.current_dir(folder.path()).args(["-f", "-o", "calls.txt", "-p", &server.to_string()]);
        command.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={inject}")]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // It prints a line once it has attached to all threads.
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        assert!(line.contains("attached"), "{line}");
        std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
        Strace(child)
    }

    /// Ends it; returns whether a call of the server has failed, or killed it.
    pub fn ends(mut self, folder: &Folder, has_killed: bool) -> bool {
        // If the server was killed, strace waits for threads that are gone.
        let signal = if has_killed { "-KILL" } else { "-TERM" };
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
        self.0.wait().unwrap();
        has_killed || std::fs::read_to_string(folder.file("calls.txt")).unwrap().contains("(INJECTED)")
    }
}

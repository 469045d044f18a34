//! A mail server that speaks SMTP (RFC 5321), with or without TLS; its answers can be chosen.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    Plain,
    Starttls,
    Tls,
}

impl Way {
    pub fn as_str(self) -> &'static str {
        match self {
            Way::Plain => "keine",
            Way::Starttls => "starttls",
            Way::Tls => "tls",
        }
    }
}

#[derive(Clone, Default)]
pub struct Mail {
    pub user: String,
    pub to: Vec<String>,
    pub data: String,
    pub is_encrypted: bool,
}

#[derive(Default)]
struct Seen {
    mails: Mutex<Vec<Mail>>,
    heard: Mutex<String>,
    connections: AtomicUsize,
    stopped: AtomicBool,
    holds: AtomicBool,
}

pub struct Mailserver {
    pub port: String,
    pub way: Way,
    /// Self-signed certificate for localhost (PEM).
    pub certificate: String,
    seen: Arc<Seen>,
}

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

impl Mailserver {
    /// Starts a server that answers as usual except to these commands; `hello` is its greeting, `.` the end
    /// of a mail. Where an answer is blank, it hangs up, or holds the line (see [`Mailserver::hold`]).
    pub fn start(way: Way, says: &[(&'static str, &'static str)]) -> Mailserver {
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .unwrap();
        let (config, says, seen) = (Arc::new(config), says.to_vec(), Arc::new(Seen::default()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (config, says, seen) = (Arc::clone(&config), says.clone(), Arc::clone(&shared));
                seen.connections.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || talk(stream.unwrap(), way, &config, &says, &seen));
            }
        });
        Mailserver { port, way, certificate: certificate.pem(), seen }
    }

    /// Stops accepting connections.
    pub fn stop(&self) {
        self.seen.stopped.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(format!("127.0.0.1:{}", self.port)));
        while TcpStream::connect(format!("127.0.0.1:{}", self.port)).is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn hold(&self) {
        self.seen.holds.store(true, Ordering::Relaxed);
    }

    pub fn got(&self) -> Vec<Mail> {
        self.seen.mails.lock().unwrap().clone()
    }

    pub fn heard(&self) -> String {
        self.seen.heard.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }
}

fn talk(tcp: TcpStream, way: Way, config: &Arc<ServerConfig>, says: &[(&str, &str)], seen: &Seen) {
    let encrypt = |tcp| -> Box<dyn Stream> {
        Box::new(StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), tcp))
    };
    let mut again = Some(tcp.try_clone().unwrap());
    let mut stream: Box<dyn Stream> = if way == Way::Tls { encrypt(tcp) } else { Box::new(tcp) };
    let mut mail = Mail { is_encrypted: way == Way::Tls, ..Mail::default() };
    let chosen = |command: &str| says.iter().find(|(known, _)| *known == command).map(|(_, says)| *says);
    let mut answer = chosen("hello").unwrap_or("220 mail").to_owned();
    loop {
        if answer.is_empty() {
            // Holds the line until the client hangs up.
            if seen.holds.load(Ordering::Relaxed) {
                drop(std::io::copy(&mut stream, &mut std::io::sink()));
            }
            return;
        }
        if stream.write_all(format!("{answer}\r\n").as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
        if answer == "220 go" {
            stream = encrypt(again.take().unwrap());
            mail.is_encrypted = true;
        }
        let Some(said) = line(&mut *stream) else { return };
        seen.heard.lock().unwrap().push_str(&format!("{said}\n"));
        let command = said.split([' ', ':']).next().unwrap().to_uppercase();
        let offers =
            if way == Way::Starttls && !mail.is_encrypted { "250 STARTTLS" } else { "250 AUTH PLAIN LOGIN" };
        let usual = match command.as_str() {
            "EHLO" => format!("250-mail\r\n{offers}"),
            "STARTTLS" => "220 go".to_owned(),
            "AUTH" => {
                let user = STANDARD.decode(said.rsplit(' ').next().unwrap()).unwrap();
                mail.user = String::from_utf8(user).unwrap();
                "235 welcome".to_owned()
            }
            "RCPT" => {
                mail.to.push(said.split(['<', '>']).nth(1).unwrap().to_owned());
                "250 ok".to_owned()
            }
            "DATA" => "354 go on".to_owned(),
            "QUIT" => "221 bye".to_owned(),
            _ => "250 ok".to_owned(),
        };
        answer = chosen(&command).map_or(usual, str::to_owned);
        if answer.starts_with("354") {
            stream.write_all(b"354 go on\r\n").and_then(|()| stream.flush()).unwrap();
            while let Some(said) = line(&mut *stream).filter(|said| said != ".") {
                // The client doubles a leading dot (RFC 5321, 4.5.2).
                mail.data.push_str(said.strip_prefix('.').unwrap_or(&said));
                mail.data.push_str("\r\n");
            }
            answer = chosen(".").unwrap_or("250 taken").to_owned();
            if answer.starts_with("250") {
                seen.mails.lock().unwrap().push(mail.clone());
            }
        }
    }
}

/// A line without its end; `None` if the client hung up.
fn line(stream: &mut dyn Stream) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        if stream.read_exact(&mut byte).is_err() {
            return None;
        }
        line.push(byte[0]);
    }
    line.truncate(line.len() - 2);
    Some(String::from_utf8_lossy(&line).into_owned())
}

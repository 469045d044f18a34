//! https with the real executable and an independent client (curl).

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Folder, read_once};
use crate::programs::needs;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server with https; its port.
struct Encrypted(Child, u16);

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &Folder, header_timeout: u32) -> Encrypted {
    let config = "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"partnerd-key.pem\"\nheader_timeout = ";
    folder.write("partnerd.toml", &format!("{config}{header_timeout}\n"));
    let mut command = folder.command(&["--config", "partnerd.toml", "serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = Vec::new();
    let stdout = child.stdout.as_mut().unwrap();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        stdout.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).unwrap();
    let port = line.trim().strip_prefix("partnerd listening on https://127.0.0.1:").unwrap().parse().unwrap();
    Encrypted(child, port)
}

fn curl(folder: &Folder, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("curl");
    let output = command
        .current_dir(folder.path())
        .args(["-sS", "--max-time", "120"])
        .args(arguments)
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_certificate_of_our_own_is_trusted_by_who_knows_it() {
    needs!("curl");
    let folder = Folder::new();
    let made = folder.result(&["tls", "self-signed", "--name", "waage.local", "--name", "192.0.2.7"]);
    assert_eq!(Path::new(made.trim()), folder.path().canonicalize().unwrap().join("partnerd-cert.pem"));
    for file in ["partnerd-cert.pem", "partnerd-key.pem"] {
        let mode = std::fs::metadata(folder.file(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let again = folder.run(&["tls", "self-signed", "--name", "waage.local"]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("gibt es schon"));
    let key = folder.company("Mühle");
    let server = serve(&folder, 30);
    let header = format!("X-API-Key: {key}");
    for name in ["localhost", "waage.local", "192.0.2.7"] {
        let resolve = format!("{name}:{}:127.0.0.1", server.1);
        let connect = format!("::127.0.0.1:{}", server.1);
        let url = format!("https://{name}:{}/api/v1/laender", server.1);
        let trusting = [
            "--cacert",
            "partnerd-cert.pem",
            "--resolve",
            &resolve,
            "--connect-to",
            &connect,
            "-H",
            &header,
            &url,
        ];
        let (done, body) = curl(&folder, &trusting);
        assert!(done && body.contains("Deutschland"), "{name}: {body}");
    }
    // A client that does not trust the certificate, or asks for another name, gets nothing; a client using
    // http gets a message.
    let url = format!("https://localhost:{}/api/v1", server.1);
    assert!(!curl(&folder, &[&url]).0);
    let other = format!("https://anders.local:{}/api/v1", server.1);
    let resolve = format!("anders.local:{}:127.0.0.1", server.1);
    assert!(!curl(&folder, &["--cacert", "partnerd-cert.pem", "--resolve", &resolve, &other]).0);
    assert!(curl(&folder, &[&url.replace("https", "http")]).1.contains("https:// statt http://"));
    assert!(!curl(&folder, &["--cacert", "partnerd-cert.pem", "--tls-max", "1.1", &url]).0);
}

/// The end of a connection is noticed below TLS, as a killed client cannot close it properly.
#[test]
fn a_client_that_hangs_up_while_it_waits_frees_its_place() {
    needs!("curl");
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "localhost"]);
    let key = folder.company("Mühle");
    let server = serve(&folder, 30);
    let base = format!("https://localhost:{}", server.1);
    let until_waiting = |count: usize| {
        let until = Instant::now() + Duration::from_secs(20);
        let line = format!("\npartnerd_waiting_requests {count}\n");
        let metrics = format!("{base}/metrics");
        while !curl(&folder, &["--cacert", "partnerd-cert.pem", &metrics]).1.contains(&line) {
            assert!(Instant::now() < until, "there are not {count} that wait");
        }
    };
    let header = format!("X-API-Key: {key}");
    let path = format!("{base}/api/v1/aenderungen?warten=30");
    let mut command = Command::new("curl");
    command.current_dir(folder.path()).args(["-sS", "--cacert", "partnerd-cert.pem", "-H", &header, &path]);
    let mut killed = command.stdout(Stdio::null()).spawn().unwrap();
    until_waiting(1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    until_waiting(0);
}

#[test]
fn who_never_finishes_the_handshake_is_closed() {
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "waage.local"]);
    let server = serve(&folder, 1);
    let silent = TcpStream::connect(("127.0.0.1", server.1)).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    let closed = match read_once(&silent, &mut [0; 16]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    assert!(closed, "the connection stayed open");
    // Nor does it delay a server that stops.
    drop(server);
    let mut server = serve(&folder, 600);
    let _silent = TcpStream::connect(("127.0.0.1", server.1)).unwrap();
    assert!(
        Command::new("sh").args(["-c", &format!("kill -TERM {}", server.0.id())]).status().unwrap().success()
    );
    let mut log = String::new();
    server.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(server.0.wait().unwrap().success());
    assert!(!log.contains("did not end in time"), "{log}");
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "a"]);
    folder.write("text.pem", "kein Zertifikat");
    std::fs::create_dir(folder.file("other")).unwrap();
    folder.result(&["tls", "self-signed", "--name", "b", "--folder", "other"]);
    let cases = [
        ("tls_certificate = \"fehlt.pem\"\ntls_key = \"partnerd-key.pem\"", "fehlt.pem ist nicht zu lesen"),
        (
            "tls_certificate = \"text.pem\"\ntls_key = \"partnerd-key.pem\"",
            "text.pem enthält kein Zertifikat",
        ),
        (
            "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"text.pem\"",
            "text.pem enthält keinen privaten Schlüssel",
        ),
        (
            "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"other/partnerd-key.pem\"",
            "passen nicht zusammen",
        ),
        ("tls_certificate = \"partnerd-cert.pem\"", "tls_key"),
        ("tls_key = \"partnerd-key.pem\"", "tls_certificate"),
    ];
    for (config, expected) in cases {
        folder.write("partnerd.toml", config);
        let output = folder.run(&["--config", "partnerd.toml", "serve", "--listen", "127.0.0.1:0"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{config}: {said}");
    }
}

/// Writes a certificate valid between these days, counted from now, and its key.
fn certificate(folder: &Folder, from: i64, until: i64) {
    let day = |days: i64| {
        let day = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let day = day + jiff::Span::new().days(days);
        rcgen::date_time_ymd(day.year().into(), day.month() as u8, day.day() as u8)
    };
    let mut params = CertificateParams::new(vec!["waage.local".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (day(from), day(until));
    let key = KeyPair::generate().unwrap();
    folder.write("partnerd-cert.pem", &params.self_signed(&key).unwrap().pem());
    folder.write("partnerd-key.pem", &key.serialize_pem());
    mode(folder, "partnerd-key.pem", 0o600);
}

fn mode(folder: &Folder, file: &str, mode: u32) {
    std::fs::set_permissions(folder.file(file), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// State and finding of `doctor` for this subject.
fn doctor(folder: &Folder, look: &str) -> (String, String) {
    folder.write(
        "partnerd.toml",
        "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"partnerd-key.pem\"\nlisten = \"127.0.0.1:0\"\n",
    );
    let output = folder.run(&["--config", "partnerd.toml", "--json", "doctor"]);
    let findings = serde_json::from_slice::<Value>(&output.stdout).unwrap();
    let found = findings.as_array().unwrap().iter().find(|finding| finding["look"] == look);
    let found = found.unwrap_or_else(|| panic!("no look at {look}: {findings}"));
    assert_eq!(output.status.success(), !findings.to_string().contains("\"wrong\""));
    (found["state"].as_str().unwrap().to_owned(), found["finding"].as_str().unwrap().to_owned())
}

#[test]
fn doctor_looks_at_the_certificate_and_its_key() {
    let folder = Folder::new();
    let looks = |look: &str, state: &str, words: &[&str]| {
        let (found, finding) = doctor(&folder, look);
        assert_eq!(found, state, "{finding}");
        assert!(words.iter().all(|word| finding.contains(word)), "{words:?}: {finding}");
    };
    looks("https", "wrong", &["partnerd-cert.pem ist nicht zu lesen", "tls self-signed"]);
    certificate(&folder, -1, 40);
    looks("https", "ok", &["gilt bis"]);
    looks("tls_key", "ok", &[]);
    mode(&folder, "partnerd-key.pem", 0o644);
    looks("tls_key", "warning", &["chmod 640 partnerd-key.pem"]);
    certificate(&folder, -1, 20);
    looks("https", "warning", &["läuft am", "ein neues machen"]);
    certificate(&folder, -9, -2);
    looks("https", "wrong", &["abgelaufen", "ein neues machen"]);
    certificate(&folder, 3, 400);
    looks("https", "wrong", &["gilt erst ab", "Uhr"]);
    folder.write("partnerd-key.pem", &KeyPair::generate().unwrap().serialize_pem());
    looks("https", "wrong", &["passen nicht zusammen"]);
    folder.write("partnerd-key.pem", "");
    looks("https", "wrong", &["partnerd-key.pem enthält keinen privaten Schlüssel"]);
    let open = folder.run(&["--json", "doctor"]);
    assert!(String::from_utf8_lossy(&open.stdout).contains("nur dieser Rechner erreicht"));
}

#[test]
fn a_server_says_in_its_log_that_its_certificate_ends_soon() {
    let folder = Folder::new();
    let log = |from: i64, until: i64| {
        certificate(&folder, from, until);
        folder.write(
            "partnerd.toml",
            "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"partnerd-key.pem\"\n",
        );
        folder.log_of_start(&["--config", "partnerd.toml"])
    };
    assert!(log(-1, 29).contains("partnerd-cert.pem läuft am"));
    assert!(log(-9, -2).contains("partnerd-cert.pem ist am"), "it serves all the same");
    assert!(!log(-1, 400).contains("partnerd-cert.pem"));
}

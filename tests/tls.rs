//! https with the real executable and a client of another family (curl).

mod process;

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use process::Folder;

/// A server that speaks https; its port.
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
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
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
        .args(["-sS", "--max-time", "10"])
        .args(arguments)
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_certificate_of_our_own_is_trusted_by_who_knows_it() {
    let folder = Folder::new();
    let made = folder.result(&["tls", "self-signed", "--name", "waage.local", "--name", "192.0.2.7"]);
    assert_eq!(Path::new(made.trim()), folder.path().canonicalize().unwrap().join("partnerd-cert.pem"));
    for file in ["partnerd-cert.pem", "partnerd-key.pem"] {
        let mode = std::fs::metadata(folder.file(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let again = folder.run(&["tls", "self-signed", "--name", "waage.local"]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("there already"));
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
    // Who does not know the certificate, asks for another name, or speaks http, gets nothing.
    let url = format!("https://localhost:{}/api/v1", server.1);
    assert!(!curl(&folder, &[&url]).0);
    let other = format!("https://anders.local:{}/api/v1", server.1);
    let resolve = format!("anders.local:{}:127.0.0.1", server.1);
    assert!(!curl(&folder, &["--cacert", "partnerd-cert.pem", "--resolve", &resolve, &other]).0);
    assert!(!curl(&folder, &[&url.replace("https", "http")]).0);
    assert!(!curl(&folder, &["--cacert", "partnerd-cert.pem", "--tls-max", "1.1", &url]).0);
}

#[test]
fn who_never_finishes_the_handshake_is_closed() {
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "waage.local"]);
    let server = serve(&folder, 1);
    let mut silent = TcpStream::connect(("127.0.0.1", server.1)).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let begun = Instant::now();
    assert_eq!(silent.read(&mut [0; 16]).unwrap_or(0), 0);
    assert!(begun.elapsed() < Duration::from_secs(9), "the connection stayed open");
    // Nor does it hold up a server that stops.
    drop(server);
    let mut server = serve(&folder, 30);
    let _silent = TcpStream::connect(("127.0.0.1", server.1)).unwrap();
    let begun = Instant::now();
    assert!(
        Command::new("sh").args(["-c", &format!("kill -TERM {}", server.0.id())]).status().unwrap().success()
    );
    server.0.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "the stop took {:?}", begun.elapsed());
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "a"]);
    folder.write("text.pem", "kein Zertifikat");
    std::fs::create_dir(folder.file("other")).unwrap();
    folder.result(&["tls", "self-signed", "--name", "b", "--folder", "other"]);
    let cases = [
        ("tls_certificate = \"fehlt.pem\"\ntls_key = \"partnerd-key.pem\"", "fehlt.pem cannot be read"),
        ("tls_certificate = \"text.pem\"\ntls_key = \"partnerd-key.pem\"", "text.pem has no certificate"),
        ("tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"text.pem\"", "text.pem has no private key"),
        (
            "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"other/partnerd-key.pem\"",
            "do not fit together",
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

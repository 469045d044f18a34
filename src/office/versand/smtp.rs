//! Delivers a mail to the mail server (RFC 5321), with deadlines, on a thread that may block. An error is a
//! German sentence that says what to do.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use lettre::Message;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, AsyncTokioStream, Certificate, TlsParameters, TlsParametersBuilder,
};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

use super::postausgang::{Postausgang, Verschluesselung};
use super::sql::Ergebnis::{self, NichtGesendet, Ungewiss};
use crate::platform::db::file::german::in_german;

/// Deadline for connecting and logging in, and deadline for delivering the mail, which may have 14 MiB on a
/// slow line.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const DELIVER: Duration = Duration::from_secs(60);
/// Most bytes accepted from a mail server: certificates and some lines.
const SAID_BYTES_MAX: usize = 256 << 10;
/// Most characters of its own words that are shown.
const SHOWN_CHARS_MAX: usize = 200;

/// The name that this machine gives in its greeting.
const HELLO: &str = "partnerd.local";

/// Delivers a mail to the mail server. Takes 70 seconds at most.
pub fn deliver(server: &Postausgang, message: &Message) -> Result<(), Ergebnis> {
    let broken = |error: io::Error| {
        NichtGesendet(format!("Auf diesem Rechner geht gerade kein Versand: {}.", in_german(&error)))
    };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let sent = runtime.block_on(delivered(server, message));
    // The caller does not wait for a name lookup that still runs.
    runtime.shutdown_background();
    sent
}

async fn delivered(server: &Postausgang, message: &Message) -> Result<(), Ergebnis> {
    let silent = |_| {
        NichtGesendet(format!(
            "Der Mailserver {} antwortet nicht (10 Sekunden gewartet). Bitte unter „Mailserver“ Server und \
             Port prüfen, oder später noch einmal senden.",
            server.server
        ))
    };
    let mut connection =
        timeout(CONNECT_TIMEOUT, connect(server)).await.map_err(silent)?.map_err(NichtGesendet)?;
    let unknown = || {
        Ungewiss(format!(
            "Die Verbindung zum Mailserver {} brach ab, bevor er die E-Mail bestätigt hat. Bitte beim \
             Empfänger nachfragen, ob sie ankam.",
            server.server
        ))
    };
    match timeout(DELIVER, connection.send(message.envelope(), &message.formatted())).await {
        Err(_) => Err(unknown()),
        Ok(Ok(_)) => {
            // The mail is delivered, whatever the mail server replies to QUIT.
            drop(timeout(Duration::from_secs(1), connection.quit()).await);
            Ok(())
        }
        Ok(Err(error)) => match error.status() {
            Some(_) => Err(NichtGesendet(format!(
                "Der Mailserver nimmt die E-Mail nicht an: {}",
                server_reply(&error)
            ))),
            None if error.is_client() => Err(NichtGesendet(server_reply(&error))),
            None => Err(unknown()),
        },
    }
}

type Smtp = lettre::transport::smtp::Error;

/// Opens a connection that is ready to send a mail.
async fn connect(server: &Postausgang) -> Result<AsyncSmtpConnection, String> {
    let Postausgang { server: host, port, .. } = server;
    let unknown = |_| {
        format!(
            "Der Mailserver {host} ist von hier aus nicht zu finden. Bitte den Namen unter „Mailserver“ \
             prüfen, und ob dieser Rechner ins Internet darf."
        )
    };
    let addresses: Vec<_> = tokio::net::lookup_host((host.as_str(), *port)).await.map_err(unknown)?.collect();
    let closed = |_| {
        format!(
            "Der Mailserver {host} nimmt auf Port {port} keine Verbindung an. Bitte Server und Port unter \
             „Mailserver“ prüfen."
        )
    };
    let wire =
        Bounded { stream: TcpStream::connect(&addresses[..]).await.map_err(closed)?, left: SAID_BYTES_MAX };
    let hello = ClientId::Domain(HELLO.to_owned());
    let failed = |error: Smtp| failed(server, &error);
    let mut connection = match server.verschluesselung {
        Verschluesselung::Tls => {
            let encrypted = encrypted(server, wire).await?;
            AsyncSmtpConnection::connect_with_transport(Box::new(encrypted), &hello).await.map_err(failed)?
        }
        plain_at_first => {
            let mut connection =
                AsyncSmtpConnection::connect_with_transport(Box::new(wire), &hello).await.map_err(failed)?;
            if plain_at_first == Verschluesselung::Starttls {
                let parameters = parameters(server).map_err(failed)?;
                connection.starttls(parameters, &hello).await.map_err(failed)?;
            }
            connection
        }
    };
    log_in(server, &mut connection).await?;
    Ok(connection)
}

/// Logs in with user and password, if there are any.
async fn log_in(server: &Postausgang, connection: &mut AsyncSmtpConnection) -> Result<(), String> {
    let Postausgang { server: host, port, .. } = server;
    let Some((user, password)) = server.benutzer.clone().zip(server.passwort.clone()) else { return Ok(()) };
    let credentials = Credentials::new(user, password);
    let said = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await;
    said.map(drop).map_err(|error| match error.status() {
        Some(_) => format!(
            "Der Mailserver lässt die Anmeldung nicht zu. Bitte Benutzer und Passwort unter „Mailserver“ \
             prüfen. Er sagt: {}",
            server_reply(&error)
        ),
        None if error.is_client() => format!(
            "Der Mailserver {host} kennt an Port {port} keine Anmeldung mit Passwort. Bitte Port und \
             Verschlüsselung unter „Mailserver“ prüfen."
        ),
        None => failed(server, &error),
    })
}

/// Whether a text in PEM form contains a certificate that can be trusted.
pub fn has_certificate(pem: &str) -> bool {
    let mut roots = RootCertStore::empty();
    CertificateDer::pem_slice_iter(pem.as_bytes()).flatten().any(|one| roots.add(one).is_ok())
}

/// Starts TLS from the first byte.
async fn encrypted(
    server: &Postausgang,
    wire: Bounded<TcpStream>,
) -> Result<Bounded<TlsStream<Bounded<TcpStream>>>, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let further = server.zertifikat.as_deref().unwrap_or_default();
    for certificate in CertificateDer::pem_slice_iter(further.as_bytes()).flatten() {
        drop(roots.add(certificate));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS geht auf diesem Rechner nicht ({error})."))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(server.server.clone())
        .map_err(|_| format!("{} ist kein Name eines Rechners.", server.server))?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, wire).await;
    let stream = stream.map_err(|error| unencrypted(server, &error))?;
    Ok(Bounded { stream, left: SAID_BYTES_MAX })
}

/// TLS parameters for an open connection.
fn parameters(server: &Postausgang) -> Result<TlsParameters, Smtp> {
    let parameters = TlsParametersBuilder::new(server.server.clone());
    match &server.zertifikat {
        Some(pem) => parameters.add_root_certificate(Certificate::from_pem(pem.as_bytes())?),
        None => parameters,
    }
    .build_rustls()
}

/// Explains why there is no connection to send on.
fn failed(server: &Postausgang, error: &Smtp) -> String {
    let Postausgang { server: host, port, .. } = server;
    if error.status().is_some() {
        return format!("Der Mailserver {host} weist diesen Rechner ab: {}", server_reply(error));
    }
    if error.is_client() {
        return format!(
            "Der Mailserver {host} bietet an Port {port} keine Verschlüsselung (STARTTLS) an; ohne sie geht \
             kein Passwort über das Netz. Port 465 gehört meist zu TLS, 587 zu STARTTLS."
        );
    }
    unencrypted(server, error)
}

/// Explains why a connection is not encrypted, or was closed.
fn unencrypted(server: &Postausgang, error: &(dyn Error + 'static)) -> String {
    let Postausgang { server: host, port, .. } = server;
    match of_tls(error) {
        Some(rustls::Error::InvalidCertificate(why)) => {
            let why = match why {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => "ist abgelaufen",
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    "gehört zu einem anderen Namen"
                }
                CertificateError::UnknownIssuer => "kommt von jemandem, dem hier niemand vertraut",
                _ => "gilt nicht",
            };
            format!(
                "Das Zertifikat von {host} {why}. Nichts wurde gesendet, auch kein Passwort. Bitte den Namen \
                 des Servers prüfen; einem Mailserver im eigenen Haus vertraut man mit seinem Zertifikat unter \
                 „Mailserver“."
            )
        }
        Some(_) => format!(
            "Mit {host} kommt an Port {port} keine verschlüsselte Verbindung zustande. Port 465 gehört meist \
             zu TLS, 587 zu STARTTLS."
        ),
        None => format!(
            "An Port {port} von {host} antwortet kein Mailserver, oder er hat die Verbindung beendet. Bitte \
             Server, Port und Verschlüsselung unter „Mailserver“ prüfen."
        ),
    }
}

/// Finds the TLS error behind a network error.
fn of_tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // `source()` of an `io::Error` skips the error that it wraps.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

/// Quotes the mail server, or the error if the server said nothing.
fn server_reply(error: &Smtp) -> String {
    let words = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let words: String = words.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words: String = words.trim().chars().take(SHOWN_CHARS_MAX).collect();
    let later = if error.is_transient() { " Bitte später noch einmal senden." } else { "" };
    let code = error.status().map(|code| format!("{code} ")).unwrap_or_default();
    format!("„{code}{words}“.{later}")
}

/// A connection that accepts a limited number of bytes from its peer.
#[derive(Debug)]
struct Bounded<S> {
    stream: S,
    left: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::Error::other("the mail server says too much")));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        self.left = self.left.saturating_sub(into.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncTokioStream for Bounded<TcpStream> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl AsyncTokioStream for Bounded<TlsStream<Bounded<TcpStream>>> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.get_ref().0.peer_addr()
    }
}

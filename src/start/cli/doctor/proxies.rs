//! Checks for a proxy that `trusted_proxies` does not name. Only the server sees it, so this asks the
//! server's metrics.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::platform::gate::metrics::UNNAMED_PROXY;
use crate::start::cli::finding::{Finding, warning};
use crate::start::config::Config;

/// Time to wait for the server, and bytes of its answer to read, at most.
const PATIENCE: Duration = Duration::from_secs(2);
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Returns a finding if there is such a proxy; `None` also if the server does not tell this program.
pub fn unnamed(config: &Config) -> Option<Finding> {
    if config.tls.is_some() || measured(config)? == 0 {
        return None;
    }
    Some(warning(
        "trusted_proxies",
        "ein Proxy auf diesem Rechner reicht Anfragen weiter, und trusted_proxies nennt ihn nicht: alle gelten \
         als von ihm, und den Leitstand sieht so niemand; trusted_proxies = \"127.0.0.1\" setzen und den Server \
         neu starten",
    ))
}

fn measured(config: &Config) -> Option<u64> {
    let port = config.listen.port();
    let here = match config.listen {
        SocketAddr::V4(address) if address.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, port).into(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, port).into(),
        listen => listen,
    };
    let mut server = TcpStream::connect_timeout(&here, PATIENCE).ok()?;
    server.set_read_timeout(Some(PATIENCE)).ok()?;
    server.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    server.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).ok()?;
    let line = format!("partnerd_{UNNAMED_PROXY}_total ");
    String::from_utf8_lossy(&answer).lines().find_map(|found| found.strip_prefix(&line)?.trim().parse().ok())
}

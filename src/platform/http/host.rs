//! A host with or without a port, as the header Host, proxies and settings write it.

use std::net::{IpAddr, SocketAddr};

/// Returns the index of the colon in front of the port, if there is one. The colons of an IPv6 address separate
/// no port: only behind its brackets can one follow.
pub fn colon_of_port(text: &[u8]) -> Option<usize> {
    let at = text.iter().rposition(|byte| *byte == b':')?;
    let host = &text[..at];
    let is_bracketed = host.starts_with(b"[") && host.ends_with(b"]");
    (is_bracketed || !host.contains(&b':')).then_some(at)
}

/// Splits a host from its port: `localhost:8080`, `192.0.2.7`, `[2001:db8::1]:443`. The host keeps its brackets;
/// nothing else is checked.
pub fn split(text: &str) -> (&str, Option<&str>) {
    match colon_of_port(text.as_bytes()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Parses an address: plain, in brackets, or with a port.
pub fn address(text: &str) -> Option<IpAddr> {
    let plain = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    plain.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// Joins a host and a port; a plain IPv6 address gets its brackets.
pub fn with_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_stands_behind_the_last_colon_that_is_not_part_of_an_address() {
        for (text, host, port) in [
            ("localhost", "localhost", None),
            ("localhost:8080", "localhost", Some("8080")),
            ("localhost:", "localhost", Some("")),
            ("muehle.local:https", "muehle.local", Some("https")),
            ("192.0.2.7:80", "192.0.2.7", Some("80")),
            (":8080", "", Some("8080")),
            ("*:8080", "*", Some("8080")),
            ("[2001:db8::1]", "[2001:db8::1]", None),
            ("[2001:db8::1]:443", "[2001:db8::1]", Some("443")),
            ("[2001:db8::1]:", "[2001:db8::1]", Some("")),
            ("::1", "::1", None),
            ("2001:db8::1:443", "2001:db8::1:443", None),
            ("[::1", "[::1", None),
            ("[::1]8080", "[::1]8080", None),
            ("a:b:80", "a:b:80", None),
            ("", "", None),
        ] {
            assert_eq!(split(text), (host, port), "{text}");
        }
    }

    #[test]
    fn an_address_is_read_with_brackets_and_port_or_without() {
        for (text, expected) in [
            ("192.0.2.7", Some("192.0.2.7")),
            ("192.0.2.7:80", Some("192.0.2.7")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("[2001:db8::1", None),
            ("192.0.2.7:99999", None),
            ("192.0.2.7:", None),
            ("localhost", None),
            ("", None),
        ] {
            assert_eq!(address(text), expected.map(|text| text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_joined_can_be_split_again() {
        for (host, joined) in [
            ("localhost", "localhost:8080"),
            ("192.0.2.7", "192.0.2.7:8080"),
            ("2001:db8::1", "[2001:db8::1]:8080"),
        ] {
            assert_eq!(with_port(host, 8080), joined);
            assert_eq!(split(joined).1, Some("8080"));
        }
    }
}

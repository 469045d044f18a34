//! The address of a request: the peer of the socket, or what a trusted proxy reports (D20).

use std::net::IpAddr;

use hyper::HeaderMap;
use ipnet::IpNet;

use crate::platform::http::host;

/// Returns the address of a client. `X-Forwarded-For` counts only as far as trusted proxies wrote it: the
/// result is the last address in it that is not a trusted proxy.
pub fn client(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> IpAddr {
    let trusted = |address: &IpAddr| proxies.iter().any(|net| net.contains(address));
    let mut client = peer.to_canonical();
    let values = headers.get_all("x-forwarded-for").iter().rev();
    let mut hops = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    while trusted(&client) {
        let Some(hop) = hops.next() else { break };
        // A trusted proxy would have written an address.
        let Some(address) = host::address(hop.trim()) else { break };
        client = address.to_canonical();
    }
    client
}

/// Whether a proxy on this machine forwarded the request without being named in trusted_proxies.
pub fn is_of_unnamed_proxy(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    peer.is_loopback()
        && headers.contains_key("x-forwarded-for")
        && !proxies.iter().any(|net| net.contains(&peer))
}

/// Headers that a proxy adds to a forwarded request.
const FORWARDED: [&str; 4] = ["forwarded", "x-real-ip", "via", "x-forwarded-for"];

/// Whether a request originates on this machine: it comes from a loopback address and was not forwarded, or a
/// trusted proxy forwarded it for loopback clients only. A proxy on this machine that is missing in
/// trusted_proxies also has a loopback address, but forwards anything from the network.
pub fn is_local(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    let names = || headers.keys().map(|name| name.as_str());
    let is_forwarded = names().any(|name| FORWARDED.contains(&name) || name.starts_with("x-forwarded-"));
    if !is_forwarded {
        return peer.is_loopback();
    }
    let is_loopback =
        |hop: &str| host::address(hop.trim()).is_some_and(|address| address.to_canonical().is_loopback());
    let mut values =
        headers.get_all("x-forwarded-for").iter().map(|value| value.to_str().unwrap_or_default());
    proxies.iter().any(|net| net.contains(&peer))
        && headers.contains_key("x-forwarded-for")
        && values.all(|value| value.split(',').all(is_loopback))
}

/// Whether the Host header names this machine as itself: localhost or a loopback address, with or without a
/// port. A foreign web page can point its own name at this machine's address (DNS rebinding) and make a local
/// browser send requests; the Host header then still holds the page's name.
pub fn names_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all("host").iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let text = host.to_str().unwrap_or_default();
    let (name, port) = host::split(text);
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let is_localhost = name.eq_ignore_ascii_case("localhost") && port.is_none_or(is_port);
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    is_localhost || host::address(text).is_some_and(is_loopback)
}

/// Returns the name in the Host header, in lower case and without port; IPv6 addresses stay in brackets.
pub fn host_name(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("host")?.to_str().ok()?;
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let (name, port) = host::split(text);
    let name = if port.is_some_and(is_port) { name } else { text };
    Some(name.to_ascii_lowercase())
}

/// Returns the address that stands for one client: an IPv4 address, or the /64 of an IPv6 address.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn only_our_proxies_are_believed() {
        let proxies: Vec<IpNet> = ["10.0.0.0/8", "::1/128"].map(|net| net.parse().unwrap()).to_vec();
        let table = [
            ("1.2.3.4", &["9.9.9.9"][..], "1.2.3.4"),
            ("10.0.0.1", &["9.9.9.9"], "9.9.9.9"),
            ("10.0.0.1", &["8.8.8.8, 9.9.9.9"], "9.9.9.9"),
            ("10.0.0.1", &["8.8.8.8, 9.9.9.9, 10.0.0.2"], "9.9.9.9"),
            ("10.0.0.1", &["8.8.8.8", "9.9.9.9"], "9.9.9.9"),
            ("10.0.0.1", &["9.9.9.9:1234"], "9.9.9.9"),
            ("10.0.0.1", &["[2001:db8::1]:443"], "2001:db8::1"),
            ("10.0.0.1", &["[2001:db8::2]"], "2001:db8::2"),
            ("10.0.0.1", &["nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9, unknown"], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["10.0.0.9"], "10.0.0.9"),
            ("::1", &["2001:db8::7"], "2001:db8::7"),
            ("::ffff:10.0.0.1", &["9.9.9.9"], "9.9.9.9"),
        ];
        for (peer, forwarded, expected) in table {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append("x-forwarded-for", HeaderValue::from_static(value));
            }
            let found = client(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn what_a_proxy_passes_on_does_not_begin_here() {
        let proxies: Vec<IpNet> = ["127.0.0.2/32", "10.0.0.0/8"].map(|net| net.parse().unwrap()).to_vec();
        let table = [
            ("127.0.0.1", &[][..], true),
            ("::1", &[], true),
            ("::ffff:127.0.0.1", &[], true),
            ("192.0.2.1", &[], false),
            ("127.0.0.1", &[("x-forwarded-for", "127.0.0.1")], false),
            ("127.0.0.1", &[("x-forwarded-proto", "https")], false),
            ("127.0.0.1", &[("x-real-ip", "192.0.2.1")], false),
            ("127.0.0.1", &[("forwarded", "for=192.0.2.1")], false),
            ("127.0.0.1", &[("via", "1.1 proxy")], false),
            ("127.0.0.2", &[], true),
            ("127.0.0.2", &[("x-forwarded-for", "127.0.0.1")], true),
            ("127.0.0.2", &[("x-forwarded-for", "::1"), ("x-forwarded-proto", "https")], true),
            ("127.0.0.2", &[("x-forwarded-for", "192.0.2.1")], false),
            ("127.0.0.2", &[("x-forwarded-for", "127.0.0.1, 192.0.2.1")], false),
            ("127.0.0.2", &[("x-forwarded-for", "192.0.2.1, 127.0.0.1")], false),
            ("127.0.0.2", &[("x-forwarded-for", "unknown")], false),
            ("127.0.0.2", &[("x-forwarded-proto", "https")], false),
            ("10.0.0.1", &[("x-forwarded-for", "127.0.0.1")], true),
        ];
        for (peer, sent, expected) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(*name, HeaderValue::from_static(value));
            }
            assert_eq!(is_local(peer.parse().unwrap(), &headers, &proxies), expected, "{peer} {sent:?}");
        }
    }

    #[test]
    fn a_page_elsewhere_does_not_name_this_machine() {
        let table = [
            (&["localhost"][..], true),
            (&["LocalHost:8080"], true),
            (&["127.0.0.1"], true),
            (&["127.8.9.1:8080"], true),
            (&["[::1]"], true),
            (&["[::1]:8080"], true),
            (&["[::ffff:127.0.0.1]:80"], true),
            (&["example.org"], false),
            (&["localhost.example.org"], false),
            (&["localhost.example.org:8080"], false),
            (&["127.0.0.1.example.org"], false),
            (&["localhost:port"], false),
            (&["192.0.2.1"], false),
            (&["0.0.0.0"], false),
            (&["[::2]:8080"], false),
            (&["localhost", "localhost"], false),
            (&[""], false),
            (&[], false),
        ];
        for (hosts, expected) in table {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append("host", HeaderValue::from_static(host));
            }
            assert_eq!(names_this_machine(&headers), expected, "{hosts:?}");
        }
    }

    #[test]
    fn an_ipv6_client_is_a_network() {
        let of = |text: &str| neighbourhood(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("1.2.3.4"), "1.2.3.4");
    }
}

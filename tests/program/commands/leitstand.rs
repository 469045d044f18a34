use std::net::{IpAddr, UdpSocket};

use ureq::http::Request;

use crate::process::{Folder, Running};

/// The address of this machine in its network, if it has one. Nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The status of the log-in page at an address, requested with this Host.
fn status(address: IpAddr, port: &str, host: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = Request::builder().uri(format!("http://{address}:{port}/leitstand/anmelden"));
    let request = request.header("host", format!("{host}:{port}"));
    agent.run(request.body(()).unwrap()).unwrap().status().as_u16()
}

#[test]
fn pages_are_shown_at_the_address_that_was_connected_to() {
    let folder = Folder::new();
    let settings =
        "leitstand = \"netz\"\ntrusted_proxies = \"192.0.2.250\"\nhosts = \"muehle.local, 192.0.2.4\"\n";
    let config = folder.write("partnerd.toml", settings);
    let server = Running::start(folder.command(&["--config", &config, "serve", "--listen", "0.0.0.0:0"]));
    let (_, port) = server.address.rsplit_once(':').unwrap();
    let loopback = IpAddr::from([127, 0, 0, 1]);
    for (host, expected) in
        [("127.0.0.1", 200), ("192.0.2.4", 200), ("muehle.local", 200), ("192.0.2.5", 421), ("0.0.0.0", 421)]
    {
        assert_eq!(status(loopback, port, host), expected, "{host}");
    }
    // A machine without a network has only the addresses above.
    let Some(own) = own_address().filter(|own| !own.is_loopback()) else { return };
    assert_eq!(status(own, port, &own.to_string()), 200);
    assert_eq!(status(own, port, "192.0.2.5"), 421);
    // It is not the address that was connected to.
    assert_eq!(status(loopback, port, &own.to_string()), 421);
}

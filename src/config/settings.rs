//! The table of settings.

/// A setting. In the environment its name is PARTNERD_ and the name in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub default: &'static str,
    pub summary: &'static str,
}

macro_rules! settings {
    ($($name:ident = $default:literal: $summary:literal;)+) => {
        pub const SETTINGS: &[Setting] =
            &[$(Setting { name: stringify!($name), default: $default, summary: $summary }),+];
    };
}

settings! {
    db = "partnerd.db": "The database file. It must be on a local disk.";
    listen = "127.0.0.1:8080": "Address and port to serve on. Port 0 picks a free one.";
    tls_certificate = "": "File with the certificate for https (PEM). Nothing: http.";
    tls_key = "": "File with the private key of the certificate (PEM).";
    trusted_proxies = "":
        "Addresses or networks of proxies whose X-Forwarded-For counts, separated by commas. A proxy on this machine (127.0.0.1) belongs here, too: what one that is not named passes on is never taken for a request of this machine.";
    critical_routes = "":
        "Routes that one address may use ten times a minute, such as \"POST /api/v1/kunden\", separated by commas.";
    metrics = "local": "Who may read /metrics: local (this machine) or public.";
    cors_origins = "":
        "Web pages whose scripts may call the interface, such as https://shop.example, separated by commas.";
    leitstand = "lokal":
        "Who may use the pages for people at /leitstand: lokal (this machine), netz (the network, with TLS) or aus (nobody).";
    hosts = "":
        "Names of this machine by which its pages for people are opened, such as muehle.local, separated by commas. Its own addresses and localhost need no entry; one that a router answers for it does.";
    max_daily_limit = "100000":
        "Requests a day that a key may be given on the pages for people at most; `partnerd key` gives more.";
    backup_folder = "":
        "Folder for a proved backup every day, best a subfolder of another disk; one for each database. Nothing: no backups by itself.";
    backup_time = "02:30": "From when on in the day the backup is made, on the clocks of Berlin.";
    backup_keep = "14": "How many of these backups are kept; the oldest go.";
    checkpoints = "own":
        "Who moves the write-ahead log into the database: own, or litestream where that replicates it.";
    log_format = "text": "How the log is written: text or json.";
    log_level = "info": "What is logged: error, warn, or info (a line for each request).";
    max_connections = "12000":
        "Open connections at most. When there are more, the oldest goes on which nothing was ever answered.";
    max_connections_per_address = "512":
        "The same for one address, or one /64 of IPv6. Those of trusted_proxies are exempt.";
    header_timeout = "30":
        "Seconds in which the head of a request must arrive; also how long a connection may be idle.";
    body_timeout = "60": "Seconds in which the body of a request must arrive.";
    write_timeout = "30": "Seconds in which a client must accept the next part of an answer.";
    shutdown_timeout = "8": "Seconds that running requests get when the server stops.";
}

//! The table of settings.

/// A setting. In the environment its name is PARTNERD_ and the name in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub default: &'static str,
    /// What it does, with its unit.
    pub summary: &'static str,
}

pub const SETTINGS: &[Setting] = &[
    Setting { name: "db", default: "partnerd.db", summary: "The database file. It must be on a local disk." },
    Setting {
        name: "listen",
        default: "127.0.0.1:8080",
        summary: "Address and port to serve on. Port 0 picks a free one.",
    },
    Setting {
        name: "tls_certificate",
        default: "",
        summary: "File with the certificate for https (PEM). Nothing: http.",
    },
    Setting { name: "tls_key", default: "", summary: "File with the private key of the certificate (PEM)." },
    Setting {
        name: "trusted_proxies",
        default: "",
        summary: "Addresses or networks of proxies whose X-Forwarded-For counts, separated by commas.",
    },
    Setting {
        name: "critical_routes",
        default: "",
        summary: "Routes that one address may use ten times a minute, such as \"POST /api/v1/kunden\", separated by commas.",
    },
    Setting {
        name: "metrics",
        default: "local",
        summary: "Who may read /metrics: local (this machine) or public.",
    },
    Setting {
        name: "cors_origins",
        default: "",
        summary: "Web pages whose scripts may call the interface, such as https://shop.example, separated by commas.",
    },
    Setting {
        name: "leitstand",
        default: "lokal",
        summary: "Who may use the pages for people at /leitstand: lokal (this machine), netz (the network, with TLS) or aus (nobody).",
    },
    Setting {
        name: "hosts",
        default: "",
        summary: "Names of this machine by which its pages for people are opened, such as muehle.local, separated by commas. Its own addresses and localhost need no entry; one that a router answers for it does.",
    },
    Setting {
        name: "backup_folder",
        default: "",
        summary: "Folder for a proved backup every day, best a subfolder of another disk; one for each database. Nothing: no backups by itself.",
    },
    Setting {
        name: "backup_time",
        default: "02:30",
        summary: "From when on in the day the backup is made, on the clocks of Berlin.",
    },
    Setting {
        name: "backup_keep",
        default: "14",
        summary: "How many of these backups are kept; the oldest go.",
    },
    Setting {
        name: "checkpoints",
        default: "own",
        summary: "Who moves the write-ahead log into the database: own, or litestream where that replicates it.",
    },
    Setting { name: "log_format", default: "text", summary: "How the log is written: text or json." },
    Setting {
        name: "log_level",
        default: "info",
        summary: "What is logged: error, warn, or info (a line for each request).",
    },
    Setting {
        name: "max_connections",
        default: "12000",
        summary: "Open connections at most. When there are more, the oldest goes on which nothing was ever answered.",
    },
    Setting {
        name: "max_connections_per_address",
        default: "512",
        summary: "The same for one address, or one /64 of IPv6. Those of trusted_proxies are exempt.",
    },
    Setting {
        name: "header_timeout",
        default: "30",
        summary: "Seconds in which the head of a request must arrive; also how long a connection may be idle.",
    },
    Setting {
        name: "body_timeout",
        default: "60",
        summary: "Seconds in which the body of a request must arrive.",
    },
    Setting {
        name: "write_timeout",
        default: "30",
        summary: "Seconds in which a client must accept the next part of an answer.",
    },
    Setting {
        name: "shutdown_timeout",
        default: "8",
        summary: "Seconds that running requests get when the server stops.",
    },
];

//! The table of settings.

/// A setting. Its environment variable is `PARTNERD_` followed by the name in capitals.
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
    db = "partnerd.db": "Die Datei der Datenbank, auf einer Platte dieses Rechners.";
    listen = "127.0.0.1:8080": "Adresse und Port, an denen der Server lauscht. Port 0 nimmt einen freien.";
    tls_certificate = "": "Datei mit dem Zertifikat für https (PEM). Nichts: http.";
    tls_key = "": "Datei mit dem privaten Schlüssel des Zertifikats (PEM).";
    trusted_proxies = "":
        "Adressen oder Netze der Proxys, deren X-Forwarded-For gilt, mit Komma getrennt. Auch ein Proxy auf \
         diesem Rechner (127.0.0.1) gehört hierher: was einer weiterreicht, der nicht genannt ist, gilt nie als \
         Anfrage dieses Rechners.";
    critical_routes = "":
        "Routen, die eine Adresse zehnmal in der Minute benutzen darf, etwa \"POST /api/v1/kunden\", mit Komma \
         getrennt.";
    metrics = "local": "Wer /metrics lesen darf: local (dieser Rechner) oder public (alle).";
    cors_origins = "":
        "Webseiten, deren Skripte die Schnittstelle aufrufen dürfen, etwa https://shop.example, mit Komma getrennt.";
    leitstand = "lokal":
        "Wer den Leitstand (/leitstand) benutzen darf: lokal (dieser Rechner), netz (das Netz, mit TLS) oder \
         aus (niemand).";
    hosts = "":
        "Namen dieses Rechners, unter denen der Leitstand geöffnet wird, etwa muehle.local, mit Komma getrennt. \
         Seine eigenen Adressen und localhost brauchen keinen Eintrag; eine Adresse, die ein Router für ihn \
         beantwortet, schon.";
    max_daily_limit = "100000":
        "Anfragen am Tag, die der Leitstand einem Schlüssel höchstens gibt; `partnerd key` gibt mehr.";
    backup_folder = "":
        "Ordner für eine geprüfte Sicherung jeden Tag, am besten ein Unterordner einer anderen Platte; für jede \
         Datenbank ein eigener. Nichts: keine Sicherungen von selbst.";
    backup_time = "02:30": "Ab wann am Tag die Sicherung gemacht wird, nach Berliner Uhr.";
    backup_keep = "14": "Wie viele dieser Sicherungen aufgehoben werden; die ältesten gehen.";
    checkpoints = "own":
        "Wer -wal in die Datenbank übernimmt: own (partnerd), oder litestream, wo das sie kopiert.";
    log_format = "text": "Wie das Protokoll des Servers geschrieben wird: text oder json.";
    log_level = "info": "Was darin steht: error, warn, oder info (eine Zeile je Anfrage).";
    max_connections = "12000":
        "Offene Verbindungen, höchstens. Bei mehr geht die älteste, auf der nie etwas beantwortet wurde.";
    max_connections_per_address = "512":
        "Dasselbe für eine Adresse, oder ein /64 bei IPv6. Die aus trusted_proxies sind ausgenommen.";
    header_timeout = "30":
        "Sekunden, in denen der Kopf einer Anfrage ankommen muss; so lange darf eine Verbindung auch ruhen.";
    body_timeout = "60": "Sekunden, in denen der Rumpf einer Anfrage ankommen muss.";
    write_timeout = "30": "Sekunden, in denen ein Programm den nächsten Teil einer Antwort abnehmen muss.";
    shutdown_timeout = "8": "Sekunden, die laufende Anfragen bekommen, wenn der Server anhält.";
}

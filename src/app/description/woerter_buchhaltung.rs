//! What the fields of data for tax advisers and auditors mean.

pub const WOERTER: &[(&str, &str)] = &[
    ("Datenueberlassung*.von", "Erster Tag des Zeitraums."),
    ("Datenueberlassung*.bis", "Letzter Tag des Zeitraums; höchstens heute."),
    ("mit_belegen", "true: auch die PDF, E-Rechnungen und Anhänge der Belege."),
    (
        "DatenueberlassungNeu.mit_belegen",
        "true: auch die PDF, E-Rechnungen und Anhänge der Belege; ohne Angabe ohne.",
    ),
    ("Datenueberlassung*.stand", "Wie weit sie ist; was fertig oder fehlgeschlagen ist, bleibt es."),
    ("Datenueberlassung*.schritt", "Schritt, der gerade gemacht wird, von schritte; 0: sie wartet."),
    ("Datenueberlassung*.schritte", "Schritte im Ganzen."),
    ("beendet_am", "Zeitpunkt, zu dem sie fertig war oder fehlschlug."),
    ("Datenueberlassung*.zeilen", "Zeilen aller Tabellen."),
    ("bytes", "Größe der Datei in Bytes."),
    ("Datenueberlassung*.sha256", "Prüfsumme der Datei (SHA-256, hexadezimal)."),
    ("Datenueberlassung*.fehler", "Warum es keine Datei gibt."),
];

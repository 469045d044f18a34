//! The German meanings of the fields, each written once for all schemas that contain it.

use serde_json::Value;

use super::woerter_belegfluss as belegfluss;
use super::woerter_buchhaltung as buchhaltung;
use super::woerter_rohwaren as rohwaren;

/// Sets the description of every field of a schema to its German meaning, replacing the comment from the code.
pub fn explain(name: &str, shape: &mut Value) {
    if let Some(object) = shape.as_object_mut() {
        object.remove("description");
        object.remove("title");
    }
    let Some(fields) = shape.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (field, described) in fields {
        let Some(described) = described.as_object_mut() else { continue };
        described.remove("description");
        // What the record says of its field is in the schema; only a meaning of this very shape goes before it.
        let declared = described.remove("x-meaning");
        let meaning = own(name, field).map(Value::from).or(declared).or_else(|| Some(shared(field)?.into()));
        described.extend(meaning.map(|meaning| ("description".to_owned(), meaning)));
    }
}

pub const TABLES: [&[(&str, &str)]; 4] =
    [WOERTER, rohwaren::WOERTER, buchhaltung::WOERTER, belegfluss::WOERTER];

/// The meaning of a field in this schema alone.
pub fn own(shape: &str, field: &str) -> Option<&'static str> {
    Some(own_entry(shape, field)?.1)
}

pub fn own_entry(shape: &str, field: &str) -> Option<&'static (&'static str, &'static str)> {
    TABLES.iter().find_map(|words| of_shape(words, shape, field))
}

/// The meaning of a field in every schema that has none of its own.
pub fn shared(field: &str) -> Option<&'static str> {
    TABLES.iter().find_map(|words| of_any(words, field)).or_else(|| everywhere(field))
}

/// The meaning of a field that is the same wherever the interface has it: what frames answers, and names of records.
pub fn everywhere(field: &str) -> Option<&'static str> {
    of_any(EVERYWHERE, field)
}

/// Finds the meaning of a field in one table: the entry for its schema, else the one for the field in any schema.
pub fn find(words: &[(&str, &'static str)], shape: &str, field: &str) -> Option<&'static str> {
    of_shape(words, shape, field).map(|(_, meaning)| *meaning).or_else(|| of_any(words, field))
}

/// Finds the first entry for this schema; `Abrechnung*.nummer` matches all whose names begin with `Abrechnung`.
fn of_shape<'w>(
    words: &'w [(&str, &'static str)],
    shape: &str,
    field: &str,
) -> Option<&'w (&'w str, &'static str)> {
    let is_own = |(word, _): &&(&str, &str)| {
        word.split_once('.').is_some_and(|(of, name)| {
            name == field && of.strip_suffix('*').map_or(of == shape, |begin| shape.starts_with(begin))
        })
    };
    words.iter().find(is_own)
}

fn of_any(words: &[(&str, &'static str)], field: &str) -> Option<&'static str> {
    words.iter().find(|(word, _)| *word == field).map(|(_, meaning)| *meaning)
}

pub const EVERYWHERE: &[(&str, &str)] = &[
    ("abschliessen", "true: den Beleg gleich abschließen."),
    ("am", "Zeitpunkt der Änderung."),
    ("artikel_bezeichnung", "Bezeichnung des Artikels."),
    ("artikel_id", "id des Artikels."),
    ("artikelnr", "Zweite, kurze Artikelnummer."),
    ("artikelnummer", "Artikelnummer."),
    ("befunde", "Was Grenzen und Schritte dagegen haben; aktion sagt, was daraus folgt."),
    ("beleg_datum", "Datum des Belegs; beim Anlegen ohne Angabe heute in Berlin."),
    ("beleg_id", "id des Belegs."),
    ("beleg_nummer", "Nummer des Belegs, lückenlos je Typ und Jahr."),
    (
        "beleg_typ",
        "AN Angebot, AU Auftrag, LS Lieferschein, RE Rechnung, BS Bestellung, EL Einkaufslieferschein, ER Eingangsrechnung.",
    ),
    ("belegnummer", "Nummer des Annahmescheins."),
    ("bezeichnung", "Bezeichnung."),
    ("biozertifikat_id", "id des Biozertifikats."),
    ("brutto_kg", "Angeliefertes Gewicht in ganzen kg."),
    ("charge_id", "id der Charge."),
    ("charge_nr", "Chargennummer."),
    ("count", "Anzahl aller Treffer, unabhängig von limit und offset."),
    ("created_at", "Zeitpunkt der Anlage."),
    ("data", "Die Einträge dieser Seite."),
    ("dateiname", "Name der Datei ohne Pfad."),
    ("einheit", "Einheit der Menge."),
    ("erstellt_am", "Zeitpunkt, zu dem die Datei abgelegt wurde."),
    (
        "external_ref",
        "Kennung des Senders: eine zweite Anfrage mit derselben bekommt den vorhandenen Datensatz.",
    ),
    ("feld", "Pfad des Feldes, zum Beispiel items[2].menge."),
    ("felder", "Was die Änderung berührt hat, ein Eintrag je Feld."),
    ("fremde_charge_nr", "Chargennummer des Lieferanten."),
    (
        "geaendert_von",
        "Bezeichnung des Schlüssels; person und eine Nummer: jemand im Leitstand; sonst Kommandozeile.",
    ),
    ("gesamtpreis", "Summe der Position netto, nach Rabatt, auf Cent gerundet."),
    ("grundpreis", "Preis je t vor den Preiszeilen; null: ohne Preis."),
    ("hinweise", "Was der Dienst gerundet, ignoriert oder selbst gewählt hat."),
    ("id", "Kennung des Datensatzes."),
    ("idempotent", "true: den Datensatz gab es schon, es wurde nichts angelegt."),
    ("inhalt_abweichend", "true: die Anfrage sagt etwas anderes als die erste mit dieser external_ref."),
    (
        "key_id",
        "Öffentlicher Teil des Schlüssels, der änderte; person und eine Nummer: jemand im Leitstand; null: die Kommandozeile oder der Dienst selbst.",
    ),
    ("kontrakt_id", "id des Kontrakts."),
    ("kontrakt_position_id", "id der Kontraktposition."),
    ("kosten", "Summe der Kosten und Zuschläge in EUR; Abzüge unter 0."),
    ("kunde_id", "id (UUID) des Kunden oder Lieferanten."),
    ("kundennummer", "Kundennummer anstelle von kunden_id."),
    ("lagerbewegungen", "Welche Bestände die Anfrage bewegt hat, auch die anderer Belege."),
    ("menge", "Menge in der angegebenen Einheit."),
    (
        "merkmal",
        "Code des Merkmals, etwa feuchte, besatz, protein; eigene kommen durch partnerd import merkmale.",
    ),
    ("mhd", "Mindesthaltbarkeitsdatum."),
    ("mime_type", "Typ der Datei."),
    ("mwst_satz", "Steuersatz in Prozent."),
    ("name", "Name."),
    (
        "netto_kg",
        "Was bezahlt wird, in ganzen kg; null, solange ein Messwert fehlt oder eine Tabelle nicht reicht.",
    ),
    ("partner_id", "id des Partners."),
    ("pdf_archiv_count", "Anzahl der archivierten PDFs, als Text."),
    ("pdf_url", "Wo das PDF abgerufen wird, wenn eines archiviert ist."),
    ("position", "Platz in der Reihenfolge, ab 1."),
    ("schema", "Nummer des Schemas; null: ohne."),
    ("sha256", "Prüfsumme des Inhalts (SHA-256, hexadezimal)."),
    ("status", "Status des Datensatzes."),
    (
        "steuer_kategorie",
        "Warum die Position besteuert ist oder nicht (UNCL5305): S besteuert, Z Nullsatz, E steuerfrei, AE Steuerschuld des Käufers (§ 13b), K innergemeinschaftliche Lieferung, G Ausfuhr, O nicht steuerbar.",
    ),
    ("summe", "Ware und Kosten zusammen, in EUR."),
    ("summe_brutto", "Summe brutto."),
    ("summe_mwst", "Summe der Steuer."),
    ("summe_netto", "Summe netto."),
    ("version", "Fassung, ab 1."),
    ("ware", "Nettogewicht mal Preis, in EUR."),
    ("wert", "Messwert; er wird auf die Nachkommastellen seines Merkmals gerundet."),
    ("werte", "Messwerte, jedes Merkmal höchstens einmal. Was fehlt, gilt als nicht gemessen, nicht als 0."),
    ("wiegeschein_nr", "Nummer des Wiegescheins."),
    ("wiegung_id", "id der Wiegung."),
    ("kunden_id", "Ganze Zahl oder id (UUID) des Kunden; nicht seine Kundennummer."),
];

const WOERTER: &[(&str, &str)] = &[
    ("InventurWiederholt.grund", "Warum gezählt wurde."),
    ("InventurWiederholt.bestand", "Gezählter Bestand in der Einheit des Artikels."),
    ("AbrechnungsPosition.ep_netto", "Einzelpreis netto."),
    ("Beteiligter.kundennr", "Kundennummer des Partners."),
    ("GefundenerPartner.kundennr", "Kundennummer des Partners."),
    ("KundeAenderung.kunden_id", "Ganze Zahl, unter der der Kunde geführt wird."),
    ("KundeGeaendert.kunden_id", "Ganze Zahl, unter der der Kunde geführt wird."),
    ("Kontrakt.positionen", "Die Positionen des Kontrakts."),
    ("KontraktNeu.positionen", "Die Positionen des Kontrakts."),
    ("KontraktGeaendert.positionen", "Die Positionen des Kontrakts."),
    ("Aenderung.art", "Art des Datensatzes."),
    ("Aenderung.id", "id des Datensatzes."),
    ("Aenderung.nummer", "Nummer des Datensatzes zu diesem Zeitpunkt."),
    (
        "Aenderung.aktion",
        "Zustand, in den der Datensatz kam (inaktiv, abgeschlossen, erledigt, storniert), sonst angelegt, geaendert oder geloescht.",
    ),
    ("Aenderung.version", "Fassung, die daraus wurde; null: Datensätze dieser Art haben keine."),
    (
        "Hinweis.anzahl",
        "Wie viele Hinweise diesen Code haben, wenn nicht alle gezeigt werden (bei mehr als 100).",
    ),
    ("StaffelpreisNeu.aktiv", "false: Der Staffelpreis gilt nicht; ohne Angabe gilt er."),
    (
        "StaffelpreisNeu.ab_menge",
        "Ab dieser Menge gilt der Preis, in der Einheit des Artikels; jede nur einmal.",
    ),
    ("ArtikelNeu.gruppe", "Artikelgruppe, mit Kürzel, Nummer oder Name; eine unbekannte wird angelegt."),
    (
        "ArtikelAenderung.gruppe",
        "Artikelgruppe, mit Kürzel, Nummer oder Name; eine unbekannte wird angelegt.",
    ),
    ("ArtikelNeu.staffelpreise", "Alle Staffelpreise, die der Artikel haben soll."),
    (
        "ArtikelAenderung.staffelpreise",
        "Alle Staffelpreise, die der Artikel danach haben soll; was fehlt, gilt nicht mehr.",
    ),
    ("Stapel.items", "1 bis 200 Einträge, jeder wie der Inhalt der Adresse für einen."),
    ("StapelAntwort.data", "Zu jedem Eintrag die Antwort, in derselben Reihenfolge."),
    ("StapelAntwort.angelegt", "Einträge, die angelegt wurden; wiederholte zählen nicht."),
    ("StapelAntwort.abgelehnt", "Einträge, die abgelehnt wurden."),
    (
        "StapelZeile.status",
        "Status, den die Adresse für einen geantwortet hätte: 201, 200 bei einer Wiederholung, 4xx.",
    ),
    ("StapelZeile.antwort", "Was sie geantwortet hätte: die Bestätigung, oder der Fehler."),
    ("Aenderungen.data", "Änderungen, die älteste zuerst."),
    ("Aenderungen.cursor", "Wert für seit in der nächsten Anfrage, ohne eigene Bedeutung."),
    (
        "ERechnungEinlesen.anlegen",
        "true: die Eingangsrechnung anlegen und die Datei dabei aufheben; sonst wird nichts gebucht.",
    ),
    (
        "ERechnungEinlesen.datei_base64",
        "Inhalt der Rechnung als Base64: PDF mit angehängter E-Rechnung, oder XML.",
    ),
    (
        "ERechnungEinlesen.dateiname",
        "Name, unter dem die Datei aufgehoben wird; ohne Angabe rechnung.pdf oder rechnung.xml.",
    ),
    (
        "ERechnungEinlesen.kunden_id",
        "Von wem die Rechnung ist, wo es nicht oder nicht sicher zu erkennen ist; als Zahl oder UUID.",
    ),
    (
        "ERechnungEinlesen.vorzeichen",
        "Wie eine Gutschrift unter null gemeint ist: wie_gedruckt (nach der Norm fordert sie Geld) oder umgekehrt.",
    ),
    ("Eingelesen.vorschlag", "Inhalt für POST /belege, zum Prüfen und Ergänzen."),
    ("Eingelesen.gefunden", "Was von der Rechnung hier bekannt ist."),
    ("Eingelesen.summen", "Summen der Rechnung neben denen des Vorschlags."),
    (
        "Eingelesen.regeln",
        "Rechenregeln der EN 16931, die die Rechnung verletzt; leer, wenn ihre Beträge zusammenpassen.",
    ),
    (
        "Eingelesen.id",
        "id der Eingangsrechnung zu dieser Datei; fehlt mit den anderen Feldern des Belegs, wenn es keine gibt.",
    ),
    ("Eingelesen.idempotent", "true: den Beleg gab es schon, es wurde nichts angelegt."),
    ("Gefunden.partner", "Der Absender der Rechnung; null, wenn er nicht eindeutig zu erkennen ist."),
    ("Gefunden.artikel", "Zu jeder Position des Vorschlags der Artikel."),
    (
        "GefundenerPartner.durch",
        "Woran der Partner erkannt wurde: ust_id, steuernummer, iban, name oder kunden_id.",
    ),
    (
        "GefundenerArtikel.durch",
        "Woran der Artikel erkannt wurde: lieferantennummer, artikelnummer oder ean; null, wenn er nicht zu erkennen ist.",
    ),
    (
        "GefundenerArtikel.lieferantennummer",
        "Nummer, die der Lieferant dem Artikel gibt; gelernt wird sie, wenn die Eingangsrechnung abgeschlossen wird.",
    ),
    ("Summenvergleich.rechnung", "Summen, die die Rechnung nennt; bei einer Gutschrift negativ."),
    ("Summenvergleich.vorschlag", "Summen, die die Eingangsrechnung hätte."),
    (
        "GedruckteSummen.rundung",
        "Betrag, um den der Zahlbetrag gerundet ist (BT-114); er wird eine Position ohne Steuer.",
    ),
    (
        "VorschlagSteuergruppe.mwst_satz",
        "Steuersatz in Prozent; null, wenn keiner bekannt ist: dann wird keine Eingangsrechnung angelegt.",
    ),
    ("VorschlagSteuergruppe.steuer", "Die Steuer dazu."),
    ("Steuergruppe.steuer", "Die Steuer dazu."),
    ("SteuergruppeEingabe.steuer", "Die Steuer dazu."),
    (
        "Beleg.steuergruppen",
        "Nettosumme und Steuer zu jedem Steuersatz, wie der Lieferant sie gedruckt hat; null: die Summen folgen aus den Positionen.",
    ),
    (
        "BelegNeu.steuergruppen",
        "Nur bei der Rechnung eines Lieferanten (ER): was sie zu jedem Steuersatz druckt. Weicht es um höchstens 0,05 EUR ab, gelten diese Summen.",
    ),
    (
        "BelegAenderung.steuergruppen",
        "Nur bei der Rechnung eines Lieferanten (ER): was sie zu jedem Steuersatz druckt. Weicht es um höchstens 0,05 EUR ab, gelten diese Summen.",
    ),
    ("Regel.regel", "Name der Regel, zum Beispiel BR-CO-15."),
    ("Eingelesen.dokument_id", "id der aufgehobenen Datei für GET /belege/{id}/dokumente/{dok_id}."),
    ("ab_menge", "Ab dieser Menge gilt der Preis, in der Einheit des Artikels."),
    ("abgang", "Was hinausging, ohne Storniertes."),
    (
        "ablehnungen",
        "Mit pruefen=true: warum das Abschließen abgelehnt würde; leer, wo nichts dagegen spricht.",
    ),
    ("BelegPdfNeu.abschliessen", "false: den Beleg offen lassen; ohne Angabe wird er abgeschlossen."),
    (
        "aktion",
        "Was den Beleg änderte: aendern, abschliessen, storno, erledigen, oder folgen: eine andere Anfrage änderte seine Charge oder seine Gegenbelege. Bei folgen stehen nur die Positionen da, die sie änderte, und von deren Gegenbelegen nur diese, mit der Menge von vorher (0.000: noch keine).",
    ),
    ("alt", "Wert vor der Änderung; null, wo keiner stand."),
    ("anliefermenge_kg", "Angeliefertes Gewicht in kg."),
    ("api", "Name des Dienstes."),
    ("art", "Art des Bons: verkauf oder storno (mit negativen Beträgen)."),
    ("Ueber.art", "Art des Vorgangs."),
    ("artikel_name", "Bezeichnung des Artikels im Artikelstamm."),
    ("artikelgruppe_id", "id der Artikelgruppe."),
    ("ItemEingabe.artikelnr", "Artikelnummer anstelle von artikel_id."),
    ("auth", "Header, in dem der Schlüssel steht."),
    ("auto_price", "false: fehlende Preise nicht aus dem Artikelstamm nehmen; ohne Angabe true."),
    ("basis", "Nettosumme, aus der die Steuer folgt."),
    ("beleg", "Der Beleg, wie er vor der Änderung war."),
    ("bemerkung", "Freier Text."),
    ("beschreibung", "Wozu die Datei gehört."),
    ("bestand", "Bestand der Charge in der Einheit des Artikels: Summe ihrer Bewegungen."),
    ("Artikel.bestand", "Bestand in der Einheit des Artikels; nur mit bestand=true."),
    (
        "ArtikelBestand.bestand",
        "Bestand in der Einheit des Artikels: Summe aller Bewegungen, mit und ohne Charge.",
    ),
    ("Bilanz.bestand", "Was noch da ist."),
    ("Bilanz.korrektur", "Was Inventuren dazu- oder weggebucht haben."),
    ("bestand_vorher", "Summe der Bewegungen vor der Zählung, in der Einheit des Artikels."),
    ("InventurBestaetigung.bestand", "Gezählter Bestand in der Einheit des Artikels."),
    ("InventurNeu.bestand", "Gezählter Bestand in der Einheit des Artikels, ab 0; nicht der Unterschied."),
    ("bezeichnung2", "Zweite Bezeichnung."),
    (
        "bezug_beleg_id",
        "Beleg, aus dem die Position hervorgeht oder den sie zurücknimmt; ohne Angabe der von bezug_position_id.",
    ),
    (
        "bezug_position_id",
        "Position, aus der diese hervorgeht oder die sie zurücknimmt; was nicht gesendet wird, kommt von dort.",
    ),
    ("bilanz", "Eingang, Abgang und Bestand der Charge, ohne Storniertes."),
    ("bon_id", "id des Bons."),
    ("bon_nr", "Nummer des Bons, fortlaufend in der Firma."),
    ("charge", "Die Charge, nach der gefragt wurde."),
    ("ChargeVerlaufseintrag.charge", "Die Charge, wie sie vor der Berichtigung war."),
    ("ItemEingabe.charge_id", "Verkauf: aus dieser Charge; Einkauf: in diese Charge."),
    ("code", "Maschinenlesbarer Code des Hinweises; neue können dazukommen."),
    ("datei_base64", "Inhalt der PDF-Datei als Base64."),
    ("datum", "Tag."),
    ("details", "Weitere Fehler, wenn es mehrere gibt."),
    ("differenz", "Was gebucht wurde: gezählter Bestand weniger dem vorher."),
    ("docs", "Wo diese Seite steht."),
    ("ean", "EAN der Zeile, sonst die des Artikels."),
    ("Artikel.ean", "EAN."),
    ("eingang", "Was hereinkam, ohne Storniertes."),
    ("eingang_beleg_id", "id des Belegs, mit dem die Charge zuerst hereinkam."),
    ("eingang_ep", "Einkaufspreis netto je Einheit des Artikels."),
    ("eingang_menge", "Eingegangene Menge in der Einheit des Artikels."),
    ("einzelpreis", "Einzelpreis netto vor Rabatt."),
    ("el_beleg_nummer", "Nummer des erzeugten Einkaufslieferscheins."),
    ("el_erzeugen", "true: gleich einen Einkaufslieferschein (EL) über die Nettomenge anlegen."),
    ("el_id", "id des erzeugten Einkaufslieferscheins."),
    ("empfaenger", "Wer die Charge bekam, und was aus ihr wurde."),
    ("endpoints", "Alle Adressen mit ihrer Methode."),
    ("ep_netto", "Einzelpreis netto vor Rabatt; 0 ist ein Preis, null heißt: aus dem Artikelstamm."),
    ("Artikel.ep_netto", "Einkaufspreis netto je Einheit."),
    ("BelegPosition.ep_netto", "Einzelpreis netto vor Rabatt."),
    (
        "erechnung_fehlt",
        "Was der E-Rechnung fehlte, die der Beleg beim Abschließen hätte bekommen sollen; sonst fehlt das Feld.",
    ),
    ("erntejahr", "Erntejahr."),
    ("error", "Maschinenlesbarer Code; siehe Fehlerkatalog. Neue Codes können dazukommen."),
    ("eu_mitglied", "Ob das Land zur Europäischen Union gehört."),
    ("fehler", "Alle Fehler aller Positionen."),
    ("gesamt", "Zeilensumme brutto."),
    ("gewicht_netto_kg", "Nettogewicht in kg: Unterschied beider Gewichte."),
    ("groesse_bytes", "Größe der Datei in Bytes."),
    ("grund", "Warum storniert wird."),
    ("InventurBestaetigung.grund", "Warum gezählt wurde."),
    ("InventurNeu.grund", "Warum gezählt wird."),
    ("gruppe", "Name der Artikelgruppe."),
    (
        "gutschrift",
        "Nur ER: die Firma schreibt diese Gutschrift für ihren Lieferanten (§ 14 Abs. 2 UStG); ohne Angabe false.",
    ),
    ("gueltig_bis", "Letzter Tag der Gültigkeit."),
    ("gueltig_von", "Erster Tag der Gültigkeit."),
    ("herkunftsland", "Herkunftsland (ISO 3166-1 alpha-2)."),
    ("inhalt_base64", "Inhalt der Datei als Base64."),
    ("inputs", "Was hineingeht."),
    ("iso2", "Länderkürzel, zweistellig (ISO 3166-1 alpha-2)."),
    ("iso3", "Länderkürzel, dreistellig (ISO 3166-1 alpha-3)."),
    ("ist_menge", "Tatsächliche Menge."),
    ("items", "Die Positionen; beim Ändern ersetzen sie alle bisherigen."),
    ("kasse_id", "id der Kasse."),
    ("kassiert_at", "Zeitpunkt der Zahlung (UTC)."),
    ("kategorie", "Kategorie der Steuer nach UNCL5305: S, Z, E …"),
    ("kontrakt_nr", "Nummer des Kontrakts."),
    ("kostenstelle", "Kostenstelle."),
    ("kuerzel", "Kürzel."),
    ("Barverkauf.kunde_id", "id des Kunden, wenn auf ihn gebucht wurde."),
    ("kunde_name", "Name des Kunden oder Lieferanten."),
    ("Kunde.kunden_id", "Ganzzahlige Kennung des Kunden."),
    ("KundeAngelegt.kunden_id", "Ganzzahlige Kennung des Kunden."),
    ("kunden_name", "Name des Kunden; beim abgeschlossenen Beleg der von damals."),
    ("kundennr", "Kundennummer, eindeutig in der Firma; ohne Angabe vergibt sie der Dienst."),
    ("lager_buchen", "false: die Position bewegt keinen Bestand."),
    (
        "gegenbelege",
        "Was die Position getroffen hat, gleich wer es gewählt hat: zur Lieferung die Rechnung, zur Rechnung die Gutschrift.",
    ),
    (
        "vorgaenger_beleg_id",
        "Woraus der Beleg entstand: zum Auftrag das Angebot. Ein Beleg desselben Partners.",
    ),
    ("vorgaenger", "Der Beleg, aus dem dieser entstand; null: keiner ist genannt."),
    ("nachfolger", "Belege, die aus diesem entstanden, auch sein Stornobeleg."),
    ("BelegBestaetigung.positionen", "Die Positionen und was sie getroffen haben."),
    ("lagerhalle_id", "Kennung der Lagerhalle."),
    ("land", "Anderer Name von staat."),
    (
        "steuerart_ab",
        "Erster Tag, für dessen Ware die gesendete steuerart gilt; nötig, wo es vor heute schon Scheine oder Belege gibt.",
    ),
    ("Besteuerung.ab", "Erster Tag, an dem sie gilt; null: seit jeher."),
    ("Besteuerung.steuerart", "regel, pauschal_24 (§ 24 UStG) oder kleinunternehmer; null: nicht bekannt."),
    ("langtext", "Langer Text."),
    ("lieferadresse_id", "Immer null: Lieferadressen gibt es nicht."),
    ("lieferanten", "Wer die Charge und was in sie einging geliefert hat."),
    ("Bewegung.menge", "Menge mit Vorzeichen, in der Einheit des Artikels."),
    (
        "ItemEingabe.id",
        "Beim Ändern: id der Position, die so wird; ohne Angabe die an derselben Stelle mit demselben Artikel.",
    ),
    ("ItemEingabe.menge", "Menge; mit wiegung_id ist sie ohne Angabe deren Nettogewicht."),
    ("message", "Deutscher Satz, der sagt, was zu tun ist."),
    (
        "ItemEingabe.mwst_satz",
        "Steuersatz in Prozent; ohne Angabe der des Partners, des Artikels, seiner Gruppe, sonst 7.",
    ),
    ("KundeNeu.name", "Anderer Name von nachname_firma."),
    ("name_de", "Deutscher Name."),
    ("netto", "gesamt ohne Steuer."),
    ("netto_betrag", "Nettomenge in Tonnen mal Preis je Tonne; null ohne Preis."),
    ("netto_menge_kg", "Gewicht nach Abzügen in kg."),
    ("neu", "Wert nach der Änderung; null, wo keiner mehr steht."),
    ("neue_charge_nr", "Nummer der entstandenen Charge."),
    ("niederlassung_id", "Kennung der Niederlassung."),
    ("notizen", "Freier Text."),
    ("nr", "Zählt die Änderungen des Artikels."),
    ("nummer", "Nummer."),
    ("ort", "Ort."),
    ("outputs", "Was herauskommt."),
    ("pa_id", "id des Produktionsauftrags."),
    ("pa_nummer", "Nummer des Produktionsauftrags."),
    ("partner_name", "Name des Partners."),
    ("pdf_letztes", "Zeitpunkt des neuesten archivierten PDFs."),
    ("plz", "Postleitzahl."),
    ("positionen", "Die Positionen; bei Belegen nur in der Antwort auf einen einzelnen."),
    ("preis", "Verkaufspreis netto je Einheit."),
    ("rabatt_prozent", "Rabatt der Position."),
    ("request_id", "Kennung der Anfrage, für Rückfragen beim Betreiber."),
    ("rezeptur_id", "id der Rezeptur."),
    ("rezeptur_version", "Fassung der Rezeptur."),
    ("richtung", "eingang oder ausgang; ohne Angabe folgt sie aus den Gewichten."),
    ("rueckwaerts", "Chargen, die in diese eingingen, die nächste zuerst."),
    ("satz", "Steuersatz in Prozent."),
    ("schluessel", "normal, ermaessigt, pauschal_24, frei oder ein eigener."),
    ("skonto_prozent", "Skonto in Prozent."),
    ("skonto_tage", "Tage, in denen Skonto gilt."),
    ("soll_menge", "Geplante Menge."),
    ("spec", "Wo die maschinenlesbare Beschreibung steht."),
    ("staat", "Land (ISO 3166-1 alpha-2); in Anfragen auch ISO alpha-3 oder der deutsche Name."),
    ("staffelpreise", "Die aktiven Staffelpreise, der mit der kleinsten Menge zuerst; darunter gilt preis."),
    ("Zustand.status", "ok."),
    ("ProduktionsauftragStatus.status", "Neuer Status; erledigt bucht den Bestand."),
    ("stabilitaet", "stable: Was es in dieser Version gibt, bleibt."),
    ("steuer", "In gesamt enthaltene Steuer."),
    ("steuergruppen", "Nettosumme und Steuer zu jedem Steuersatz."),
    (
        "ItemEingabe.steuer_kategorie",
        "Warum die Position besteuert ist oder nicht (UNCL5305: S, Z, E, AE, K, G, O); ohne Angabe folgt sie aus Steuersatz und Partner.",
    ),
    ("storno_beleg_id", "id des Gegenbelegs, wenn einer angelegt wurde."),
    ("storno_beleg_nummer", "Nummer des Gegenbelegs."),
    ("storno_von_beleg_id", "id des Belegs, den dieser Gegenbeleg aufhebt."),
    ("storno_von_bon_id", "Nur auf Stornobons: id des ursprünglichen Bons."),
    ("strasse", "Straße und Hausnummer."),
    ("teile", "Mehrere Chargen für eine Zeile."),
    ("tiefe", "Stufen der Produktion bis zu dieser Charge."),
    ("ueber", "Der Vorgang, der zu dieser Charge führt."),
    ("updated_at", "Zeitpunkt der letzten Änderung."),
    ("ust_id", "Umsatzsteuer-Identifikationsnummer."),
    ("vb_id", "Vertriebler."),
    ("KundeNeu.vb_id", "id oder Name des Vertrieblers."),
    ("KundeAenderung.vb_id", "id oder Name des Vertrieblers."),
    ("BelegNeu.vb_id", "id oder Name des Vertrieblers; ein unbekannter wird leer gespeichert."),
    ("BelegAenderung.vb_id", "id oder Name des Vertrieblers; ein unbekannter wird leer gespeichert."),
    ("verfuegbar", "Was entnommen werden kann, in der Einheit des Artikels."),
    ("Dienst.version", "Version der Schnittstelle."),
    (
        "vorschlag",
        "Was von dieser Charge genommen werden sollte (zuerst, was zuerst abläuft), in der Einheit des Artikels.",
    ),
    ("vorwaerts", "Chargen, in die diese einging, die nächste zuerst."),
    ("zahlart", "Zahlart, zum Beispiel bar, ec oder ls."),
    ("zahlungsbedingung", "Zahlungsbedingung."),
    ("zahlungsziel_tage", "Zahlungsziel in Tagen."),
    ("KundeNeu.zahlungsziel_tage", "Zahlungsziel in Tagen; ohne Angabe 30."),
];

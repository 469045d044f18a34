//! What the codes of refusals mean, for the error catalogue (D19).

use crate::http::error::status;
use crate::rules::choice::Choice;
use crate::rules::error::Code;

pub fn catalogue() -> String {
    let mut codes: Vec<Code> = Code::ALL.to_vec();
    codes.sort_by_key(|code| (status(*code), code.as_str()));
    let line = |code: Code| format!("| {} | `{}` | {} |\n", status(code), code.as_str(), meaning(code));
    let lines: String = codes.into_iter().map(line).collect();
    format!("| Status | Code | Bedeutung |\n|---|---|---|\n{lines}")
}

pub fn meaning_of(code: &str) -> &'static str {
    Code::parse(code).map_or("", meaning)
}

pub fn meaning(code: Code) -> &'static str {
    match code {
        Code::ApiKeyFehlt => "Der Header X-API-Key fehlt.",
        Code::ApiKeyUngueltig => "Der Schlüssel ist unbekannt oder falsch.",
        Code::ScopeFehlt => "Dem Schlüssel fehlt die Berechtigung für diese Adresse.",
        Code::TageslimitErreicht => "Der Schlüssel hat seine Anfragen für heute (UTC) verbraucht.",
        Code::ZuVieleAnfragen => "Von dieser Netzadresse kamen in einer Minute zu viele Anfragen.",
        Code::NichtGefunden => "Den Datensatz oder die Adresse gibt es nicht.",
        Code::KeinPdf => {
            "Es gibt kein PDF: keines ist archiviert, und keines lässt sich zeichnen; die Nachricht sagt, warum."
        }
        Code::MethodeNichtErlaubt => {
            "Diese Adresse kennt die Methode nicht; erlaubte nennt der Header Allow."
        }
        Code::ZuGross => "Der Inhalt ist größer als erlaubt.",
        Code::ZeitUeberschritten => "Der Inhalt kam nicht in der vorgesehenen Zeit an.",
        Code::AnfrageUngueltig => "Die Anfrage ist kein gültiges HTTP, oder ein Header ist falsch.",
        Code::CursorAbgelaufen => {
            "Nach diesem cursor fehlt etwas: er ist zu alt, oder die Datenbank wurde wiederhergestellt."
        }
        Code::ZwischenzeitlichGeaendert => "Der Datensatz hat nicht mehr die Fassung aus If-Match.",
        Code::UnbekannterParameter => "Diesen Parameter gibt es hier nicht.",
        Code::ParameterFehlt => "Ein Parameter fehlt, der angegeben werden muss.",
        Code::ParameterUngueltig => "Der Wert eines Parameters ist nicht erlaubt.",
        Code::ZuVieleTreffer => "Die Liste ist zu lang oder zu groß; bitte mit limit und offset lesen.",
        Code::UngueltigesJson => "Der Inhalt ist kein gültiges JSON-Objekt.",
        Code::UnbekanntesFeld => "Dieses Feld gibt es nicht (nur wenn das abgelehnt werden soll).",
        Code::FeldUngueltig => "Ein Feld hat den falschen Typ oder einen unlesbaren Wert.",
        Code::FeldFehlt => "Ein Feld fehlt, das angegeben werden muss.",
        Code::FeldWiderspruch => "Zwei Felder sagen Verschiedenes.",
        Code::WertUngueltig => "Ein Wert steht nicht zur Auswahl oder liegt außerhalb der Grenzen.",
        Code::TextZuLang => "Ein Text ist zu lang.",
        Code::DatumUngueltig => "Ein Datum ist unlesbar oder liegt außerhalb der Grenzen.",
        Code::LandUnbekannt => "Das Land ist nicht bekannt.",
        Code::NameFehlt => "Der Kunde braucht einen Namen.",
        Code::KundennrBereitsVergeben => "Diese Kundennummer gibt es in der Firma schon.",
        Code::KundeNichtGefunden => "Diesen Kunden gibt es nicht.",
        Code::KundeFehlt => "Der Beleg braucht einen Kunden oder Lieferanten.",
        Code::KundeWiderspruch => "kunden_id und kundennummer meinen verschiedene Kunden.",
        Code::KundeGesperrt => "Der Kunde ist gesperrt.",
        Code::PartnerNichtGefunden => "Diesen Partner gibt es nicht.",
        Code::ArtikelNichtGefunden => "Diesen Artikel gibt es nicht.",
        Code::ArtikelFehlt => "Die Position braucht einen Artikel oder eine Bezeichnung.",
        Code::ArtikelInaktiv => "Der Artikel ist nicht mehr aktiv.",
        Code::ArtikelMehrdeutig => "Die Nummer passt auf mehrere Artikel.",
        Code::ArtikelWiderspruch => "artikel_id und artikelnr meinen verschiedene Artikel.",
        Code::BelegAbgeschlossen => "Der Beleg ist abgeschlossen und ändert sich nicht mehr.",
        Code::BelegNichtAbgeschlossen => "Das geht erst mit einem abgeschlossenen Beleg.",
        Code::BelegStorniert => "Der Beleg ist storniert.",
        Code::BelegNichtStornierbar => "Der Beleg kann nicht storniert werden.",
        Code::BelegTypNichtAenderbar => "Der Typ eines Belegs bleibt, wie er angelegt wurde.",
        Code::BelegNichtGefunden => "Den Beleg in bezug_beleg_id gibt es nicht.",
        Code::BezugPasstNicht => "Der Beleg in bezug_beleg_id hat einen anderen Typ oder Partner.",
        Code::SteuerKategoriePasstNicht => {
            "S gehört zu einem Steuersatz über 0, jede andere steuer_kategorie zu 0."
        }
        Code::ZeitraumGesperrt => "Der Zeitraum ist für Änderungen gesperrt.",
        Code::PreisFehlt => "Für den Artikel ist kein Preis bekannt.",
        Code::MengeUngueltig => "Die Menge fehlt, ist 0 oder hat das falsche Vorzeichen.",
        Code::EinheitNichtUmrechenbar => "Die Einheit lässt sich nicht in die des Artikels umrechnen.",
        Code::BetragZuGross => "Ein Betrag oder eine Menge erreicht 1.000.000.000.000.",
        Code::ChargeFehlt => "Der chargenpflichtige Artikel braucht eine Charge.",
        Code::ChargeNichtGefunden => "Diese Charge gibt es nicht.",
        Code::ChargePasstNicht => "Die Charge gehört zu einem anderen Artikel.",
        Code::ChargeBereitsVerwendet => "Von der Charge ist schon mehr verbraucht, als dann übrig wäre.",
        Code::ChargeNrBereitsVergeben => "Diese Chargennummer hat der Artikel schon.",
        Code::FremdeChargeNrBereitsVergeben => {
            "Diese Nummer hat schon eine andere Charge des Artikels von diesem Lieferanten."
        }
        Code::NummerReserviert => "Nummern dieser Form vergibt der Dienst selbst.",
        Code::BestandNichtAusreichend => "Der Bestand reicht nicht.",
        Code::BiozertifikatNichtGefunden => "Dieses Biozertifikat gibt es nicht.",
        Code::KontraktNichtGefunden => "Diesen Kontrakt oder diese Kontraktposition gibt es nicht.",
        Code::WiegungNichtGefunden => "Diese Wiegung gibt es nicht.",
        Code::WiegungNichtOffen => "Die Wiegung ist nicht offen.",
        Code::WiegungNichtFertig => "Die Wiegung hat noch kein Nettogewicht.",
        Code::WiegungPasstNicht => "Die Wiegung gehört zu einem anderen Artikel.",
        Code::WiegungBereitsVerwendet => "Ein anderer Beleg verwendet die Wiegung schon.",
        Code::WiegungNichtStornierbar => "Die Wiegung ist schon storniert.",
        Code::WiegungAbgerechnet => "Ein Beleg oder Annahmeschein verwendet die Wiegung.",
        Code::NettoNull => "Beide Gewichte sind gleich.",
        Code::AnnahmescheinNichtStornierbar => "Der Annahmeschein kann nicht storniert werden.",
        Code::NettoNegativ => "Die Abzüge sind größer als die Anlieferung.",
        Code::RezepturNichtGefunden => "Diese Rezeptur gibt es nicht.",
        Code::FaktorUngueltig => "Der Faktor muss größer als 0 sein.",
        Code::PaStatusUngueltig => "Der Auftrag kann nicht in diesen Status wechseln.",
        Code::PaZeileNichtGefunden => "Diese Zeile hat der Auftrag nicht.",
        Code::IdempotenzKonflikt => "Der Idempotency-Key wurde schon für eine andere Anfrage benutzt.",
        Code::InternerFehler => "Im Dienst ist ein Fehler aufgetreten; es wurde nichts gespeichert.",
        Code::NichtVerfuegbar => {
            "Der Dienst kann gerade nicht; es wurde nichts gespeichert, bitte wiederholen."
        }
        Code::AusgangUnbekannt => {
            "Ob etwas gespeichert wurde, ist nicht bekannt; bitte mit derselben external_ref oder demselben Idempotency-Key wiederholen."
        }
        Code::ApiKeyAbgelaufen => "Der Schlüssel ist richtig, sein letzter Tag aber vorbei.",
        Code::ApiKeyDeaktiviert => "Der Schlüssel ist richtig, aber abgeschaltet.",
        Code::KeineErechnung => "Zu diesem Beleg gibt es keine E-Rechnung; die Nachricht sagt, warum.",
        Code::ErechnungUnvollstaendig => {
            "Für die E-Rechnung, ohne die nicht abgeschlossen wird, fehlen Angaben; die Nachricht nennt sie."
        }
        Code::DateiNichtLesbar => "Die Datei ist beschädigt, verschlüsselt oder weder PDF noch XML.",
        Code::KeineRechnung => {
            "Die Datei enthält keine E-Rechnung, aus der eine Eingangsrechnung werden kann."
        }
        Code::BonMehrdeutig => "Mehrere Kassen haben einen Bon mit dieser Nummer.",
    }
}

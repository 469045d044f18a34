//! Advice on a refused request of a program: the log has its code, but not the message of the answer.

use crate::rules::choice::Choice;
use crate::rules::error::Code;

/// What the reader can do about a code; most codes concern the maker of the program.
pub fn of(code: &str) -> &'static str {
    Code::parse(code).map_or("", advice)
}

fn advice(code: Code) -> &'static str {
    use Code::*;
    match code {
        ScopeFehlt => "Unter „Schlüssel“ mit „Ändern“ ankreuzen, was das Programm darf.",
        TageslimitErreicht => "Unter „Schlüssel“ mit „Ändern“ mehr Anfragen je Tag erlauben.",
        ApiKeyAbgelaufen => "Unter „Schlüssel“ mit „Ändern“ einen späteren letzten Tag eintragen.",
        ApiKeyDeaktiviert => "Unter „Schlüssel“ wieder freigeben, oder dem Programm einen neuen geben.",
        ApiKeyFehlt | ApiKeyUngueltig => "Unter „Schlüssel“ einen neuen anlegen und im Programm eintragen.",
        KundeNichtGefunden | PartnerNichtGefunden => {
            "Unter „Partner“ anlegen, oder im Programm die Nummer berichtigen."
        }
        KundeGesperrt => "Unter „Partner“ mit „Ändern“ die Sperre aufheben, wenn wieder geliefert wird.",
        ArtikelNichtGefunden | ArtikelInaktiv | ArtikelMehrdeutig => {
            "Unter „Artikel“ nachsehen; im Programm die Nummer eines Artikels eintragen, der aktiv ist."
        }
        PreisFehlt => {
            "Unter „Artikel“ nachsehen: Einen Preis bringt der nächste Import, oder ihn schickt das Programm mit."
        }
        BestandNichtAusreichend => "Unter „Bestand“ nachsehen: Fehlt ein Zugang, ihn nachtragen.",
        ChargeFehlt | ChargeNichtGefunden | ChargePasstNicht | ChargeBereitsVerwendet | ChargeGesperrt => {
            "Unter „Chargen“ nachsehen, welche es gibt; im Programm diese Nummer eintragen."
        }
        KontraktNichtGefunden => "Unter „Kontrakte“ nachsehen, welche es gibt.",
        WiegungNichtGefunden
        | WiegungNichtOffen
        | WiegungNichtFertig
        | WiegungPasstNicht
        | WiegungBereitsVerwendet
        | WiegungNichtStornierbar
        | WiegungAbgerechnet => "Unter „Wiegungen“ nachsehen, ob sie offen, fertig oder schon verwendet ist.",
        BelegAbgeschlossen
        | BelegNichtAbgeschlossen
        | BelegStorniert
        | BelegNichtStornierbar
        | BelegNichtGefunden => "Unter „Belege“ nachsehen, ob er offen, abgeschlossen oder storniert ist.",
        ZeitraumGesperrt => {
            "Unter „Einstellungen“ nachsehen, bis wann gesperrt ist, oder ein späteres Datum wählen."
        }
        KeinPdf | ErechnungUnvollstaendig => "Fehlende Angaben unter „Firma“ und beim Partner eintragen.",
        NichtVerfuegbar | AusgangUnbekannt => {
            "Das Programm muss es wiederholen. Kommt es öfter vor: Ist die Platte voll?"
        }
        InternerFehler => "Bitte melden, mit der Nummer der Anfrage aus dem Protokoll.",
        _ => "Dem Hersteller des Programms melden, mit diesem Code und der Uhrzeit.",
    }
}

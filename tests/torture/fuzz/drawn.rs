//! Texts on a sheet: any name or remark that a client may send is drawn, and the e-invoice in the PDF can be
//! found again.

use partnerd::papers::blatt::{Abschnitt, Blatt, ERechnung, Tabelle, Wert, Zeile, draw, fits, hints};
use partnerd::papers::erechnung::lesen::read;
use partnerd::rules::document::Profil;

use super::values::same;

#[path = "../../papers/blatt/samples.rs"]
#[allow(dead_code, reason = "some of them are for other tests")]
mod samples;

/// Longest text of a document, in characters (D18).
const TEXT_CHARS_MAX: usize = 4_000;

/// A minimal e-invoice.
const XML: &str = "<Invoice><LegalMonetaryTotal/></Invoice>";

/// An invoice whose texts are the lines of an input, each in its place.
pub fn sheet(bytes: &[u8]) -> Result<(), String> {
    let text: String = String::from_utf8_lossy(bytes).chars().take(TEXT_CHARS_MAX).collect();
    let blatt = written(&text);
    hints(&blatt).map_err(|error| error.to_string())?;
    let drawn = draw(&blatt).map_err(|error| error.to_string())?;
    same("does not fit", fits(&blatt).ok(), Some(true))?;
    same("e-invoice", read(&drawn.pdf).ok(), read(XML.as_bytes()).ok())
}

fn written(text: &str) -> Blatt {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = |at: usize| lines.get(at % lines.len().max(1)).cloned().unwrap_or_default();
    let mut blatt = samples::rechnung();
    // Headings begin with our own words: PDF/UA allows no empty ones.
    blatt.titel = format!("Rechnung {}", line(0));
    blatt.absender.firma = line(1);
    blatt.anschrift.zeilen = (2..5).map(line).collect();
    blatt.anschrift.ort = vec![line(5)];
    blatt.angaben[0].wert = line(6);
    for abschnitt in &mut blatt.abschnitte {
        match abschnitt {
            Abschnitt::Positionen(positionen) => {
                positionen[0].bezeichnung = line(7);
                positionen[0].einheit = Some(line(8));
                positionen[1].langtext = Some(text.to_owned());
            }
            Abschnitt::Zahlung(zahlung) => zahlung.verwendungszweck = line(9),
            _ => {}
        }
    }
    let zeile = |at| Zeile { zellen: vec![Wert::Text(line(at)), Wert::Text(line(at + 1))], summe: false };
    let spalten = vec![line(10), line(11)];
    let tabelle = Tabelle {
        ueberschrift: Some(format!("Herkunft {}", line(12))),
        spalten,
        zeilen: vec![zeile(13), zeile(15)],
    };
    blatt.abschnitte.push(Abschnitt::Tabelle(tabelle));
    blatt.erechnung = Some(ERechnung { xml: XML.into(), profil: Profil::Zugferd });
    blatt
}

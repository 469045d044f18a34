//! The report for the authority: suppliers, use of the goods, recipients, and a balance of quantities (§44
//! (3) LFGB, regulation (EC) 178/2002 art. 18).
//!
//! Formatted for German spreadsheets: UTF-8 with BOM, semicolons, decimal commas.

use csv::{QuoteStyle, Terminator, WriterBuilder};

use super::model::{Beteiligter, Herkunft, Knoten};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::text::cell;

const HEADER: &str = "abschnitt;tiefe;charge_nr;fremde_charge_nr;artikelnummer;artikel_bezeichnung;kundennr;name;\
    strasse;plz;ort;staat;nummer;datum;menge;einheit;bemerkung";

/// One line of the report; unused cells are blank.
#[derive(Default)]
struct Zeile<'h> {
    abschnitt: &'static str,
    tiefe: Option<i64>,
    charge: [&'h str; 2],
    artikel: [&'h str; 2],
    partner: [&'h str; 6],
    nummer: &'h str,
    datum: Option<Day>,
    menge: Quantity,
    einheit: &'h str,
    bemerkung: &'static str,
}

pub fn write(herkunft: &Herkunft) -> Result<Vec<u8>> {
    let mut writer = WriterBuilder::new()
        .delimiter(b';')
        .terminator(Terminator::CRLF)
        .quote_style(QuoteStyle::Necessary)
        .from_writer(b"\xef\xbb\xbf".to_vec());
    let broken = |error: csv::Error| Failure::Broken(format!("a sheet cannot be written: {error}"));
    writer.write_record(HEADER.split(';')).map_err(broken)?;
    for zeile in lines(herkunft) {
        writer.write_record(zeile.cells()).map_err(broken)?;
    }
    writer.into_inner().map_err(|error| Failure::Broken(format!("a sheet cannot be written: {error}")))
}

fn lines(herkunft: &Herkunft) -> Vec<Zeile<'_>> {
    let charge = &herkunft.charge;
    let einheit = or_blank(&charge.einheit);
    let of_charge = |abschnitt, menge, bemerkung| Zeile {
        abschnitt,
        charge: [&charge.charge_nr, or_blank(&charge.fremde_charge_nr)],
        artikel: [&herkunft.artikelnummer, &charge.artikel_bezeichnung],
        menge,
        einheit,
        bemerkung,
        ..Zeile::default()
    };
    let mut lines = vec![of_charge("Charge", charge.bestand, "Bestand")];
    lines.extend(herkunft.lieferanten.iter().map(|partner| of_partner("Lieferant", partner)));
    lines.extend(herkunft.rueckwaerts.iter().map(|knoten| of_batch("Vorstufe", knoten)));
    lines.extend(herkunft.vorwaerts.iter().map(|knoten| of_batch("Folgestufe", knoten)));
    lines.extend(herkunft.empfaenger.iter().map(|partner| of_partner("Empfänger", partner)));
    let bilanz = herkunft.bilanz;
    lines.push(of_charge("Bilanz", bilanz.eingang, "Eingang"));
    lines.push(of_charge("Bilanz", bilanz.abgang, "Abgang"));
    lines.push(of_charge("Bilanz", bilanz.korrektur, "Korrektur durch Inventur"));
    lines.push(of_charge("Bilanz", bilanz.bestand, "Bestand = Eingang − Abgang + Korrektur"));
    if herkunft.hinweise.iter().next().is_some() {
        lines.push(of_charge(
            "Hinweis",
            Quantity::ZERO,
            "Es gibt weitere Stufen: bitte eine größere tiefe angeben",
        ));
    }
    lines
}

fn of_partner<'h>(abschnitt: &'static str, partner: &'h Beteiligter) -> Zeile<'h> {
    Zeile {
        abschnitt,
        charge: [&partner.charge_nr, ""],
        partner: [
            &partner.kundennr,
            &partner.name,
            or_blank(&partner.strasse),
            or_blank(&partner.plz),
            or_blank(&partner.ort),
            or_blank(&partner.staat),
        ],
        nummer: or_blank(&partner.beleg_nummer),
        datum: partner.datum,
        menge: partner.menge,
        einheit: or_blank(&partner.einheit),
        bemerkung: if partner.beleg_id.is_none() { "Anfangsbestand" } else { "" },
        ..Zeile::default()
    }
}

fn of_batch<'h>(abschnitt: &'static str, knoten: &'h Knoten) -> Zeile<'h> {
    Zeile {
        abschnitt,
        tiefe: Some(knoten.tiefe),
        charge: [&knoten.charge_nr, or_blank(&knoten.fremde_charge_nr)],
        artikel: [&knoten.artikelnummer, &knoten.artikel_bezeichnung],
        nummer: &knoten.ueber.nummer,
        datum: knoten.ueber.datum,
        menge: knoten.menge,
        einheit: or_blank(&knoten.einheit),
        ..Zeile::default()
    }
}

fn or_blank(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

impl Zeile<'_> {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.abschnitt.to_owned()];
        cells.push(self.tiefe.map(|tiefe| tiefe.to_string()).unwrap_or_default());
        let texts = self.charge.iter().chain(&self.artikel).chain(&self.partner).chain([&self.nummer]);
        cells.extend(texts.map(|text| cell(text)));
        cells.push(self.datum.map(|day| day.to_string()).unwrap_or_default());
        cells.push(self.menge.to_string().replace('.', ","));
        cells.push(cell(self.einheit));
        cells.push(self.bemerkung.to_owned());
        cells
    }
}

//! The texts of a sheet that come from outside, and so may contain characters that the fonts lack.

use super::model::{Abschnitt, Absender, Blatt, Konto, Position, Wert};
use super::text::{CELL, DETAIL, Style};

/// Calls `visit` with every text except those of the address, in any order, and with its style: that of
/// details, or another for texts that need a line of their own.
pub fn each(blatt: &Blatt, visit: &mut dyn FnMut(&str, Style)) {
    let plain = &mut |text: &str| visit(text, CELL);
    plain(&blatt.titel);
    blatt.untertitel.iter().for_each(|text| plain(text));
    absender(&blatt.absender, plain);
    blatt.angaben.iter().for_each(|angabe| plain(&angabe.wert));
    blatt.abschnitte.iter().for_each(|abschnitt| section(abschnitt, visit));
}

fn absender(absender: &Absender, visit: &mut dyn FnMut(&str)) {
    let Absender { firma, strasse, plz, ort, .. } = absender;
    [firma, strasse, plz, ort].into_iter().for_each(|text| visit(text));
    let Absender { staat, ust_id, steuernummer, registernummer, rechnungstext, .. } = absender;
    let Absender { kontakt_name, telefon, email, oeko_kontrollstelle, .. } = absender;
    let numbers = [staat, ust_id, steuernummer, registernummer, rechnungstext];
    let contact = [kontakt_name, telefon, email, oeko_kontrollstelle];
    numbers.into_iter().chain(contact).flatten().for_each(|text| visit(text));
    absender.konto.iter().for_each(|account| konto(account, visit));
}

fn konto(konto: &Konto, visit: &mut dyn FnMut(&str)) {
    [Some(&konto.inhaber), Some(&konto.iban), konto.bic.as_ref()]
        .into_iter()
        .flatten()
        .for_each(|text| visit(text));
}

fn section(abschnitt: &Abschnitt, styled: &mut dyn FnMut(&str, Style)) {
    if let Abschnitt::Positionen(positionen) = abschnitt {
        return positionen.iter().for_each(|one| position(one, styled));
    }
    let visit = &mut |text: &str| styled(text, CELL);
    match abschnitt {
        Abschnitt::Text { ueberschrift, absaetze } => {
            ueberschrift.iter().chain(absaetze).for_each(|text| visit(text));
        }
        Abschnitt::Positionen(_) => {}
        Abschnitt::Summen(summen) => {
            visit(&summen.bezeichnung);
            summen.gruppen.iter().filter_map(|gruppe| gruppe.grund.as_ref()).for_each(|text| visit(text));
        }
        Abschnitt::Tabelle(tabelle) => {
            tabelle.ueberschrift.iter().chain(&tabelle.spalten).for_each(|text| visit(text));
            let values = tabelle.zeilen.iter().flat_map(|zeile| &zeile.zellen);
            values.for_each(|value| match value {
                Wert::Text(text) | Wert::Menge(_, text) | Wert::Preis(_, text) => visit(text),
                Wert::Leer | Wert::Prozent(_) | Wert::Zahl(_) | Wert::Betrag(_) => {}
            });
        }
        Abschnitt::Zahlung(zahlung) => {
            zahlung.bedingung.iter().for_each(|text| visit(text));
            zahlung.konto.iter().for_each(|account| konto(account, visit));
            visit(&zahlung.verwendungszweck);
        }
        Abschnitt::Unterschriften(lines) => lines.iter().for_each(|text| visit(text)),
    }
}

fn position(position: &Position, visit: &mut dyn FnMut(&str, Style)) {
    let Position { artikelnummer, bezeichnung2, langtext, einheit, .. } = position;
    visit(&position.bezeichnung, CELL);
    bezeichnung2.iter().for_each(|text| visit(text, CELL));
    [artikelnummer, langtext, einheit].into_iter().flatten().for_each(|text| visit(text, DETAIL));
    position.merkmale.iter().for_each(|angabe| visit(&angabe.wert, DETAIL));
}

//! The parts around a document, and what a draft omits.

use std::collections::BTreeSet;

use partnerd::papers::blatt::{
    Abschnitt, Absender, Angabe, Anschrift, Aufdruck, Blatt, Konto, Tabelle, Wert, Zahlrichtung, Zahlung,
    Zeile, hints,
};
use partnerd::rules::error::Hints;
use partnerd::rules::fixed::{Money, Price};

use super::{drawn, samples};

#[test]
fn an_address_that_is_too_long_is_cut_in_its_longest_line_and_keeps_postcode_and_place() {
    let long = "Genossenschaft der Müller und Bäcker im Landkreis Kitzingen ".repeat(6);
    let many = "Abteilung für den Einkauf von Getreide und Saaten ".repeat(9);
    let lines = |name: &str, person: &str| {
        let mut blatt = samples::rechnung();
        blatt.anschrift = samples::anschrift(&[name, person, "Hauptstraße 7"], "97318 Kitzingen");
        let (drawn, file) = drawn(&blatt);
        assert_eq!(file.text().matches("97318 Kitzingen").count(), 1, "{}", file.text());
        assert!(file.text().contains("Hauptstraße 7"));
        (drawn.hinweise.iter().map(|hint| hint.code.as_str()).collect::<Vec<_>>(), file.letters())
    };
    // Five lines, seven smaller ones, too many for the name, and too many for the person.
    assert_eq!(lines("Mühle", "Frau Huber").0, [""; 0]);
    assert_eq!(lines(&long[..180], "Frau Huber").0, [""; 0]);
    let (codes, text) = lines(&long, "Frau Huber");
    assert_eq!(codes, ["ANSCHRIFT_GEKUERZT"]);
    assert!(text.contains("GenossenschaftderMüller") && text.contains("FrauHuber"), "{text}");
    let (codes, text) = lines("Mühle Steinbach", &many);
    assert_eq!(codes, ["ANSCHRIFT_GEKUERZT"]);
    assert!(text.contains("MühleSteinbach") && text.contains("AbteilungfürdenEinkauf"), "{text}");
    let (codes, _) = lines(&long, &many);
    assert_eq!(codes, ["ANSCHRIFT_GEKUERZT"]);
}

#[test]
fn a_draft_has_no_payment_code() {
    let blatt = samples::rechnung();
    let (_, file) = drawn(&blatt);
    assert!(file.text().contains("Zahlen mit Code"), "the control");
    let (_, file) = drawn(&Blatt { aufdruck: Some(Aufdruck::Entwurf), ..blatt });
    assert!(!file.text().contains("Zahlen mit Code") && file.text().contains("IBAN"), "{}", file.text());
}

/// A sheet in which every text has its own letter that the fonts lack.
fn all_lacking() -> Blatt {
    let mut letters = '\u{4e00}'..='\u{9fff}';
    let mut next = || letters.next().unwrap().to_string();
    let mut blatt = samples::letter(&next());
    blatt.untertitel = Some(next());
    blatt.anschrift = Anschrift { zeilen: vec![next()], ort: vec![next()] };
    blatt.angaben = vec![Angabe::new("Datum", next())];
    let konto = |next: &mut dyn FnMut() -> String| Konto { inhaber: next(), iban: next(), bic: Some(next()) };
    blatt.absender = Absender {
        firma: next(),
        strasse: next(),
        plz: next(),
        ort: next(),
        staat: Some(next()),
        ust_id: Some(next()),
        steuernummer: Some(next()),
        registernummer: Some(next()),
        rechnungstext: Some(next()),
        kontakt_name: Some(next()),
        telefon: Some(next()),
        email: Some(next()),
        konto: Some(konto(&mut next)),
        oeko_kontrollstelle: Some(next()),
        logo: None,
        name_im_logo: false,
    };
    blatt
}

/// Its sections, in order.
fn sections() -> Vec<Abschnitt> {
    let mut letters = '\u{4e00}'..='\u{9fff}';
    let mut next = || letters.next().unwrap().to_string();
    let mut position = samples::position(1, &next(), ("1", "kg", "1"), "0", "7");
    position.artikelnummer = Some(next());
    position.bezeichnung2 = Some(next());
    position.langtext = Some(next());
    position.einheit = Some(next());
    position.merkmale = vec![Angabe::new("Charge", next())];
    let positionen = vec![position];
    let mut summen = samples::summen(&positionen, &next());
    summen.gruppen[0].grund = Some(next());
    let zellen = vec![
        Wert::Text(next()),
        Wert::Menge(samples::menge("1"), next()),
        Wert::Preis(Price::whole(1), next()),
    ];
    let tabelle = Tabelle {
        ueberschrift: Some(next()),
        spalten: vec![next(), next(), next()],
        zeilen: vec![Zeile { zellen, summe: false }],
    };
    let zahlung = Zahlung {
        richtung: Zahlrichtung::Empfaenger,
        betrag: Money::whole(1),
        faellig: None,
        skonto: None,
        bedingung: Some(next()),
        konto: Some(Konto { inhaber: next(), iban: next(), bic: Some(next()) }),
        verwendungszweck: next(),
    };
    vec![
        Abschnitt::Text { ueberschrift: Some(next()), absaetze: vec![next()] },
        Abschnitt::Positionen(positionen),
        Abschnitt::Summen(summen),
        Abschnitt::Tabelle(tabelle),
        Abschnitt::Zahlung(zahlung),
        Abschnitt::Unterschriften(vec![next()]),
    ]
}

#[test]
fn what_the_fonts_lack_is_known_of_each_text_before_it_is_drawn() {
    let said = |hints: &Hints| -> BTreeSet<char> {
        let letters = hints.iter().flat_map(|hint| hint.message.chars());
        letters.filter(|letter| ('\u{4e00}'..='\u{9fff}').contains(letter)).collect()
    };
    let mut sheets = vec![all_lacking()];
    sheets.extend(
        sections()
            .into_iter()
            .map(|section| Blatt { abschnitte: vec![section], ..samples::letter("Rechnung") }),
    );
    for blatt in sheets {
        let (known, found) = (said(&hints(&blatt).unwrap()), said(&drawn(&blatt).0.hinweise));
        assert!(!found.is_empty() && known == found, "{known:?} {found:?}");
    }
}

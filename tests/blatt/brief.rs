//! What stands around a document, and what a draft leaves out.

use partnerd::blatt::{Aufdruck, Blatt};

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
    // Five lines, seven smaller ones, too many of the name, and of the person alone.
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

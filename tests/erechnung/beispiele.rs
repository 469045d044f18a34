//! Everyday documents of a mill; their XML is recorded in `beispiele/`.

use std::borrow::Cow;

use partnerd::papers::erechnung::{
    Bezug, Kontakt, Merkmal, Partei, Position, Rechnung, Skonto, Zahlungsbedingungen,
};
use partnerd::rules::day::Day;
use partnerd::rules::document::{Profil, Rechnungsart};
use partnerd::rules::fixed::{Percent, Price, Quantity};
use partnerd::rules::price::line_total;
use partnerd::rules::tax::{Steuerart, Steuerkategorie};

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A mill with complete data.
pub fn firma() -> Partei {
    Partei {
        kennung: None,
        name: "Mühle Lindental GmbH".to_owned(),
        registernummer: some("HRB 12345"),
        rechtliches: some("Amtsgericht Braunschweig, Geschäftsführerin: Eva Meier"),
        strasse: some("Mühlenweg 1"),
        plz: some("38304"),
        ort: some("Wolfenbüttel"),
        staat: "DE".to_owned(),
        ust_id: some("DE123456789"),
        steuernummer: some("51/200/12345"),
        e_adresse: some("rechnung@muehle.example"),
        kontakt: Kontakt {
            name: some("Jan Kröger"),
            telefon: some("+49 5331 12345"),
            email: some("jan.kroeger@muehle.example"),
        },
        iban: some("DE89 3704 0044 0532 0130 00"),
        bic: some("COBADEFFXXX"),
        kontoinhaber: some("Mühle Lindental GmbH"),
    }
}

/// A customer or supplier with little data.
pub fn kunde(name: &str, staat: &str, ust_id: Option<&str>) -> Partei {
    Partei {
        kennung: some("10023"),
        name: name.to_owned(),
        strasse: some("Hauptstraße 7"),
        plz: some("38871"),
        ort: some("Ilsenburg"),
        staat: staat.to_owned(),
        ust_id: ust_id.map(str::to_owned),
        ..Partei::default()
    }
}

/// A position with these decimals.
pub fn position(
    position: i64,
    name: &str,
    menge: &str,
    einheit: &str,
    preis: &str,
    rabatt: &str,
    satz: &str,
) -> Position {
    let menge = Quantity::parse(menge).unwrap().value;
    let ep_netto = Price::parse(preis).unwrap().value;
    let rabatt_prozent = Percent::parse(rabatt).unwrap().value;
    Position {
        steuerart: None,
        position,
        bemerkung: None,
        menge,
        einheit: some(einheit),
        ep_netto,
        rabatt_prozent,
        gesamtpreis: line_total(menge, ep_netto, rabatt_prozent).unwrap(),
        steuer_kategorie: Steuerkategorie::Steuerpflichtig,
        mwst_satz: Percent::parse(satz).unwrap().value,
        bezeichnung: name.to_owned(),
        bezeichnung2: None,
        langtext: None,
        artikelnummer: None,
        ean: None,
        herkunftsland: None,
        kostenstelle: None,
        merkmale: Vec::new(),
    }
}

/// A document with required fields only.
pub fn rechnung(
    art: Rechnungsart,
    nummer: &str,
    verkaeufer: Partei,
    kaeufer: Partei,
    positionen: Vec<Position>,
) -> Rechnung {
    Rechnung {
        gewuenscht: Profil::Zugferd,
        art,
        nummer: nummer.to_owned(),
        datum: Day::new(2027, 1, 4),
        storno_von: None,
        berichtigt: Vec::new(),
        vorausgegangen: Vec::new(),
        lieferdatum: Some(Day::new(2027, 1, 2)),
        leistung_von: None,
        leistung_bis: None,
        zahlung: Zahlungsbedingungen { ziel_tage: Some(14), ..Zahlungsbedingungen::default() },
        kaeuferreferenz: None,
        kontrakt: None,
        bestellnummer: None,
        lieferschein: None,
        bemerkungen: Vec::new(),
        durchschnittssatz: false,
        verkaeufer,
        kaeufer,
        positionen,
    }
}

/// An invoice that uses every field.
pub fn voll() -> Rechnung {
    let weizen = Position {
        bemerkung: some("Lieferschein LS-2027-00001 vom 02.01.2027"),
        bezeichnung2: some("Protein 13,2 %"),
        langtext: some("Lose, frei Hof\nGewicht wie auf unserer Waage"),
        artikelnummer: some("1001"),
        ean: some("4006381333931"),
        herkunftsland: some("DE"),
        kostenstelle: some("4711"),
        merkmale: vec![
            Merkmal { name: Cow::Borrowed("Charge"), wert: "CH-2026-00017".to_owned() },
            Merkmal { name: Cow::Borrowed("Bio-Kontrollstelle"), wert: "DE-ÖKO-006".to_owned() },
        ],
        ..position(1, "Weizen <Bio> & Co", "24.86", "t", "412.5", "2.5", "7")
    };
    let kunde = Partei {
        kontakt: Kontakt { name: some("Frau Ölschläger"), ..Kontakt::default() },
        e_adresse: some("0204:991-01234-56"),
        registernummer: some("HRB 777"),
        ..kunde("Bäckerei Çelik & Söhne KG", "DE", Some("DE987654321"))
    };
    let positionen = vec![
        weizen,
        position(2, "Fracht", "1", "pauschal", "180", "0", "19"),
        position(3, "Nachlass Feuchte", "1", "Partie", "-25.5", "0", "7"),
    ];
    Rechnung {
        zahlung: Zahlungsbedingungen {
            ziel_tage: Some(30),
            text: some("Zahlbar binnen 30 Tagen"),
            skonto: Some(Skonto { tage: 14, prozent: Percent::whole(2) }),
        },
        leistung_von: Some(Day::new(2027, 1, 1)),
        leistung_bis: Some(Day::new(2027, 1, 3)),
        kaeuferreferenz: some("991-01234-56"),
        kontrakt: some("K-2026-17"),
        bestellnummer: some("B 4711"),
        lieferschein: some("LS-2027-00001"),
        bemerkungen: vec!["Es gelten die Einheitsbedingungen im deutschen Getreidehandel.".to_owned()],
        ..rechnung(Rechnungsart::Rechnung, "RE-2027-00001", firma(), kunde, positionen)
    }
}

/// All of them, with the names of their files.
pub fn all() -> Vec<(&'static str, Rechnung)> {
    let xrechnung = Rechnung { gewuenscht: Profil::XRechnung, ..voll() };
    let landwirt = Partei { steuernummer: some("23/111/55555"), ..kunde("Hof Brandes", "DE", None) };
    let raps = position(1, "Raps, Ernte 2026", "18.42", "t", "455", "0", "7.8");
    let raps = Position { steuerart: Some(Steuerart::Pauschal24), ..raps };
    let gutschrift = Rechnung {
        durchschnittssatz: true,
        ..rechnung(Rechnungsart::Gutschrift, "ER-2027-00001", landwirt, firma(), vec![raps])
    };
    let minus = position(1, "Weizen", "-24.86", "t", "412.5", "2.5", "7");
    let kaeufer = kunde("Bäckerei Çelik & Söhne KG", "DE", None);
    let storno = Rechnung {
        storno_von: Some(Bezug { nummer: "RE-2027-00001".to_owned(), datum: Day::new(2027, 1, 4) }),
        ..rechnung(Rechnungsart::Rechnung, "RE-2027-00002", firma(), kaeufer.clone(), vec![minus])
    };
    let nachlass = vec![position(1, "Preisnachlass Kontrakt K-2026-17", "1", "Stk", "-310", "0", "7")];
    let korrektur = Rechnung {
        berichtigt: [("RE-2026-00917", 21), ("RE-2026-00931", 29)]
            .map(|(nummer, day)| Bezug { nummer: nummer.to_owned(), datum: Day::new(2026, 12, day) })
            .to_vec(),
        ..rechnung(Rechnungsart::Rechnung, "RE-2027-00003", firma(), kaeufer, nachlass)
    };
    let ausland = Position {
        steuer_kategorie: Steuerkategorie::IgLieferung,
        ..position(1, "Braugerste", "25", "t", "260", "0", "0")
    };
    let ig_lieferung = rechnung(
        Rechnungsart::Rechnung,
        "RE-2027-00004",
        firma(),
        kunde("Brouwerij De Molen B.V.", "NL", Some("NL123456789B01")),
        vec![ausland],
    );
    vec![
        ("rechnung", voll()),
        ("xrechnung", xrechnung),
        ("gutschrift", gutschrift),
        ("storno", storno),
        ("korrektur", korrektur),
        ("ig_lieferung", ig_lieferung),
    ]
}

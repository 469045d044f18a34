//! Sample sheets of a mill, one of each kind.

use partnerd::papers::blatt::{
    Abschnitt, Absender, Abzug, Angabe, Anschrift, Aufdruck, Blatt, ERechnung, Konto, Position, Preis,
    Skonto, Steuergruppe, Summen, Tabelle, Wert, Zahlrichtung, Zahlung, Zeile,
};
use partnerd::rules::day::Day;
use partnerd::rules::document::Profil;
use partnerd::rules::fixed::{Money, Percent, Price, Quantity, divide_rounded};

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn angaben(angaben: &[(&str, &str)]) -> Vec<Angabe> {
    angaben.iter().map(|(name, wert)| Angabe::new(name, *wert)).collect()
}

pub fn menge(text: &str) -> Quantity {
    Quantity::parse(text).unwrap().value
}

fn preis(text: &str) -> Price {
    Price::parse(text).unwrap().value
}

pub fn prozent(text: &str) -> Percent {
    Percent::parse(text).unwrap().value
}

/// The mill.
pub fn absender() -> Absender {
    Absender {
        firma: "Mühle Steinbach GmbH & Co. KG".to_owned(),
        strasse: "Mühlweg 12".to_owned(),
        plz: "97070".to_owned(),
        ort: "Würzburg".to_owned(),
        staat: None,
        ust_id: some("DE123456789"),
        steuernummer: some("257/123/45678"),
        registernummer: some("HRA 4711"),
        rechnungstext: some(
            "Amtsgericht Würzburg HRA 4711 · persönlich haftend: Steinbach Verwaltungs-GmbH, HRB 815 · \
             Geschäftsführer: Anna Steinbach, Jörg Größl",
        ),
        kontakt_name: some("Anna Steinbach"),
        telefon: some("0931 123456"),
        email: some("buero@muehle-steinbach.example"),
        konto: Some(konto()),
        oeko_kontrollstelle: some("DE-ÖKO-006"),
        logo: None,
        name_im_logo: false,
    }
}

pub fn konto() -> Konto {
    Konto {
        inhaber: "Mühle Steinbach GmbH & Co. KG".to_owned(),
        iban: "DE02120300000000202051".to_owned(),
        bic: some("BYLADEM1001"),
    }
}

pub fn anschrift(zeilen: &[&str], ort: &str) -> Anschrift {
    Anschrift { zeilen: texts(zeilen), ort: vec![ort.to_owned()] }
}

/// A sheet without sections.
pub fn letter(titel: &str) -> Blatt {
    Blatt {
        titel: titel.to_owned(),
        untertitel: None,
        datum: Day::new(2026, 11, 22),
        absender: absender(),
        anschrift: anschrift(
            &["Bäckerei Grünwald OHG", "Frau Özlem Łukasiewicz", "Hauptstraße 7"],
            "97318 Kitzingen",
        ),
        angaben: angaben(&[
            ("Datum", "22.11.2026"),
            ("Kundennummer", "10042"),
            ("Lieferdatum", "20.11.2026"),
            ("Lieferschein", "LS-2026-000871"),
            ("Ihre Bestellung", "B-7731"),
            ("Ansprechpartner", "Anna Steinbach\n0931 123456"),
        ]),
        abschnitte: vec![Abschnitt::Text {
            ueberschrift: None,
            absaetze: texts(&[
                "Sehr geehrte Damen und Herren,\nfür unsere Lieferung vom 20.11.2026 berechnen wir:",
            ]),
        }],
        aufdruck: None,
        erechnung: None,
    }
}

/// `betrag = round2(menge × preis × (1 − rabatt / 100))`, as in D6.
pub fn position(nummer: i64, name: &str, what: (&str, &str, &str), rabatt: &str, satz: &str) -> Position {
    let (amount, unit, price) = (menge(what.0), what.1, preis(what.2));
    let discounted = i128::from(100_000_000 - prozent(rabatt).units());
    let exact = i128::from(amount.units()) * i128::from(price.units()) * discounted;
    let betrag = Money::from_wide(divide_rounded(exact, 1_000_000_000_000_000_000)).unwrap();
    Position {
        nummer,
        artikelnummer: some(&format!("{}", 4000 + nummer)),
        bezeichnung: name.to_owned(),
        bezeichnung2: None,
        langtext: None,
        merkmale: Vec::new(),
        menge: amount,
        einheit: some(unit),
        preis: Some(Preis { einzelpreis: price, rabatt: prozent(rabatt), mwst_satz: prozent(satz), betrag }),
    }
}

/// Tax groups and sums of positions (D7).
pub fn summen(positionen: &[Position], bezeichnung: &str) -> Summen {
    let mut gruppen: Vec<Steuergruppe> = Vec::new();
    let mut netto = 0;
    for preis in positionen.iter().filter_map(|position| position.preis) {
        netto += preis.betrag.units();
        match gruppen.iter_mut().find(|gruppe| gruppe.satz == preis.mwst_satz) {
            Some(gruppe) => gruppe.netto = Money::from_units(gruppe.netto.units() + preis.betrag.units()),
            None => gruppen.push(Steuergruppe {
                satz: preis.mwst_satz,
                netto: preis.betrag,
                steuer: Money::ZERO,
                grund: None,
            }),
        }
    }
    let mut steuer = 0;
    for gruppe in &mut gruppen {
        let exact = i128::from(gruppe.netto.units()) * i128::from(gruppe.satz.units());
        gruppe.steuer = Money::from_wide(divide_rounded(exact, 100_000_000)).unwrap();
        steuer += gruppe.steuer.units();
    }
    Summen {
        gruppen,
        netto: Money::from_units(netto),
        steuer: Money::from_units(steuer),
        brutto: Money::from_units(netto + steuer),
        bezeichnung: bezeichnung.to_owned(),
    }
}

fn zahlung(betrag: Money, verwendungszweck: &str) -> Zahlung {
    let skonto = divide_rounded(i128::from(betrag.units()) * 98, 100) as i64;
    Zahlung {
        richtung: Zahlrichtung::Empfaenger,
        betrag,
        faellig: Some(Day::new(2026, 12, 22)),
        skonto: Some(Skonto {
            bis: Day::new(2026, 12, 2),
            prozent: prozent("2"),
            betrag: Money::from_units(skonto),
        }),
        bedingung: None,
        konto: Some(konto()),
        verwendungszweck: verwendungszweck.to_owned(),
    }
}

/// Positions of a mill's daily trade.
pub fn positionen() -> Vec<Position> {
    let mut weizen = position(1, "Weizenmehl Type 550", ("24.86", "t", "412.5"), "0", "7");
    weizen.bezeichnung2 = some("lose, Silozug");
    weizen.merkmale = angaben(&[
        ("Charge", "W-2026-1147"),
        ("MHD", "30.06.2027"),
        ("Herkunft", "Deutschland"),
        ("Brutto", "40.120 kg"),
        ("Tara", "15.260 kg"),
    ]);
    let mut dinkel = position(2, "Bio-Dinkelvollkornmehl", ("40", "Sack", "31.90"), "5", "7");
    dinkel.merkmale = angaben(&[
        ("Charge", "D-2026-0098"),
        ("MHD", "28.02.2027"),
        ("Kontrollstelle", "DE-ÖKO-006"),
        ("Herkunft", "Deutschland/Österreich"),
    ]);
    dinkel.langtext = some("Gebinde zu 25 kg auf Europalette, foliert. Kühl und trocken lagern.");
    let futter = position(3, "Legehennenfutter „Gold“", ("1250.5", "kg", "0.3245"), "0", "7");
    let mut fracht = position(4, "Fracht Würzburg – Kitzingen", ("1", "pauschal", "85"), "0", "19");
    fracht.artikelnummer = None;
    let rabatt = position(5, "Treuerabatt", ("1", "Stk", "-150"), "0", "7");
    vec![weizen, dinkel, futter, fracht, rabatt]
}

/// An invoice with two tax rates, Skonto, and a payment code.
pub fn rechnung() -> Blatt {
    let mut blatt = letter("Rechnung RE-2026-000123");
    let positionen = positionen();
    let summen = summen(&positionen, "Rechnungsbetrag");
    let zahlung = zahlung(summen.brutto, "RE-2026-000123");
    blatt.abschnitte.extend([
        Abschnitt::Positionen(positionen),
        Abschnitt::Summen(summen),
        Abschnitt::Zahlung(zahlung),
        Abschnitt::Text {
            ueberschrift: None,
            absaetze: texts(&[
                "Es gelten unsere Liefer- und Zahlungsbedingungen. Vielen Dank für Ihren Auftrag.",
            ]),
        },
    ]);
    blatt
}

/// The invoice with its e-invoice inside.
pub fn hybrid() -> Blatt {
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rsm:CrossIndustryInvoice/>\n".repeat(40);
    Blatt { erechnung: Some(ERechnung { xml: xml.into_bytes(), profil: Profil::Zugferd }), ..rechnung() }
}

/// The storno document of an invoice.
pub fn storno() -> Blatt {
    let mut blatt = letter("Stornorechnung RE-2026-000130");
    blatt.untertitel = some("Storno zu Rechnung RE-2026-000123 vom 22.11.2026");
    let mut positionen = positionen();
    for position in &mut positionen {
        position.menge = -position.menge;
        position.preis.as_mut().unwrap().betrag = -position.preis.unwrap().betrag;
    }
    let summen = summen(&positionen, "Gutgeschriebener Betrag");
    blatt.abschnitte = vec![Abschnitt::Positionen(positionen), Abschnitt::Summen(summen)];
    blatt
}

/// A Gutschrift for a flat-rate farmer.
pub fn gutschrift() -> Blatt {
    let mut blatt = letter("Gutschrift ER-2026-000417");
    blatt.anschrift = anschrift(&["Hof Þórsson", "Þóra Björnsdóttir", "Am Anger 3"], "97350 Mainbernheim");
    let mut weizen = position(1, "Weizen A", ("24.116", "t", "213.455"), "0", "7.8");
    weizen.merkmale = angaben(&[("Charge", "E-2026-0311"), ("Ernte", "2026"), ("Feuchte", "16,2 %")]);
    let positionen = vec![weizen];
    let mut summen = summen(&positionen, "Auszahlungsbetrag");
    summen.gruppen[0].grund = some("Durchschnittssatz nach § 24 UStG");
    let zahlung = Zahlung {
        richtung: Zahlrichtung::Absender,
        faellig: Some(Day::new(2026, 12, 6)),
        skonto: None,
        ..zahlung(summen.brutto, "ER-2026-000417")
    };
    blatt.abschnitte = vec![
        Abschnitt::Text {
            ueberschrift: None,
            absaetze: texts(&["Für Ihre Anlieferung vom 18.11.2026 schreiben wir Ihnen gut:"]),
        },
        Abschnitt::Positionen(positionen),
        Abschnitt::Summen(summen),
        Abschnitt::Zahlung(zahlung),
    ];
    blatt
}

/// A delivery note: without prices, with lines to sign on.
pub fn lieferschein() -> Blatt {
    let mut blatt = letter("Lieferschein LS-2026-000871");
    let mut positionen = positionen();
    positionen.truncate(3);
    positionen.iter_mut().for_each(|position| position.preis = None);
    blatt.abschnitte = vec![
        Abschnitt::Positionen(positionen),
        Abschnitt::Text {
            ueberschrift: some("Hinweise"),
            absaetze: texts(&[
                "Bitte prüfen Sie die Ware sofort und vermerken Sie Mängel auf diesem Lieferschein.",
            ]),
        },
        Abschnitt::Unterschriften(texts(&["Ware übergeben", "Fahrer", "Ware erhalten: Datum, Unterschrift"])),
    ];
    blatt
}

fn zeile(zellen: Vec<Wert>) -> Zeile {
    Zeile { zellen, summe: false }
}

fn kg(text: &str) -> Wert {
    Wert::Menge(menge(text), "kg".to_owned())
}

/// A weighing slip.
pub fn wiegeschein() -> Blatt {
    let mut blatt = letter("Wiegeschein W-2026-004711");
    blatt.angaben = angaben(&[
        ("Datum", "22.11.2026"),
        ("Kennzeichen", "KT-MS 815"),
        ("Spediteur", "Spedition Čapek"),
        ("Richtung", "Eingang"),
    ]);
    let text = |text: &str| Wert::Text(text.to_owned());
    let summe =
        Zeile { zellen: vec![text("Nettogewicht"), Wert::Leer, Wert::Leer, kg("24860")], summe: true };
    blatt.abschnitte = vec![
        Abschnitt::Tabelle(Tabelle {
            ueberschrift: some("Weizen A, Charge E-2026-0311"),
            spalten: texts(&["Wägung", "Zeit", "Waage", "Gewicht"]),
            zeilen: vec![
                zeile(vec![text("Erstgewicht"), text("22.11.2026 08:14"), text("Waage 1"), kg("40120")]),
                zeile(vec![text("Zweitgewicht"), text("22.11.2026 08:41"), text("Waage 1"), kg("15260")]),
                summe,
            ],
        }),
        Abschnitt::Unterschriften(texts(&["Wiegemeister", "Fahrer"])),
    ];
    blatt
}

/// A goods receipt: what was deducted, and why.
pub fn annahmeschein() -> Blatt {
    let mut blatt = letter("Annahmeschein AS-2026-000311");
    blatt.angaben = angaben(&[
        ("Datum", "18.11.2026"),
        ("Lieferant", "70015"),
        ("Wiegeschein", "W-2026-004711"),
        ("Kontrakt", "K-2026-0042"),
    ]);
    let text = |text: &str| Wert::Text(text.to_owned());
    let abzug = |name: &str, percents: [&str; 3], kg: &str| Abzug {
        bezeichnung: name.to_owned(),
        gemessen: Some(prozent(percents[0])),
        basis: Some(prozent(percents[1])),
        abzug: Some(prozent(percents[2])),
        kg: menge(kg),
    };
    let abzuege = [
        abzug("Besatz", ["2.8", "2", "0.8"], "198.88"),
        abzug("Feuchte (Faktor 1,3)", ["16.2", "14.5", "2.21"], "545.01"),
    ];
    blatt.abschnitte = vec![
        Abschnitt::Tabelle(Tabelle::abrechnung(
            "Weizen A, Ernte 2026",
            menge("24860"),
            &abzuege,
            menge("24116"),
        )),
        Abschnitt::Tabelle(Tabelle {
            ueberschrift: some("Untersuchung"),
            spalten: texts(&["Merkmal", "Wert"]),
            zeilen: vec![
                zeile(vec![text("Protein"), Wert::Prozent(prozent("12.8"))]),
                zeile(vec![text("Hektolitergewicht"), Wert::Menge(menge("78.4"), "kg/hl".to_owned())]),
                zeile(vec![text("Fallzahl"), Wert::Menge(menge("312"), "s".to_owned())]),
            ],
        }),
        Abschnitt::Tabelle(Tabelle {
            ueberschrift: some("Preis"),
            spalten: texts(&["", "Menge", "Preis", "Betrag netto"]),
            zeilen: vec![zeile(vec![
                text("Weizen A"),
                Wert::Menge(menge("24.116"), "t".to_owned()),
                Wert::Preis(preis("213.455"), "t".to_owned()),
                Wert::Betrag(Money::from_units(514_768)),
            ])],
        }),
        Abschnitt::Unterschriften(texts(&["Annahme", "Anlieferer"])),
    ];
    blatt
}

/// An invoice with this many positions, every seventh with a text of 600 characters.
pub fn lang(count: i64) -> Blatt {
    let mut blatt = letter("Rechnung RE-2026-000777");
    let all = positionen();
    let mut positionen = Vec::new();
    for nummer in 1..=count {
        let mut position = all[(nummer as usize - 1) % all.len()].clone();
        position.nummer = nummer;
        if nummer % 7 == 0 {
            position.langtext = Some("Lieferung frei Hof, Entladung durch den Fahrer. ".repeat(12));
        }
        positionen.push(position);
    }
    let summen = summen(&positionen, "Rechnungsbetrag");
    let zahlung = zahlung(summen.brutto, "RE-2026-000777");
    blatt.abschnitte.extend([
        Abschnitt::Positionen(positionen),
        Abschnitt::Summen(summen),
        Abschnitt::Zahlung(zahlung),
    ]);
    blatt
}

/// The draft of the invoice, of a company with a logo.
pub fn entwurf() -> Blatt {
    let logo = include_bytes!("../../data/logo/durchsichtig.png").to_vec();
    let absender = Absender { logo: Some(logo), ..absender() };
    Blatt { aufdruck: Some(Aufdruck::Entwurf), absender, ..rechnung() }
}

/// Every kind, by name.
pub fn all() -> Vec<(&'static str, Blatt)> {
    vec![
        ("rechnung", rechnung()),
        ("hybrid", hybrid()),
        ("storno", storno()),
        ("entwurf", entwurf()),
        ("gutschrift", gutschrift()),
        ("lieferschein", lieferschein()),
        ("wiegeschein", wiegeschein()),
        ("annahmeschein", annahmeschein()),
        ("lang", lang(200)),
    ]
}

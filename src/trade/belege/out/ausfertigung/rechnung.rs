//! The e-invoice of a document (D26): maps stored data to the business terms of the standard.

use super::angaben::{Angaben, Partie, Ware};
use super::vorlage::Vorlage;
use super::worte;
use crate::master::kunden::Kunde;
use crate::master::tenants::firma::Firma;
use crate::papers::blatt::numbers::german;
use crate::papers::erechnung::{
    Bezug, Kontakt, Merkmal, Partei, Position, Rechnung, Skonto, Zahlungsbedingungen,
};
use crate::rules::day::Day;
use crate::rules::document::{Profil, Rechnungsart};
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::settlement::{AbrechnungsPosten, Groesse, Wirkung};
use crate::rules::stammdaten::ERechnung;
use crate::rules::tax::Steuerkategorie;
use crate::trade::belege::model::{Beleg, BelegPosition};

pub fn profil(e_rechnung: ERechnung) -> Profil {
    match e_rechnung {
        ERechnung::Xrechnung => Profil::XRechnung,
        ERechnung::Zugferd | ERechnung::Aus => Profil::Zugferd,
    }
}

/// Returns the document as an e-invoice; a missing day of delivery becomes the document's date, with a hint.
pub fn rechnung(vorlage: &Vorlage<'_>, hints: &mut Hints) -> Rechnung {
    let Vorlage { beleg, partner, firma, angaben, .. } = vorlage;
    let (firma, partner) = (seite_der_firma(firma), partner.clone());
    let (art, verkaeufer, kaeufer) = match beleg.is_written_for_supplier() {
        true => (Rechnungsart::Gutschrift, partner, firma),
        false => (Rechnungsart::Rechnung, firma, partner),
    };
    if angaben.lieferdatum_angenommen {
        let message = "Ohne Lieferdatum gilt das Belegdatum als Tag der Lieferung.";
        hints.add_field(HintCode::LieferdatumAngenommen, "lieferdatum", message);
    }
    let waren = worte::paired(vorlage);
    let (von, bis) = worte::zeitraum(vorlage);
    Rechnung {
        gewuenscht: vorlage.profil,
        art,
        nummer: beleg.beleg_nummer.clone(),
        datum: beleg.datum(),
        storno_von: vorlage.storno_von.as_ref().map(bezug),
        lieferdatum: angaben.lieferdatum,
        berichtigt: angaben.berichtigt.clone(),
        vorausgegangen: angaben.vorausgegangen.clone(),
        leistung_von: von,
        leistung_bis: bis,
        zahlung: zahlung(beleg),
        kaeuferreferenz: vorlage.kaeuferreferenz.clone().filter(|_| art == Rechnungsart::Rechnung),
        kontrakt: angaben.kontrakt.clone(),
        bestellnummer: beleg.fremdbelegnummer.clone().filter(|_| art == Rechnungsart::Rechnung),
        lieferschein: angaben.lieferschein().map(|one| one.nummer.clone()),
        bemerkungen: beleg.notizen.iter().cloned().collect(),
        durchschnittssatz: !angaben.durchschnittssaetze.is_empty(),
        verkaeufer,
        kaeufer,
        positionen: waren.map(|(position, ware)| mit_abrechnung(angaben, position, ware, art)).collect(),
    }
}

/// Returns a line; the first line of a settled receipt includes its computation.
fn mit_abrechnung(angaben: &Angaben, position: &BelegPosition, ware: &Ware, art: Rechnungsart) -> Position {
    let mut zeile = zeile(position, ware, angaben.lieferungen(ware), art);
    let of = angaben.abrechnung.iter().find(|one| one.position == position.position);
    zeile.merkmale.extend(of.into_iter().flat_map(|one| abgerechnet(&one.posten)));
    zeile
}

/// Returns a sample e-invoice of this partner with a single taxed item, from a company without data: any
/// partner data it lacks is missing on each of the partner's e-invoices.
pub fn beispiel(kunde: &Kunde, art: Rechnungsart, tag: Day) -> Rechnung {
    let (firma, partner) = (Partei::default(), partei(kunde));
    let (verkaeufer, kaeufer) = match art {
        Rechnungsart::Gutschrift => (partner, firma),
        Rechnungsart::Rechnung => (firma, partner),
    };
    let ware = Position {
        position: 1,
        menge: Quantity::whole(1),
        ep_netto: Price::whole(1),
        gesamtpreis: Money::whole(1),
        steuer_kategorie: Steuerkategorie::Steuerpflichtig,
        mwst_satz: Percent::whole(19),
        bezeichnung: "Ware".to_owned(),
        ..Position::default()
    };
    Rechnung {
        gewuenscht: profil(kunde.e_rechnung),
        art,
        nummer: "1".to_owned(),
        datum: tag,
        lieferdatum: Some(tag),
        kaeuferreferenz: kunde.kaeuferreferenz.clone().filter(|_| art == Rechnungsart::Rechnung),
        verkaeufer,
        kaeufer,
        positionen: vec![ware],
        ..Rechnung::default()
    }
}

fn bezug(beleg: &Beleg) -> Bezug {
    Bezug { nummer: beleg.beleg_nummer.clone(), datum: beleg.datum() }
}

fn zahlung(beleg: &Beleg) -> Zahlungsbedingungen {
    let skonto = beleg.skonto_tage.zip(beleg.skonto_prozent).map(|(tage, prozent)| Skonto { tage, prozent });
    Zahlungsbedingungen { ziel_tage: beleg.zahlungsziel_tage, text: beleg.zahlungsbedingung.clone(), skonto }
}

fn seite_der_firma(firma: &Firma) -> Partei {
    Partei {
        kennung: None,
        name: firma.firma.clone().unwrap_or_default(),
        registernummer: firma.registernummer.clone(),
        rechtliches: firma.rechnungstext.clone(),
        strasse: firma.strasse.clone(),
        plz: firma.plz.clone(),
        ort: firma.ort.clone(),
        staat: firma.land().to_owned(),
        ust_id: firma.ust_id.clone(),
        steuernummer: firma.steuernummer.clone(),
        e_adresse: firma.email.clone(),
        kontakt: Kontakt {
            name: firma.kontakt_name.clone(),
            telefon: firma.kontakt_telefon.clone(),
            email: firma.kontakt_email.clone().or_else(|| firma.email.clone()),
        },
        iban: firma.iban.clone(),
        bic: firma.bic.clone(),
        kontoinhaber: firma.kontoinhaber.clone().or_else(|| firma.firma.clone()),
    }
}

pub fn partei(kunde: &Kunde) -> Partei {
    Partei {
        kennung: Some(kunde.kundennr.clone()),
        name: kunde.name.clone(),
        strasse: kunde.strasse.clone(),
        plz: kunde.plz.clone(),
        ort: kunde.ort.clone(),
        staat: kunde.staat.clone(),
        ust_id: kunde.ust_id.clone(),
        steuernummer: kunde.steuernummer.clone(),
        e_adresse: kunde.e_adresse.clone().or_else(|| kunde.email.clone()),
        iban: kunde.iban.clone(),
        bic: kunde.bic.clone(),
        kontoinhaber: kunde.iban.as_ref().map(|_| kunde.name.clone()),
        ..Partei::default()
    }
}

fn zeile(position: &BelegPosition, ware: &Ware, lieferungen: &[Bezug], art: Rechnungsart) -> Position {
    let lieferungen: Vec<_> = lieferungen.iter().map(|bezug| format!("Lieferschein {bezug}")).collect();
    Position {
        position: position.position,
        bemerkung: (!lieferungen.is_empty()).then(|| lieferungen.join(", ")),
        menge: position.menge,
        einheit: position.einheit.clone(),
        ep_netto: position.ep_netto,
        rabatt_prozent: position.rabatt_prozent,
        gesamtpreis: position.gesamtpreis,
        steuer_kategorie: position.steuer_kategorie,
        mwst_satz: position.mwst_satz,
        steuerart: ware.steuerart,
        bezeichnung: worte::bezeichnung(position, ware),
        bezeichnung2: position.bezeichnung2.clone(),
        langtext: position.langtext.clone(),
        artikelnummer: ware.artikelnummer.clone(),
        ean: ware.ean.clone(),
        herkunftsland: herkunft(&ware.chargen),
        kostenstelle: position.kostenstelle.clone().filter(|_| art == Rechnungsart::Gutschrift),
        merkmale: worte::merkmale(ware, false)
            .into_iter()
            .map(|(name, wert)| Merkmal { name: name.into(), wert })
            .collect(),
    }
}

/// Returns the computation of a receipt's goods as attributes of its first position (EN 16931 BG-32, D29m).
fn abgerechnet(posten: &AbrechnungsPosten) -> Vec<Merkmal> {
    let rechnung = &posten.rechnung;
    let mut all = vec![
        ("Annahmeschein".to_owned(), posten.belegnummer.clone()),
        ("Anlieferung".to_owned(), format!("{} kg", german(rechnung.brutto_kg, 0))),
    ];
    all.extend(posten.werte.iter().map(|one| (one.merkmal.clone(), german(one.wert, 0))));
    all.extend(posten.geraet.as_ref().map(|geraet| ("Gerät".to_owned(), geraet.clone())));
    all.extend(
        rechnung.grundpreis.map(|preis| ("Grundpreis".to_owned(), format!("{} EUR/t", german(preis, 2)))),
    );
    let rows = rechnung.zeilen.iter().filter(|zeile| zeile.wirkung != Wirkung::Kosten);
    all.extend(rows.map(|zeile| (zeile.text.clone(), amount(zeile.ergebnis))));
    let schema = posten.schema.as_ref().zip(posten.schema_version);
    all.extend(schema.map(|(nummer, version)| ("Schema".to_owned(), format!("{nummer}, Version {version}"))));
    all.into_iter().map(|(name, wert)| Merkmal { name: name.into(), wert }).collect()
}

fn amount(groesse: Groesse) -> String {
    match groesse {
        Groesse::Kg(kg) => format!("{} kg", german(kg, 0)),
        Groesse::JeTonne(preis) => format!("{} EUR/t", german(preis, 2)),
        Groesse::Euro(betrag) => format!("{} EUR", german(betrag, 2)),
    }
}

fn herkunft(partien: &[Partie]) -> Option<String> {
    let mut laender: Vec<_> = partien.iter().map(|partie| &partie.herkunftsland).collect();
    laender.dedup();
    match laender.as_slice() {
        [Some(one)] => Some(one.clone()),
        _ => None,
    }
}

//! The sheet of a document (D25), drawn from the frozen data.

use super::vorlage::Vorlage;
use super::worte;
use crate::master::{laender, tenants};
use crate::papers::blatt::{
    Abschnitt, Angabe, Blatt, Konto, Position, Preis, Steuergruppe, Summen, Zahlrichtung, Zahlung, settled,
};
use crate::papers::erechnung::{self, Partei};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::{BelegTyp, Lagerrolle, Seite};
use crate::rules::fixed::Percent;
use crate::rules::kennnummer::grouped_steuernummer;
use crate::rules::tax::{Steuerart, Steuerkategorie, groups};
use crate::trade::belege::model::BelegPosition;

/// Maximum number of deliveries listed beside the address; the positions list all.
const DELIVERIES_NAMED_MAX: usize = 3;

/// Returns the sheet without its e-invoice.
pub fn sheet(tx: &Tx<'_>, vorlage: &Vorlage<'_>) -> Result<Blatt> {
    let Vorlage { beleg, partner, firma, .. } = vorlage;
    let own = firma.land();
    let [strasse, plz, ort] = [&partner.strasse, &partner.plz, &partner.ort].map(Option::as_deref);
    let contact = beleg.kontaktperson.iter().map(|person| format!("z. Hd. {person}"));
    let mut anschrift = laender::anschrift(&partner.name, strasse, plz, ort, &partner.staat, own);
    anschrift.zeilen.splice(1..1, contact);
    Ok(Blatt {
        titel: format!("{} {}", worte::art(beleg), beleg.beleg_nummer).trim_end().to_owned(),
        untertitel: vorlage
            .storno_von
            .as_ref()
            .map(|original| {
                let (art, nummer) = (worte::art(original), &original.beleg_nummer);
                format!("Storno zu {art} {nummer} vom {}", original.datum().german())
            })
            .or_else(|| settlement(vorlage)),
        datum: beleg.datum(),
        absender: tenants::absender(tx, firma, &partner.staat)?,
        anschrift,
        angaben: angaben(vorlage),
        abschnitte: abschnitte(vorlage)?,
        aufdruck: tenants::aufdruck(tx)?,
        erechnung: None,
    })
}

/// Returns the kind of settlement of a document's receipts; a supplement states it in its items.
fn settlement(vorlage: &Vorlage<'_>) -> Option<String> {
    let first = vorlage.angaben.abrechnung.first()?;
    let text = match first.posten.is_advance() {
        true => "Abschlag auf gelieferte Rohware; abgerechnet wird sie später",
        false => "Endabrechnung gelieferter Rohware",
    };
    Some(text.to_owned())
}

fn angaben(vorlage: &Vorlage<'_>) -> Vec<Angabe> {
    let Vorlage { beleg, partner, angaben, .. } = vorlage;
    let sells = beleg.beleg_typ.seite() == Seite::Verkauf;
    let (number, own_number) = match sells {
        true => ("Kundennummer", "Ihre Bestellung"),
        false => ("Lieferantennummer", "Ihre Belegnummer"),
    };
    let is_offer = beleg.beleg_typ.lagerrolle() == Lagerrolle::Keine;
    let lieferdatum =
        angaben.lieferdatum.filter(|_| !is_offer && worte::has_one_day(vorlage)).map(Day::german);
    let (von, bis) = worte::zeitraum(vorlage);
    let numbers: Vec<_> = angaben.lieferscheine.iter().map(|bezug| bezug.nummer.as_str()).collect();
    let lieferscheine = match numbers.as_slice() {
        [] => None,
        few if few.len() <= DELIVERIES_NAMED_MAX => Some(few.join("\n")),
        many => Some(format!(
            "{}\nund {} weitere",
            many[..DELIVERIES_NAMED_MAX].join("\n"),
            many.len() - DELIVERIES_NAMED_MAX
        )),
    };
    let steuernummer = partner.steuernummer.as_deref().map(grouped_steuernummer);
    let known = [
        ("Datum", Some(beleg.datum().german())),
        (number, partner.kennung.clone()),
        ("Leistungszeitraum", period(von, bis).filter(|days| Some(days) != lieferdatum.as_ref())),
        ("Lieferdatum", lieferdatum),
        ("Liefertermin", beleg.liefertermin.map(|termin| termin.0.german())),
        ("Gültig bis", beleg.gueltig_bis.map(|day| day.0.german())),
        ("Lieferschein", lieferscheine),
        (own_number, beleg.fremdbelegnummer.clone()),
        ("Kontrakt", angaben.kontrakt.clone()),
        // UStG § 14a: on deliveries to other countries of the EU, and where the customer owes the tax.
        ("Ihre USt-IdNr.", partner.ust_id.clone().filter(|_| beleg.beleg_typ.ist_rechnung())),
        ("Ihre Steuernummer", steuernummer.filter(|_| beleg.is_written_for_supplier())),
    ];
    known.into_iter().filter_map(|(name, wert)| Some(Angabe::new(name, wert?))).collect()
}

fn period(von: Option<Day>, bis: Option<Day>) -> Option<String> {
    match (von, bis) {
        (Some(von), Some(bis)) if von != bis => Some(format!("{} – {}", von.german(), bis.german())),
        (one, other) => one.or(other).map(Day::german),
    }
}

fn abschnitte(vorlage: &Vorlage<'_>) -> Result<Vec<Abschnitt>> {
    let Vorlage { beleg, .. } = vorlage;
    let has_prices = beleg.beleg_typ.lagerrolle() != Lagerrolle::Lieferung;
    let text = |text: String| Abschnitt::Text { ueberschrift: None, absaetze: vec![text] };
    let mut abschnitte = Vec::new();
    let [vor, nach] = worte::eigene_texte(vorlage);
    if vorlage.storno_von.is_none() {
        let anrede = vorlage.firma.anrede.clone().filter(|_| has_prices);
        let satz = worte::einleitung(vorlage, anrede.is_some() && vor.is_none());
        let absaetze = [anrede, vor, Some(satz)].into_iter().flatten().collect();
        abschnitte.push(Abschnitt::Text { ueberschrift: None, absaetze });
    }
    let positionen =
        worte::paired(vorlage).map(|(position, ware)| zeile(vorlage, position, ware, has_prices));
    abschnitte.push(Abschnitt::Positionen(positionen.collect()));
    if has_prices {
        abschnitte.push(Abschnitt::Summen(summen(vorlage)?));
        abschnitte
            .extend(begruendungen(vorlage).map(|absaetze| Abschnitt::Text { ueberschrift: None, absaetze }));
    }
    abschnitte.extend(zahlung(vorlage)?);
    abschnitte.extend(beleg.notizen.clone().map(text));
    abschnitte.extend(nach.map(text));
    if let Some(gruss) = vorlage.firma.gruss.as_ref().filter(|_| has_prices && vorlage.storno_von.is_none()) {
        let firma = vorlage.firma.firma.as_deref().unwrap_or_default();
        abschnitte.push(text(format!("{gruss}\n{firma}")));
    }
    let unterschriften: &[&str] = match beleg.beleg_typ {
        BelegTyp::Ls => &["Ware übergeben", "Fahrer", "Ware erhalten: Datum, Unterschrift"],
        BelegTyp::El => &["Ware angenommen", "Anlieferer"],
        _ => &[],
    };
    if !unterschriften.is_empty() {
        let lines = unterschriften.iter().map(|text| (*text).to_owned());
        abschnitte.push(Abschnitt::Unterschriften(lines.collect()));
    }
    abschnitte.extend(abrechnung(vorlage)?);
    Ok(abschnitte)
}

/// Returns the computation of each receipt, row by row, and their total (D29m).
fn abrechnung(vorlage: &Vorlage<'_>) -> Result<Vec<Abschnitt>> {
    let posten: Vec<_> = vorlage.angaben.abrechnung.iter().map(|one| &one.posten).collect();
    let mut abschnitte: Vec<_> =
        posten.iter().map(|posten| Abschnitt::Tabelle(settled::posten(posten))).collect();
    if posten.len() > 1 {
        abschnitte.push(Abschnitt::Tabelle(settled::together(&posten)?));
    }
    Ok(abschnitte)
}

fn zeile(
    vorlage: &Vorlage<'_>,
    position: &BelegPosition,
    ware: &super::angaben::Ware,
    has_prices: bool,
) -> Position {
    let mut merkmale = worte::merkmale(ware, true);
    let lieferungen = vorlage.angaben.lieferungen(ware).iter();
    merkmale.extend(lieferungen.map(|bezug| ("Lieferschein", bezug.to_string())));
    if vorlage.angaben.kontrakt.is_none() {
        merkmale.extend(ware.kontrakt.iter().map(|nummer| ("Kontrakt", nummer.clone())));
    }
    Position {
        nummer: position.position,
        artikelnummer: ware.artikelnummer.clone(),
        bezeichnung: worte::bezeichnung(position, ware),
        bezeichnung2: position.bezeichnung2.clone(),
        langtext: position.langtext.clone(),
        merkmale: merkmale.into_iter().map(|(name, wert)| Angabe::new(name, wert)).collect(),
        menge: position.menge,
        einheit: position.einheit.clone(),
        preis: has_prices.then_some(Preis {
            einzelpreis: position.ep_netto,
            rabatt: position.rabatt_prozent,
            mwst_satz: position.mwst_satz,
            betrag: position.gesamtpreis,
        }),
    }
}

/// Returns the sums by category and rate. Their tax equals the document's, which groups by rate only (D7),
/// because categories other than S have no tax.
fn summen(vorlage: &Vorlage<'_>) -> Result<Summen> {
    let Vorlage { beleg, positionen, .. } = vorlage;
    let taxed = positionen.iter().map(|line| (line.steuer_kategorie, line.mwst_satz, line.gesamtpreis));
    let gruppen = groups(taxed)?.into_iter().map(|gruppe| Steuergruppe {
        satz: gruppe.satz,
        netto: gruppe.netto,
        steuer: gruppe.steuer,
        grund: grund(vorlage, gruppe.merkmal, gruppe.satz).map(str::to_owned),
    });
    Ok(Summen {
        gruppen: gruppen.collect(),
        netto: beleg.summe_netto,
        steuer: beleg.summe_mwst,
        brutto: beleg.summe_brutto,
        bezeichnung: worte::summe(beleg).to_owned(),
    })
}

/// Returns the reason for a group's tax in a few words.
fn grund(vorlage: &Vorlage<'_>, kategorie: Steuerkategorie, satz: Percent) -> Option<&'static str> {
    let of_group = |line: &&(&BelegPosition, &super::angaben::Ware)| {
        (line.0.steuer_kategorie, line.0.mwst_satz) == (kategorie, satz)
    };
    let lines: Vec<_> = worte::paired(vorlage).collect();
    let is_small = |line: &(&BelegPosition, &super::angaben::Ware)| {
        line.1.steuerart == Some(Steuerart::Kleinunternehmer)
    };
    let smalls = lines.iter().filter(of_group).filter(|line| is_small(line)).count();
    match kategorie {
        Steuerkategorie::Steuerpflichtig => {
            let is_flat = vorlage.angaben.durchschnittssaetze.contains(&satz);
            is_flat.then_some("Durchschnittssatz nach § 24 UStG")
        }
        Steuerkategorie::Nullsatz => Some("Nullsteuersatz"),
        Steuerkategorie::Steuerfrei if smalls == lines.iter().filter(of_group).count() => {
            Some("Kleinunternehmer, § 19 UStG")
        }
        Steuerkategorie::Steuerfrei if smalls > 0 => Some("steuerfrei, zum Teil Kleinunternehmer, § 19 UStG"),
        Steuerkategorie::Steuerfrei => Some("steuerfrei"),
        Steuerkategorie::Steuerschuldumkehr => Some("Steuerschuldnerschaft des Leistungsempfängers"),
        Steuerkategorie::IgLieferung => Some("innergemeinschaftliche Lieferung"),
        Steuerkategorie::Ausfuhr => Some("Ausfuhrlieferung"),
        Steuerkategorie::NichtSteuerbar => Some("nicht steuerbar"),
    }
}

/// Returns the statements about an invoice's tax that the law requires, with the same wording as the
/// e-invoice.
fn begruendungen(vorlage: &Vorlage<'_>) -> Option<Vec<String>> {
    if !vorlage.beleg.beleg_typ.ist_rechnung() {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for (position, ware) in worte::paired(vorlage) {
        let (text, _) = erechnung::exemption(position.steuer_kategorie, ware.steuerart);
        let text = text.map(|text| format!("{text}."));
        found.extend(text.filter(|text| !found.contains(text)));
    }
    (!found.is_empty()).then_some(found)
}

/// Returns the account that a Gutschrift is paid to; `None` without a tax number, because it may not be an
/// invoice (UStG § 14 Abs. 4 Nr. 2).
fn konto_of_supplier(partner: &Partei) -> Option<Konto> {
    let is_taxable = partner.ust_id.is_some() || partner.steuernummer.is_some();
    let iban = partner.iban.clone().filter(|_| is_taxable)?;
    Some(Konto { inhaber: partner.name.clone(), iban, bic: partner.bic.clone() })
}

/// Returns how an invoice is paid; a negative one states that it is settled.
fn zahlung(vorlage: &Vorlage<'_>) -> Result<Option<Abschnitt>> {
    let Vorlage { beleg, partner, firma, .. } = vorlage;
    if !beleg.beleg_typ.ist_rechnung() || vorlage.storno_von.is_some() || beleg.summe_brutto.is_zero() {
        return Ok(None);
    }
    if beleg.summe_brutto.is_negative() {
        let absaetze = vec!["Der Betrag wird verrechnet oder erstattet.".to_owned()];
        return Ok(Some(Abschnitt::Text { ueberschrift: None, absaetze }));
    }
    let (richtung, konto) = match beleg.is_written_for_supplier() {
        true => (Zahlrichtung::Absender, konto_of_supplier(partner)),
        false => (Zahlrichtung::Empfaenger, firma.konto()),
    };
    Ok(Some(Abschnitt::Zahlung(Zahlung {
        richtung,
        betrag: beleg.summe_brutto,
        faellig: beleg.faellig(),
        skonto: beleg.skonto()?,
        bedingung: beleg.zahlungsbedingung.clone(),
        konto,
        verwendungszweck: beleg.beleg_nummer.clone(),
    })))
}

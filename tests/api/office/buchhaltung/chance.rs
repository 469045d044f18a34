//! Random documents: the tax that DATEV computes from the lines equals that of the document to the cent, and
//! each difference is reported (D33).

use partnerd::rules::datev::{
    Aufteilung, Automatik, Buchungsbeleg, Buchungsposition, Fall, Funktionsart, Kontierung, zeilen,
};
use partnerd::rules::document::Seite;
use partnerd::rules::fixed::{Money, Percent};
use partnerd::rules::tax::{Gedruckt, GedruckteGruppe};
use serde_json::{Value, json};

use super::{BELEGE, advised, files, kunde, stapel};
use crate::datev::{self, steuer};
use crate::dice::Dice;
use crate::harness::{Client, Server};

fn one_of<T: Clone>(dice: &mut Dice, values: &[T]) -> T {
    dice.pick(values).unwrap()
}

/// A random amount in cents: usually some hundred euros, sometimes 0, rarely negative.
fn cents(dice: &mut Dice) -> i64 {
    let size = one_of(dice, &[1, 100, 10_000, 1_000_000]);
    let cents = dice.below(size * 10) as i64;
    if dice.once_in(6) { -cents } else { cents }
}

/// Returns `n / d` rounded half away from zero.
fn rounded(n: i128, d: i128) -> i128 {
    let half = if n < 0 { -d / 2 } else { d / 2 };
    (n + half) / d
}

const RATES: [i64; 4] = [700, 1_900, 780, 550];

fn beleg(dice: &mut Dice, with_centres: bool) -> Buchungsbeleg {
    let seite = one_of(dice, &[Seite::Verkauf, Seite::Einkauf]);
    let fall = if seite == Seite::Verkauf { Fall::Erloes } else { Fall::Aufwand };
    let sign = one_of(dice, &[1, 1, 1, -1]);
    let position = |dice: &mut Dice| {
        let satz = Percent::from_units(one_of(dice, &RATES) * 10_000);
        let konto = 8_300 + dice.below(5) as i64;
        let automatik = Automatik { art: Funktionsart::Umsatzsteuer, satz: Some(satz) };
        Buchungsposition {
            is_kleinunternehmer: false,
            fall,
            satz: Some(satz),
            mwst_satz: satz,
            konto: Kontierung { konto, bu: None, automatik: Some(automatik) },
            kostenstelle: (with_centres && dice.once_in(3)).then(|| "K1".to_owned()),
            betrag: Money::from_units(sign * cents(dice)),
        }
    };
    let count = 1 + dice.below(8);
    let positionen = (0..count).map(|_| position(dice)).collect();
    Buchungsbeleg { seite, gedruckt: None, positionen }
}

/// For each rate, in cents: the tax of the document, that of its lines, and what the lines book on the partner.
fn compared(beleg: &Buchungsbeleg, aufteilung: Aufteilung) -> (i128, i128, i128, i64) {
    let booked = zeilen(beleg, aufteilung).unwrap();
    let (mut owed, mut found, mut partner) = (0, 0, 0);
    for rate in RATES {
        let satz = Percent::from_units(rate * 10_000);
        let of_rate = beleg.positionen.iter().filter(|position| position.mwst_satz == satz);
        let base: i128 = of_rate.map(|position| i128::from(position.betrag.units())).sum();
        let tax = rounded(base * i128::from(rate), 10_000);
        owed += tax;
        partner -= base + tax;
        for line in booked.zeilen.iter().filter(|line| line.satz == Some(satz)) {
            assert!(line.betrag.units() > 0);
            let sign = if line.soll == (beleg.seite == Seite::Verkauf) { 1 } else { -1 };
            let gross = i128::from(line.betrag.units());
            match line.konto {
                None => {
                    partner += sign * gross;
                    found += sign * rounded(gross * i128::from(rate), i128::from(10_000 + rate));
                }
                Some(_) => assert_eq!(line.bu.as_deref(), Some("40")),
            }
        }
    }
    (owed, found, partner, booked.abweichung.units())
}

#[test]
fn the_tax_of_the_lines_is_that_of_ten_thousand_documents() {
    let mut dice = Dice::new(38);
    let mut split = 0;
    for case in 0..10_000 {
        let beleg = beleg(&mut dice, false);
        let (owed, found, partner, abweichung) = compared(&beleg, Aufteilung::Exakt);
        assert_eq!((owed, partner, abweichung), (found, 0, 0), "case {case}: {beleg:?}");
        let lines = zeilen(&beleg, Aufteilung::Exakt).unwrap().zeilen;
        split += usize::from(lines.iter().any(|line| line.is_aufteilung()));
        // Each account has its net part, however it got there.
        for konto in 8_300..8_305 {
            let of_account = beleg.positionen.iter().filter(|position| position.konto.konto == konto);
            let netto: i64 = of_account.map(|position| position.betrag.units()).sum();
            assert_eq!(net_of(&lines, konto, beleg.seite), netto, "case {case}, account {konto}");
        }
    }
    assert!(split > 1_000, "only {split} documents were split");
}

/// The net that DATEV books on an account, in cents, with the sign of the positions.
fn net_of(lines: &[partnerd::rules::datev::Buchungszeile], konto: i64, seite: Seite) -> i64 {
    let mut net = 0;
    for line in lines {
        let sign = if line.soll == (seite == Seite::Verkauf) { 1 } else { -1 };
        let gross = line.betrag.units();
        let rate = line.satz.map_or(0, |satz| satz.units() / 10_000);
        let tax = rounded(i128::from(gross) * i128::from(rate), i128::from(10_000 + rate)) as i64;
        match line.konto {
            None if line.gegenkonto == konto => net += sign * (gross - tax),
            None => {}
            // This line moves a net part from the first account to the second.
            Some(from) if from == konto => net -= sign * gross,
            Some(_) if line.gegenkonto == konto => net += sign * gross,
            Some(_) => {}
        }
    }
    net
}

#[test]
fn what_differs_is_named_by_the_cent() {
    let mut dice = Dice::new(39);
    let mut named = 0;
    for case in 0..10_000 {
        let mut beleg = beleg(&mut dice, true);
        let aufteilung = one_of(&mut dice, &[Aufteilung::Exakt, Aufteilung::Brutto]);
        let (owed, found, partner, abweichung) = compared(&beleg, aufteilung);
        assert_eq!((found - owed, partner), (i128::from(abweichung), 0), "case {case}: {beleg:?}");
        named += usize::from(abweichung != 0);

        // As printed by a supplier: each sum of a rate is off by up to two cents.
        let mut printed: Vec<GedruckteGruppe> = Vec::new();
        for rate in RATES {
            let mwst_satz = Percent::from_units(rate * 10_000);
            let base: i64 =
                beleg.positionen.iter().filter(|p| p.mwst_satz == mwst_satz).map(|p| p.betrag.units()).sum();
            let tax = rounded(i128::from(base) * i128::from(rate), 10_000) as i64;
            if beleg.positionen.iter().any(|position| position.mwst_satz == mwst_satz) {
                let mut off = || dice.below(5) as i64 - 2;
                let [basis, steuer] = [base + off(), tax + off()].map(Money::from_units);
                printed.push(GedruckteGruppe { mwst_satz, basis, steuer });
            }
        }
        let sum: i64 = printed.iter().map(|group| group.basis.units() + group.steuer.units()).sum();
        beleg.gedruckt = Some(Gedruckt(printed));
        let booked = zeilen(&beleg, aufteilung).unwrap();
        let signed = |line: &partnerd::rules::datev::Buchungszeile| match line.soll
            == (beleg.seite == Seite::Verkauf)
        {
            true => line.betrag.units(),
            false => -line.betrag.units(),
        };
        let booked: i64 = booked.zeilen.iter().filter(|line| !line.is_aufteilung()).map(signed).sum();
        assert_eq!(booked, sum, "case {case}: {beleg:?}");
    }
    assert!(named > 500, "only {named} documents differ");
}

/// Creates documents of October, some of them cancelled; returns the number of each, the amount booked on its
/// partner and its tax, in cents.
pub fn documents(mill: &Client, seed: u64, count: usize) -> Vec<(String, i64, i64)> {
    let partner = kunde(mill, json!({"partner_typen": ["kunde", "lieferant"]}));
    let mut dice = Dice::new(seed);
    let mut expected: Vec<(String, i64, i64)> = Vec::new();
    for case in 0..count {
        let typ = one_of(&mut dice, &["RE", "RE", "ER"]);
        let articles: &[(&str, &str)] = if typ == "RE" {
            &[("A", "7"), ("B", "7"), ("C", "7"), ("A", "19")]
        } else {
            &[("W", "7.8"), ("R", "7.8"), ("P", "19"), ("A", "19")]
        };
        let items: Vec<Value> = (0..1 + dice.below(5))
            .map(|_| {
                let (artikel, satz) = one_of(&mut dice, articles);
                let cents = cents(&mut dice);
                let price = format!(
                    "{}{}.{:02}",
                    if cents < 0 { "-" } else { "" },
                    cents.abs() / 100,
                    cents.abs() % 100
                );
                json!({"artikelnr": artikel, "menge": 1, "ep_netto": price, "mwst_satz": satz})
            })
            .collect();
        let mut body = json!({"beleg_typ": typ, "kunden_id": partner,
            "beleg_datum": format!("2026-10-{:02}", 1 + case % 27), "items": items});
        if typ == "ER" {
            body["fremdbelegnummer"] = format!("F-{case}").into();
        }
        let answer = mill.post(BELEGE, body);
        answer.is(201);
        let mut documents = vec![answer.id()];
        if dice.once_in(6) {
            let storno = mill.post(&format!("{BELEGE}/{}/storno", answer.id()), json!({"grund": "Probe"}));
            documents.push(storno.is(200)["storno_beleg_id"].as_str().unwrap().to_owned());
        }
        for id in documents {
            let beleg = mill.get(&format!("{BELEGE}/{id}"));
            let amount = |feld: &str| -> i64 {
                beleg.is(200)[feld].as_str().unwrap().replace('.', "").parse().unwrap()
            };
            let sign = if typ == "RE" { 1 } else { -1 };
            let number = beleg.is(200)["beleg_nummer"].as_str().unwrap().to_owned();
            expected.push((number, sign * amount("summe_brutto"), amount("summe_mwst")));
        }
    }
    expected
}

/// The same over HTTP, with the checker reading the file: documents, credits and cancelled ones.
#[test]
fn the_files_of_random_documents_pass_the_checker_with_their_tax() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let expected = documents(&mill, 40, 120);
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    made.is(201);
    let files = files(&mill, &made.id());
    let (_, bytes) = files.iter().find(|(name, _)| name.contains("Buchungsstapel")).unwrap();
    let file = datev::check(bytes, &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
    let (items, taxes) = (steuer::open_items(&file), steuer::recompute(&file).unwrap());
    for (number, open, tax) in expected {
        let of_document = |beleg: &steuer::Beleg| beleg.nummer == number;
        let found: i64 = items.iter().filter(|(beleg, _)| of_document(beleg)).map(|(_, cents)| cents).sum();
        assert_eq!(found, open, "{number}");
        let found: i64 =
            taxes.iter().filter(|(posten, _)| of_document(&posten.beleg)).map(|(_, sum)| sum.steuer).sum();
        assert_eq!(found.abs(), tax.abs(), "{number}");
    }
}

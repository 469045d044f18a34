//! Random documents, the same ones for the same seed.

use std::borrow::Cow;

use partnerd::papers::erechnung::{
    Bezug, Kontakt, Merkmal, Partei, Position, Rechnung, Skonto, Zahlungsbedingungen,
};
use partnerd::rules::day::Day;
use partnerd::rules::document::{Profil, Rechnungsart};
use partnerd::rules::fixed::{Money, Percent, Price, Quantity};
use partnerd::rules::price::line_total;
use partnerd::rules::tax::{Steuerart, Steuerkategorie};

/// Marsaglia's xorshift64*.
pub struct Zufall(u64);

impl Zufall {
    pub fn new(seed: u64) -> Zufall {
        Zufall(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % end
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn between(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to.abs_diff(from) + 1) as i64
    }

    pub fn of<'a, T>(&mut self, table: &'a [T]) -> &'a T {
        &table[self.below(table.len() as u64) as usize]
    }

    fn some<T>(&mut self, value: impl FnOnce(&mut Zufall) -> T) -> Option<T> {
        if self.one_in(2) { Some(value(self)) } else { None }
    }
}

const WORDS: &[&str] = &[
    "Weizen",
    "Körnermais",
    "Öko-Dinkel",
    "Größe 3",
    "<b>fett</b>",
    "Müller & Söhne",
    "Ελαιόλαδο",
    "Пшеница",
    "50 %",
    "Zrník č. 7",
    "\"Gelbe\" Erbse",
    "'s Brot",
    "]]>",
    "Fracht frei Hof",
    "\u{b}Zeile\u{0}",
    "a\r\nb",
    "𝔘nicode",
    "#x#",
    "\u{a0}",
    "Şeker",
    "Æble",
    "żyto",
    "TAGE=14",
];

/// Some words, at most 4,000 characters.
fn text(z: &mut Zufall) -> String {
    let many = if z.one_in(20) { 500 } else { 5 };
    let words: Vec<&str> = (0..=z.below(many)).map(|_| *z.of(WORDS)).collect();
    let text = words.join(if z.one_in(3) { "\n" } else { " " });
    format!("x{}", text.chars().take(3_999).collect::<String>())
}

fn name(z: &mut Zufall) -> String {
    text(z).chars().take(255).collect()
}

fn day(z: &mut Zufall) -> Day {
    Day::of_number(z.between(20_000, 21_500))
}

pub fn partei(z: &mut Zufall) -> Partei {
    Partei {
        kennung: z.some(|z| format!("K{}", z.below(100_000))),
        name: name(z),
        registernummer: z.some(|z| format!("HRB {}", z.below(10_000))),
        rechtliches: z.some(text),
        strasse: Some(name(z)),
        plz: Some(format!("{:05}", z.below(100_000))),
        ort: Some(name(z)),
        staat: (*z.of(&["DE", "DE", "DE", "AT", "GR", "PL", "CH", "XI", "US"])).to_owned(),
        ust_id: Some((*z.of(&["DE123456789", "at u12345678", "EL123456789", "XI123456789"])).to_owned()),
        steuernummer: z.some(|_| "123/456/78901".to_owned()),
        e_adresse: Some((*z.of(&["post@hof.example", "0204:991-01234-56", "0088:4012345000009"])).to_owned()),
        kontakt: Kontakt {
            name: Some(name(z)),
            telefon: Some("+49 5341 / 12345".to_owned()),
            email: Some("eva.meier@muehle.example".to_owned()),
        },
        iban: Some((*z.of(&["DE89 3704 0044 0532 0130 00", "at611904300234573201"])).to_owned()),
        bic: z.some(|_| "COBADEFFXXX".to_owned()),
        kontoinhaber: z.some(name),
    }
}

fn kategorie(z: &mut Zufall) -> (Steuerkategorie, Percent) {
    const RATES: &[i64] =
        &[7_000_000, 19_000_000, 7_800_000, 5_000_000, 16_000_000, 100_000_000, 500_000, 33_333_333];
    use Steuerkategorie::{Ausfuhr, IgLieferung, Nullsatz, Steuerfrei, Steuerpflichtig, Steuerschuldumkehr};
    if z.one_in(4) {
        (*z.of(&[Ausfuhr, IgLieferung, Nullsatz, Steuerfrei, Steuerschuldumkehr]), Percent::ZERO)
    } else {
        (Steuerpflichtig, Percent::from_units(*z.of(RATES)))
    }
}

/// A quantity, a price and a discount whose total is below the limit.
fn betrag(z: &mut Zufall) -> (Quantity, Price, Percent, Money) {
    loop {
        let size =
            *z.of(&[10i64, 1_000, 1_000_000, 1_000_000_000, 100_000_000_000_000, 999_999_999_999_999_999]);
        let menge = Quantity::from_units(z.between(-size, size * 2));
        let size = *z.of(&[100i64, 10_000_000, 10_000_000_000, 1_000_000_000_000_000]);
        let preis = Price::from_units(z.between(-size / 4, size));
        let rabatt = match z.below(6) {
            0 => Percent::from_units(z.between(0, Percent::whole(100).units())),
            1 => Percent::whole(z.between(0, 100)),
            _ => Percent::ZERO,
        };
        let (Ok(_), Ok(total)) = (line_total(menge, preis, Percent::ZERO), line_total(menge, preis, rabatt))
        else {
            continue;
        };
        // A thousand of them stay below the limit of a sum.
        if menge.units().unsigned_abs() < 1_000_000_000_000_000_000 && total.units().abs() < 50_000_000_000 {
            return (menge, preis, rabatt, total);
        }
    }
}

fn position(z: &mut Zufall, position: i64) -> Position {
    const UNITS: &[&str] =
        &["t", "kg", "Stück", "Sack", "Karton", "Pal", "l", "m3", "h", "km", "pauschal", "Bund", ""];
    const EANS: &[&str] = &["4006381333931", "4006381333932", "96385074", "0000"];
    let (menge, ep_netto, rabatt_prozent, gesamtpreis) = betrag(z);
    let (steuer_kategorie, mwst_satz) = kategorie(z);
    let merkmal = |z: &mut Zufall| Merkmal { name: Cow::Borrowed("Charge"), wert: name(z) };
    Position {
        steuerart: *z.of(STEUERARTEN),
        position,
        bemerkung: z.some(text),
        menge,
        einheit: z.some(|z| (*z.of(UNITS)).to_owned()),
        ep_netto,
        rabatt_prozent,
        gesamtpreis,
        steuer_kategorie,
        mwst_satz,
        bezeichnung: name(z),
        bezeichnung2: z.some(name),
        langtext: z.some(text),
        artikelnummer: z.some(|z| format!("A{}", z.below(10_000))),
        ean: z.some(|z| (*z.of(EANS)).to_owned()),
        herkunftsland: z.some(|z| (*z.of(&["DE", "UA", "SS", "Deutschland"])).to_owned()),
        kostenstelle: z.some(|_| "4711".to_owned()),
        merkmale: (0..z.below(4)).map(|_| merkmal(z)).collect(),
    }
}

fn zahlung(z: &mut Zufall) -> Zahlungsbedingungen {
    const SKONTO: &[i64] = &[2_000_000, 2_250_000, 2_125_000, 0, 100_000_000];
    let skonto =
        |z: &mut Zufall| Skonto { tage: z.between(0, 60), prozent: Percent::from_units(*z.of(SKONTO)) };
    Zahlungsbedingungen {
        ziel_tage: z.some(|z| z.between(0, 365)),
        text: z.some(|z| if z.one_in(3) { "# #SKONTO#TAGE=14#\n#".to_owned() } else { name(z) }),
        skonto: z.some(skonto),
    }
}

const STEUERARTEN: &[Option<Steuerart>] =
    &[None, Some(Steuerart::Regel), Some(Steuerart::Pauschal24), Some(Steuerart::Kleinunternehmer)];

/// A document with everything that its e-invoice needs.
pub fn rechnung(z: &mut Zufall) -> Rechnung {
    let lines = if z.one_in(50) { 300 } else { 8 };
    let mut positionen: Vec<Position> = (0..=z.below(lines)).map(|at| position(z, at as i64 + 1)).collect();
    if z.one_in(20) {
        for position in &mut positionen {
            (position.steuer_kategorie, position.mwst_satz) =
                (Steuerkategorie::NichtSteuerbar, Percent::ZERO);
        }
    }
    let (mut verkaeufer, mut kaeufer) = (partei(z), partei(z));
    // An invoice outside the scope of tax shows this instead of the VAT id.
    verkaeufer.steuernummer.get_or_insert_with(|| "123/456/78901".to_owned());
    if z.one_in(3) {
        kaeufer.iban = None;
    }
    let art = *z.of(&[Rechnungsart::Rechnung, Rechnungsart::Rechnung, Rechnungsart::Gutschrift]);
    let period = z.some(|z| (day(z), z.below(40)));
    let (leistung_von, leistung_bis) = period
        .map_or((None, None), |(von, days)| (Some(von), Some(Day::of_number(von.number() + days as i64))));
    Rechnung {
        gewuenscht: *z.of(&[Profil::Zugferd, Profil::XRechnung]),
        art,
        nummer: format!("RE-2026-{:05}", z.below(100_000)),
        datum: day(z),
        storno_von: if z.one_in(4) {
            Some(Bezug { nummer: "RE-2026-00001".to_owned(), datum: day(z) })
        } else {
            None
        },
        berichtigt: (0..z.below(3))
            .map(|at| Bezug { nummer: format!("RE-2026-0000{at}"), datum: day(z) })
            .collect(),
        vorausgegangen: Vec::new(),
        lieferdatum: if leistung_von.is_some() && z.one_in(2) { None } else { Some(day(z)) },
        leistung_von,
        leistung_bis,
        zahlung: zahlung(z),
        kaeuferreferenz: Some(name(z)),
        kontrakt: z.some(name),
        bestellnummer: z.some(name),
        lieferschein: z.some(name),
        bemerkungen: (0..z.below(3)).map(|_| text(z)).collect(),
        durchschnittssatz: z.one_in(4),
        verkaeufer,
        kaeufer,
        positionen,
    }
}

/// Removes something from a document, or spoils it.
pub fn spoil(z: &mut Zufall, rechnung: &mut Rechnung) {
    for _ in 0..=z.below(3) {
        if z.one_in(2) {
            let partei = if z.one_in(2) { &mut rechnung.verkaeufer } else { &mut rechnung.kaeufer };
            spoil_party(z, partei);
        } else {
            spoil_document(z, rechnung);
        }
    }
}

fn spoil_party(z: &mut Zufall, partei: &mut Partei) {
    let nothing = z.of(&[None, Some(""), Some(" \n"), Some("\u{1}\u{ffff}")]).map(str::to_owned);
    match z.below(16) {
        0 => partei.kennung = nothing,
        1 => partei.name = nothing.unwrap_or_default(),
        2 => partei.registernummer = nothing,
        3 => partei.strasse = nothing,
        4 => partei.plz = nothing,
        5 => partei.ort = nothing,
        6 => partei.staat = (*z.of(&["SS", "", "de", "Deutschland", "EL", "1A"])).to_owned(),
        7 => partei.ust_id = nothing,
        8 => partei.ust_id = Some((*z.of(&["123456789", "DE", "SS1234", "ÄÖ1", "X", " D E "])).to_owned()),
        9 => partei.steuernummer = nothing,
        10 => partei.e_adresse = nothing,
        11 => {
            partei.e_adresse =
                Some((*z.of(&["muehle.example", "9999:1", "0204:", "0204: ", ":", "@"])).to_owned())
        }
        12 => partei.kontakt.name = nothing,
        13 => partei.kontakt.telefon = Some((*z.of(&["", "12", "keines", "1 2-3"])).to_owned()),
        14 => partei.kontakt.email = Some((*z.of(&["", "eva", "eva@@hof.example"])).to_owned()),
        _ => partei.iban = Some((*z.of(&["", "DE8937040044053201300", "DE00370400440532013000"])).to_owned()),
    }
}

fn spoil_document(z: &mut Zufall, rechnung: &mut Rechnung) {
    let at = z.below(rechnung.positionen.len().max(1) as u64) as usize;
    let position = rechnung.positionen.get_mut(at);
    match (z.below(9), position) {
        (0, _) => rechnung.nummer = (*z.of(&["", " ", "\u{1}"])).to_owned(),
        (1, _) => rechnung.positionen.clear(),
        (2, _) => (rechnung.lieferdatum, rechnung.leistung_von) = (None, None),
        (3, _) => (rechnung.leistung_von, rechnung.leistung_bis) = (Some(day(z)), Some(day(z))),
        (4, _) => rechnung.kaeuferreferenz = None,
        (5, Some(position)) => position.bezeichnung = (*z.of(&["", "\t\r\n ", "\u{c}"])).to_owned(),
        (6, Some(position)) => {
            position.mwst_satz = Percent::from_units(*z.of(&[0, 1, 499_999, 500_000, 7_000_000]))
        }
        (7, Some(position)) => position.steuer_kategorie = *z.of(partnerd::rules::choice::Choice::ALL),
        (_, Some(position)) => position.gesamtpreis = Money::from_units(z.between(-10_000, 10_000)),
        _ => {}
    }
}

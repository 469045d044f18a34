//! Positions on a sheet, measured by `pdftotext -bbox`: aligned figures, and what stays together on one page.

use std::fs;
use std::path::Path;

use partnerd::papers::blatt::{Abschnitt, Absender, Blatt};

use super::{File, drawn, samples};
use crate::programs::needs;

/// A tenth of a millimetre, in points.
const TENTH: f32 = 0.1 * 72.0 / 25.4;
/// Numbers whose decimal signs are closer than this should be aligned: columns are further apart.
const SAME_COLUMN: f32 = 8.0;
/// The widths of a digit and of the decimal comma, and the height of the box of a number in a table, at its
/// font size of 8.6.
const FIGURE: f32 = 4.9173;
const COMMA: f32 = 2.108;
const CELL: f32 = 8.646;

struct Word {
    text: String,
    left: f32,
    top: f32,
    right: f32,
    height: f32,
}

/// The words of each page.
fn words(file: &File) -> Vec<Vec<Word>> {
    let told = String::from_utf8(file.told_by("pdftotext", &["-bbox", "{}", "-"])).unwrap();
    let pages = told.split("<page ").skip(1);
    pages.map(|page| page.lines().filter(|line| line.contains("<word ")).map(word).collect()).collect()
}

fn word(line: &str) -> Word {
    let side = |name: &str| -> f32 {
        let rest = line.split_once(&format!("{name}=\"")).unwrap().1;
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let text = line.split_once("\">").unwrap().1.split_once('<').unwrap().0.to_owned();
    let (top, bottom) = (side("yMin"), side("yMax"));
    Word { text, left: side("xMin"), top, right: side("xMax"), height: bottom - top }
}

/// The position of the decimal sign of a number in a table, or where it would be.
fn decimal_sign(word: &Word) -> Option<f32> {
    let is_number = word.text.chars().all(|letter| matches!(letter, '0'..='9' | '.' | ',' | '\u{2212}'));
    if !is_number || (word.height - CELL).abs() > 0.05 || word.left < 90.0 {
        return None;
    }
    let decimals = word.text.split_once(',').map_or(0, |(_, decimals)| decimals.len());
    Some(word.right - decimals as f32 * FIGURE - if decimals > 0 { COMMA } else { 0.0 })
}

#[test]
fn figures_of_a_column_stand_under_each_other_to_the_tenth_of_a_millimetre() {
    needs!("pdftotext");
    for (name, blatt) in samples::all() {
        let (mut compared, mut ends) = (0, 0);
        for page in words(&drawn(&blatt).1) {
            // Each table has its own columns; these headings begin one.
            let begins = ["Umsatzsteuer", "Untersuchung", "Preis"];
            let begins = page.iter().filter(|word| begins.contains(&word.text.as_str())).map(|word| word.top);
            let begins: Vec<f32> = begins.collect();
            let table = |word: &Word| begins.iter().filter(|top| word.top > **top).count();
            let mut numbers: Vec<(usize, f32, &Word)> =
                page.iter().filter_map(|word| Some((table(word), decimal_sign(word)?, word))).collect();
            numbers.sort_by(|(one, x, _), (other, y, _)| one.cmp(other).then(x.total_cmp(y)));
            for pair in numbers.windows(2) {
                let [(one, x, first), (other, y, second)] = pair else { continue };
                if one != other || y - x > SAME_COLUMN {
                    continue;
                }
                compared += 1;
                assert!(y - x < TENTH, "{name}: {} and {} are {} pt apart", first.text, second.text, y - x);
                let decimals = |word: &Word| word.text.split_once(',').map(|(_, decimals)| decimals.len());
                if decimals(first) == decimals(second) {
                    ends += 1;
                    assert!((first.right - second.right).abs() < TENTH, "{name}: {}", first.text);
                }
            }
        }
        let has_columns = ["rechnung", "storno", "lang", "annahmeschein"].contains(&name);
        assert!(!has_columns || compared > 5 && ends > 2, "{name}: only {compared} and {ends} compared");
    }
}

#[test]
fn payment_and_greeting_never_stand_alone_on_a_page() {
    needs!("pdftotext");
    let mut broken = 0;
    for count in 1..=30 {
        let mut blatt = samples::lang(count);
        let text = |text: &str| Abschnitt::Text { ueberschrift: None, absaetze: vec![text.to_owned()] };
        blatt.abschnitte.extend([text("Es gelten unsere Bedingungen."), text("Herzliche Grüße")]);
        let pages = words(&drawn(&blatt).1);
        broken += usize::from(pages.len() > 1);
        let on = |wanted: &str| pages.iter().position(|page| page.iter().any(|word| word.text == wanted));
        let last = on("Verwendungszweck");
        for word in ["Rechnungsbetrag", "Code", "Bedingungen.", "Grüße"] {
            assert_eq!(on(word), last, "{count} positions: {word}");
        }
        let last_row = |word: &Word| word.text == count.to_string() && word.left < 71.0 && word.height < 9.0;
        assert!(pages[last.unwrap()].iter().any(last_row), "{count} positions: sums stand alone");
        assert_eq!(last, Some(pages.len() - 1), "{count}");
    }
    assert!((10..30).contains(&broken), "{broken} of them have several pages");
}

#[test]
fn a_price_has_its_unit_beside_it() {
    needs!("pdftotext");
    let text = drawn(&samples::rechnung()).1.text().replace('\u{a0}', " ");
    for row in ["412,50 €/t", "31,90 €/Sack", "0,3245 €/kg", "85,00 €"] {
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains(row), "{row} is not in {squeezed}");
    }
    assert!(!text.contains("€/pauschal"), "a lump sum is no unit of a price");
}

#[test]
fn the_name_does_not_stand_beside_a_logo_that_says_it() {
    needs!("pdftotext");
    let logo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logo/farbe.png");
    let logo = fs::read(logo).unwrap();
    let named = |logo: Option<Vec<u8>>, name_im_logo: bool| {
        let absender = Absender { logo, name_im_logo, ..samples::absender() };
        let pages = words(&drawn(&Blatt { absender, ..samples::rechnung() }).1);
        pages[0].iter().any(|word| word.text == "Steinbach" && word.height > 12.0)
    };
    assert!(named(None, false) && named(Some(logo.clone()), false));
    assert!(named(None, true), "without a logo the name is needed");
    assert!(!named(Some(logo), true));
}

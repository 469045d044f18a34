//! Sheets as seen by other programs: `qpdf` checks the file and extracts the e-invoice, `pdftotext` reads the
//! text, `pdfinfo` the tags.

mod brief;
mod samples;
mod satz;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::needs;
use partnerd::papers::blatt::{
    Abschnitt, Angabe, Aufdruck, Blatt, DrawError, Drawn, LogoError, PAGES_MAX, Wert, check_logo, draw,
};
use partnerd::rules::day::Day;
use partnerd::rules::document::Profil;
use partnerd::rules::fixed::Money;
use tempfile::TempDir;

/// A sheet in a file.
struct File {
    path: PathBuf,
    _folder: TempDir,
}

impl File {
    fn of(drawn: &Drawn) -> File {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("blatt.pdf");
        fs::write(&path, &drawn.pdf).unwrap();
        File { path, _folder: folder }
    }

    /// The output of a program for the file; `{}` among its arguments is the file.
    fn told_by(&self, program: &str, arguments: &[&str]) -> Vec<u8> {
        let path =
            |argument: &&str| if *argument == "{}" { self.path.clone() } else { PathBuf::from(argument) };
        let output = Command::new(program).args(arguments.iter().map(path)).output().unwrap();
        // poppler reports the `/Suspects false` of PDF/UA as an error; qpdf decides whether the file is valid.
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && (program != "qpdf" || errors.is_empty()), "{program}: {errors}");
        output.stdout
    }

    fn text(&self) -> String {
        String::from_utf8(self.told_by("pdftotext", &["-layout", "{}", "-"])).unwrap()
    }

    /// The text in the order of drawing, without blanks and line ends.
    fn letters(&self) -> String {
        let text = String::from_utf8(self.told_by("pdftotext", &["-raw", "{}", "-"])).unwrap();
        text.chars().filter(|letter| !letter.is_whitespace()).collect()
    }

    fn check(&self) {
        let told = String::from_utf8(self.told_by("qpdf", &["--check", "{}"])).unwrap();
        assert!(told.contains("No syntax or stream encoding errors found"), "{told}");
    }
}

/// The hints about what a sheet cannot show.
fn hints(drawn: &Drawn) -> Vec<&str> {
    drawn.hinweise.iter().map(|hint| hint.message.as_str()).collect()
}

fn drawn(blatt: &Blatt) -> (Drawn, File) {
    let drawn = draw(blatt).unwrap();
    let file = File::of(&drawn);
    (drawn, file)
}

/// Formats an amount as in a German letter, implemented independently of the code under test.
fn euro(amount: Money) -> String {
    let cents = amount.units().abs();
    let mut groups = Vec::new();
    let mut rest = cents / 100;
    while rest >= 1000 {
        groups.push(format!("{:03}", rest % 1000));
        rest /= 1000;
    }
    groups.push(rest.to_string());
    groups.reverse();
    let sign = if amount.is_negative() { "\u{2212}" } else { "" };
    format!("{sign}{},{:02}", groups.join("."), cents % 100)
}

/// All amounts of a sheet.
fn amounts(blatt: &Blatt) -> Vec<Money> {
    let mut amounts = Vec::new();
    for abschnitt in &blatt.abschnitte {
        match abschnitt {
            Abschnitt::Positionen(positionen) => {
                amounts.extend(
                    positionen.iter().filter_map(|position| position.preis).map(|preis| preis.betrag),
                );
            }
            Abschnitt::Summen(summen) => {
                amounts.extend([summen.netto, summen.steuer, summen.brutto]);
                amounts.extend(summen.gruppen.iter().flat_map(|gruppe| [gruppe.netto, gruppe.steuer]));
            }
            Abschnitt::Zahlung(zahlung) => {
                amounts.push(zahlung.betrag);
                amounts.extend(zahlung.skonto.map(|skonto| skonto.betrag));
            }
            Abschnitt::Tabelle(tabelle) => {
                let cells = tabelle.zeilen.iter().flat_map(|zeile| &zeile.zellen);
                amounts.extend(cells.filter_map(|wert| match wert {
                    Wert::Betrag(betrag) => Some(*betrag),
                    _ => None,
                }));
            }
            Abschnitt::Text { .. } | Abschnitt::Unterschriften(_) => {}
        }
    }
    amounts
}

#[test]
fn every_kind_of_sheet_is_a_sound_file_that_says_all_its_amounts() {
    needs!("qpdf", "pdftotext");
    for (name, blatt) in samples::all() {
        let (drawn, file) = drawn(&blatt);
        file.check();
        if let Some(folder) = std::env::var_os("PARTNERD_SHEETS") {
            fs::copy(&file.path, Path::new(&folder).join(format!("{name}.pdf"))).unwrap();
        }
        assert_eq!(hints(&drawn), [""; 0], "{name}");
        let text = file.text();
        let found: HashSet<_> =
            text.split_whitespace().map(|word| word.trim_end_matches(['.', ';'])).collect();
        for amount in amounts(&blatt) {
            assert!(found.contains(euro(amount).as_str()), "{name} lacks {}", euro(amount));
        }
        for line in blatt
            .anschrift
            .zeilen
            .iter()
            .chain(&blatt.anschrift.ort)
            .chain([&blatt.titel, &blatt.absender.firma])
        {
            assert!(text.contains(line), "{name} lacks {line}");
        }
        for Angabe { name: label, wert } in &blatt.angaben {
            assert!(
                text.contains(label) && wert.lines().all(|line| text.contains(line)),
                "{name} lacks {label}"
            );
        }
        for page in 1..=drawn.pages {
            assert!(text.contains(&format!("Seite {page} von {}", drawn.pages)), "{name}, page {page}");
        }
    }
}

#[test]
fn a_position_says_what_is_known_of_its_goods() {
    needs!("pdftotext");
    let (_, file) = drawn(&samples::rechnung());
    let text = file.text();
    let facts = [
        "Weizenmehl Type 550",
        "lose, Silozug",
        "Charge\u{a0}W-2026-1147",
        "MHD\u{a0}30.06.2027",
        "Kontrollstelle\u{a0}DE-ÖKO-006",
        "Gebinde zu 25 kg auf Europalette, foliert.",
        "24,860",
        "412,50",
        "1.250,5",
        "0,3245",
        "Bei Zahlung bis 02.12.2026 abzüglich 2\u{a0}% Skonto: 12.391,59\u{a0}€.",
        "Zahlbar bis 22.12.2026 ohne Abzug: 12.644,48\u{a0}€.",
        "DE02\u{a0}1203\u{a0}0000\u{a0}0000\u{a0}2020\u{a0}51",
    ];
    let plain = |text: &str| text.replace('\u{a0}', " ");
    for fact in facts {
        assert!(plain(&text).contains(&plain(fact)), "{fact} is not in\n{text}");
    }
    let (_, file) = drawn(&samples::storno());
    assert!(file.text().contains("Storno zu Rechnung RE-2026-000123 vom 22.11.2026"));
    let (_, file) = drawn(&samples::annahmeschein());
    let text = file.text();
    let lines = [
        "Rundung \u{2212}0,11 kg",
        "Besatz 2,80 % 2,00 % 0,80 % \u{2212}198,88 kg",
        "Abrechnungsmenge 24.116 kg",
    ];
    for line in lines {
        let found = text.lines().any(|found| {
            let words: Vec<_> = found.split_whitespace().collect();
            words.join(" ") == line
        });
        assert!(found, "{line} is not in\n{text}");
    }
}

#[test]
fn the_same_sheet_has_the_same_bytes() {
    for (name, blatt) in samples::all() {
        assert!(draw(&blatt).unwrap().pdf == draw(&blatt).unwrap().pdf, "{name}");
    }
    let other = Blatt { datum: Day::new(2026, 11, 23), ..samples::rechnung() };
    assert!(draw(&other).unwrap().pdf != draw(&samples::rechnung()).unwrap().pdf);
}

#[test]
fn the_e_invoice_comes_out_as_it_went_in_and_is_announced() {
    needs!("qpdf", "pdfinfo");
    for (profil, level) in [(Profil::Zugferd, "EN 16931"), (Profil::XRechnung, "XRECHNUNG")] {
        let mut blatt = samples::hybrid();
        // No text can be taken for a part of the file format.
        blatt.titel =
            "Rechnung <?xpacket /Type/Metadata/Subtype/XML>> stream startxref </rdf:RDF>".to_owned();
        let erechnung = blatt.erechnung.as_mut().unwrap();
        erechnung.profil = profil;
        let xml = erechnung.xml.clone();
        let (drawn, file) = drawn(&blatt);
        file.check();
        assert!(file.told_by("qpdf", &["--show-attachment=factur-x.xml", "{}"]) == xml);
        let pdf = String::from_utf8_lossy(&drawn.pdf);
        assert!(pdf.contains("/AFRelationship/Alternative"), "{level}");
        let metadata = String::from_utf8(file.told_by("pdfinfo", &["-meta", "{}"])).unwrap();
        for (name, value) in [
            ("DocumentType", "INVOICE"),
            ("DocumentFileName", "factur-x.xml"),
            ("Version", "1.0"),
            ("ConformanceLevel", level),
        ] {
            let property = format!("<fx:{name}>{value}</fx:{name}>");
            assert_eq!(metadata.matches(&property).count(), 1, "{property}");
            let described = format!("<pdfaProperty:name>{name}</pdfaProperty:name>");
            assert_eq!(metadata.matches(&described).count(), 1, "{described}");
        }
        assert!(metadata.contains("<pdfaid:part>3</pdfaid:part>") && metadata.contains("<pdfuaid:part>1<"));
        assert!(metadata.trim_end().ends_with("<?xpacket end=\"r\"?>"), "{metadata}");
    }
    assert!(!String::from_utf8_lossy(&draw(&samples::rechnung()).unwrap().pdf).contains("factur-x"));
}

/// The structure of a sheet: one element per line, with its depth.
fn structure(file: &File) -> Vec<(usize, String)> {
    let told = String::from_utf8(file.told_by("pdfinfo", &["-struct", "{}"])).unwrap();
    let line = |line: &str| {
        let name = line.trim_start();
        (line.len() - name.len(), name.split([' ', '"', ':']).next().unwrap_or_default().to_owned())
    };
    told.lines().map(line).collect()
}

#[test]
fn tables_are_tagged_with_as_many_cells_in_each_row() {
    needs!("pdfinfo");
    for (name, blatt) in samples::all() {
        let (_, file) = drawn(&blatt);
        let elements = structure(&file);
        let count = |wanted: &str| elements.iter().filter(|(_, name)| name == wanted).count();
        let tables = blatt.abschnitte.iter().filter(|abschnitt| {
            matches!(abschnitt, Abschnitt::Positionen(_) | Abschnitt::Summen(_) | Abschnitt::Tabelle(_))
        });
        assert_eq!(count("Table"), tables.count(), "{name}");
        assert_eq!(count("H1"), 1, "{name}");
        // The cells of the rows, table by table; the first row has the headings.
        for table in elements.split(|(_, element)| element == "Table").skip(1) {
            let cells =
                |row: &[(usize, String)], kind: &str| row.iter().filter(|(_, name)| name == kind).count();
            let rows: Vec<_> = table.split(|(_, element)| element == "TR").skip(1).collect();
            let columns = cells(rows[0], "TH");
            assert!(columns > 1 && rows.len() > 1, "{name}");
            assert!(rows[1..].iter().all(|row| cells(row, "TD") == columns), "{name}: {rows:?}");
        }
    }
}

#[test]
fn a_long_document_repeats_its_headings_and_carries_its_sum_over() {
    needs!("pdftotext");
    let blatt = samples::lang(1000);
    let (drawn, file) = drawn(&blatt);
    assert!((60..140).contains(&drawn.pages), "{} pages", drawn.pages);
    let text = file.text();
    let pages: Vec<_> = text.split('\u{c}').collect();
    let carried = |page: &str| -> Vec<String> {
        let lines = page.lines().filter(|line| line.trim().starts_with("Übertrag"));
        lines.map(|line| line.split_whitespace().last().unwrap().to_owned()).collect()
    };
    let Some(Abschnitt::Positionen(positionen)) = blatt.abschnitte.get(1) else { panic!("no positions") };
    let mut sums = HashSet::from(["0,00".to_owned()]);
    let mut sum = 0;
    for position in positionen {
        sum += position.preis.unwrap().betrag.units();
        sums.insert(euro(Money::from_units(sum)));
    }
    let mut before: Option<String> = None;
    let mut with_table = 0;
    for page in &pages[..drawn.pages] {
        let mut found = carried(page);
        with_table += usize::from(page.contains("Einzelpreis"));
        if let Some(before) = before.take() {
            assert!(page.contains("Einzelpreis"), "no headings");
            assert_eq!(found.remove(0), before);
        }
        before = found.pop();
        assert!(found.is_empty(), "{found:?}");
        assert!(before.as_ref().is_none_or(|sum| sums.contains(sum)), "{before:?}");
    }
    assert!(with_table >= drawn.pages - 1, "{with_table} of {}", drawn.pages);
    // Every position is there, in order.
    let numbers = positionen.iter().map(|position| format!("{}", position.nummer));
    let begins: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut begins = begins.iter();
    for number in numbers {
        assert!(begins.any(|word| *word == number), "position {number}");
    }
    // The sums are never alone on a page.
    let last = pages.iter().find(|page| page.contains("Rechnungsbetrag")).unwrap();
    assert!(last.lines().any(|line| line.trim_start().starts_with("1000 ")), "{last}");
}

fn with_texts(text: &str) -> Blatt {
    let mut blatt = samples::letter(&format!("Rechnung {text}"));
    blatt.untertitel = Some(text.to_owned());
    blatt.anschrift = samples::anschrift(&[text], text);
    blatt.angaben = vec![Angabe::new("Datum", text)];
    blatt.absender.rechnungstext = Some(text.to_owned());
    let mut position = samples::position(1, text, ("1", "kg", "1"), "0", "7");
    position.langtext = Some(text.to_owned());
    position.einheit = Some(text.to_owned());
    position.merkmale = vec![Angabe::new("Charge", text)];
    let positionen = vec![position];
    let summen = samples::summen(&positionen, text);
    blatt.abschnitte = vec![
        Abschnitt::Text { ueberschrift: Some(text.to_owned()), absaetze: vec![text.to_owned()] },
        Abschnitt::Positionen(positionen),
        Abschnitt::Summen(summen),
        Abschnitt::Unterschriften(vec![text.to_owned()]),
    ];
    blatt
}

#[test]
fn no_text_breaks_a_sheet() {
    needs!("qpdf");
    let hostile = [
        String::new(),
        " \n\t\r\n ".to_owned(),
        "\0\u{1}\u{7}\u{1b}[31m\u{7f}\u{85}\u{9f}".to_owned(),
        "\u{202e}txt.exe\u{202c} \u{2066}a\u{2069}\u{feff}\u{fffe}\u{ffff}\u{fdd0}\u{10ffff}".to_owned(),
        "שלום עולם مرحبا 漢字 👨‍👩‍👧 e\u{301}\u{301}\u{301}".to_owned(),
        "(\\)<>[]{}/%%EOF endstream endobj <?xpacket end?> </rdf:RDF>".to_owned(),
        "a".repeat(4000),
        "\u{a0}".repeat(4000),
        " ".repeat(4000) + "x",
        "-".repeat(4000),
        "\n".repeat(4000) + "x",
        "W\n".repeat(500),
        "\u{300}".repeat(4000),
    ];
    for text in &hostile {
        let (_, file) = drawn(&with_texts(text));
        file.check();
    }
}

#[test]
fn a_text_of_4000_characters_without_a_blank_loses_none() {
    needs!("pdftotext");
    let text: String = (0..800).map(|number| format!("{number:05}")).collect();
    let mut blatt = samples::rechnung();
    let Some(Abschnitt::Positionen(positionen)) = blatt.abschnitte.get_mut(1) else { panic!("no positions") };
    positionen[1].langtext = Some(text.clone());
    let (drawn, file) = drawn(&blatt);
    assert!(drawn.pages > 1);
    let raw = String::from_utf8(file.told_by("pdftotext", &["-raw", "{}", "-"])).unwrap();
    let digits: Vec<_> =
        raw.lines().map(str::trim).filter(|line| line.bytes().all(|b| b.is_ascii_digit())).collect();
    let whole: String = digits.iter().copied().filter(|line| line.len() >= 20).collect();
    // The last line may be short.
    let tail = text.strip_prefix(&whole).unwrap_or_else(|| panic!("{whole}"));
    assert!(whole.len() > 3900 && (tail.is_empty() || digits.contains(&tail)), "{tail}");
}

#[test]
fn letters_of_europe_are_drawn_and_others_are_boxes_that_are_named() {
    needs!("qpdf", "pdftotext");
    let europe = "ÄÖÜäöüßẞ€ ÆØÅ ÞÐ ŁŻŹĆ ŘŮČĎŤŇ ŐŰ ȘȚĂÂ ĢĶĻŅ ŲĖ ĞİŞ ĦĊ ŴŶ ΑΒΓΔάέήίόύώ АБВЃЖЅЮЯЂЉЊЋЄІЇҐ „“‚‘»« – \
                  — … ½ ² ³ µ ± × ≤";
    let mut blatt = samples::rechnung();
    blatt.untertitel = Some(europe.to_owned());
    let (drawn, file) = drawn(&blatt);
    assert_eq!(hints(&drawn), [""; 0]);
    let letters: String = europe.chars().filter(|letter| !letter.is_whitespace()).collect();
    assert!(file.letters().contains(&letters), "{}", file.letters());

    blatt.untertitel = Some("Reis 米 für 🌾 und 米".to_owned());
    let (drawn, file) = self::drawn(&blatt);
    file.check();
    let said = "Diese Zeichen fehlen in der Schrift und stehen als Kästchen im PDF: 米🌾";
    assert_eq!(hints(&drawn), [said]);
    assert_eq!(drawn.hinweise, partnerd::papers::blatt::hints(&blatt).unwrap(), "known before it is drawn");
    // Copying the text yields the character.
    assert!(file.letters().contains("Reis米für🌾und米"), "{}", file.letters());
}

#[test]
fn a_sheet_without_positions_is_one() {
    needs!("qpdf", "pdftotext");
    let mut blatt = samples::letter("Lieferschein LS-2026-000001");
    blatt.abschnitte =
        vec![Abschnitt::Positionen(Vec::new()), Abschnitt::Summen(samples::summen(&[], "Summe"))];
    let (drawn, file) = drawn(&blatt);
    file.check();
    assert_eq!(drawn.pages, 1);
    assert!(file.text().contains("Bezeichnung") && file.text().contains("0,00"));
}

#[test]
fn a_sheet_has_an_end() {
    let mut blatt = samples::lang(1000);
    let Some(Abschnitt::Positionen(positionen)) = blatt.abschnitte.get_mut(1) else { panic!("no positions") };
    for position in positionen {
        position.langtext = Some("x\n".repeat(2000));
    }
    assert_eq!(draw(&blatt).unwrap_err(), DrawError::TooLong);
    assert!(DrawError::TooLong.to_string().contains(&PAGES_MAX.to_string()));
}

#[test]
fn an_open_document_says_so_on_each_page() {
    needs!("pdftotext");
    for (aufdruck, word) in [(Aufdruck::Entwurf, "ENTWURF"), (Aufdruck::Test, "TEST")] {
        let (drawn, file) = drawn(&Blatt { aufdruck: Some(aufdruck), ..samples::lang(40) });
        let letters = file.letters();
        assert!(drawn.pages > 2 && letters.matches(word).count() == drawn.pages, "{word}");
    }
    assert!(!drawn(&samples::rechnung()).1.letters().contains("ENTWURF"));
}

fn logo(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logo").join(name)).unwrap()
}

#[test]
fn a_logo_is_a_small_png_or_jpeg() {
    needs!("qpdf");
    for name in ["farbe.png", "durchsichtig.png", "grau.jpg"] {
        assert_eq!(check_logo(&logo(name)), Ok(()), "{name}");
        let mut blatt = samples::rechnung();
        blatt.absender.logo = Some(logo(name));
        let (drawn, file) = drawn(&blatt);
        file.check();
        assert!(String::from_utf8_lossy(&drawn.pdf).contains("/Subtype/Image"), "{name}");
    }
    let png = logo("farbe.png");
    let mut bomb = png.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 0x80, 0, 0, 0, 0x80, 0]);
    let table = [
        (vec![0; (200 << 10) + 1], LogoError::TooManyBytes),
        (bomb, LogoError::TooManyPixels),
        (Vec::new(), LogoError::Unreadable),
        (b"GIF89a".to_vec(), LogoError::Unreadable),
        (png[..60].to_vec(), LogoError::Unreadable),
        (png[..png.len() / 2].to_vec(), LogoError::Unreadable),
        (logo("grau.jpg")[..40].to_vec(), LogoError::Unreadable),
        (logo("cmyk.jpg"), LogoError::Unreadable),
    ];
    for (file, error) in table {
        assert_eq!(check_logo(&file), Err(error), "{} bytes", file.len());
        let mut blatt = samples::rechnung();
        blatt.absender.logo = Some(file);
        assert!(draw(&blatt).is_err(), "{error:?}");
    }
}

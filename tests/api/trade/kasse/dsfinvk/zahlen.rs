//! Number formats of an export, and numbers that do not fit (D28).

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{counts, export, import, lines, replaced, shop, with};
use crate::harness::Server;

/// The export of one receipt over 1,234.56 EUR, with closing and number as `number`, and this decimal separator.
fn grouped(server: &Server, name: &str, number: &str, decimal: char) -> PathBuf {
    let folder = server.database.with_file_name(name);
    fs::create_dir_all(&folder).unwrap();
    let amount =
        |text: &str| if decimal == ',' { text.to_owned() } else { text.replace('.', "").replace(',', ".") };
    let [brutto, netto, ust, satz, menge] =
        ["1.234,56000", "1.037,44538", "197,11462", "19,00", "1.000"].map(amount);
    let head = format!("Z_KASSE_ID;Z_NR;BON_ID;{{}}\nK1;{number};1;");
    let file = |columns: &str, cells: &str| head.replace("{}", columns) + cells;
    for (name, content) in [
        ("cashpointclosing.csv", file("X", "")),
        ("vat.csv", file("UST_SCHLUESSEL;UST_SATZ", &format!("1;{satz}"))),
        (
            "transactions.csv",
            file(
                "BON_NR;BON_TYP;BON_STORNO;BON_ENDE;UMS_BRUTTO;KUNDE_ID",
                &format!("{number};Beleg;0;2021-01-04T12:00:00.000Z;{brutto};"),
            ),
        ),
        (
            "lines.csv",
            file(
                "POS_ZEILE;ARTIKELTEXT;GV_TYP;P_STORNO;ART_NR;GTIN;MENGE;FAKTOR;EINHEIT;STK_BR",
                &format!("1;Weizen;Umsatz;0;;;{menge};;t;{brutto}"),
            ),
        ),
        (
            "lines_vat.csv",
            file(
                "POS_ZEILE;UST_SCHLUESSEL;POS_BRUTTO;POS_NETTO;POS_UST",
                &format!("1;1;{brutto};{netto};{ust}"),
            ),
        ),
        ("datapayment.csv", file("ZAHLART_TYP", "Bar")),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    folder
}

#[test]
fn points_that_group_digits_are_read_where_the_comma_is_decimal() {
    let server = Server::start();
    for (name, number, decimal, bon_nr) in [
        ("grouped", "1.234", ',', "K1-1234"),
        ("more", "1.234.567", ',', "K1-1234567"),
        ("plain", "1234", ',', "K1-1234"),
        ("point", "1234", '.', "K1-1234"),
    ] {
        let mill = server.company(name);
        counts(&import(&server, &mill, &grouped(&server, name, number, decimal), &[]), [1, 0, 0]);
        let line =
            json!([bon_nr, "Weizen", "1000.000", "t", "1234.5600", "19.00", "1234.56", "197.11", "1037.45"]);
        assert_eq!(lines(&mill), [line], "{name}");
    }
    // If the point is the decimal separator, it cannot group digits.
    let mill = server.company("Z_NR");
    import(&server, &mill, &grouped(&server, "no", "1.234", '.'), &[]).refused(&["Z_NR", "1.234"]);
}

#[test]
fn what_does_not_fit_is_named_and_the_import_goes_on() {
    let server = Server::start();
    let mill = shop(&server);
    let odd = with(&server, "odd", "lines_vat.csv", ";5,00000;4,76190;0,23810", ";5,00000;4,76190;0,33810");
    let imported = import(&server, &mill, &odd, &[]);
    counts(&imported, [12, 0, 0]);
    let named = "deren Netto und Steuer nicht ihr Brutto ergeben: 1 (Position 1 von Bon 1 (Abschluss 1 der Kasse K1))";
    assert!(imported.said().contains(named), "{}", imported.said());
    let target = "2;3;;Transaktion;;2021-01-04T18:00:00.000Z;K1;2;2";
    let other = server.company("Andere");
    let unknown = with(&server, "unknown", "references.csv", target, &target.replace("K1;2;2", "K1;7;8"));
    let imported = import(&server, &other, &unknown, &[]);
    counts(&imported, [12, 0, 0]);
    for word in ["K1-106", "Bon 8 (Abschluss 7 der Kasse K1)"] {
        assert!(imported.said().contains(word), "no {word} in {}", imported.said());
    }
    // A receipt of an earlier export is known.
    counts(&import(&server, &mill, &export(&server, "all", |_, bytes| Some(bytes)), &[]), [0, 1, 11]);
    let without = export(&server, "later", |file, bytes| match file {
        "references.csv" => Some(replaced(bytes, target, &target.replace("K1;2;2", "K1;1;1"))),
        _ => Some(bytes),
    });
    assert!(!import(&server, &mill, &without, &[]).said().contains("Bon 1 (Abschluss 1"));
}

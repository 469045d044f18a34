//! The master data of a company set by the command line (D24): allowed values, what is stored, what is shown.

use crate::process::Folder;
use serde_json::Value;

/// The smallest PNG: one grey pixel.
const PIXEL: &[u8] = include_bytes!("../data/pixel.png");

fn set(folder: &Folder, settings: &[&str]) -> Result<(), String> {
    let output = folder.run(&[&["tenant", "set", "Mühle"], settings].concat());
    match output.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(String::from_utf8(output.stderr).unwrap()),
        other => panic!("exit {other:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The value of a setting in `tenant show`.
fn shown(folder: &Folder, setting: &str) -> String {
    let rows: Vec<Value> =
        serde_json::from_str(&folder.result(&["--json", "tenant", "show", "Mühle"])).unwrap();
    let row = rows.iter().find(|row| row["setting"] == setting);
    row.unwrap_or_else(|| panic!("{setting} is not shown"))["value"].as_str().unwrap().to_owned()
}

fn states(folder: &Folder) -> i64 {
    folder.database().query_row("select count(*) from firma", [], |row| row.get(0)).unwrap()
}

#[test]
fn data_of_a_company_are_checked_when_they_are_entered() {
    let folder = Folder::new();
    folder.company("Mühle");
    let long = format!("firma={}", "ä".repeat(201));
    let table = [
        ("firma=Mühle Beispiel GmbH & Co. KG", Ok("Mühle Beispiel GmbH & Co. KG")),
        (long.as_str(), Err("eine Zeile Text")),
        ("strasse=An der Mühle 1\tHof", Err("eine Zeile Text")),
        ("iban=DE89 3704 0044 0532 0130 00", Ok("DE89370400440532013000")),
        ("iban=DE89 3704 0044 0532 0130 01", Err("Die Prüfziffer dieser IBAN")),
        ("iban=DE89", Err("eine IBAN")),
        ("bic=genodem1gls", Ok("GENODEM1GLS")),
        ("bic=GENODEM1GL", Err("BIC")),
        ("ust_id=de 123 456 789", Ok("DE123456789")),
        ("ust_id=DE12345678", Err("USt-IdNr.")),
        ("ust_id=XX123456789", Err("USt-IdNr.")),
        ("ust_id=GR123456789", Err("USt-IdNr.")),
        ("ust_id=EL123456789", Ok("EL123456789")),
        ("ust_id=CHE123456789", Err("USt-IdNr. der EU")),
        ("ust_id=XI123456789", Ok("XI123456789")),
        ("ust_id=", Ok("")),
        ("email=rechnung@muehle.example", Ok("rechnung@muehle.example")),
        ("email=rechnung@muehle", Err("E-Mail-Adresse")),
        ("staat=Österreich", Ok("AT")),
        ("staat=Atlantis", Err("ein Land")),
        ("staat=", Ok("DE")),
        ("rechnungstext=Amtsgericht Musterstadt\nHRB 1234", Ok("Amtsgericht Musterstadt\nHRB 1234")),
        ("kleinunternehmer=Ja", Ok("true")),
        ("kleinunternehmer=nein", Ok("false")),
        ("kleinunternehmer=vielleicht", Err("true, false")),
        ("lagerbuchung=nie", Err("lieferung")),
    ];
    for (setting, expected) in table {
        let name = setting.split_once('=').unwrap().0;
        match (set(&folder, &[setting]), expected) {
            (Ok(()), Ok(value)) => assert_eq!(shown(&folder, name), value, "{setting}"),
            (Err(said), Err(words)) => assert!(said.contains(words), "{setting}: {said}"),
            (other, _) => panic!("{setting}: {other:?}"),
        }
    }
}

#[test]
fn all_settings_of_one_command_are_changed_or_none() {
    let folder = Folder::new();
    folder.company("Mühle");
    set(&folder, &["firma=Mühle", "negativbestand=ablehnen", "iban=DE00"]).unwrap_err();
    assert_eq!(
        (shown(&folder, "firma"), shown(&folder, "negativbestand")),
        (String::new(), "hinweis".into())
    );
    let said = set(&folder, &["firmma=Mühle"]).unwrap_err();
    assert!(said.contains("gemeint ist vielleicht firma."), "{said}");
}

#[test]
fn each_change_of_the_data_is_a_state_and_no_state_is_lost() {
    let folder = Folder::new();
    folder.company("Mühle");
    assert_eq!(states(&folder), 0);
    set(&folder, &["firma=Mühle GmbH", "strasse=Am Bach 1", "negativbestand=ablehnen"]).unwrap();
    assert_eq!(states(&folder), 1);
    set(&folder, &["firma=Mühle GmbH", "negativbestand=hinweis"]).unwrap();
    assert_eq!(states(&folder), 1, "nothing of the company's data is new");
    set(&folder, &["ort=Musterbach"]).unwrap();
    let newest = "select firma || ', ' || strasse || ', ' || ort from firma where nr = 2";
    let newest: String = folder.database().query_row(newest, [], |row| row.get(0)).unwrap();
    assert_eq!(newest, "Mühle GmbH, Am Bach 1, Musterbach");
    for statement in ["update firma set ort = 'X' where nr = 1", "delete from firma where nr = 1"] {
        let error = folder.database().execute(statement, []).unwrap_err().to_string();
        assert_eq!(error, "firma is append-only", "{statement}");
    }
}

#[test]
fn a_logo_is_a_small_png_or_jpeg() {
    let folder = Folder::new();
    folder.company("Mühle");
    std::fs::write(folder.file("logo.png"), PIXEL).unwrap();
    std::fs::write(folder.file("gross.png"), [PIXEL, &vec![0; 200 * 1024]].concat()).unwrap();
    folder.write("logo.svg", "<svg/>");
    std::fs::create_dir(folder.file("ordner")).unwrap();
    for file in ["gross.png", "logo.svg", "ordner", "fehlt.png"] {
        let said = set(&folder, &["firma=Mühle", &format!("logo={file}")]).unwrap_err();
        assert_eq!(said.trim().lines().count(), 1, "{said}");
        assert_eq!(states(&folder), 0, "{file}: {said}");
    }
    set(&folder, &["firma=Mühle", "logo=logo.png"]).unwrap();
    let stored =
        "select inhalt from firma_logo l join firma f on f.tenant_id = l.tenant_id and f.logo = l.sha256
        order by f.nr desc limit 1";
    let stored: Vec<u8> = folder.database().query_row(stored, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, PIXEL);
    set(&folder, &["logo="]).unwrap();
    assert_eq!(shown(&folder, "logo"), "");
}

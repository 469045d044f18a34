//! Master data of a company, printed on its documents (D24). They are set like those of [`super::settings`],
//! but each change creates a new state, and a final document references the state that applied at the time.

use std::sync::Arc;

use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};

use super::settings::Setting;
use crate::master::laender;
use crate::papers::blatt;
use crate::platform::db::TenantId;
use crate::platform::db::record::{Part, columns};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Instant;
use crate::rules::document::BelegTyp;
use crate::rules::kennnummer::plain;
use crate::rules::plausible::{country_of_eu_ust_id, is_bic, is_email, is_iban};

/// Maximum length of a one-line and of a multi-line text, in characters.
const LINE_CHARS_MAX: usize = 200;
const TEXT_CHARS_MAX: usize = 1_000;

struct Form {
    /// Description of the accepted input, in German.
    values: &'static str,
    /// Normalizes the text for storage; `None` if it is not valid.
    kept: fn(&str) -> Option<String>,
}

const LINE: Form = Form {
    values: "eine Zeile Text bis 200 Zeichen oder nichts",
    kept: |text| {
        let is_line = text.chars().count() <= LINE_CHARS_MAX && !text.chars().any(char::is_control);
        is_line.then(|| text.to_owned())
    },
};

const TEXT: Form = Form {
    values: "Text, auch mehrere Zeilen, bis 1.000 Zeichen, oder nichts",
    kept: |text| {
        let is_foreign = |c: char| c.is_control() && c != '\n';
        let is_text = text.chars().count() <= TEXT_CHARS_MAX && !text.contains(is_foreign);
        is_text.then(|| text.to_owned())
    },
};

const JA_NEIN: Form =
    Form { values: "ja, nein", kept: |text| matches!(text, "ja" | "nein").then(|| text.to_owned()) };

const STAAT: Form = Form {
    values: "ein Land wie DE",
    kept: |text| match text {
        "" => Some("DE".to_owned()),
        text => laender::find(text).map(|land| land.iso2.clone()),
    },
};

const EMAIL: Form = Form {
    values: "eine E-Mail-Adresse wie info@muehle.example oder nichts",
    kept: |text| (text.is_empty() || is_email(text)).then(|| text.to_owned()),
};

const IBAN: Form = Form { values: "eine IBAN oder nichts", kept: |text| code(text, is_iban) };

const STEUERNUMMER: Form =
    Form { values: LINE.values, kept: |text| (LINE.kept)(text).map(|text| plain(&text)) };

const BIC: Form =
    Form { values: "ein BIC von 8 oder 11 Zeichen oder nichts", kept: |text| code(text, is_bic) };

const UST_ID: Form = Form {
    values: "eine USt-IdNr. der EU (oder XI) wie DE123456789 oder nichts",
    kept: |text| code(text, |id| country_of_eu_ust_id(id).is_some()),
};

/// The picture itself is set by [`set_logo`].
const LOGO: Form = Form { values: "Pfad einer PNG- oder JPEG-Datei bis 200 KiB oder nichts", kept: |_| None };

/// Returns a code in its normal form; `None` if it is not valid.
fn code(text: &str, is_code: fn(&str) -> bool) -> Option<String> {
    let code = plain(text).to_ascii_uppercase();
    (code.is_empty() || is_code(&code)).then_some(code)
}

/// Declares the data: name, form, default, meaning.
macro_rules! firma {
    ($($name:ident: $form:ident = $default:literal, $meaning:literal;)+) => {
        /// The master data of a company in one state (D24). `None` if nothing was entered.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Firma {
            /// Number of the state, from 1; 0 before anything was entered.
            pub nr: i64,
            $(#[doc = $meaning] pub $name: Option<String>,)+
            pub logo: Option<[u8; 32]>,
        }

        /// The data of a company as settings; the last one is its logo.
        pub const ANGABEN: &[Setting] = &[
            $(Setting {
                name: stringify!($name),
                values: || $form.values.to_owned(),
                default: $default,
                meaning: $meaning,
                in_words: |text| ($form.kept)(text),
                stored: |text| ($form.kept)(text).map(|text| Some(text).filter(|text| !text.is_empty()).into()),
            },)+
            Setting {
                name: "logo",
                values: || LOGO.values.to_owned(),
                default: "",
                meaning: "Bild auf den Belegen.",
                in_words: |text| (LOGO.kept)(text),
                stored: |text| (LOGO.kept)(text).map(Into::into),
            },
        ];

        columns! {
            Firma in firma as f { nr = fixed, $($name = fixed,)+ logo = fixed }
        }

        impl Firma {
            /// The state before anything was entered.
            fn new() -> Firma {
                let entered = |default: &str| Some(default.to_owned()).filter(|text| !text.is_empty());
                Firma { nr: 0, $($name: entered($default),)+ logo: None }
            }

            fn angabe(&mut self, name: &str) -> Option<&mut Option<String>> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }

            /// Returns the texts in the order of [`ANGABEN`], then the sha256 of the logo.
            pub fn texts(&self) -> Vec<Option<String>> {
                let logo = self.logo.as_ref().map(|sha256| crate::rules::bytes::hex(sha256));
                vec![$(self.$name.clone(),)+ logo]
            }
        }
    };
}

firma! {
    firma: LINE = "", "Name der Firma, wie er im Register steht.";
    strasse: LINE = "", "Straße und Hausnummer.";
    plz: LINE = "", "Postleitzahl.";
    ort: LINE = "", "Ort.";
    staat: STAAT = "DE", "Land.";
    ust_id: UST_ID = "", "USt-IdNr.; diese oder die Steuernummer verlangt das Gesetz auf Rechnungen.";
    steuernummer: STEUERNUMMER = "", "Steuernummer.";
    registernummer: LINE = "", "Nummer im Handels- oder Genossenschaftsregister.";
    rechnungstext: TEXT = "", "Fußzeile der Belege: Registergericht, Geschäftsführung.";
    email: EMAIL = "", "E-Mail-Adresse der Firma, auch für E-Rechnungen.";
    kontakt_name: LINE = "", "Wer Fragen zu Rechnungen beantwortet.";
    kontakt_telefon: LINE = "", "Dessen Telefonnummer.";
    kontakt_email: EMAIL = "", "Dessen E-Mail-Adresse.";
    iban: IBAN = "", "Konto, auf das Kunden zahlen.";
    bic: BIC = "", "BIC dieses Kontos.";
    kontoinhaber: LINE = "", "Inhaber dieses Kontos, wenn er anders heißt als die Firma.";
    oeko_kontrollstelle: LINE = "", "Öko-Kontrollstelle der Firma, zum Beispiel DE-ÖKO-006.";
    logo_mit_name: JA_NEIN = "nein", "Das Logo zeigt den Namen der Firma; er steht dann nicht noch einmal daneben.";
    anrede: LINE = "Sehr geehrte Damen und Herren,", "Anrede auf Belegen mit Preisen.";
    gruss: TEXT = "Mit freundlichen Grüßen", "Gruß auf Belegen mit Preisen; darunter steht der Name der Firma.";
    text_vor_an: TEXT = "", "Text vor den Positionen von Angeboten.";
    text_nach_an: TEXT = "", "Text nach den Positionen von Angeboten.";
    text_vor_au: TEXT = "", "Text vor den Positionen von Auftragsbestätigungen.";
    text_nach_au: TEXT = "", "Text nach den Positionen von Auftragsbestätigungen.";
    text_vor_ls: TEXT = "", "Text vor den Positionen von Lieferscheinen.";
    text_nach_ls: TEXT = "", "Text nach den Positionen von Lieferscheinen.";
    text_vor_re: TEXT = "", "Text vor den Positionen von Rechnungen.";
    text_nach_re: TEXT = "", "Text nach den Positionen von Rechnungen.";
    text_vor_bs: TEXT = "", "Text vor den Positionen von Bestellungen.";
    text_nach_bs: TEXT = "", "Text nach den Positionen von Bestellungen.";
    text_vor_el: TEXT = "", "Text vor den Positionen von Wareneingängen.";
    text_nach_el: TEXT = "", "Text nach den Positionen von Wareneingängen.";
    text_vor_gs: TEXT = "", "Text vor den Positionen von Gutschriften.";
    text_nach_gs: TEXT = "", "Text nach den Positionen von Gutschriften.";
}

impl Firma {
    /// Returns the company's own texts before and after the items of a document of this type.
    pub fn texte(&self, typ: BelegTyp) -> [Option<&str>; 2] {
        let texte = match typ {
            BelegTyp::An => [&self.text_vor_an, &self.text_nach_an],
            BelegTyp::Au => [&self.text_vor_au, &self.text_nach_au],
            BelegTyp::Ls => [&self.text_vor_ls, &self.text_nach_ls],
            BelegTyp::Re => [&self.text_vor_re, &self.text_nach_re],
            BelegTyp::Bs => [&self.text_vor_bs, &self.text_nach_bs],
            BelegTyp::El => [&self.text_vor_el, &self.text_nach_el],
            BelegTyp::Er => [&self.text_vor_gs, &self.text_nach_gs],
        };
        texte.map(Option::as_deref)
    }

    /// Returns the names of the mandatory data that are missing; documents can be printed once there are none
    /// (D24).
    pub fn missing(&self) -> Vec<&'static str> {
        let needed = [
            ("firma", self.firma.is_some()),
            ("strasse", self.strasse.is_some()),
            ("plz", self.plz.is_some()),
            ("ort", self.ort.is_some()),
            ("ust_id oder steuernummer", self.ust_id.is_some() || self.steuernummer.is_some()),
        ];
        needed.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
    }
}

pub fn load(tx: &Tx<'_>) -> Result<Arc<Firma>> {
    tx.cached("firma", &[], || {
        let columns = Firma::COLUMNS;
        let statement =
            format!("select {columns} from firma f where f.tenant_id = :tenant order by f.nr desc limit 1");
        Ok(tx.optional(&statement, &[], Firma::read)?.unwrap_or_else(Firma::new))
    })
}

pub fn state(tx: &Tx<'_>, nr: i64) -> Result<Option<Firma>> {
    let columns = Firma::COLUMNS;
    let statement = format!("select {columns} from firma f where f.tenant_id = :tenant and f.nr = :nr");
    tx.optional(&statement, named_params! {":nr": nr}, Firma::read)
}

pub fn logo(tx: &Tx<'_>, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
    let statement = "select inhalt from firma_logo where tenant_id = :tenant and sha256 = :sha256";
    tx.optional(statement, named_params! {":sha256": sha256}, |row| row.get(0))
}

/// Enters data: creates one new state if anything changed.
pub(super) fn enter(
    connection: &Connection,
    tenant: TenantId,
    changes: &[(&'static Setting, &str)],
    now: Instant,
) -> Result<()> {
    let newest = load(&Tx::new(connection, tenant, now))?;
    let mut changed = Firma::clone(&newest);
    for (setting, text) in changes {
        let kept = setting.value_of(text)?;
        let angabe = changed.angabe(setting.name).ok_or_else(|| setting.refusal(text))?;
        *angabe = match kept {
            rusqlite::types::Value::Text(text) => Some(text),
            _ => None,
        };
    }
    store(connection, tenant, &newest, changed, now)
}

/// A picture that is usable as the logo of a company.
pub struct Logo(Vec<u8>);

impl Logo {
    /// Checks a file by rendering it, which takes up to some hundred milliseconds: do not call it in a write
    /// transaction.
    pub fn of_file(file: Vec<u8>) -> Result<Logo> {
        let refusal = |error| Failure::Broken(format!("diese Datei kann nicht das Logo sein: {error}"));
        blatt::check_logo(&file).map_err(refusal)?;
        Ok(Logo(file))
    }
}

/// Sets or removes the logo of a company.
pub(super) fn set_logo(
    connection: &Connection,
    tenant: TenantId,
    logo: Option<&Logo>,
    now: Instant,
) -> Result<()> {
    let newest = load(&Tx::new(connection, tenant, now))?;
    let sha256: Option<[u8; 32]> = logo.map(|Logo(inhalt)| Sha256::digest(inhalt).into());
    if let Some(Logo(inhalt)) = logo {
        let statement =
            "insert into firma_logo (tenant_id, sha256, inhalt) values (?1, ?2, ?3) on conflict do nothing";
        connection.execute(statement, rusqlite::params![tenant, sha256, inhalt])?;
    }
    let changed = Firma { logo: sha256, ..Firma::clone(&newest) };
    store(connection, tenant, &newest, changed, now)
}

fn store(
    connection: &Connection,
    tenant: TenantId,
    newest: &Firma,
    changed: Firma,
    now: Instant,
) -> Result<()> {
    if changed == *newest {
        return Ok(());
    }
    let new = Firma { nr: newest.nr + 1, ..changed };
    let seit: Params<'_> = named_params! {":seit": now};
    WriteTx::carry_out(Tx::new(connection, tenant, now), None, |tx| {
        tx.insert("firma", &[&new.values(Part::All)[..], seit].concat())
    })
}

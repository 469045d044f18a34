//! Master data of partners for DATEV (D34): one record for each partner that is new or has changed since the
//! last hand-over.

use std::borrow::Cow;

use super::extf::{DEBITOREN_KREDITOREN, Felder, percent, text};
use crate::master::kunden::Kunde;
use crate::rules::datev::Personenkonto;
use crate::rules::error::{HintCode, Hints};
use crate::rules::kennnummer::plain;
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::stammdaten::Anrede;
use crate::trade::belege::content_digest;

/// A record, and the digest of it that a batch stores.
pub struct Stammsatz {
    pub konto: i64,
    pub zeile: Vec<u8>,
    pub sha256: [u8; 32],
}

impl Stammsatz {
    pub fn of(konto: i64, art: Personenkonto, kunde: &Kunde, hints: &mut Hints) -> Stammsatz {
        let mut satz = Satz { felder: Felder::of(&DEBITOREN_KREDITOREN), cut: Vec::new(), replaced: false };
        satz.felder.set(1, konto.to_string());
        satz.name(kunde);
        satz.address(kunde);
        satz.account(kunde);
        satz.terms(art, kunde);
        if !satz.cut.is_empty() {
            let message = format!(
                "Beim Konto {konto} ({}) ist für DATEV zu lang und gekürzt: {}.",
                kunde.name,
                satz.cut.join(", ")
            );
            hints.add_field(HintCode::StammGekuerzt, konto.to_string(), message);
        }
        if satz.replaced {
            hints.add_field(HintCode::ZeichenErsetzt, konto.to_string(), replaced(&kunde.name));
        }
        let mut zeile = Vec::new();
        satz.felder.write(&mut zeile);
        let sha256 = content_digest(&zeile);
        Stammsatz { konto, zeile, sha256 }
    }
}

/// The message about letters that Windows-1252 does not have.
pub fn replaced(what: &str) -> String {
    format!("{what}: DATEV kennt nicht alle Buchstaben; sie stehen dort ohne ihre Zeichen oder als „?“.")
}

struct Satz {
    felder: Felder,
    /// The fields that were too long.
    cut: Vec<&'static str>,
    replaced: bool,
}

impl Satz {
    fn set(&mut self, nummer: usize, name: &'static str, value: Option<&str>, chars_max: usize) {
        let Some(value) = value else { return };
        if value.trim().chars().count() > chars_max {
            self.cut.push(name);
        }
        let (kept, replaced) = text(value, chars_max);
        self.replaced |= replaced;
        self.felder.set(nummer, kept);
    }

    fn name(&mut self, kunde: &Kunde) {
        let is_person = matches!(kunde.anrede, Some(Anrede::Herr | Anrede::Frau));
        if is_person {
            self.set(4, "Name", Some(&kunde.nachname_firma), 30);
            self.set(5, "Vorname", kunde.vorname.as_deref(), 30);
        } else {
            self.set(2, "Name", Some(&kunde.name), 50);
        }
        self.felder.set(7, if is_person { "1" } else { "2" });
        self.set(11, "Anrede", Some(kunde.anrede.unwrap_or(Anrede::Firma).as_str()), 30);
    }

    fn address(&mut self, kunde: &Kunde) {
        if let Some(ust_id) = &kunde.ust_id {
            let plain = plain(ust_id);
            if country_of_eu_ust_id(&plain).is_some()
                && let Some((country, rest)) = plain.split_at_checked(2)
            {
                self.felder.set(9, country.to_owned());
                self.set(10, "USt-IdNr.", Some(rest), 13);
            }
        }
        self.felder.set(15, "STR");
        self.set(16, "Straße", kunde.strasse.as_deref(), 36);
        self.set(18, "Postleitzahl", kunde.plz.as_deref(), 10);
        self.set(19, "Ort", kunde.ort.as_deref(), 30);
        self.felder.set(20, kunde.staat.clone());
        self.felder.set(26, "1");
        self.set(29, "Telefon", kunde.telefon.as_deref(), 60);
        self.set(33, "E-Mail", kunde.email.as_deref(), 60);
    }

    fn account(&mut self, kunde: &Kunde) {
        if let Some(iban) = kunde.iban.as_deref().map(plain) {
            self.felder.set(44, iban.get(..2).unwrap_or_default().to_owned());
            self.set(45, "IBAN", Some(&iban), 34);
            self.set(47, "BIC", kunde.bic.as_deref(), 11);
            self.felder.set(49, "1");
        }
        self.set(99, "Kundennummer", Some(&kunde.kundennr), 15);
        self.set(100, "Steuernummer", kunde.steuernummer.as_deref(), 20);
    }

    fn terms(&mut self, art: Personenkonto, kunde: &Kunde) {
        let days = |days: Option<i64>| days.map_or(Cow::Borrowed(""), |days| Cow::Owned(days.to_string()));
        let skonto = kunde.skonto_prozent.map(percent).unwrap_or_default();
        match art {
            Personenkonto::Debitor => {
                self.felder.set(110, days(kunde.zahlungsziel_tage));
                self.felder.set(111, skonto);
            }
            Personenkonto::Kreditor => {
                self.felder.set(112, days(kunde.skonto_tage));
                self.felder.set(113, skonto);
                self.felder.set(116, days(kunde.zahlungsziel_tage));
            }
        }
    }
}

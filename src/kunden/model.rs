//! Partners as they go over the wire.

use schemars::JsonSchema;
use schemars::json_schema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson, Int, LongText, OneOf, Tage, Text};
use crate::laender::{self, Staat};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Code, Hints, Refusal};
use crate::rules::fixed::Percent;
use crate::rules::stammdaten::{Anrede, ERechnung, KundeStatus, PartnerTyp};
use crate::rules::tax::Steuerart;
use crate::rules::verweis::Verweis;
use crate::shape;

/// A partner (specification, Kunde; the other fields of a POST are shown, too: D18).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Kunde {
    pub id: Uuid,
    /// The integer id (D1).
    pub kunden_id: i64,
    pub kundennr: String,
    pub name: String,
    pub nachname_firma: String,
    pub anrede: Option<Anrede>,
    pub vorname: Option<String>,
    pub email: Option<String>,
    pub telefon: Option<String>,
    pub telefon2: Option<String>,
    pub strasse: Option<String>,
    pub plz: Option<String>,
    pub ort: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub staat: String,
    pub status: KundeStatus,
    pub partner_typen: PartnerTypen,
    pub steuerart: Option<Steuerart>,
    pub zahlungsziel_tage: Option<i64>,
    pub skonto_tage: Option<i64>,
    pub skonto_prozent: Option<Percent>,
    pub steuernummer: Option<String>,
    pub ust_id: Option<String>,
    pub betriebsnummer: Option<String>,
    pub iban: Option<String>,
    pub bic: Option<String>,
    pub e_rechnung: ERechnung,
    pub kaeuferreferenz: Option<String>,
    pub e_adresse: Option<String>,
    /// Plain day.
    pub gutschrift_vereinbart_am: Option<Day>,
    pub vb_id: Option<i64>,
    pub notizen: Option<String>,
    pub created_at: Instant,
    pub updated_at: Instant,
    /// Grows with each change; goes into the ETag.
    #[serde(skip)]
    pub version: i64,
}

impl Kunde {
    /// The lines of an address window in a letter of a company in the country `own`.
    pub fn anschrift(&self, own: &str) -> Vec<String> {
        let [strasse, plz, ort] = [&self.strasse, &self.plz, &self.ort].map(Option::as_deref);
        let below = laender::address_lines(strasse, plz, ort, &self.staat, own);
        std::iter::once(self.name.clone()).chain(below).collect()
    }
}

/// The roles of a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartnerTypen {
    /// Buys from us.
    pub kunde: bool,
    /// Sells to us.
    pub lieferant: bool,
    /// Carries goods.
    pub spediteur: bool,
}

impl PartnerTypen {
    /// What a partner is when nobody said (specification).
    pub const DEFAULT: PartnerTypen = PartnerTypen { kunde: true, lieferant: false, spediteur: false };

    /// A POST names kunde and lieferant only (specification).
    pub fn refuse_spediteur(&self) -> Checked<()> {
        if self.spediteur {
            let message = "Erlaubt sind: kunde, lieferant.";
            return Err(Refusal::field(Code::WertUngueltig, "partner_typen", message));
        }
        Ok(())
    }

    fn add(&mut self, typ: PartnerTyp) {
        match typ {
            PartnerTyp::Kunde => self.kunde = true,
            PartnerTyp::Lieferant => self.lieferant = true,
            PartnerTyp::Spediteur => self.spediteur = true,
        }
    }
}

impl FromIterator<PartnerTyp> for PartnerTypen {
    fn from_iter<T: IntoIterator<Item = PartnerTyp>>(typen: T) -> PartnerTypen {
        let mut found = PartnerTypen::default();
        typen.into_iter().for_each(|typ| found.add(typ));
        found
    }
}

impl Serialize for PartnerTypen {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flags = [self.kunde, self.lieferant, self.spediteur];
        serializer.collect_seq(PartnerTyp::ALL.iter().zip(flags).filter(|(_, set)| *set).map(|(typ, _)| typ))
    }
}

shape!([] PartnerTypen => |generator| {
    let typ = generator.subschema_for::<PartnerTyp>();
    json_schema!({"type": "array", "items": typ, "maxItems": PartnerTyp::ALL.len()})
});

impl FromJson for PartnerTypen {
    type Value = PartnerTypen;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<PartnerTypen> {
        if let (Json::String(cell), true) = (json, at.is_tabular()) {
            let names = cell.split([',', ';', '|', ' ']).filter(|name| !name.is_empty());
            let names = names.map(|name| Json::String(name.into())).collect();
            return PartnerTypen::from_json(&Json::Array(names), at);
        }
        let Json::Array(items) = json else {
            return at
                .refuse(Code::FeldUngueltig, "Hier wird eine Liste erwartet, zum Beispiel [\"kunde\"].");
        };
        if items.len() > PartnerTyp::ALL.len() {
            return at.refuse(Code::WertUngueltig, "Die Liste ist zu lang. Bitte jede Rolle einmal nennen.");
        }
        let read = |(index, item)| at.element(index, |at| OneOf::<PartnerTyp>::from_json(item, at));
        let typen: PartnerTypen = items.iter().enumerate().map(read).collect::<Checked<_>>()?;
        Ok(if typen == PartnerTypen::default() { PartnerTypen::DEFAULT } else { typen })
    }
}

/// A customer by integer id or uuid (D1).
pub struct KundenId;

shape!([] KundenId => |_| json_schema!({"type": ["integer", "string"], "format": "uuid", "maxLength": 36}));

impl FromJson for KundenId {
    type Value = Verweis;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Verweis> {
        match Verweis::from_json(json, at)? {
            Verweis::Name(_) => at.refuse(
                Code::FeldUngueltig,
                "Hier wird die kunden_id (Zahl) oder id (UUID) erwartet; eine Nummer wie K-1001 gehört in kundennummer.",
            ),
            verweis => Ok(verweis),
        }
    }
}

eingabe! {
    /// What is said about a partner: body of POST and PUT /kunden, row of an import. `name` and `land` are aliases
    /// (specification; D18).
    pub change KundeChange {
        nachname_firma: Text,
        name: Text,
        kundennr: Text,
        kunden_id: Int<1, { i32::MAX as i64 }>,
        anrede: OneOf<Anrede>,
        vorname: Text,
        strasse: Text,
        plz: Text,
        ort: Text,
        staat: Staat,
        land: Staat,
        email: Text,
        telefon: Text,
        telefon2: Text,
        status: OneOf<KundeStatus>,
        steuerart: OneOf<Steuerart>,
        zahlungsziel_tage: Tage,
        skonto_tage: Tage,
        skonto_prozent: Percent,
        steuernummer: Text,
        ust_id: Text,
        betriebsnummer: Text,
        iban: Text,
        bic: Text,
        e_rechnung: OneOf<ERechnung>,
        kaeuferreferenz: Text,
        e_adresse: Text,
        gutschrift_vereinbart_am: Day,
        vb_id: Verweis,
        partner_typen: PartnerTypen,
        notizen: LongText,
    }
    nur_lesen: ["id", "created_at", "updated_at", "hinweise"]
}

/// Confirmation of POST /kunden.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct KundeAngelegt {
    pub id: Uuid,
    pub kundennr: String,
    pub kunden_id: i64,
    pub hinweise: Hints,
}

/// Answer of PUT /kunden/{id}.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct KundeGeaendert {
    #[serde(flatten)]
    pub kunde: Kunde,
    pub hinweise: Hints,
}

//! Request and response models of partners.

use schemars::{JsonSchema, json_schema};
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::master::laender::{self, Staat};
use crate::papers::blatt::Anschrift;
use crate::platform::db::record::record;
use crate::platform::http::json::Json;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{At, FromJson, Int, Kennnummer, LongText, OneOf, Tage, Text, TextWithin};
use crate::rules::besteuerung::Besteuerungen;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Code, Hints, refuse_if};
use crate::rules::felder::GeaendertesFeld;
use crate::rules::field::{Kind, Typed, Value, When, said};
use crate::rules::fixed::Percent;
use crate::rules::stammdaten::{Anrede, ERechnung, KundeStatus, PartnerTyp};
use crate::rules::tax::Steuerart;
use crate::rules::verweis::Verweis;
use crate::{auswahl, shape};

record! {
    /// A partner (specification, Kunde; also shows the other fields of a POST: D18).
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Kunde in kunde as k {
        id: Uuid = fixed,
        /// The integer id (D1).
        kunden_id: i64 as Int<1, 1_000_000_000> = fixed,
        kundennr: String as TextWithin<KUNDENNR_CHARS_MAX> = mutable
            => said("Nummer", "Kundennummer, eindeutig in der Firma; ohne Angabe vergibt sie der Dienst.")
            .hint("leer: die nächste")
            .aliases("kundennummer kdnr kundnr debitor debitorennr debitorennummer kreditor kreditorennr \
                kreditorennummer lieferantennr lieferantennummer adressnr adressnummer partnernr partnernummer \
                personenkonto nr nummer")
            .group(WER).when(When::New),
        name: String as Text = mutable => said("Name auf Belegen", "Name."),
        nachname_firma: String as Text = mutable => said("Nachname oder Firma", "Nachname oder Firma.")
            .aliases("firma firma1 firmenname firmierung name1 nachname familienname kundenname lieferantenname \
                unternehmen betrieb betriebsname")
            .group(WER),
        anrede: Option<Anrede> as OneOf<Anrede> = mutable => said("Anrede", "Anrede.").group(WER),
        vorname: Option<String> as Text = mutable => said("Vorname", "Vorname.").group(WER),
        email: Option<String> as Text = mutable => said("E-Mail", "E-Mail-Adresse.")
            .aliases("emailadresse mail mailadresse")
            .group(ERREICHBAR),
        telefon: Option<String> as Text = mutable => said("Telefon", "Telefon.")
            .aliases("tel telefonnummer telefonnr telefon1 fon festnetz")
            .group(ERREICHBAR).input("tel"),
        telefon2: Option<String> as Text = mutable => said("Zweites Telefon", "Zweites Telefon.")
            .aliases("mobil mobiltelefon mobilnummer handy handynummer tel2")
            .group(ERREICHBAR).input("tel"),
        strasse: Option<String> as Text = mutable => said("Straße und Hausnummer", "Straße und Hausnummer.")
            .aliases("str strassenr strassehausnr strassehausnummer strasseundhausnummer anschrift adresse")
            .group(ANSCHRIFT),
        plz: Option<String> as Text = mutable
            => said("Postleitzahl", "Postleitzahl.").aliases("postleitzahl").group(ANSCHRIFT),
        ort: Option<String> as Text = mutable => said("Ort", "Ort.").aliases("stadt wohnort").group(ANSCHRIFT),
        /// ISO 3166-1 alpha-2.
        staat: String as Staat = mutable
            => said("Land",
                "Land (ISO 3166-1 alpha-2); in Anfragen auch ISO alpha-3 oder der deutsche Name.")
            .aliases("land laenderkennzeichen laendercode landeskennzeichen lkz")
            .group(ANSCHRIFT).country(""),
        status: KundeStatus as OneOf<KundeStatus> = mutable
            => said("Status", "Status des Datensatzes.").group(WER),
        partner_typen: PartnerTypen as PartnerTypen = |ist_kunde, ist_lieferant, ist_spediteur| {
            PartnerTypen { kunde: ist_kunde, lieferant: ist_lieferant, spediteur: ist_spediteur }
        } => said("Rollen", "Rollen des Partners; ohne Angabe kunde.")
            .aliases("partnertyp partnerart kundentyp kundenart typ rolle"),
        steuerart: Option<Steuerart> as OneOf<Steuerart> = "iif(k.besteuerungen = '[]', null, (select e.value ->> 'steuerart'
            from json_each(k.besteuerungen) e where coalesce(e.value ->> 'ab', '') <= :heute
            order by e.key desc limit 1))"
            => said("Besteuerung",
                "Die Besteuerung, die heute gilt: regel, pauschal_24 (§ 24 UStG) oder kleinunternehmer. Die erste gilt \
                für alle Tage, eine Änderung ab steuerart_ab.")
            .group(STEUER),
        /// How the partner is taxed from which day on (D29).
        besteuerungen: Besteuerungen = mutable
            => said("Besteuerungen",
                "Besteuerung nach Tagen: Es gilt die vom Tag der Ware. ab ist bei der ersten null."),
        zahlungsziel_tage: Option<i64> as Tage = mutable
            => said("Zahlungsziel (Tage)", "Zahlungsziel in Tagen.")
            .aliases("zahlungsziel zieltage zahlungszielintagen")
            .group(ZAHLUNG),
        skonto_tage: Option<i64> as Tage = mutable
            => said("Skonto (Tage)", "Tage, in denen Skonto gilt.").group(ZAHLUNG),
        skonto_prozent: Option<Percent> as Percent = mutable => said("Skonto (%)", "Skonto in Prozent.")
            .aliases("skonto skontosatz")
            .group(ZAHLUNG),
        steuernummer: Option<String> as Kennnummer = mutable => said("Steuernummer", "Steuernummer.")
            .aliases("steuernr stnr")
            .group(STEUER),
        ust_id: Option<String> as Kennnummer = mutable => said("USt-IdNr.", "Umsatzsteuer-Identifikationsnummer.")
            .aliases("ustidnr ustidnummer ustidentnr umsatzsteuerid umsatzsteueridentifikationsnummer uid")
            .group(STEUER),
        betriebsnummer: Option<String> as Text = mutable => said("Betriebsnummer", "Betriebsnummer.")
            .aliases("betriebsnr")
            .group(STEUER),
        iban: Option<String> as Kennnummer = mutable => said("IBAN", "IBAN.").aliases("ibannr").group(ZAHLUNG),
        bic: Option<String> as Text = mutable => said("BIC", "BIC.").aliases("swift bicswift swiftbic").group(ZAHLUNG),
        e_rechnung: ERechnung as OneOf<ERechnung> = mutable
            => said("E-Rechnung als",
                "In welcher Form dieser Partner E-Rechnungen bekommt: zugferd, xrechnung oder aus.")
            .group(STEUER),
        kaeuferreferenz: Option<String> as Text = mutable
            => said("Leitweg-ID oder Referenz",
                "Woran der Käufer Rechnungen erkennt; bei Behörden ihre Leitweg-ID.")
            .group(STEUER),
        e_adresse: Option<String> as Text = mutable
            => said("Elektronische Adresse",
                "Wohin E-Rechnungen gehen: E-Mail-Adresse, Leitweg-ID (0204:…), GLN (0088:…) oder USt-IdNr. \
                (9930:…); ohne Angabe die E-Mail-Adresse.")
            .group(STEUER),
        gutschrift_vereinbart_am: Option<Day> as Day = mutable
            => said("Gutschriften vereinbart am",
                "Tag, an dem vereinbart wurde, dass die Firma Gutschriften für diesen Lieferanten schreibt \
                (§ 14 Abs. 2 UStG).")
            .group(STEUER),
        /// Account in the tax adviser's books as a customer; never changes once assigned (D34).
        debitor_konto: Option<i64> as Int<1, 999_999_999> = mutable
            => said("Debitorenkonto",
                "Personenkonto als Kunde beim Steuerberater; steht fest, sobald es vergeben ist.")
            .group(BUCHHALTUNG).when(When::Unset),
        /// Account in the tax adviser's books as a supplier, likewise.
        kreditor_konto: Option<i64> as Int<1, 999_999_999> = mutable
            => said("Kreditorenkonto",
                "Personenkonto als Lieferant beim Steuerberater; steht fest, sobald es vergeben ist.")
            .group(BUCHHALTUNG).when(When::Unset),
        vb_id: Option<i64> = mutable => said("Vertriebler", "Vertriebler.").aliases("vertriebler vertreter"),
        notizen: Option<String> as LongText = mutable => said("Notizen", "Freier Text.")
            .aliases("notiz bemerkung bemerkungen anmerkung anmerkungen")
            .group(NOTIZEN).long(),
        created_at: Instant = fixed as angelegt_am,
        updated_at: Instant = mutable as geaendert_am,
        /// Increases with each change; part of the ETag.
        #[serde(skip)]
        version: i64 = mutable,
    } with {
        ist_kunde: mutable = partner_typen.kunde,
        ist_lieferant: mutable = partner_typen.lieferant,
        ist_spediteur: mutable = partner_typen.spediteur,
    }
    /// Body of POST and PUT /kunden and a row of an import. `land` is another name of `staat` (D18).
    body change KundeChange {
        land: Staat,
        vb_id: Verweis,
        steuerart_ab: Day,
    } nur_lesen: ["hinweise"]
}

/// The parts of the form.
const WER: &str = "Wer";
const ANSCHRIFT: &str = "Anschrift";
const ERREICHBAR: &str = "Erreichbar";
const STEUER: &str = "Steuer und E-Rechnung";
const ZAHLUNG: &str = "Zahlung";
const BUCHHALTUNG: &str = "Buchhaltung (leer: mit dem ersten Stapel von selbst)";
const NOTIZEN: &str = "Notizen";

/// What concerns payment, tax and books.
pub const GESCHAEFT: &[&str] = &[STEUER, ZAHLUNG, BUCHHALTUNG];

/// The parts of the form in their order.
pub const GRUPPEN: &[&str] = &[WER, ANSCHRIFT, ERREICHBAR, STEUER, ZAHLUNG, BUCHHALTUNG, NOTIZEN];

impl Kunde {
    /// The lines of the address window in a letter from a company in the country `own`.
    pub fn anschrift(&self, own: &str) -> Anschrift {
        let [strasse, plz, ort] = [&self.strasse, &self.plz, &self.ort].map(Option::as_deref);
        laender::anschrift(&self.name, strasse, plz, ort, &self.staat, own)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartnerTypen {
    pub kunde: bool,
    pub lieferant: bool,
    pub spediteur: bool,
}

impl Default for PartnerTypen {
    /// The default types of a partner (specification).
    fn default() -> PartnerTypen {
        PartnerTypen { kunde: true, lieferant: false, spediteur: false }
    }
}

impl Typed for PartnerTypen {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Value {
        Value::Text(self.each().map(PartnerTyp::as_str).collect::<Vec<_>>().join(", "))
    }
}

impl PartnerTypen {
    /// Refuses spediteur: a POST accepts kunde and lieferant only (specification).
    pub fn refuse_spediteur(&self) -> Checked<()> {
        let message = "Erlaubt sind: kunde, lieferant.";
        refuse_if(self.spediteur, Code::WertUngueltig, "partner_typen", message)
    }

    /// Iterates over the types that are set.
    pub fn each(self) -> impl Iterator<Item = PartnerTyp> {
        let flags = [self.kunde, self.lieferant, self.spediteur];
        PartnerTyp::ALL.iter().copied().zip(flags).filter(|(_, set)| *set).map(|(typ, _)| typ)
    }
}

impl FromIterator<PartnerTyp> for PartnerTypen {
    fn from_iter<T: IntoIterator<Item = PartnerTyp>>(typen: T) -> PartnerTypen {
        let typen: Vec<_> = typen.into_iter().collect();
        let [kunde, lieferant, spediteur] =
            [PartnerTyp::Kunde, PartnerTyp::Lieferant, PartnerTyp::Spediteur].map(|typ| typen.contains(&typ));
        PartnerTypen { kunde, lieferant, spediteur }
    }
}

impl Serialize for PartnerTypen {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
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
        Ok(if typen.each().next().is_none() { PartnerTypen::default() } else { typen })
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
                "Hier wird die kunden_id (Zahl) oder id (UUID) erwartet; \
                 eine Nummer wie K-1001 gehört in kundennummer.",
            ),
            verweis => Ok(verweis),
        }
    }
}

auswahl! {
    /// Filters of a list of partners.
    pub struct Auswahl<'a> of (query: &'a Query) {
        suche: Option<&'a str> = query.search("suche")?,
        /// Exactly this number, ignoring case (D1).
        kundennr: Option<&'a str> = query.text("kundennr"),
        partner_typ: Option<&'a str> = query.one_of("partner_typ")?,
        sortierung: Option<&'a str> = query.one_of("sortierung")?,
    }
}

/// Maximum length of a customer number (D2).
const KUNDENNR_CHARS_MAX: usize = 30;

#[derive(Debug, Serialize, JsonSchema)]
pub struct KundeAngelegt {
    pub id: Uuid,
    pub kundennr: String,
    pub kunden_id: i64,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct KundeVerlaufseintrag {
    /// The version that the change created.
    pub version: i64,
    pub am: Instant,
    /// Null: changed by the command line.
    pub key_id: Option<String>,
    pub geaendert_von: String,
    #[schemars(with = "Vec<GeaendertesFeld>")]
    pub felder: Box<RawValue>,
}

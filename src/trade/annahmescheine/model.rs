//! Request and response models of goods receipts.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::goods::abrechnungsschemata::WertEingabe;
use crate::goods::chargen::Bewegung;
use crate::master::kunden::KundenId;
use crate::master::laender::Staat;
use crate::platform::db::columns::Json;
use crate::platform::db::record::record;
use crate::platform::failure::Result;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Gewicht, Kennung, Liste, LongText, OneOf, Text};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::field::said;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::receipt::{Anlieferung, AnnahmescheinStatus, net_amount, net_quantity};
use crate::rules::settlement::{Befund, Messwert, Quelle};
use crate::{auswahl, eingabe};

record! {
    /// A goods receipt (specification, Annahmeschein; also shows the other fields that a POST stores: D18).
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Annahmeschein in annahmeschein as s {
        id: Uuid = fixed,
        belegnummer: String = fixed
            => said("Annahmeschein", "Nummer des Annahmescheins.")
            .aliases("belegnr annahmescheinnr annahmescheinnummer scheinnummer scheinnr nr nummer"),
        /// Also abgerechnet while its EL is paired with final invoices (D21a).
        status: AnnahmescheinStatus = mutable => said("Status", "Status des Datensatzes."),
        /// Whether an import declared it settled, regardless of its EL.
        #[serde(skip)]
        ist_abgerechnet: bool = mutable,
        lieferdatum: Option<DayTime> as Day = mutable
            => said("Lieferdatum", "Tag der Lieferung.").aliases("datum anlieferdatum annahmedatum"),
        anliefermenge_kg: Option<Quantity> as Gewicht = mutable
            => said("Angeliefert (kg)", "Angeliefertes Gewicht in kg.").aliases("anliefermenge bruttomenge"),
        netto_menge_kg: Option<Quantity> = mutable
            => said("Netto (kg)", "Gewicht nach Abzügen in kg.").aliases("nettomenge nettogewicht"),
        /// null without a price.
        netto_betrag: Option<Money> = mutable
            => said("Betrag netto (EUR)", "Nettomenge in Tonnen mal Preis je Tonne; null ohne Preis.")
            .aliases("betrag"),
        partner_id: Option<Uuid> = mutable,
        artikel_id: Option<Uuid> = mutable,
        wiegung_id: Option<Uuid> as Uuid = mutable,
        feuchte_prozent: Option<Percent> as Percent = mutable
            => said("Feuchte (%)", "Gemessene Feuchte.").aliases("feuchte feuchtigkeit wassergehalt"),
        basisfeuchte_prozent: Option<Percent> as Percent = mutable
            => said("Basisfeuchte (%)", "Feuchte, bis zu der nichts abgezogen wird."),
        schwundfaktor: Quantity as Quantity = mutable
            => said("Schwundfaktor", "Gewichtsverlust je Prozent Feuchte; ohne Angabe 1."),
        besatz_prozent: Option<Percent> as Percent = mutable => said("Besatz (%)", "Gemessener Besatz.").aliases("besatz"),
        basisbesatz_prozent: Option<Percent> as Percent = mutable
            => said("Basisbesatz (%)", "Besatz, bis zu dem nichts abgezogen wird."),
        sonstige_abzuege_kg: Quantity as Gewicht = mutable => said("Sonstige Abzüge (kg)", "Weitere Abzüge in kg."),
        preis_je_t: Option<Price> as Price = mutable
            => said("Preis je t (EUR)", "Preis je Tonne netto.").aliases("preist preiseurt preisjetonne"),
        kontrakt_id: Option<Uuid> as Uuid = mutable,
        kontrakt_position_id: Option<Uuid> as Uuid = mutable,
        fremde_charge_nr: Option<String> as Text = mutable
            => said("Charge des Lieferanten", "Chargennummer des Lieferanten.")
            .aliases("lieferantencharge fremdcharge"),
        herkunftsland: Option<String> as Staat = mutable
            => said("Herkunftsland", "Herkunftsland (ISO 3166-1 alpha-2).")
            .aliases("herkunft ursprung ursprungsland"),
        biozertifikat_id: Option<i64> as Kennung = mutable => said("Biozertifikat", "id des Biozertifikats."),
        bemerkung: Option<String> as LongText = mutable => said("Bemerkung", "Freier Text."),
        external_ref: Option<String> = fixed
            => said("Kennung des Senders",
                "Kennung des Senders: eine zweite Anfrage mit derselben bekommt den vorhandenen Datensatz."),
        /// Number of the scheme by which it is settled (D29b); null: by its own fields (D23).
        schema: Option<String> = "sc.nummer"
            => said("Schema",
                "Nummer des Schemas, nach dem abgerechnet wird; null: nach den Feldern des Scheins. In Anfragen ohne Angabe das seines Kontrakts, sonst das einzige des Artikels."),
        #[serde(skip)]
        schema_id: Option<Uuid> = mutable,
        /// The version that its net quantity was computed with.
        schema_version: Option<i64> = mutable
            => said("Version des Schemas", "Version des Schemas, nach der gerechnet wurde."),
        /// Whether it is locked until a person releases it.
        gesperrt: bool = "s.sperrgruende is not null"
            => said("Gesperrt",
                "true: Er wartet auf eine Freigabe oder eine Analyse und wird nicht abgerechnet."),
        /// Reasons for the lock (D29d); null: none.
        sperrgruende: Option<Json<Vec<Befund>>> = mutable,
        /// Whether the mean of all receipts settled together will replace its own values (D29e).
        vorlaeufig: bool = "s.ist_vorlaeufig = 1 and er.id is null"
            => said("Vorläufig", "true: Abgerechnet wird nach dem Mittel der Partie, das noch nicht feststeht."),
        #[serde(skip)]
        ist_vorlaeufig: bool = mutable,
        /// Its final settlement.
        abrechnung_id: Option<Uuid> = "ap.abrechnung_id",
        #[serde(skip)]
        abrechnung_beleg_id: Option<Uuid> = "er.id",
        abrechnung_beleg_nummer: Option<String> = "er.beleg_nummer"
            => said("Abgerechnet mit", "Nummer der Gutschrift, die ihn abrechnet."),
        /// The quantity paid for.
        abgerechnet_kg: Option<Quantity> = "ap.netto_kg"
            => said("Abgerechnet (kg)", "Was dafür bezahlt wird, in kg."),
        storno_grund: Option<String> => said("Grund des Stornos", "Warum storniert wurde."),
        created_at: Instant = fixed as angelegt_am => said("Angelegt", "Zeitpunkt der Anlage."),
        /// The purchase delivery note that el_erzeugen created.
        el_id: Option<Uuid> = fixed as el_beleg_id,
        el_beleg_nummer: Option<String> = "b.beleg_nummer"
            => said("Einkaufslieferschein", "Nummer des erzeugten Einkaufslieferscheins."),
        /// The only batch of that document.
        charge_id: Option<Uuid> = "p.charge_id",
        partner_name: Option<String> = "k.name" => said("Name des Partners", "Name des Partners."),
        artikel_bezeichnung: Option<String> = "a.bezeichnung" => said("Artikel", "Bezeichnung des Artikels."),
    }
    #[derive(Serialize)]
    body struct NewAnnahmeschein {
        partner_id: Uuid,
        kunden_id: KundenId,
        kundennummer: Text,
        artikel_id: Uuid,
        artikelnr: Text,
        external_ref: Text,
        el_erzeugen: bool,
        schema: Text,
        werte: Liste<WertEingabe, WERTE_MAX>,
        geraet: Text,
        probe_nr: Text,
    } nur_lesen: ["idempotent", "inhalt_abweichend", "lagerbewegungen", "hinweise"]
    /// A row of annahmescheine; its key is belegnummer, `partner` is a kundennr (D22). A net quantity in the
    /// row is kept.
    body struct AnnahmescheinZeile {
        belegnummer: Text,
        status: OneOf<AnnahmescheinStatus>,
        partner: Text,
        artikelnummer: Text,
        netto_menge_kg: Gewicht,
        netto_betrag: Money,
    } nur_lesen: []
}

impl Annahmeschein {
    pub fn blank(id: Uuid, belegnummer: String, created_at: Instant) -> Annahmeschein {
        let schwundfaktor = Quantity::whole(1);
        Annahmeschein { id, belegnummer, schwundfaktor, created_at, ..Annahmeschein::default() }
    }

    /// Returns the delivered goods; `None` until their weight is known.
    pub fn anlieferung(&self) -> Option<Anlieferung> {
        Some(Anlieferung {
            menge: self.anliefermenge_kg?,
            besatz: self.besatz_prozent,
            basisbesatz: self.basisbesatz_prozent,
            feuchte: self.feuchte_prozent,
            basisfeuchte: self.basisfeuchte_prozent,
            schwundfaktor: self.schwundfaktor,
            abzuege: self.sonstige_abzuege_kg,
        })
    }

    /// Whether it specifies deductions itself (D23).
    pub fn has_formula(&self) -> bool {
        self.basisfeuchte_prozent.is_some()
            || self.basisbesatz_prozent.is_some()
            || !self.sonstige_abzuege_kg.is_zero()
    }

    /// Returns each value measured above 0 that lacks its basis and so deducts nothing: the missing field,
    /// and a sentence.
    pub fn bases_missing(&self) -> impl Iterator<Item = (&'static str, String)> {
        let measured = [
            ("basisfeuchte_prozent", "die Feuchte", self.feuchte_prozent, self.basisfeuchte_prozent),
            ("basisbesatz_prozent", "den Besatz", self.besatz_prozent, self.basisbesatz_prozent),
        ];
        let lacks = |gemessen: Option<Percent>, basis: Option<Percent>| {
            basis.is_none() && gemessen.is_some_and(|gemessen| gemessen > Percent::ZERO)
        };
        measured.into_iter().filter(move |(.., gemessen, basis)| lacks(*gemessen, *basis)).map(|(feld, was, ..)| {
            (feld, format!("Ohne {feld} wird für {was} nichts abgezogen. Bitte angeben, wenn abgezogen werden soll."))
        })
    }

    /// Computes the paid quantity from the delivered goods (D23).
    pub fn settle(&mut self) -> Result<()> {
        let Some(anlieferung) = self.anlieferung() else { return Ok(()) };
        let netto = net_quantity(&anlieferung)?;
        let negative = || {
            let message =
                "Die Abzüge sind größer als die Anlieferung. Bitte Feuchte, Besatz und Abzüge prüfen.";
            Refusal::new(Code::NettoNegativ, message)
        };
        self.netto_menge_kg = Some(netto.ok_or_else(negative)?);
        self.value()
    }

    pub fn value(&mut self) -> Result<()> {
        let netto = self.netto_menge_kg.zip(self.preis_je_t);
        self.netto_betrag = netto.map(|(kg, preis)| net_amount(kg, preis)).transpose()?;
        Ok(())
    }
}

/// Maximum number of values per analysis.
const WERTE_MAX: usize = 50;

auswahl! {
    /// Filters of a list of receipts; von and bis refer to lieferdatum (D16).
    pub struct Auswahl of (query: &Query) {
        status: Vec<&'static str> = query.list_of("status", AnnahmescheinStatus::parse_any_case)?,
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        partner: Option<Uuid> = query.uuid("partner_id")?,
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
        kontrakt: Option<Uuid> = query.uuid("kontrakt_id")?,
        gesperrt: Option<bool> = query.bool("gesperrt")?,
        /// Of its page.
        sortierung: Option<&'static str> = None,
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AnnahmescheinBestaetigung {
    pub id: Uuid,
    pub belegnummer: String,
    pub status: AnnahmescheinStatus,
    pub partner_id: Option<Uuid>,
    pub artikel_id: Option<Uuid>,
    pub anliefermenge_kg: Option<Quantity>,
    pub netto_menge_kg: Option<Quantity>,
    pub netto_betrag: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub el_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub el_beleg_nummer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<Uuid>,
    /// Number of the scheme by which it is settled.
    pub schema: Option<String>,
    pub gesperrt: bool,
    pub sperrgruende: Option<Json<Vec<Befund>>>,
    pub lagerbewegungen: Vec<Bewegung>,
    pub hinweise: Hints,
}

record! {
    /// An analysis of a receipt or, without a quelle, the release of its lock.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Analyse in annahme_analyse as q {
        version: i64 = fixed,
        am: Instant = fixed,
        /// null: recorded by the command line.
        key_id: Option<String> = fixed,
        quelle: Option<Quelle> = fixed,
        geraet: Option<String> = fixed,
        probe_nr: Option<String> = fixed,
        werte: Json<Vec<Messwert>> = fixed,
        /// Reason of a release.
        grund: Option<String> = fixed,
        /// The locks that it ended.
        sperrgruende: Option<Json<Vec<Befund>>> = fixed,
        #[serde(skip)]
        schema_id: Option<Uuid> = fixed,
        /// The scheme that it named.
        schema: Option<String> = "sc.nummer",
    }
}

eingabe! {
    /// Body of POST …/analysen.
    pub struct NewAnalyse as "AnalyseNeu" {
        quelle: OneOf<Quelle>,
        geraet: Text,
        probe_nr: Text,
        werte: Liste<WertEingabe, WERTE_MAX>,
    }
    nur_lesen: ["version", "am", "key_id", "grund", "sperrgruende", "schema"]
}

eingabe! {
    /// Body of PUT …/freigabe.
    pub struct Freigabe {
        grund: Text,
        schema: Text,
    }
    nur_lesen: []
}

/// The state of a receipt after an analysis or a release.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnalyseBestaetigung {
    pub id: Uuid,
    pub belegnummer: String,
    /// Version of the analysis or release.
    pub version: i64,
    pub status: AnnahmescheinStatus,
    pub netto_menge_kg: Option<Quantity>,
    pub netto_betrag: Option<Money>,
    pub schema: Option<String>,
    pub gesperrt: bool,
    pub sperrgruende: Option<Json<Vec<Befund>>>,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AnnahmescheinStorno")]
pub struct StornoBestaetigung {
    pub id: Uuid,
    pub belegnummer: String,
    pub status: AnnahmescheinStatus,
    pub hinweise: Hints,
}

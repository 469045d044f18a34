//! Hints: what an answer reports besides its result, bounded per request (D19).

use schemars::JsonSchema;
use serde::Serialize;

use crate::choice;
use crate::rules::choice::Choice;

choice! {
    /// Why a hint was given: something the service ignored, rounded, matched or chose by itself ("never
    /// silent").
    pub enum HintCode {
        UnbekanntesFeld = "UNBEKANNTES_FELD",
        UnbekannterParameter = "UNBEKANNTER_PARAMETER",
        FeldIgnoriert = "FELD_IGNORIERT",
        FeldAlias = "FELD_ALIAS",
        Gerundet = "GERUNDET",
        KundeInaktiv = "KUNDE_INAKTIV",
        KundeGesperrt = "KUNDE_GESPERRT",
        BelegNenntAltes = "BELEG_NENNT_ALTES",
        MhdAbgelaufen = "MHD_ABGELAUFEN",
        ChargeNrFrueher = "CHARGE_NR_FRUEHER",
        MwstSatzAlt = "MWST_SATZ_ALT",
        SteuersatzGeteilt = "STEUERSATZ_GETEILT",
        SteuerausweisPruefen = "STEUERAUSWEIS_PRUEFEN",
        PreisUebernommen = "PREIS_UEBERNOMMEN",
        PreisAbweichend = "PREIS_ABWEICHEND",
        GegenbelegGeschlossen = "GEGENBELEG_GESCHLOSSEN",
        GegenbelegZuAlt = "GEGENBELEG_ZU_ALT",
        MengeOffen = "MENGE_OFFEN",
        VertrieblerUnbekannt = "VERTRIEBLER_UNBEKANNT",
        FremdbelegDoppelt = "FREMDBELEG_DOPPELT",
        PreisFehlt = "PREIS_FEHLT",
        SaetzeUnveraendert = "SAETZE_UNVERAENDERT",
        IgLieferung = "IG_LIEFERUNG",
        Ausfuhr = "AUSFUHR",
        IgErwerb = "IG_ERWERB",
        Einfuhr = "EINFUHR",
        SteuerAuslandPruefen = "STEUER_AUSLAND_PRUEFEN",
        ChargeAutomatisch = "CHARGE_AUTOMATISCH",
        BezugOhneMenge = "BEZUG_OHNE_MENGE",
        BezugGeloest = "BEZUG_GELOEST",
        GutschriftUeberRechnung = "GUTSCHRIFT_UEBER_RECHNUNG",
        MengeAbweichend = "MENGE_ABWEICHEND",
        RestGeschlossen = "REST_GESCHLOSSEN",
        LieferungVermutet = "LIEFERUNG_VERMUTET",
        SatzGeaendert = "SATZ_GEAENDERT",
        ChargeUmgebucht = "CHARGE_UMGEBUCHT",
        ChargeWiderspruch = "CHARGE_WIDERSPRUCH",
        RuecknahmeGebucht = "RUECKNAHME_GEBUCHT",
        BestandNegativ = "BESTAND_NEGATIV",
        ArtikelgruppeAngelegt = "ARTIKELGRUPPE_ANGELEGT",
        NameGeaendert = "NAME_GEAENDERT",
        EinheitUmgerechnet = "EINHEIT_UMGERECHNET",
        BestandNichtGebucht = "BESTAND_NICHT_GEBUCHT",
        RichtungWiderspruch = "RICHTUNG_WIDERSPRUCH",
        GewichtWiderspruch = "GEWICHT_WIDERSPRUCH",
        WiegungAndererPartner = "WIEGUNG_ANDERER_PARTNER",
        KontraktAndererPartner = "KONTRAKT_ANDERER_PARTNER",
        KontraktAndererArtikel = "KONTRAKT_ANDERER_ARTIKEL",
        KontraktAndereRichtung = "KONTRAKT_ANDERE_RICHTUNG",
        KontraktUeberliefert = "KONTRAKT_UEBERLIEFERT",
        ArtikelUnbekannt = "ARTIKEL_UNBEKANNT",
        BonMehrfachStorniert = "BON_MEHRFACH_STORNIERT",
        TiefeErreicht = "TIEFE_ERREICHT",
        MwstSatzAngenommen = "MWST_SATZ_ANGENOMMEN",
        MwstSatzUnbekannt = "MWST_SATZ_UNBEKANNT",
        BiozertifikatAbgelaufen = "BIOZERTIFIKAT_ABGELAUFEN",
        KundeDoppelt = "KUNDE_DOPPELT",
        WertFraglich = "WERT_FRAGLICH",
        InhaltAbweichend = "INHALT_ABWEICHEND",
        SteuergrundFehlt = "STEUERGRUND_FEHLT",
        GutschriftNichtVereinbart = "GUTSCHRIFT_NICHT_VEREINBART",
        ZeichenFehlt = "ZEICHEN_FEHLT",
        ErechnungUnvollstaendig = "ERECHNUNG_UNVOLLSTAENDIG",
        LieferdatumAngenommen = "LIEFERDATUM_ANGENOMMEN",
        PartnerUnbekannt = "PARTNER_UNBEKANNT",
        IbanAbweichend = "IBAN_ABWEICHEND",
        EmpfaengerPruefen = "EMPFAENGER_PRUEFEN",
        PositionenFehlen = "POSITIONEN_FEHLEN",
        SummeAbweichend = "SUMME_ABWEICHEND",
        VorschlagUnvollstaendig = "VORSCHLAG_UNVOLLSTAENDIG",
        AusbeutePruefen = "AUSBEUTE_PRUEFEN",
        KontraktWiderspruch = "KONTRAKT_WIDERSPRUCH",
        KontraktEinheit = "KONTRAKT_EINHEIT",
        KontraktAbgelaufen = "KONTRAKT_ABGELAUFEN",
        KontraktPositionGewaehlt = "KONTRAKT_POSITION_GEWAEHLT",
        KontraktOffen = "KONTRAKT_OFFEN",
        BasisFehlt = "BASIS_FEHLT",
        BezugFehlt = "BEZUG_FEHLT",
        AnschriftGekuerzt = "ANSCHRIFT_GEKUERZT",
        InventurUeberholt = "INVENTUR_UEBERHOLT",
        ZuVieleGegenbelege = "ZU_VIELE_GEGENBELEGE",
        LagerkostenPruefen = "LAGERKOSTEN_PRUEFEN",
        Grenzwert = "GRENZWERT",
        AnnahmescheinGesperrt = "ANNAHMESCHEIN_GESPERRT",
        AbrechnungVeraltet = "ABRECHNUNG_VERALTET",
        AnnahmescheinAbgerechnet = "ANNAHMESCHEIN_ABGERECHNET",
        SteuerartRueckwirkend = "STEUERART_RUECKWIRKEND",
        SteuerartGewechselt = "STEUERART_GEWECHSELT",
        BesteuerungUnbekannt = "BESTEUERUNG_UNBEKANNT",
        SchemaLuecke = "SCHEMA_LUECKE",
        LieferdatumZukunft = "LIEFERDATUM_ZUKUNFT",
        BelegVorLieferung = "BELEG_VOR_LIEFERUNG",
        AbschlagUebersteigtWare = "ABSCHLAG_UEBERSTEIGT_WARE",
        BuUnbekannt = "BU_UNBEKANNT",
        SchemaFehlt = "SCHEMA_FEHLT",
        SchemaGeaendert = "SCHEMA_GEAENDERT",
        MengeUeberEingang = "MENGE_UEBER_EINGANG",
        AbschlagUebersteigt = "ABSCHLAG_UEBERSTEIGT",
        Zahlungsfrist60Tage = "ZAHLUNGSFRIST_60_TAGE",
        OffeneBelege = "OFFENE_BELEGE",
        Nachzuegler = "NACHZUEGLER",
        NachzueglerVorjahr = "NACHZUEGLER_VORJAHR",
        SteuerCent = "STEUER_CENT",
        BelegOhneBetrag = "BELEG_OHNE_BETRAG",
        BelegfeldGeaendert = "BELEGFELD_GEAENDERT",
        BelegfeldDoppelt = "BELEGFELD_DOPPELT",
        ZeichenErsetzt = "ZEICHEN_ERSETZT",
        StammGekuerzt = "STAMM_GEKUERZT",
        UstIdUebernommen = "UST_ID_UEBERNOMMEN",
        ChargeInBelegen = "CHARGE_IN_BELEGEN",
        MhdSpaeterAlsEinsatz = "MHD_SPAETER_ALS_EINSATZ",
        WertAlsProzent = "WERT_ALS_PROZENT",
        PartnerAusgeschlossen = "PARTNER_AUSGESCHLOSSEN",
        PartnerPruefen = "PARTNER_PRUEFEN",
        PreisErrechnet = "PREIS_ERRECHNET",
        VorzeichenPruefen = "VORZEICHEN_PRUEFEN",
        IstTest = "IST_TEST",
        IstKopie = "IST_KOPIE",
        Zahlungsplan = "ZAHLUNGSPLAN",
        SkontoGekuerzt = "SKONTO_GEKUERZT",
    }
}

/// A hint in a write confirmation: `{code, feld?, message, anzahl?}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    pub code: HintCode,
    pub feld: Option<String>,
    /// German sentence.
    pub message: String,
    /// Number of further hints with this code that were dropped.
    pub more: usize,
}

/// A [`Hint`] as it is sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Hinweis")]
pub struct SentHint<'h> {
    #[schemars(with = "String")]
    code: HintCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    feld: Option<&'h str>,
    message: &'h str,
    /// Total number of hints with this code, if some were dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    anzahl: Option<usize>,
}

const HINTS_MAX: usize = 150;

// Leaves room for the first hint of each code.
const _: () = assert!(<HintCode as Choice>::TEXTS.len() < HINTS_MAX);

/// The hints of one request, without duplicates. Above the limit, each code keeps its first hint, which
/// counts the dropped ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints(Vec<Hint>);

impl Serialize for Hints {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|hint| SentHint {
            code: hint.code,
            feld: hint.feld.as_deref(),
            message: &hint.message,
            anzahl: (hint.more > 0).then(|| hint.more + self.with_code(hint.code).count()),
        }))
    }
}

impl Hints {
    pub fn add(&mut self, code: HintCode, message: impl Into<String>) {
        self.push(Hint { code, feld: None, message: message.into(), more: 0 });
    }

    pub fn add_field(&mut self, code: HintCode, feld: impl Into<String>, message: impl Into<String>) {
        self.push(Hint { code, feld: Some(feld.into()), message: message.into(), more: 0 });
    }

    pub fn add_ignored(&mut self, feld: &str) {
        let message = "Dieses Feld gilt hier nicht; es wurde nicht übernommen.";
        self.add_field(HintCode::FeldIgnoriert, feld, message);
    }

    /// Adds the hint that a repeated external_ref came with other content than the record with this number
    /// (D19).
    pub fn add_different_repeat(&mut self, nummer: &str) {
        let message = format!(
            "Diese external_ref gehört zu {nummer}, die Anfrage sagt aber etwas anderes; es wurde nichts geändert."
        );
        self.add_field(HintCode::InhaltAbweichend, "external_ref", message);
    }

    pub fn extend(&mut self, other: Hints) {
        other.0.into_iter().for_each(|hint| self.push(hint));
    }

    /// Prefixes the fields of all hints with `path`, as [`Refusal::below`] does.
    pub fn below(mut self, path: &str) -> Hints {
        for hint in &mut self.0 {
            hint.feld = below(path, hint.feld.take());
        }
        self
    }

    /// Removes the fields of all hints, for a request that lacks those fields.
    pub fn without_fields(mut self) -> Hints {
        self.0.iter_mut().for_each(|hint| hint.feld = None);
        self
    }

    /// Replaces the field of each hint with this code by what `place` returns for it.
    pub fn placed(mut self, code: HintCode, place: impl Fn(&str) -> String) -> Hints {
        let placed = self.0.iter_mut().filter(|hint| hint.code == code);
        placed.filter_map(|hint| hint.feld.as_mut()).for_each(|feld| *feld = place(feld));
        self
    }

    pub fn without(mut self, code: HintCode) -> Hints {
        self.0.retain(|hint| hint.code != code);
        self
    }

    /// The fields that were ignored.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        self.with_code(HintCode::FeldIgnoriert).filter_map(|hint| hint.feld.as_deref())
    }

    /// Removes the hints that these fields were ignored.
    pub fn drop_ignored(&mut self, is_meant: impl Fn(&str) -> bool) {
        let is_dropped =
            |hint: &Hint| hint.code == HintCode::FeldIgnoriert && hint.feld.as_deref().is_some_and(&is_meant);
        self.0.retain(|hint| !is_dropped(hint));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Hint> {
        self.0.iter()
    }

    fn with_code(&self, code: HintCode) -> impl Iterator<Item = &Hint> {
        self.0.iter().filter(move |hint| hint.code == code)
    }

    fn push(&mut self, hint: Hint) {
        let is_known = |known: &&mut Hint| (&known.feld, &known.message) == (&hint.feld, &hint.message);
        if let Some(known) = self.0.iter_mut().filter(|known| known.code == hint.code).find(is_known) {
            known.more += hint.more;
        } else if self.0.len() < HINTS_MAX {
            self.0.push(hint);
        } else if self.with_code(hint.code).next().is_some() {
            self.count(&hint);
        } else if let Some(at) = (0..self.0.len()).rev().find(|at| self.is_behind_another(*at)) {
            let dropped = self.0.remove(at);
            self.count(&dropped);
            self.0.push(hint);
        }
    }

    /// Whether an earlier hint has the same code.
    fn is_behind_another(&self, at: usize) -> bool {
        self.0[..at].iter().any(|hint| hint.code == self.0[at].code)
    }

    /// Counts a dropped hint on the first hint with its code.
    fn count(&mut self, dropped: &Hint) {
        if let Some(first) = self.0.iter_mut().find(|first| first.code == dropped.code) {
            first.more += 1 + dropped.more;
        }
    }
}

/// Joins a path and a field; the path alone if there is no field.
pub(super) fn below(path: &str, feld: Option<String>) -> Option<String> {
    match feld {
        feld if path.is_empty() => feld,
        Some(feld) => Some(format!("{path}.{feld}")),
        None => Some(path.to_owned()),
    }
}

//! Refusals and hints: every machine-readable code of the interface stands here, once (D19).

use schemars::JsonSchema;
use serde::Serialize;

use crate::choice;

choice! {
    /// Why a request was refused. Append-only: clients compare these texts (D19).
    pub enum Code {
        ApiKeyFehlt = "API_KEY_FEHLT",
        ApiKeyUngueltig = "API_KEY_UNGUELTIG",
        ScopeFehlt = "SCOPE_FEHLT",
        TageslimitErreicht = "TAGESLIMIT_ERREICHT",
        ZuVieleAnfragen = "ZU_VIELE_ANFRAGEN",
        NichtGefunden = "NICHT_GEFUNDEN",
        KeinPdf = "KEIN_PDF",
        MethodeNichtErlaubt = "METHODE_NICHT_ERLAUBT",
        ZuGross = "ZU_GROSS",
        ZeitUeberschritten = "ZEIT_UEBERSCHRITTEN",
        AnfrageUngueltig = "ANFRAGE_UNGUELTIG",
        ZwischenzeitlichGeaendert = "ZWISCHENZEITLICH_GEAENDERT",
        UnbekannterParameter = "UNBEKANNTER_PARAMETER",
        ParameterFehlt = "PARAMETER_FEHLT",
        ParameterUngueltig = "PARAMETER_UNGUELTIG",
        ZuVieleTreffer = "ZU_VIELE_TREFFER",
        UngueltigesJson = "UNGUELTIGES_JSON",
        UnbekanntesFeld = "UNBEKANNTES_FELD",
        FeldUngueltig = "FELD_UNGUELTIG",
        FeldFehlt = "FELD_FEHLT",
        FeldWiderspruch = "FELD_WIDERSPRUCH",
        WertUngueltig = "WERT_UNGUELTIG",
        TextZuLang = "TEXT_ZU_LANG",
        DatumUngueltig = "DATUM_UNGUELTIG",
        LandUnbekannt = "LAND_UNBEKANNT",
        NameFehlt = "NAME_FEHLT",
        KundennrBereitsVergeben = "KUNDENNR_BEREITS_VERGEBEN",
        KundeNichtGefunden = "KUNDE_NICHT_GEFUNDEN",
        KundeFehlt = "KUNDE_FEHLT",
        KundeWiderspruch = "KUNDE_WIDERSPRUCH",
        KundeGesperrt = "KUNDE_GESPERRT",
        PartnerNichtGefunden = "PARTNER_NICHT_GEFUNDEN",
        ArtikelNichtGefunden = "ARTIKEL_NICHT_GEFUNDEN",
        ArtikelFehlt = "ARTIKEL_FEHLT",
        ArtikelInaktiv = "ARTIKEL_INAKTIV",
        ArtikelMehrdeutig = "ARTIKEL_MEHRDEUTIG",
        ArtikelWiderspruch = "ARTIKEL_WIDERSPRUCH",
        BelegAbgeschlossen = "BELEG_ABGESCHLOSSEN",
        BelegNichtAbgeschlossen = "BELEG_NICHT_ABGESCHLOSSEN",
        BelegStorniert = "BELEG_STORNIERT",
        BelegNichtStornierbar = "BELEG_NICHT_STORNIERBAR",
        BelegTypNichtAenderbar = "BELEG_TYP_NICHT_AENDERBAR",
        BelegNichtGefunden = "BELEG_NICHT_GEFUNDEN",
        BezugPasstNicht = "BEZUG_PASST_NICHT",
        ZeitraumGesperrt = "ZEITRAUM_GESPERRT",
        PreisFehlt = "PREIS_FEHLT",
        MengeUngueltig = "MENGE_UNGUELTIG",
        EinheitNichtUmrechenbar = "EINHEIT_NICHT_UMRECHENBAR",
        BetragZuGross = "BETRAG_ZU_GROSS",
        ChargeFehlt = "CHARGE_FEHLT",
        ChargeNichtGefunden = "CHARGE_NICHT_GEFUNDEN",
        ChargePasstNicht = "CHARGE_PASST_NICHT",
        ChargeBereitsVerwendet = "CHARGE_BEREITS_VERWENDET",
        ChargeNrBereitsVergeben = "CHARGE_NR_BEREITS_VERGEBEN",
        FremdeChargeNrBereitsVergeben = "FREMDE_CHARGE_NR_BEREITS_VERGEBEN",
        NummerReserviert = "NUMMER_RESERVIERT",
        BestandNichtAusreichend = "BESTAND_NICHT_AUSREICHEND",
        BiozertifikatNichtGefunden = "BIOZERTIFIKAT_NICHT_GEFUNDEN",
        KontraktNichtGefunden = "KONTRAKT_NICHT_GEFUNDEN",
        WiegungNichtGefunden = "WIEGUNG_NICHT_GEFUNDEN",
        WiegungNichtOffen = "WIEGUNG_NICHT_OFFEN",
        WiegungNichtFertig = "WIEGUNG_NICHT_FERTIG",
        WiegungPasstNicht = "WIEGUNG_PASST_NICHT",
        WiegungBereitsVerwendet = "WIEGUNG_BEREITS_VERWENDET",
        WiegungNichtStornierbar = "WIEGUNG_NICHT_STORNIERBAR",
        WiegungAbgerechnet = "WIEGUNG_ABGERECHNET",
        NettoNull = "NETTO_NULL",
        AnnahmescheinNichtStornierbar = "ANNAHMESCHEIN_NICHT_STORNIERBAR",
        NettoNegativ = "NETTO_NEGATIV",
        RezepturNichtGefunden = "REZEPTUR_NICHT_GEFUNDEN",
        FaktorUngueltig = "FAKTOR_UNGUELTIG",
        PaStatusUngueltig = "PA_STATUS_UNGUELTIG",
        PaZeileNichtGefunden = "PA_ZEILE_NICHT_GEFUNDEN",
        IdempotenzKonflikt = "IDEMPOTENZ_KONFLIKT",
        InternerFehler = "INTERNER_FEHLER",
        NichtVerfuegbar = "NICHT_VERFUEGBAR",
        AusgangUnbekannt = "AUSGANG_UNBEKANNT",
        BonMehrdeutig = "BON_MEHRDEUTIG",
        ApiKeyAbgelaufen = "API_KEY_ABGELAUFEN",
        ApiKeyDeaktiviert = "API_KEY_DEAKTIVIERT",
        SteuerKategoriePasstNicht = "STEUER_KATEGORIE_PASST_NICHT",
        KeineErechnung = "KEINE_ERECHNUNG",
        ErechnungUnvollstaendig = "ERECHNUNG_UNVOLLSTAENDIG",
        DateiNichtLesbar = "DATEI_NICHT_LESBAR",
        KeineRechnung = "KEINE_RECHNUNG",
        CursorAbgelaufen = "CURSOR_ABGELAUFEN",
    }
}

choice! {
    /// What the service ignored, rounded, matched or chose by itself ("never silent").
    pub enum HintCode {
        UnbekanntesFeld = "UNBEKANNTES_FELD",
        UnbekannterParameter = "UNBEKANNTER_PARAMETER",
        FeldIgnoriert = "FELD_IGNORIERT",
        Gerundet = "GERUNDET",
        KundeInaktiv = "KUNDE_INAKTIV",
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
        TiefeErreicht = "TIEFE_ERREICHT",
        WeitereHinweise = "WEITERE_HINWEISE",
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
    }
}

/// One error of one position of a document, as listed in `details.fehler[]` (D19).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PositionFehler")]
pub struct PositionError {
    #[schemars(with = "String")]
    pub error: Code,
    /// Path of the field, for example `items[2].menge`.
    pub feld: String,
    /// German sentence.
    pub message: String,
}

/// A refused request: a code, a German sentence that says what to do, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    /// German sentence.
    pub message: String,
    /// Path of the field, if one field is to blame.
    pub feld: Option<String>,
    /// All errors of the positions of one document.
    pub fehler: Vec<PositionError>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Box<Refusal> {
        Box::new(Refusal { code, message: message.into(), feld: None, fehler: Vec::new() })
    }

    pub fn field(code: Code, feld: impl Into<String>, message: impl Into<String>) -> Box<Refusal> {
        Box::new(Refusal { code, message: message.into(), feld: Some(feld.into()), fehler: Vec::new() })
    }

    /// A refusal because the field names something that is not there; `what` in the accusative: "Diesen Partner".
    pub fn unknown(code: Code, feld: &str, what: &str) -> Box<Refusal> {
        Refusal::field(code, feld, format!("{what} gibt es nicht. Bitte die {feld} prüfen."))
    }

    /// Names the field below `path`: `menge` in `items[2]` becomes `items[2].menge`. Below an empty path it is itself.
    pub fn below(mut self: Box<Self>, path: &str) -> Box<Refusal> {
        self.feld = below(path, self.feld.take());
        self
    }
}

/// The path of a field below another path; that path where there is no field.
fn below(path: &str, feld: Option<String>) -> Option<String> {
    match feld {
        feld if path.is_empty() => feld,
        Some(feld) => Some(format!("{path}.{feld}")),
        None => Some(path.to_owned()),
    }
}

pub type Checked<T> = Result<T, Box<Refusal>>;

pub fn required<T>(value: Option<T>, feld: &str) -> Checked<T> {
    let missing = || Refusal::field(Code::FeldFehlt, feld, format!("Das Feld {feld} fehlt. Bitte angeben."));
    value.ok_or_else(missing)
}

/// The refusals of all positions of one document, collected so that a client sees them at once.
#[derive(Debug, Default)]
pub struct PositionErrors(Vec<Refusal>);

impl PositionErrors {
    /// Keeps the value, or remembers why there is none.
    pub fn keep<T>(&mut self, result: Checked<T>) -> Option<T> {
        result.map_err(|refusal| self.0.push(*refusal)).ok()
    }

    /// Nothing was refused, or the first refusal with all of them in its details.
    pub fn into_result(self) -> Checked<()> {
        let fehler = self.0.iter().map(|refusal| PositionError {
            error: refusal.code,
            feld: refusal.feld.clone().unwrap_or_default(),
            message: refusal.message.clone(),
        });
        let fehler = fehler.collect();
        match self.0.into_iter().next() {
            None => Ok(()),
            Some(first) => Err(Box::new(Refusal { fehler, ..first })),
        }
    }
}

/// A note in a write confirmation: `{code, feld?, message}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Hinweis")]
pub struct Hint {
    #[schemars(with = "String")]
    pub code: HintCode,
    /// Path of the field, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feld: Option<String>,
    /// German sentence.
    pub message: String,
}

const HINTS_MAX: usize = 100;

/// The hints of one request, each once; beyond a limit they are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    listed: Vec<Hint>,
    /// How many there were beyond those.
    more: usize,
}

impl Serialize for Hints {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let more = (self.more > 0).then(|| Hint {
            code: HintCode::WeitereHinweise,
            feld: None,
            message: format!("Es gibt {} weitere Hinweise.", self.more),
        });
        serializer.collect_seq(self.listed.iter().chain(&more))
    }
}

impl Hints {
    pub fn add(&mut self, code: HintCode, message: impl Into<String>) {
        self.push(Hint { code, feld: None, message: message.into() });
    }

    pub fn add_field(&mut self, code: HintCode, feld: impl Into<String>, message: impl Into<String>) {
        self.push(Hint { code, feld: Some(feld.into()), message: message.into() });
    }

    /// Adds that a field which this request cannot set was dropped.
    pub fn add_ignored(&mut self, feld: &str) {
        let message = "Dieses Feld gilt hier nicht; es wurde nicht übernommen.";
        self.add_field(HintCode::FeldIgnoriert, feld, message);
    }

    /// Adds that a repeated external_ref came with other content than what has this number (D19).
    pub fn add_different_repeat(&mut self, nummer: &str) {
        let message = format!(
            "Diese external_ref gehört zu {nummer}, die Anfrage sagt aber etwas anderes; es wurde nichts geändert."
        );
        self.add_field(HintCode::InhaltAbweichend, "external_ref", message);
    }

    pub fn extend(&mut self, other: Hints) {
        self.more += other.more;
        other.listed.into_iter().for_each(|hint| self.push(hint));
    }

    /// The same hints about fields below `path`, as [`Refusal::below`] names them.
    pub fn below(mut self, path: &str) -> Hints {
        for hint in &mut self.listed {
            hint.feld = below(path, hint.feld.take());
        }
        self
    }

    pub fn without(mut self, code: HintCode) -> Hints {
        self.listed.retain(|hint| hint.code != code);
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &Hint> {
        self.listed.iter()
    }

    pub fn more(&self) -> usize {
        self.more
    }

    fn push(&mut self, hint: Hint) {
        if self.listed.contains(&hint) {
            return;
        }
        if self.listed.len() < HINTS_MAX { self.listed.push(hint) } else { self.more += 1 }
    }
}

impl From<super::fixed::TooLarge> for Box<Refusal> {
    fn from(_: super::fixed::TooLarge) -> Box<Refusal> {
        let message =
            "Ein Betrag oder eine Menge erreicht 1.000.000.000.000. Bitte Mengen und Preise prüfen.";
        Refusal::new(Code::BetragZuGross, message)
    }
}

//! Refusals and hints. Every machine-readable code of the interface is defined here or in `hints`, once
//! (D19).

mod hints;

use std::fmt::{self, Arguments, Display, Formatter};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::choice;
use hints::below;
pub use hints::{Hint, HintCode, Hints, SentHint};

macro_rules! codes {
    ($($code:ident = $text:literal: $meaning:literal;)+) => {
        choice! {
            /// Why a request was refused. Append-only: clients compare these texts (D19).
            pub enum Code { $($code = $text),+ }
        }

        impl Code {
            /// German sentence for the error catalogue.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$code => $meaning),+ }
            }
        }
    };
}

codes! {
    ApiKeyFehlt = "API_KEY_FEHLT": "Der Header X-API-Key fehlt.";
    ApiKeyUngueltig = "API_KEY_UNGUELTIG": "Der Schlüssel ist unbekannt oder falsch.";
    ScopeFehlt = "SCOPE_FEHLT": "Dem Schlüssel fehlt die Berechtigung für diese Adresse.";
    TageslimitErreicht = "TAGESLIMIT_ERREICHT":
        "Der Schlüssel hat seine Anfragen für heute (UTC) verbraucht.";
    ZuVieleAnfragen = "ZU_VIELE_ANFRAGEN": "Von dieser Netzadresse kamen in einer Minute zu viele Anfragen.";
    NichtGefunden = "NICHT_GEFUNDEN": "Den Datensatz oder die Adresse gibt es nicht.";
    KeinPdf = "KEIN_PDF":
        "Es gibt kein PDF: keines ist archiviert, und keines lässt sich zeichnen; die Nachricht sagt, warum.";
    MethodeNichtErlaubt = "METHODE_NICHT_ERLAUBT":
        "Diese Adresse kennt die Methode nicht; erlaubte nennt der Header Allow.";
    ZuGross = "ZU_GROSS": "Der Inhalt ist größer als erlaubt.";
    KodierungNichtUnterstuetzt = "KODIERUNG_NICHT_UNTERSTUETZT":
        "Der Inhalt ist komprimiert (Content-Encoding); er wird nur unkomprimiert gelesen.";
    ZeitUeberschritten = "ZEIT_UEBERSCHRITTEN": "Der Inhalt kam nicht in der vorgesehenen Zeit an.";
    AnfrageUngueltig = "ANFRAGE_UNGUELTIG": "Die Anfrage ist kein gültiges HTTP, oder ein Header ist falsch.";
    ZwischenzeitlichGeaendert = "ZWISCHENZEITLICH_GEAENDERT":
        "Der Datensatz hat nicht mehr die Fassung aus If-Match.";
    UnbekannterParameter = "UNBEKANNTER_PARAMETER": "Diesen Parameter gibt es hier nicht.";
    ParameterFehlt = "PARAMETER_FEHLT": "Ein Parameter fehlt, der angegeben werden muss.";
    ParameterUngueltig = "PARAMETER_UNGUELTIG": "Der Wert eines Parameters ist nicht erlaubt.";
    ZuVieleTreffer = "ZU_VIELE_TREFFER":
        "Die Liste ist zu lang; bitte mit limit und offset lesen.";
    UngueltigesJson = "UNGUELTIGES_JSON": "Der Inhalt ist kein gültiges JSON-Objekt.";
    UnbekanntesFeld = "UNBEKANNTES_FELD": "Dieses Feld gibt es nicht (nur wenn das abgelehnt werden soll).";
    FeldUngueltig = "FELD_UNGUELTIG": "Ein Feld hat den falschen Typ oder einen unlesbaren Wert.";
    FeldFehlt = "FELD_FEHLT": "Ein Feld fehlt, das angegeben werden muss.";
    FeldWiderspruch = "FELD_WIDERSPRUCH": "Zwei Felder sagen Verschiedenes.";
    WertUngueltig = "WERT_UNGUELTIG": "Ein Wert steht nicht zur Auswahl oder liegt außerhalb der Grenzen.";
    TextZuLang = "TEXT_ZU_LANG": "Ein Text ist zu lang.";
    DatumUngueltig = "DATUM_UNGUELTIG": "Ein Datum ist unlesbar oder liegt außerhalb der Grenzen.";
    LandUnbekannt = "LAND_UNBEKANNT": "Das Land ist nicht bekannt.";
    NameFehlt = "NAME_FEHLT": "Der Kunde braucht einen Namen.";
    KundennrBereitsVergeben = "KUNDENNR_BEREITS_VERGEBEN": "Diese Kundennummer gibt es in der Firma schon.";
    KundeNichtGefunden = "KUNDE_NICHT_GEFUNDEN": "Diesen Kunden gibt es nicht.";
    KundeFehlt = "KUNDE_FEHLT": "Der Beleg braucht einen Kunden oder Lieferanten.";
    KundeWiderspruch = "KUNDE_WIDERSPRUCH": "kunden_id und kundennummer meinen verschiedene Kunden.";
    KundeGesperrt = "KUNDE_GESPERRT": "Der Kunde ist gesperrt.";
    PartnerNichtGefunden = "PARTNER_NICHT_GEFUNDEN": "Diesen Partner gibt es nicht.";
    ArtikelNichtGefunden = "ARTIKEL_NICHT_GEFUNDEN": "Diesen Artikel gibt es nicht.";
    ArtikelFehlt = "ARTIKEL_FEHLT": "Die Position braucht einen Artikel oder eine Bezeichnung.";
    ArtikelInaktiv = "ARTIKEL_INAKTIV": "Der Artikel ist nicht mehr aktiv.";
    ArtikelMehrdeutig = "ARTIKEL_MEHRDEUTIG": "Die Nummer passt auf mehrere Artikel.";
    ArtikelWiderspruch = "ARTIKEL_WIDERSPRUCH": "artikel_id und artikelnr meinen verschiedene Artikel.";
    BelegAbgeschlossen = "BELEG_ABGESCHLOSSEN": "Der Beleg ist abgeschlossen und ändert sich nicht mehr.";
    BelegNichtAbgeschlossen = "BELEG_NICHT_ABGESCHLOSSEN": "Das geht erst mit einem abgeschlossenen Beleg.";
    BelegStorniert = "BELEG_STORNIERT": "Der Beleg ist storniert.";
    BelegNichtStornierbar = "BELEG_NICHT_STORNIERBAR": "Der Beleg kann nicht storniert werden.";
    BelegTypNichtAenderbar = "BELEG_TYP_NICHT_AENDERBAR":
        "Der Typ eines Belegs bleibt, wie er angelegt wurde.";
    BelegNichtGefunden = "BELEG_NICHT_GEFUNDEN": "Den Beleg in bezug_beleg_id gibt es nicht.";
    BezugPasstNicht = "BEZUG_PASST_NICHT":
        "Der Beleg in bezug_beleg_id oder bezug_position_id ist storniert, hat einen anderen Typ oder Partner oder nicht \
         diesen Artikel.";
    BezugMehrdeutig = "BEZUG_MEHRDEUTIG":
        "Der Beleg in bezug_beleg_id hat den Artikel mit verschiedenen Preisen oder Steuersätzen, und die Position sagt \
         nicht, welche sie zurücknimmt.";
    BezugOhneMenge = "BEZUG_OHNE_MENGE":
        "Von dem, was die Position nennt, ist nichts übrig, und sie sagt keine Menge.";
    ZeitraumGesperrt = "ZEITRAUM_GESPERRT": "Der Zeitraum ist für Änderungen gesperrt.";
    PreisFehlt = "PREIS_FEHLT": "Für den Artikel ist kein Preis bekannt.";
    MengeUngueltig = "MENGE_UNGUELTIG": "Die Menge fehlt, ist 0 oder hat das falsche Vorzeichen.";
    EinheitNichtUmrechenbar = "EINHEIT_NICHT_UMRECHENBAR":
        "Die Einheit lässt sich nicht in die des Artikels umrechnen.";
    BetragZuGross = "BETRAG_ZU_GROSS": "Ein Betrag oder eine Menge erreicht 1.000.000.000.000.";
    ChargeFehlt = "CHARGE_FEHLT": "Der chargenpflichtige Artikel braucht eine Charge.";
    ChargeNichtGefunden = "CHARGE_NICHT_GEFUNDEN": "Diese Charge gibt es nicht.";
    ChargePasstNicht = "CHARGE_PASST_NICHT": "Die Charge gehört zu einem anderen Artikel.";
    ChargeWiderspruch = "CHARGE_WIDERSPRUCH":
        "Der Beleg in bezug_beleg_id nennt für den Artikel eine andere Charge.";
    ChargeGesperrt = "CHARGE_GESPERRT": "Die Charge ist gesperrt.";
    ChargeBereitsVerwendet = "CHARGE_BEREITS_VERWENDET":
        "Von der Charge ist schon mehr verbraucht, als dann übrig wäre.";
    ChargeNrBereitsVergeben = "CHARGE_NR_BEREITS_VERGEBEN": "Diese Chargennummer hat der Artikel schon.";
    FremdeChargeNrBereitsVergeben = "FREMDE_CHARGE_NR_BEREITS_VERGEBEN":
        "Diese Nummer hat schon eine andere Charge des Artikels von diesem Lieferanten.";
    NummerReserviert = "NUMMER_RESERVIERT": "Nummern dieser Form vergibt der Dienst selbst.";
    BestandNichtAusreichend = "BESTAND_NICHT_AUSREICHEND": "Der Bestand reicht nicht.";
    BiozertifikatNichtGefunden = "BIOZERTIFIKAT_NICHT_GEFUNDEN": "Dieses Biozertifikat gibt es nicht.";
    KontraktNichtGefunden = "KONTRAKT_NICHT_GEFUNDEN":
        "Diesen Kontrakt oder diese Kontraktposition gibt es nicht.";
    WiegungNichtGefunden = "WIEGUNG_NICHT_GEFUNDEN": "Diese Wiegung gibt es nicht.";
    WiegungNichtOffen = "WIEGUNG_NICHT_OFFEN": "Die Wiegung ist nicht offen.";
    WiegungNichtFertig = "WIEGUNG_NICHT_FERTIG": "Die Wiegung hat noch kein Nettogewicht.";
    WiegungPasstNicht = "WIEGUNG_PASST_NICHT": "Die Wiegung gehört zu einem anderen Artikel.";
    WiegungBereitsVerwendet = "WIEGUNG_BEREITS_VERWENDET": "Andere Positionen verwenden die Wiegung schon ganz.";
    WiegungNichtStornierbar = "WIEGUNG_NICHT_STORNIERBAR": "Die Wiegung ist schon storniert.";
    WiegungAbgerechnet = "WIEGUNG_ABGERECHNET": "Ein Beleg oder Annahmeschein verwendet die Wiegung.";
    NettoNull = "NETTO_NULL": "Beide Gewichte sind gleich.";
    AnnahmescheinNichtStornierbar = "ANNAHMESCHEIN_NICHT_STORNIERBAR":
        "Der Annahmeschein kann nicht storniert werden.";
    NettoNegativ = "NETTO_NEGATIV": "Die Abzüge sind größer als die Anlieferung.";
    RezepturNichtGefunden = "REZEPTUR_NICHT_GEFUNDEN": "Diese Rezeptur gibt es nicht.";
    FaktorUngueltig = "FAKTOR_UNGUELTIG": "Der Faktor muss größer als 0 sein.";
    PaStatusUngueltig = "PA_STATUS_UNGUELTIG": "Der Auftrag kann nicht in diesen Status wechseln.";
    PaZeileNichtGefunden = "PA_ZEILE_NICHT_GEFUNDEN": "Diese Zeile hat der Auftrag nicht.";
    IdempotenzKonflikt = "IDEMPOTENZ_KONFLIKT":
        "Der Idempotency-Key wurde schon für eine andere Anfrage benutzt.";
    InternerFehler = "INTERNER_FEHLER": "Im Dienst ist ein Fehler aufgetreten; es wurde nichts gespeichert.";
    NichtVerfuegbar = "NICHT_VERFUEGBAR":
        "Der Dienst kann gerade nicht; es wurde nichts gespeichert, bitte wiederholen.";
    AusgangUnbekannt = "AUSGANG_UNBEKANNT":
        "Ob etwas gespeichert wurde, ist nicht bekannt; bitte mit derselben external_ref oder demselben \
             Idempotency-Key wiederholen.";
    BonMehrdeutig = "BON_MEHRDEUTIG": "Mehrere Kassen haben einen Bon mit dieser Nummer.";
    ApiKeyAbgelaufen = "API_KEY_ABGELAUFEN": "Der Schlüssel ist richtig, sein letzter Tag aber vorbei.";
    ApiKeyDeaktiviert = "API_KEY_DEAKTIVIERT": "Der Schlüssel ist richtig, aber abgeschaltet.";
    SteuerKategoriePasstNicht = "STEUER_KATEGORIE_PASST_NICHT":
        "S gehört zu einem Steuersatz über 0, jede andere steuer_kategorie zu 0.";
    KeineErechnung = "KEINE_ERECHNUNG":
        "Zu diesem Beleg gibt es keine E-Rechnung; die Nachricht sagt, warum.";
    ErechnungUnvollstaendig = "ERECHNUNG_UNVOLLSTAENDIG":
        "Für die E-Rechnung, ohne die nicht abgeschlossen wird, fehlen Angaben; die Nachricht nennt sie.";
    DateiNichtLesbar = "DATEI_NICHT_LESBAR": "Die Datei ist beschädigt, verschlüsselt oder weder PDF noch XML.";
    KeineRechnung = "KEINE_RECHNUNG":
        "Die Datei enthält keine E-Rechnung, aus der eine Eingangsrechnung werden kann.";
    ZuVieleGegenbelege = "ZU_VIELE_GEGENBELEGE": "Der Beleg träfe zu viele Mengen anderer Belege.";
    CursorAbgelaufen = "CURSOR_ABGELAUFEN":
        "Nach diesem cursor fehlt etwas: er ist zu alt, oder die Datenbank wurde wiederhergestellt.";
    MerkmalNichtGefunden = "MERKMAL_NICHT_GEFUNDEN": "Dieses Merkmal gibt es nicht.";
    TabelleUeberlappt = "TABELLE_UEBERLAPPT": "Zwei Zeilen einer Tabelle treffen denselben Wert.";
    TabelleLuecke = "TABELLE_LUECKE": "Zwischen zwei Zeilen einer Tabelle fehlt ein Wert.";
    SchemaUeberschneidet = "SCHEMA_UEBERSCHNEIDET": "In dieser Zeit gilt schon eine andere Version des Schemas.";
    PreisNegativ = "PREIS_NEGATIV": "Nach den Abzügen läge der Preis unter 0.";
    SchemaNichtGefunden = "SCHEMA_NICHT_GEFUNDEN": "Dieses Abrechnungsschema gibt es nicht.";
    SchemaPasstNicht = "SCHEMA_PASST_NICHT": "Das Schema gilt nicht für diesen Artikel oder diesen Liefertag.";
    SchemaMehrdeutig = "SCHEMA_MEHRDEUTIG": "Für den Artikel gelten an diesem Tag mehrere Schemata.";
    AnnahmeAbgewiesen = "ANNAHME_ABGEWIESEN": "Das Schema lässt diese Ware nicht zu.";
    AnnahmescheinGesperrt = "ANNAHMESCHEIN_GESPERRT": "Der Annahmeschein wartet auf eine Freigabe.";
    AnnahmescheinNichtGesperrt = "ANNAHMESCHEIN_NICHT_GESPERRT": "Der Annahmeschein ist nicht gesperrt.";
    AnnahmescheinNichtGefunden = "ANNAHMESCHEIN_NICHT_GEFUNDEN": "Diesen Annahmeschein gibt es nicht.";
    AnnahmescheinAbgerechnet = "ANNAHMESCHEIN_ABGERECHNET": "Der Annahmeschein ist schon abgerechnet.";
    AnnahmescheinNichtAbgerechnet = "ANNAHMESCHEIN_NICHT_ABGERECHNET":
        "Der Annahmeschein hat noch keine abgeschlossene Endabrechnung.";
    AnnahmescheinBerechnet = "ANNAHMESCHEIN_BERECHNET":
        "Die Lieferung zum Annahmeschein ist schon berechnet oder zurückgegeben.";
    PartnerGemischt = "PARTNER_GEMISCHT": "Eine Abrechnung hat einen Partner.";
    KontraktUeberliefert = "KONTRAKT_UEBERLIEFERT": "Mehr geliefert, als der Kontrakt noch offen hat.";
    ZuVielePositionen = "ZU_VIELE_POSITIONEN": "Eine Abrechnung hat höchstens 1.000 Positionen.";
    AbrechnungLeer = "ABRECHNUNG_LEER": "Es bleibt nichts, was bezahlt würde.";
    AbrechnungNegativ = "ABRECHNUNG_NEGATIV": "Die Abrechnung läge unter 0.";
    AbrechnungHatFolge = "ABRECHNUNG_HAT_FOLGE": "Eine spätere Abrechnung baut auf dieser auf.";
    AbrechnungNichtAenderbar = "ABRECHNUNG_NICHT_AENDERBAR":
        "Die Positionen einer Abrechnung folgen aus den Annahmescheinen.";
    AnnahmescheinStorniert = "ANNAHMESCHEIN_STORNIERT": "Der Annahmeschein ist storniert.";
    FreigabeUnvollstaendig = "FREIGABE_UNVOLLSTAENDIG":
        "Ohne einen Messwert lässt sich nicht rechnen, auch nicht nach einer Freigabe.";
    KontoFehlt = "KONTO_FEHLT": "Für einen Fall, seinen Steuersatz und seine Artikelgruppe fehlt das Konto.";
    KontoUngueltig = "KONTO_UNGUELTIG": "Ein Konto hat zu viele Stellen, oder sein Schlüssel ist keiner.";
    KontoSatzPasstNicht = "KONTO_SATZ_PASST_NICHT":
        "Auf diesem Konto rechnet DATEV eine andere Steuer als die der Belege.";
    BuAufAutomatikkonto = "BU_AUF_AUTOMATIKKONTO":
        "Ein Konto, das seine Steuer von selbst rechnet, hat keinen BU-Schlüssel.";
    BuFehlt = "BU_FEHLT": "Auf diesem Konto rechnet DATEV nur mit einem BU-Schlüssel Steuer.";
    PersonenkontoUngueltig = "PERSONENKONTO_UNGUELTIG":
        "Ein Personenkonto liegt außerhalb seines Bereichs, ist vergeben oder steht schon fest.";
    DatevEinstellungFehlt = "DATEV_EINSTELLUNG_FEHLT":
        "Der Firma fehlt eine Angabe des Steuerberaters: Berater- oder Mandantennummer, oder der erste Tag.";
    DatevUnvollstaendig = "DATEV_UNVOLLSTAENDIG":
        "Für den Stapel fehlt etwas; es wurde keiner angelegt. details.fehler nennt alles.";
    ZeitraumUngueltig = "ZEITRAUM_UNGUELTIG": "Ein Zeitraum ist noch nicht vorbei oder hat kein Ende.";
    OffeneBelege = "OFFENE_BELEGE": "Im Zeitraum sind noch Rechnungen offen.";
    UstIdFehlt = "UST_ID_FEHLT": "Einem Käufer im EU-Ausland fehlt die USt-IdNr.";
    StapelNichtVerwerfbar = "STAPEL_NICHT_VERWERFBAR":
        "Verworfen wird nur der neueste Stapel, und nur einmal.";
    FirmaUnvollstaendig = "FIRMA_UNVOLLSTAENDIG": "Von der Firma selbst fehlen Name oder Ort.";
    SchemaZeitraum = "SCHEMA_ZEITRAUM": "Diese Tage des Schemas sind schon abgerechnet, oder die Version endete früher als die bisherige.";
    VorzeichenFehlt = "VORZEICHEN_FEHLT":
        "Eine Gutschrift ist unter null; ob sie Geld fordert oder gutschreibt, muss gesagt werden.";
}

/// A German message: what is wrong and, if it is given as a pair, what to do, which a page may replace by advice of its
/// own. It is shown and serialized as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub what: String,
    pub advice: Option<String>,
}

impl<W: Display, A: Display> From<(W, A)> for Message {
    fn from((what, advice): (W, A)) -> Message {
        Message { what: what.to_string(), advice: Some(advice.to_string()) }
    }
}

macro_rules! without_advice {
    ($($text:ty),+) => {
        $(impl From<$text> for Message {
            fn from(what: $text) -> Message {
                Message { what: what.to_string(), advice: None }
            }
        })+
    };
}

without_advice!(&str, String, Arguments<'_>);

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, " {advice}"))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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
    #[schemars(with = "String")]
    pub message: Message,
    /// The document it is about, if that is not the document of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beleg_nummer: Option<String>,
}

/// A refused request: its code, what is wrong and what to do, and the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub message: Message,
    pub feld: Option<String>,
    pub fehler: Vec<PositionError>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<Message>) -> Box<Refusal> {
        Box::new(Refusal { code, message: message.into(), feld: None, fehler: Vec::new() })
    }

    pub fn field(code: Code, feld: impl Into<String>, message: impl Into<Message>) -> Box<Refusal> {
        Box::new(Refusal { code, message: message.into(), feld: Some(feld.into()), fehler: Vec::new() })
    }

    /// Refuses a field that names something unknown; `what` is German in the accusative: "Diesen Partner".
    pub fn unknown(code: Code, feld: &str, what: &str) -> Box<Refusal> {
        Refusal::field(code, feld, (format!("{what} gibt es nicht."), format!("Bitte die {feld} prüfen.")))
    }

    /// Returns the message about this field, if it was refused.
    pub fn of_field(&self, feld: &str) -> Option<&Message> {
        let others = self.fehler.iter().map(|fehler| (fehler.feld.as_str(), &fehler.message));
        let all = self.feld.as_deref().map(|own| (own, &self.message)).into_iter().chain(others);
        all.into_iter().find(|(known, _)| *known == feld).map(|(_, message)| message)
    }

    /// The errors in its details; itself if it has none.
    fn each(&self) -> Vec<PositionError> {
        if !self.fehler.is_empty() {
            return self.fehler.clone();
        }
        let feld = self.feld.clone().unwrap_or_default();
        vec![PositionError { error: self.code, feld, message: self.message.clone(), beleg_nummer: None }]
    }

    /// Prefixes the field with `path`: `menge` in `items[2]` becomes `items[2].menge`. An empty path changes
    /// nothing.
    pub fn below(mut self: Box<Self>, path: &str) -> Box<Refusal> {
        self.feld = below(path, self.feld.take());
        self
    }
}

pub type Checked<T> = Result<T, Box<Refusal>>;

/// Refuses a field if `is_so`. Only then is the message formatted, so callers pass `format_args!`.
pub fn refuse_if(is_so: bool, code: Code, feld: &str, message: impl Into<Message>) -> Checked<()> {
    if is_so { Err(Refusal::field(code, feld, message)) } else { Ok(()) }
}

pub fn required<T>(value: Option<T>, feld: &str) -> Checked<T> {
    let message = (format_args!("Das Feld {feld} fehlt."), "Bitte angeben.");
    value.ok_or_else(|| Refusal::field(Code::FeldFehlt, feld, message))
}

/// As [`required`], of a text that always has a value: blank, it is missing.
pub fn required_text(text: &str, feld: &str) -> Checked<()> {
    required(Some(text).filter(|text| !text.is_empty()), feld).map(drop)
}

/// Most refusals of one body that are kept and reported.
const ERRORS_MAX: usize = 1_000;

/// Collects the refusals of all fields or positions of one body, so that a client sees them at once.
#[derive(Debug, Default)]
pub struct Refusals {
    kept: Vec<Refusal>,
    /// Number of refusals, including those in their details.
    count: usize,
}

impl Refusals {
    /// Returns the value, or `None` after keeping the refusal.
    pub fn keep<T>(&mut self, result: Checked<T>) -> Option<T> {
        result.map_err(|refusal| self.add(*refusal)).ok()
    }

    fn add(&mut self, refusal: Refusal) {
        if self.count < ERRORS_MAX {
            self.count += refusal.fehler.len().max(1);
            self.kept.push(refusal);
        }
    }

    /// Returns `Ok` if nothing was refused, else the first refusal with all of them in its details.
    pub fn into_result(self) -> Checked<()> {
        let fehler = self.kept.iter().flat_map(Refusal::each).take(ERRORS_MAX).collect();
        self.kept.into_iter().next().map_or(Ok(()), |first| Err(Box::new(Refusal { fehler, ..first })))
    }

    /// Like [`Refusals::into_result`], for fields that could not be parsed: a single refusal needs no list.
    pub fn into_result_of_fields(mut self) -> Checked<()> {
        match self.kept.len() {
            1 => self.kept.pop().map_or(Ok(()), |only| Err(Box::new(only))),
            _ => self.into_result(),
        }
    }
}

impl From<super::fixed::TooLarge> for Box<Refusal> {
    fn from(_: super::fixed::TooLarge) -> Box<Refusal> {
        let message =
            ("Ein Betrag oder eine Menge erreicht 1.000.000.000.000.", "Bitte Mengen und Preise prüfen.");
        Refusal::new(Code::BetragZuGross, message)
    }
}

//! Final RE and ER as they are booked (D31 to D33): their cases, their rates, and the open items they settle.

use uuid::Uuid;

use crate::master::tenants::Einstellungen;
use crate::platform::db::record::record;
use crate::rules::datev::{Buchungsbeleg, Buchungsposition, Fall, Kontierung};
use crate::rules::day::Day;
use crate::rules::document::{BelegTyp, Rechnungsart, Seite};
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Money, Percent};
use crate::rules::kennnummer::plain;
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::tax::{Gedruckt, Klasse, Satz, Steuerkategorie, derived_rate, rate_on};

/// Most characters of Belegfeld 1.
const BELEGFELD_CHARS_MAX: usize = 36;

record! {
    /// A final RE or ER.
    #[derive(Debug, Clone)]
    pub struct Rechnung from beleg as b {
        id: Uuid,
        beleg_nummer: String,
        beleg_typ: BelegTyp,
        rechnungsart: Rechnungsart,
        beleg_datum: Day,
        /// The day whose tax rates apply (D7).
        satz_datum: Day = "coalesce(b.lieferdatum, b.leistung_bis, b.beleg_datum)",
        kunde_id: Uuid,
        kunden_name: String = "coalesce(b.kunden_name, k.name)",
        kunden_ust_id: Option<String>,
        /// The partner's current VAT id.
        ust_id: Option<String> = "k.ust_id",
        /// ISO 3166-1 alpha-2.
        kunden_staat: String = "coalesce(b.kunden_staat, k.staat)",
        summe_brutto: Money,
        steuergruppen: Option<Gedruckt>,
        zahlungsziel_tage: Option<i64>,
        fremdbelegnummer: Option<String>,
        storno_von_beleg_id: Option<Uuid>,
    }
}

record! {
    #[derive(Debug, Clone)]
    pub struct Position from beleg_position as p {
        mwst_satz: Percent,
        steuer_kategorie: Steuerkategorie,
        /// The day whose tax rates and Besteuerung hold (D7).
        satz_datum: Day,
        gesamtpreis: Money,
        kostenstelle: Option<String>,
        bezug_beleg_id: Option<Uuid>,
        artikelgruppe_id: Option<i64> = "a.artikelgruppe_id",
        gruppe: Option<String> = "g.name",
        /// The rate of the article, else of its group.
        artikel_satz: Option<Percent> = "coalesce(a.mwst_satz, g.mwst_satz)",
    }
}

/// A position, with the case and the rate that determine its account.
#[derive(Debug, Clone)]
pub struct Vorgang {
    pub fall: Fall,
    pub satz: Option<Percent>,
    /// Whether the company was a Kleinunternehmer on the rate date.
    pub is_kleinunternehmer: bool,
    pub position: Position,
}

/// Determines case and rate of each position of an invoice (D31).
pub fn vorgaenge(
    rechnung: &Rechnung,
    positionen: Vec<Position>,
    saetze: &[Satz],
    einstellungen: &Einstellungen,
) -> Vec<Vorgang> {
    let vorgang = |position: Position| {
        let is_kleinunternehmer = einstellungen.is_kleinunternehmer(position.satz_datum);
        let fall = Fall::of(rechnung.seite(), position.steuer_kategorie, is_kleinunternehmer);
        Vorgang { fall, satz: rate(fall, &position, saetze), is_kleinunternehmer, position }
    };
    positionen.into_iter().map(vorgang).collect()
}

/// The rate that determines an account: that of the position; if the company owes the tax, that of the goods,
/// else the normal rate (D31).
fn rate(fall: Fall, position: &Position, saetze: &[Satz]) -> Option<Percent> {
    let day = position.satz_datum;
    if !fall.is_owed_by_us() {
        return fall.has_rate().then_some(position.mwst_satz);
    }
    let of_goods = position.artikel_satz.map(|satz| derived_rate(saetze, satz, day));
    of_goods.or_else(|| rate_on(saetze, Klasse::Normal, day))
}

impl Rechnung {
    pub fn seite(&self) -> Seite {
        self.beleg_typ.seite()
    }

    /// Whether it cancels another document.
    pub fn is_storno(&self) -> bool {
        self.storno_von_beleg_id.is_some()
    }

    /// The VAT id for the recapitulative statement: as it was when the invoice was written, else the current
    /// one. A German one, and one that has not the form of its country, does not count (D7).
    pub fn eu_ust_id(&self) -> Option<EuUstId> {
        let foreign = |ust_id: &Option<String>| {
            let text = eu_spelling(ust_id.as_deref().unwrap_or_default());
            Some(text).filter(|text| country_of_eu_ust_id(text).is_some_and(|country| country != "DE"))
        };
        let frozen = foreign(&self.kunden_ust_id);
        let is_of_today = frozen.is_none();
        Some(EuUstId { text: frozen.or_else(|| foreign(&self.ust_id))?, is_of_today })
    }

    /// The message about an invoice into the EU that has no VAT id.
    pub fn missing_ust_id(&self) -> String {
        format!(
            "{} hat keine gültig aufgebaute USt-IdNr. aus einem anderen EU-Land, {} gehört aber in die Zusammenfassende Meldung. \
             Bitte beim Partner eintragen.",
            self.kunden_name, self.beleg_nummer
        )
    }

    /// Adds a hint that the VAT id is the current one and not that of the invoice.
    pub fn hint_ust_id_of_today(&self, hints: &mut Hints) {
        let message = format!(
            "{} nennt keine USt-IdNr. aus einem anderen EU-Land; genommen ist die heutige von {}.",
            self.beleg_nummer, self.kunden_name
        );
        hints.add_field(HintCode::UstIdUebernommen, self.beleg_nummer.clone(), message);
    }

    /// Whether it gives money back without being a storno.
    pub fn is_credit(&self) -> bool {
        self.summe_brutto.is_negative() && !self.is_storno()
    }

    /// The due date; `None` for a document that gives money back (D33).
    pub fn faellig(&self) -> Option<Day> {
        let tage = self.zahlungsziel_tage.filter(|_| !self.is_storno() && !self.is_credit())?;
        Some(Day::of_number(self.beleg_datum.number().saturating_add(tage)))
    }

    /// Combines the invoice with one account for each of its positions.
    pub fn gebucht(&self, vorgaenge: Vec<(Vorgang, Kontierung)>) -> Buchungsbeleg {
        let position = |(vorgang, konto): (Vorgang, Kontierung)| Buchungsposition {
            fall: vorgang.fall,
            satz: vorgang.satz,
            is_kleinunternehmer: vorgang.is_kleinunternehmer,
            mwst_satz: vorgang.position.mwst_satz,
            konto,
            kostenstelle: vorgang.position.kostenstelle,
            betrag: vorgang.position.gesamtpreis,
        };
        Buchungsbeleg {
            seite: self.seite(),
            gedruckt: self.steuergruppen.clone(),
            positionen: vorgaenge.into_iter().map(position).collect(),
        }
    }

    /// Its own Belegfeld 1: its number, or the supplier's number if the supplier wrote it; also in full
    /// length.
    pub fn belegfeld(&self) -> Belegfeld {
        let theirs = self.rechnungsart == Rechnungsart::Rechnung && self.seite() == Seite::Einkauf;
        let full = self.fremdbelegnummer.as_ref().filter(|_| theirs).unwrap_or(&self.beleg_nummer);
        let kept: String = full.chars().filter(is_allowed).take(BELEGFELD_CHARS_MAX).collect();
        match kept.is_empty() {
            true => Belegfeld { text: self.beleg_nummer.clone(), full: full.clone() },
            false => Belegfeld { text: kept, full: full.clone() },
        }
    }

    /// The document whose open item it settles, if that is not its own: the cancelled or the credited
    /// document.
    pub fn settles(&self, vorgaenge: &[Vorgang]) -> Option<Uuid> {
        let mut named: Vec<_> =
            vorgaenge.iter().filter_map(|vorgang| vorgang.position.bezug_beleg_id).collect();
        named.sort_unstable();
        named.dedup();
        let credited = named.first().copied().filter(|_| self.is_credit() && named.len() == 1);
        self.storno_von_beleg_id.or(credited)
    }
}

/// A VAT id in the spelling of the recapitulative statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EuUstId {
    pub text: String,
    /// Whether it is the partner's current one, because the invoice has none.
    pub is_of_today: bool,
}

/// Returns the normal form of a VAT id, in which Greece is EL.
fn eu_spelling(ust_id: &str) -> String {
    let plain = plain(ust_id);
    match plain.strip_prefix("GR") {
        Some(rest) => format!("EL{rest}"),
        None => plain,
    }
}

/// A number as it fits into Belegfeld 1, and in full length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belegfeld {
    pub text: String,
    pub full: String,
}

fn is_allowed(letter: &char) -> bool {
    letter.is_ascii_alphanumeric() || "_$&%*+-/".contains(*letter)
}

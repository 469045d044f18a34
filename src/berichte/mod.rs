//! Reports (D35): figures for the VAT return, the recapitulative statement and Intrastat. They are a help and file nothing.

mod model;

use crate::buchhaltung::{self, Rechnung};
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::http::call::Call;
use crate::http::param::Param;
use crate::http::reply::Reply;
use crate::http::route::{Access, Route};
use crate::http::shape::Answer;
use crate::rules::buchung::Fall;
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, HintCode, Hints, PositionError, Refusal, refuse_if};
use crate::rules::scope::Scope;
use crate::rules::umsatzsteuer::{self, Umsatz};
use crate::tenants;
use model::AndererMonat;
pub use model::{Intrastat, Umsatzsteuer, Zm};

const READ: Access = Access::Scope(Scope::BuchhaltungRead);

/// Documents that are named as delivered in another month, at most.
const ANDERER_MONAT_MAX: usize = 100;

/// What is named of what is missing, at most.
const ERRORS_MAX: usize = 500;

const ZEITRAUM: &[Param] = &[
    Param::day("von", "erstes Belegdatum").required(),
    Param::day("bis", "letztes Belegdatum, höchstens ein Jahr nach dem ersten").required(),
];

const REFUSALS: &[Code] = &[Code::ZeitraumUngueltig, Code::BetragZuGross];

pub const ROUTES: &[Route] = &[
    Route::get(
        "/api/v1/berichte/umsatzsteuer",
        READ,
        "Zahlen für die Umsatzsteuer-Voranmeldung, je Kennzahl",
        get_umsatzsteuer,
    )
    .with_query(ZEITRAUM)
    .gives(&[Answer::ok::<Umsatzsteuer>()])
    .refuses(&[REFUSALS])
    .heavy(),
    Route::get("/api/v1/berichte/zm", READ, "Zahlen für die Zusammenfassende Meldung, je USt-IdNr.", get_zm)
        .with_query(ZEITRAUM)
        .gives(&[Answer::ok::<Zm>()])
        .refuses(&[REFUSALS, &[Code::UstIdFehlt]])
        .heavy(),
    Route::get(
        "/api/v1/berichte/intrastat",
        READ,
        "Ein- und Ausfuhr in der EU gegen die Schwellen von Intrastat",
        get_intrastat,
    )
    .with_query(ZEITRAUM)
    .gives(&[Answer::ok::<Intrastat>()])
    .refuses(&[REFUSALS])
    .heavy(),
];

/// The days whose documents a report counts.
#[derive(Debug, Clone, Copy)]
pub struct Zeitraum {
    von: Day,
    bis: Day,
}

impl Zeitraum {
    pub fn of(von: Day, bis: Day) -> Checked<Zeitraum> {
        let message = "bis liegt vor von. Bitte den Zeitraum prüfen.";
        refuse_if(bis < von, Code::ZeitraumUngueltig, "bis", message)?;
        let message = "Ein Bericht umfasst höchstens ein Jahr. Bitte einen kürzeren Zeitraum wählen.";
        refuse_if(bis >= von.next_year(), Code::ZeitraumUngueltig, "bis", message)?;
        Ok(Zeitraum { von, bis })
    }

    fn sent(call: &Call<'_>) -> Checked<Zeitraum> {
        let sent = |name: &'static str| {
            let message = format!("Der Parameter {name} fehlt. Bitte einen Tag angeben, etwa 2026-10-31.");
            call.query.day(name)?.ok_or_else(|| Refusal::field(Code::ParameterFehlt, name, message))
        };
        Zeitraum::of(sent("von")?, sent("bis")?)
    }

    fn contains(self, day: Day) -> bool {
        (self.von..=self.bis).contains(&day)
    }
}

fn get_umsatzsteuer(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&umsatzsteuer(tx, Zeitraum::sent(call)?)?)
}

fn get_zm(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&zm(tx, Zeitraum::sent(call)?)?)
}

fn get_intrastat(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&intrastat(tx, Zeitraum::sent(call)?)?)
}

/// The figures of the VAT return, by the date of the documents.
pub fn umsatzsteuer(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Umsatzsteuer> {
    let Zeitraum { von, bis } = zeitraum;
    let message = format_args!("Für {} sind keine Kennzahlen bekannt. Bitte von prüfen.", von.year());
    refuse_if(!umsatzsteuer::has_formular(von.year()), Code::ZeitraumUngueltig, "von", message)?;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen = buchhaltung::umsaetze(tx, von, bis)?;
    let (kennzahlen, faelle) =
        umsatzsteuer::kennzahlen(&flat(&rechnungen), tenants::load(tx)?.kleinunternehmer)?;
    let month = |day: Day| (day.year(), day.month());
    let elsewhere = rechnungen
        .iter()
        .map(|(rechnung, _)| rechnung)
        .filter(|rechnung| month(rechnung.satz_datum) != month(rechnung.beleg_datum));
    let anderer_monat_anzahl = elsewhere.clone().count();
    let anderer_monat = elsewhere.take(ANDERER_MONAT_MAX).map(AndererMonat::of).collect();
    Ok(Umsatzsteuer {
        von,
        bis,
        belege: rechnungen.len(),
        kennzahlen,
        faelle,
        anderer_monat,
        anderer_monat_anzahl,
        hinweise,
    })
}

impl AndererMonat {
    fn of(rechnung: &Rechnung) -> AndererMonat {
        AndererMonat {
            beleg_id: rechnung.id,
            beleg_nummer: rechnung.beleg_nummer.clone(),
            beleg_datum: rechnung.beleg_datum,
            leistungsdatum: rechnung.satz_datum,
            summe_brutto: rechnung.summe_brutto,
        }
    }
}

/// The recapitulative statement, and the quarters that say whether it is monthly.
pub fn zm(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Zm> {
    let Zeitraum { von, bis } = zeitraum;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen = buchhaltung::umsaetze(tx, von.min(umsatzsteuer::quartale_ab(bis)), bis)?;
    let mut lieferungen = Vec::new();
    let mut fehler = Vec::new();
    for (rechnung, umsaetze) in &rechnungen {
        let mut of_eu = umsaetze.iter().filter(|umsatz| umsatz.fall == Fall::ErloesIg).peekable();
        if of_eu.peek().is_none() || !zeitraum.contains(rechnung.beleg_datum) {
            continue;
        }
        match rechnung.eu_ust_id() {
            Some(ust_id) => {
                if ust_id.is_of_today {
                    rechnung.hint_ust_id_of_today(&mut hinweise);
                }
                lieferungen.extend(of_eu.map(|umsatz| (ust_id.text.clone(), umsatz.basis)));
            }
            None => fehler.push(PositionError {
                error: Code::UstIdFehlt,
                feld: "ust_id".to_owned(),
                message: rechnung.missing_ust_id(),
                beleg_nummer: Some(rechnung.beleg_nummer.clone()),
            }),
        }
    }
    refuse_missing(fehler)?;
    let zeilen = umsatzsteuer::zm(lieferungen.iter().map(|(ust_id, betrag)| (ust_id.as_str(), *betrag)))?;
    let quartale = umsatzsteuer::quartale(&flat(&rechnungen), bis)?;
    Ok(Zm { von, bis, zeilen, quartale, hinweise })
}

fn refuse_missing(mut fehler: Vec<PositionError>) -> Checked<()> {
    if fehler.is_empty() {
        return Ok(());
    }
    let message = format!(
        "Bei {} Lieferungen in die EU fehlt die USt-IdNr. des Käufers. Bitte bei den Partnern eintragen.",
        fehler.len()
    );
    fehler.truncate(ERRORS_MAX);
    let mut refusal = Refusal::new(Code::UstIdFehlt, message);
    refusal.fehler = fehler;
    Err(refusal)
}

/// Goods from and to the EU, of each year of the period from its first day on.
pub fn intrastat(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Intrastat> {
    let Zeitraum { von, bis } = zeitraum;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen = buchhaltung::umsaetze(tx, Day::in_month(von.year(), 1, 1), bis)?;
    let jahre = umsatzsteuer::intrastat(&flat(&rechnungen), von, bis)?;
    Ok(Intrastat { von, bis, jahre, hinweise })
}

fn flat(rechnungen: &[(Rechnung, Vec<Umsatz>)]) -> Vec<Umsatz> {
    rechnungen.iter().flat_map(|(_, umsaetze)| umsaetze).copied().collect()
}

/// Names what is still open in the period, and so not in the report.
fn hint_open(tx: &Tx<'_>, zeitraum: Zeitraum, hints: &mut Hints) -> Result<()> {
    let offene = buchhaltung::open_numbers(tx, zeitraum.von, zeitraum.bis)?;
    if !offene.is_empty() {
        let message = format!("Noch offen und nicht gezählt: {}.", buchhaltung::listed(&offene));
        hints.add(HintCode::OffeneBelege, message);
    }
    Ok(())
}

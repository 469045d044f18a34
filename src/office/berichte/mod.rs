//! Reports (D35): figures for the VAT return, the recapitulative statement and Intrastat, and the documents
//! behind each of their sums. They are an aid and file nothing.

mod belege;
mod model;
mod zeitraum;

use crate::office::buchhaltung::{self, InvoiceFilter, Rechnung};
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::param::Param;
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::listing::Listing;
use crate::rules::choice::Choice;
use crate::rules::datev::Fall;
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, HintCode, Hints, PositionError, Refusal};
use crate::rules::fixed::Money;
use crate::rules::scope::Scope;
use crate::rules::umsatzsteuer::{self, Umsatz, ZmArt};
pub use belege::belege;
use model::AndererMonat;
pub use model::{Auswahl, BerichtBeleg, Intrastat, Umsatzsteuer, Zm};
pub use zeitraum::Zeitraum;

const READ: Access = Access::Scope(Scope::BuchhaltungRead);

/// Most documents that are listed as delivered in another month.
const ANDERER_MONAT_MAX: usize = 100;

/// Most errors that are reported.
const ERRORS_MAX: usize = 500;

const VON: Param = Param::day("von", "erstes Belegdatum").required();
const BIS: Param = Param::day("bis", "letztes Belegdatum, höchstens ein Jahr nach dem ersten").required();
const ZEITRAUM: &[Param] = &[VON, BIS];

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
    Route::get("/api/v1/berichte/belege", READ, "Die Belege hinter einer Zahl der Berichte", get_belege)
        .with_query(&[
            VON,
            BIS,
            Param::int("kennzahl", "was zu dieser Kennzahl zählt, mit ihrer Steuer"),
            Param::one_of("fall", Fall::TEXTS, "was zu diesem Fall zählt"),
            Param::one_of(
                "zm",
                ZmArt::TEXTS,
                "was in die Zusammenfassende Meldung gehört: Lieferungen (L), Leistungen (S)",
            ),
            Param::text("ust_id", "nur dieser Käufer, wie die Meldung ihn nennt"),
            Param::limit(Some(50)),
            Param::OFFSET,
        ])
        .gives(&[Answer::list::<BerichtBeleg>()])
        .refuses(&[REFUSALS])
        .heavy(),
];

fn get_umsatzsteuer(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&umsatzsteuer(tx, zeitraum_of(&call.query)?)?)
}

fn get_zm(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&zm(tx, zeitraum_of(&call.query)?)?)
}

fn get_intrastat(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&intrastat(tx, zeitraum_of(&call.query)?)?)
}

fn get_belege(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let (zeitraum, auswahl) = behind(&call.query)?;
    let found = belege(tx, zeitraum, &auswahl)?;
    Ok(Reply::list(Listing::from_page(page.of(&found), found.len())?, cut))
}

fn zeitraum_of(query: &Query) -> Checked<Zeitraum> {
    let sent = |name: &'static str| {
        let message = format!("Der Parameter {name} fehlt. Bitte einen Tag angeben, etwa 2026-10-31.");
        query.day(name)?.ok_or_else(|| Refusal::field(Code::ParameterFehlt, name, message))
    };
    Zeitraum::of(sent("von")?, sent("bis")?)
}

/// Parses which sum the documents are requested for.
pub fn behind(query: &Query) -> Result<(Zeitraum, Auswahl)> {
    let auswahl = Auswahl::of(query)?;
    Ok((zeitraum_of(query)?, auswahl))
}

/// Returns the figures of the VAT return, by the date of the documents.
pub fn umsatzsteuer(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Umsatzsteuer> {
    let Zeitraum { von, bis } = zeitraum;
    let message = format!("Für {} sind keine Kennzahlen bekannt. Bitte von prüfen.", von.year());
    let unknown = || Refusal::field(Code::ZeitraumUngueltig, "von", message);
    let formular = umsatzsteuer::formular_jahr(von.year()).ok_or_else(unknown)?;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen = buchhaltung::umsaetze(tx, von, bis, InvoiceFilter::Alle)?;
    hint_without_ust_id(&rechnungen, &mut hinweise)?;
    let (kennzahlen, faelle) = umsatzsteuer::kennzahlen(&flat(&rechnungen))?;
    let month = |day: Day| (day.year(), day.month());
    // A storno counts in the month in which it is written (§ 17 (1) UStG).
    let elsewhere = rechnungen.iter().map(|(rechnung, _)| rechnung).filter(|rechnung| {
        !rechnung.is_storno() && month(rechnung.satz_datum) != month(rechnung.beleg_datum)
    });
    let anderer_monat_anzahl = elsewhere.clone().count();
    let anderer_monat = elsewhere.take(ANDERER_MONAT_MAX).map(AndererMonat::of).collect();
    Ok(Umsatzsteuer {
        von,
        bis,
        formular,
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

/// Returns the recapitulative statement, and the quarters that decide whether it is monthly.
pub fn zm(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Zm> {
    let Zeitraum { von, bis } = zeitraum;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen =
        buchhaltung::umsaetze(tx, von.min(umsatzsteuer::quartale_ab(bis)), bis, InvoiceFilter::Eu)?;
    let mut betraege = Vec::new();
    let mut fehler = Vec::new();
    for (rechnung, umsaetze) in &rechnungen {
        let mut of_eu =
            umsaetze.iter().filter_map(|umsatz| Some((ZmArt::of(umsatz)?, umsatz.basis))).peekable();
        if of_eu.peek().is_none() || !zeitraum.contains(rechnung.beleg_datum) {
            continue;
        }
        match rechnung.eu_ust_id() {
            Some(ust_id) => {
                if ust_id.is_of_today {
                    rechnung.hint_ust_id_of_today(&mut hinweise);
                }
                betraege.extend(of_eu.map(|(art, betrag)| (ust_id.text.clone(), art, betrag)));
            }
            None => fehler.push(PositionError {
                error: Code::UstIdFehlt,
                feld: "ust_id".to_owned(),
                message: rechnung.missing_ust_id().into(),
                beleg_nummer: Some(rechnung.beleg_nummer.clone()),
            }),
        }
    }
    refuse_missing(fehler)?;
    let zeilen =
        umsatzsteuer::zm(betraege.iter().map(|(ust_id, art, betrag)| (ust_id.as_str(), *art, *betrag)))?;
    let quartale = umsatzsteuer::quartale(&flat(&rechnungen), bis)?;
    Ok(Zm { von, bis, zeilen, quartale, hinweise })
}

fn refuse_missing(mut fehler: Vec<PositionError>) -> Checked<()> {
    if fehler.is_empty() {
        return Ok(());
    }
    let count = match fehler.len() {
        1 => "einer Rechnung".to_owned(),
        count => format!("{count} Rechnungen"),
    };
    let message =
        format!("Bei {count} in die EU fehlt die USt-IdNr. des Käufers. Bitte beim Partner eintragen.");
    fehler.truncate(ERRORS_MAX);
    let mut refusal = Refusal::new(Code::UstIdFehlt, message);
    refusal.fehler = fehler;
    Err(refusal)
}

/// Returns goods from and to the EU for each year of the period; every year counts from its first day on.
pub fn intrastat(tx: &Tx<'_>, zeitraum: Zeitraum) -> Result<Intrastat> {
    let Zeitraum { von, bis } = zeitraum;
    let mut hinweise = Hints::default();
    hint_open(tx, zeitraum, &mut hinweise)?;
    let rechnungen = buchhaltung::umsaetze(tx, Day::in_month(von.year(), 1, 1), bis, InvoiceFilter::Eu)?;
    let jahre = umsatzsteuer::intrastat(&flat(&rechnungen), von, bis)?;
    Ok(Intrastat { von, bis, jahre, hinweise })
}

/// Adds a hint that names deliveries into the EU to buyers without a VAT id of the right form, with their amount: they are
/// in Kennzahl 41 all the same (D35).
fn hint_without_ust_id(rechnungen: &[(Rechnung, Vec<Umsatz>)], hints: &mut Hints) -> Result<()> {
    let (mut sum, mut nummern) = (Money::ZERO, Vec::new());
    for (rechnung, umsaetze) in rechnungen.iter().filter(|(rechnung, _)| rechnung.eu_ust_id().is_none()) {
        let of_eu: Vec<_> = umsaetze.iter().filter(|umsatz| umsatz.fall == Fall::ErloesIg).collect();
        if !of_eu.is_empty() {
            sum = of_eu.iter().map(|umsatz| umsatz.basis).try_fold(sum, Money::plus)?;
            nummern.push(rechnung.beleg_nummer.clone());
        }
    }
    if !nummern.is_empty() {
        let message = format!(
            "In Kennzahl 41 stehen {} EUR aus {}, deren Käufer keine gültig aufgebaute USt-IdNr. aus einem anderen \
             EU-Land hat. Bitte vor der Abgabe prüfen.",
            german(sum, 2),
            buchhaltung::listed(&nummern)
        );
        hints.add(HintCode::SteuerausweisPruefen, message);
    }
    Ok(())
}

fn flat(rechnungen: &[(Rechnung, Vec<Umsatz>)]) -> Vec<Umsatz> {
    rechnungen.iter().flat_map(|(_, umsaetze)| umsaetze).copied().collect()
}

/// Adds a hint that names the documents in the period that are still open, and so not in the report.
fn hint_open(tx: &Tx<'_>, zeitraum: Zeitraum, hints: &mut Hints) -> Result<()> {
    let offene = buchhaltung::open_numbers(tx, zeitraum.von, zeitraum.bis)?;
    if !offene.is_empty() {
        let message = format!("Noch offen und nicht gezählt: {}.", buchhaltung::listed(&offene));
        hints.add(HintCode::OffeneBelege, message);
    }
    Ok(())
}

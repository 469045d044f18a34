//! Quality of a receipt: measured values, the result of its scheme, and locks (D29a, D29d, D29e).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::model::{Analyse, AnalyseBestaetigung, Annahmeschein, Freigabe, NewAnalyse, NewAnnahmeschein};
use super::sql;
use crate::goods::abrechnungsschemata::{self, Gueltig};
use crate::goods::kontrakte::{self, Kontrakt};
use crate::master::biozertifikate;
use crate::papers::blatt::numbers::german;
use crate::platform::db::columns::Json;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Result, or_refusal};
use crate::rules::day::{Day, DayTime};
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::{Percent, Quantity, Zahl};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::settlement::{
    Befund, Grenzfolge, Grund, Lieferung, Messwert, Quelle, Rechnung, Werte, compute, rounded,
};
use crate::trade::belege;

/// Maximum number of analyses and releases per receipt: all of them are read to find its values.
const ANALYSEN_MAX: i64 = 500;

/// Reasons to refuse an analysis.
pub const REFUSALS: &[Code] = &[
    Code::MerkmalNichtGefunden,
    Code::FeldWiderspruch,
    Code::AnnahmescheinStorniert,
    Code::SchemaMehrdeutig,
    Code::SchemaPasstNicht,
    Code::NettoNegativ,
    Code::PreisNegativ,
    Code::BetragZuGross,
];
/// Reasons to refuse a receipt because of its values or its scheme.
pub const OF_INTAKE: &[Code] = &[
    Code::MerkmalNichtGefunden,
    Code::FeldWiderspruch,
    Code::SchemaNichtGefunden,
    Code::SchemaPasstNicht,
    Code::SchemaMehrdeutig,
    Code::AnnahmeAbgewiesen,
    Code::AnnahmescheinGesperrt,
    Code::PreisNegativ,
];

/// The quality data of a receipt in a request.
pub struct Qualitaet {
    pub gueltig: Option<Gueltig>,
    /// Empty if nothing was measured; a receipt without a scheme then keeps its fields as sent (D23).
    pub werte: Werte,
}

/// Delivered goods and the contract that they count towards.
pub struct Ware {
    pub artikel: Uuid,
    pub partner: Option<Uuid>,
    pub kontrakt: Option<Uuid>,
}

impl Ware {
    /// Returns the scheme by which they are settled if they name none: that of their contract, else the only
    /// one of the article (D29b).
    fn scheme(&self, tx: &Tx<'_>, day: Day) -> Result<Option<Gueltig>> {
        let kontrakt = self.kontrakt.zip(self.partner);
        let kontrakt = kontrakt.map(|(id, partner)| kontrakte::of_supplier(tx, id, partner)).transpose()?;
        let Some(Kontrakt { kontrakt_nr, schema: Some(nummer), .. }) = kontrakt.flatten() else {
            return abrechnungsschemata::of_delivery(tx, self.artikel, day, None);
        };
        let of_contract = abrechnungsschemata::of_delivery(tx, self.artikel, day, Some(&nummer));
        or_refusal(of_contract)?.map_err(|refusal| {
            let message = format!(
                "Der Kontrakt {kontrakt_nr} nennt das Schema {nummer}, das am {} für diesen Artikel nicht gilt. Bitte \
                 schema angeben oder den Kontrakt ändern.",
                day.german()
            );
            Refusal::field(refusal.code, "schema", message).into()
        })
    }
}

impl Qualitaet {
    /// Reads the values sent with a new receipt and finds its scheme.
    pub fn of(tx: &Tx<'_>, new: &NewAnnahmeschein, ware: Ware, hints: &mut Hints) -> Result<Qualitaet> {
        let day = new.lieferdatum.unwrap_or_else(|| tx.today());
        let gueltig = match new.schema.as_deref() {
            Some(nummer) => abrechnungsschemata::of_delivery(tx, ware.artikel, day, Some(nummer))?,
            None => ware.scheme(tx, day)?,
        };
        if let Some(gueltig) = &gueltig {
            refuse_formula(new, &gueltig.kopf.nummer)?;
        }
        let sent = new.werte.as_deref().unwrap_or_default();
        let mut werte = abrechnungsschemata::measured(tx, sent, hints)?;
        if gueltig.is_some() || !sent.is_empty() {
            add_fields(new, &mut werte, hints)?;
        }
        Ok(Qualitaet { gueltig, werte })
    }

    /// Updates a receipt from its values: moisture and impurities, net weight, amount, locks.
    pub fn settle(&self, tx: &Tx<'_>, schein: &mut Annahmeschein, hints: &mut Hints) -> Result<()> {
        if !self.werte.is_empty() {
            let percent = |code: &str| self.werte.get(code).map(|wert| Percent::from_units(wert.units()));
            schein.feuchte_prozent = percent("feuchte");
            schein.besatz_prozent = percent("besatz");
        }
        let Some(gueltig) = &self.gueltig else {
            for (feld, message) in schein.bases_missing() {
                hints.add_field(HintCode::BasisFehlt, feld, message);
            }
            return schein.settle();
        };
        let menge = required(schein.anliefermenge_kg, "anliefermenge_kg")?;
        let lieferung = Lieferung { menge, grundpreis: schein.preis_je_t, werte: &self.werte };
        let rechnung = compute(&gueltig.schema, &lieferung)?;
        let mut befunde = rechnung.befunde;
        befunde.extend(gueltig.schema.bio.then(|| certificate(tx, schein)).transpose()?.flatten());
        let (hinweise, sperren): (Vec<_>, Vec<_>) =
            befunde.into_iter().partition(|befund| befund.aktion == Grenzfolge::Hinweis);
        for befund in &hinweise {
            hints.add_field(HintCode::Grenzwert, "werte", said(befund));
        }
        for befund in &sperren {
            hints.add_field(HintCode::AnnahmescheinGesperrt, "werte", said(befund));
        }
        schein.schema_id = Some(gueltig.kopf.id);
        schein.schema = Some(gueltig.kopf.nummer.clone());
        schein.schema_version = Some(gueltig.kopf.version);
        schein.ist_vorlaeufig = gueltig.schema.is_partie();
        schein.netto_menge_kg = rechnung.netto_kg;
        schein.netto_betrag = rechnung.summe;
        schein.gesperrt = !sperren.is_empty();
        schein.sperrgruende = schein.gesperrt.then_some(Json(sperren));
        Ok(())
    }
}

/// Computes the rows of an open receipt, with the version of its scheme that gave its net weight; `None` without a
/// scheme, or if an import set the paid quantity.
pub fn rechnung(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<Rechnung>> {
    let (Some((id, version)), Some(menge)) =
        (schein.schema_id.zip(schein.schema_version), schein.anliefermenge_kg)
    else {
        return Ok(None);
    };
    let gueltig = abrechnungsschemata::of_version(tx, id, version)?;
    let werte = values_of(tx, schein)?;
    let lieferung = Lieferung { menge, grundpreis: schein.preis_je_t, werte: &werte };
    Ok(Some(compute(&gueltig.schema, &lieferung)?))
}

/// Returns the text of a finding with its figures.
pub fn said(befund: &Befund) -> String {
    let figures = |merkmal: &String| {
        let wert = befund.wert.map_or_else(|| "nicht gemessen".to_owned(), |wert| german(wert, 0));
        match befund.grenze {
            Some(grenze) => format!(" ({merkmal}: {wert}, Grenze {})", german(grenze, 0)),
            None => format!(" ({merkmal}: {wert})"),
        }
    };
    format!("{}{}", befund.text, befund.merkmal.as_ref().map(figures).unwrap_or_default())
}

/// Refuses a receipt for goods that a limit rejects (D29d).
pub fn refuse_rejected(schein: &Annahmeschein) -> Checked<()> {
    let reasons = schein.sperrgruende.iter().flat_map(|Json(befunde)| befunde);
    let rejected: Vec<String> =
        reasons.filter(|befund| befund.aktion == Grenzfolge::Abweisen).map(said).collect();
    let message =
        format_args!("Das Schema lässt die Ware nicht zu: {}. Bitte sie nicht abladen.", rejected.join("; "));
    refuse_if(!rejected.is_empty(), Code::AnnahmeAbgewiesen, "werte", message)
}

/// Refuses the deductions of D23 beside a scheme, which defines all deductions.
fn refuse_formula(new: &NewAnnahmeschein, nummer: &str) -> Checked<()> {
    let of_formula = [
        ("basisfeuchte_prozent", new.basisfeuchte_prozent.is_some()),
        ("schwundfaktor", new.schwundfaktor.is_some()),
        ("basisbesatz_prozent", new.basisbesatz_prozent.is_some()),
        ("sonstige_abzuege_kg", new.sonstige_abzuege_kg.is_some_and(|kg| !kg.is_zero())),
    ];
    let Some((feld, _)) = of_formula.into_iter().find(|(_, is_sent)| *is_sent) else { return Ok(()) };
    let message = format!("Für diese Lieferung rechnet das Schema {nummer}. Bitte {feld} nicht mitsenden.");
    Err(Refusal::field(Code::FeldWiderspruch, feld, message))
}

/// Adds feuchte_prozent and besatz_prozent as the Merkmale of the same meaning (D29k).
fn add_fields(new: &NewAnnahmeschein, werte: &mut Werte, hints: &mut Hints) -> Checked<()> {
    let fields = [
        ("feuchte", "feuchte_prozent", new.feuchte_prozent, 1),
        ("besatz", "besatz_prozent", new.besatz_prozent, 2),
    ];
    for (code, feld, sent, stellen) in fields {
        let Some(sent) = sent.map(|sent| Zahl::from_units(sent.units())) else { continue };
        let wert = rounded(sent, stellen);
        match werte.get(code) {
            Some(other) => {
                let message = format_args!(
                    "{feld} und der Messwert {code} sagen Verschiedenes. Bitte einen weglassen."
                );
                refuse_if(*other != wert, Code::FeldWiderspruch, feld, message)?;
            }
            None if wert != sent => {
                let message = format!("{code} wurde auf {stellen} Nachkommastellen gerundet: {wert}.");
                hints.add_field(HintCode::Gerundet, feld, message);
            }
            None => {}
        }
        werte.insert(code.to_owned(), wert);
    }
    Ok(())
}

/// Returns the finding against the certificate of organic goods on their day of delivery, if any.
fn certificate(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<Befund>> {
    let against = |code, text: String| {
        let aktion = Grenzfolge::Sperren;
        Some(Befund { code, aktion, merkmal: None, wert: None, grenze: None, text })
    };
    let day = day_of(tx, schein);
    let Some(id) = schein.biozertifikat_id else {
        return Ok(against(Grund::ZertifikatFehlt, "Zur Bio-Ware fehlt das Zertifikat.".to_owned()));
    };
    let zertifikat = biozertifikate::must_have(tx, id)?;
    let text = || format!("Das Biozertifikat gilt am {} nicht.", day.german());
    Ok(match zertifikat.holds_on(day) {
        true => None,
        false => against(Grund::ZertifikatAbgelaufen, text()),
    })
}

/// Returns the values of a new receipt as an analysis; `None` if nothing was measured.
pub fn of_intake(tx: &WriteTx<'_>, new: &NewAnnahmeschein, werte: &Werte) -> Option<Analyse> {
    let sent = NewAnalyse {
        quelle: Some(Quelle::Annahme),
        geraet: new.geraet.clone(),
        probe_nr: new.probe_nr.clone(),
        werte: None,
    };
    (!werte.is_empty()).then(|| analyse(tx, 1, sent, werte))
}

fn analyse(tx: &WriteTx<'_>, version: i64, sent: NewAnalyse, werte: &Werte) -> Analyse {
    let werte = werte.iter().map(|(merkmal, wert)| Messwert { merkmal: merkmal.clone(), wert: *wert });
    Analyse {
        version,
        am: tx.now(),
        key_id: tx.key_id().map(str::to_owned),
        quelle: Some(sent.quelle.unwrap_or(Quelle::Labor)),
        geraet: sent.geraet,
        probe_nr: sent.probe_nr,
        werte: Json(werte.collect()),
        grund: None,
        sperrgruende: None,
        schema_id: None,
        schema: None,
    }
}

fn next_version(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<i64> {
    let is_cancelled = schein.status == AnnahmescheinStatus::Storniert;
    let message = "Der Annahmeschein ist storniert. Bitte einen neuen anlegen.";
    if is_cancelled {
        return Err(Refusal::new(Code::AnnahmescheinStorniert, message).into());
    }
    let last = sql::last_analyse(tx, schein.id)?;
    let message = format_args!("Zu diesem Annahmeschein gibt es schon {last} Analysen; mehr geht nicht.");
    refuse_if(last >= ANALYSEN_MAX, Code::WertUngueltig, "werte", message)?;
    Ok(last + 1)
}

/// POST …/analysen: the newest value of each Merkmal counts, and the limits are checked again. An existing
/// settlement does not change; a correction uses the new values once the receipt is not locked (D29j).
pub fn add(
    tx: &WriteTx<'_>,
    mut schein: Annahmeschein,
    sent: NewAnalyse,
    mut hinweise: Hints,
) -> Result<AnalyseBestaetigung> {
    let version = next_version(tx, &schein)?;
    let measured = required(sent.werte.clone().filter(|werte| !werte.is_empty()), "werte")?;
    let neu = abrechnungsschemata::measured(tx, &measured, &mut hinweise)?;
    let mut werte = values_of(tx, &schein)?;
    werte.extend(neu.clone());
    sql::insert_analyse(tx, schein.id, &analyse(tx, version, sent, &neu))?;
    let before = schein.netto_menge_kg;
    Qualitaet { gueltig: scheme_of(tx, &schein)?, werte }.settle(tx, &mut schein, &mut hinweise)?;
    if schein.status == AnnahmescheinStatus::Abgerechnet || schein.abrechnung_beleg_nummer.is_some() {
        let message = "Der Annahmeschein ist schon abgerechnet; die Gutschrift steht, wie sie ist. Soll sie \
                       sich ändern, bitte sie korrigieren.";
        hinweise.add(HintCode::AbrechnungVeraltet, message);
    } else {
        hint_delivered(tx, &schein, before, &mut hinweise)?;
    }
    sql::upsert(tx, &schein, false)?;
    Ok(confirmation(schein, version, hinweise))
}

/// The measurements of a receipt.
pub struct Gemessen {
    /// The newest value of each Merkmal; without an analysis the receipt's own fields.
    pub werte: Werte,
    /// The device, or several, each with the Merkmale it measured.
    pub geraet: Option<String>,
    /// Version of the last analysis or release; 0: none.
    pub version: i64,
}

pub fn gemessen(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Gemessen> {
    let (mut werte, mut with, mut last) = (Werte::new(), BTreeMap::new(), 0);
    for (version, geraet, Json(measured)) in sql::measurements(tx, schein.id)? {
        last = version;
        for Messwert { merkmal, wert } in measured {
            with.insert(merkmal.clone(), geraet.clone());
            werte.insert(merkmal, wert);
        }
    }
    let werte = if werte.is_empty() { of_fields(schein) } else { werte };
    Ok(Gemessen { werte, geraet: devices(&with), version: last })
}

/// Lists the devices used; if there are several, each with the Merkmale it measured.
fn devices(with: &BTreeMap<String, Option<String>>) -> Option<String> {
    let mut by_device: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (merkmal, geraet) in with.iter().filter_map(|(merkmal, geraet)| Some((merkmal, geraet.as_ref()?))) {
        by_device.entry(geraet).or_default().push(merkmal);
    }
    let is_one = by_device.values().any(|merkmale| merkmale.len() == with.len());
    let said = |(geraet, merkmale): (&str, Vec<&str>)| match is_one {
        true => geraet.to_owned(),
        false => format!("{geraet} ({})", merkmale.join(", ")),
    };
    let all: Vec<_> = by_device.into_iter().map(said).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

pub fn values_of(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Werte> {
    Ok(gemessen(tx, schein)?.werte)
}

/// Returns the reasons why a receipt is locked, in one sentence; `None` if it is not.
pub fn locks(schein: &Annahmeschein) -> Option<String> {
    let Json(befunde) = schein.sperrgruende.as_ref()?;
    Some(befunde.iter().map(said).collect::<Vec<_>>().join("; "))
}

fn of_fields(schein: &Annahmeschein) -> Werte {
    let fields = [("feuchte", schein.feuchte_prozent, 1), ("besatz", schein.besatz_prozent, 2)];
    let known = fields.into_iter().filter_map(|(code, percent, stellen)| Some((code, percent?, stellen)));
    known
        .map(|(code, percent, stellen)| {
            (code.to_owned(), rounded(Zahl::from_units(percent.units()), stellen))
        })
        .collect()
}

/// Returns the scheme of a receipt, in the version valid on its day. A receipt recorded before a scheme
/// existed now gets one, unless it specifies deductions itself.
pub fn scheme_of(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<Gueltig>> {
    let day = day_of(tx, schein);
    match (schein.schema_id.zip(schein.schema_version), schein.artikel_id) {
        (Some((id, version)), _) => match abrechnungsschemata::on_day(tx, id, day)? {
            Some(gueltig) => Ok(Some(gueltig)),
            None => abrechnungsschemata::of_version(tx, id, version).map(Some),
        },
        (None, Some(artikel)) if !schein.has_formula() => {
            Ware { artikel, partner: schein.partner_id, kontrakt: schein.kontrakt_id }.scheme(tx, day)
        }
        (None, _) => Ok(None),
    }
}

/// Adds a hint that the receipt's delivery note stays as booked; the settlement accounts for the difference
/// (D29h).
fn hint_delivered(
    tx: &Tx<'_>,
    schein: &Annahmeschein,
    before: Option<Quantity>,
    hints: &mut Hints,
) -> Result<()> {
    let (Some(el), Some(nummer)) = (schein.el_id, &schein.el_beleg_nummer) else { return Ok(()) };
    if schein.netto_menge_kg != before && belege::is_live(tx, el)? {
        let message = format!("{nummer} bleibt, wie er gebucht ist; den Unterschied nennt die Abrechnung.");
        hints.add_field(HintCode::GewichtWiderspruch, "werte", message);
    }
    Ok(())
}

/// PUT …/freigabe: a person ends the lock with a reason, or names another scheme (D29d). A receipt that
/// cannot be computed stays locked.
pub fn release(
    tx: &WriteTx<'_>,
    mut schein: Annahmeschein,
    sent: &Freigabe,
    mut hinweise: Hints,
) -> Result<AnalyseBestaetigung> {
    let grund = required(sent.grund.clone(), "grund")?;
    let version = next_version(tx, &schein)?;
    check_waits(&schein, sent)?;
    let (artikel, day) = (required(schein.artikel_id, "artikel_id")?, day_of(tx, &schein));
    let gueltig = match sent.schema.as_deref() {
        Some(nummer) => abrechnungsschemata::of_delivery(tx, artikel, day, Some(nummer))?,
        None => scheme_of(tx, &schein)?,
    };
    let werte = values_of(tx, &schein)?;
    let before = schein.netto_menge_kg;
    let mut found = Hints::default();
    Qualitaet { gueltig, werte }.settle(tx, &mut schein, &mut found)?;
    hinweise.extend(found.without(HintCode::AnnahmescheinGesperrt));
    let ended = schein.sperrgruende.take();
    schein.gesperrt = false;
    refuse_unknown(ended.as_ref().map_or(&[], |Json(befunde)| befunde))?;
    hint_delivered(tx, &schein, before, &mut hinweise)?;
    let schema_id = schein.schema_id.filter(|_| sent.schema.is_some());
    let entry = Analyse {
        quelle: None,
        grund: Some(grund),
        sperrgruende: ended,
        schema_id,
        ..analyse(tx, version, NewAnalyse::default(), &Werte::new())
    };
    sql::insert_analyse(tx, schein.id, &entry)?;
    sql::upsert(tx, &schein, false)?;
    Ok(confirmation(schein, version, hinweise))
}

/// Refuses to release a receipt that is not locked, except to name another scheme for an open one.
fn check_waits(schein: &Annahmeschein, sent: &Freigabe) -> Checked<()> {
    if schein.gesperrt {
        return Ok(());
    }
    if let Some(nummer) = &schein.abrechnung_beleg_nummer {
        let message = format!("Den Annahmeschein rechnet schon {nummer} ab. Bitte zuerst diese stornieren.");
        return Err(Refusal::new(Code::AnnahmescheinAbgerechnet, message));
    }
    let message = format!("Der Annahmeschein ist {} und nicht gesperrt.", schein.status.as_str());
    match sent.schema.is_some() && schein.status == AnnahmescheinStatus::Offen {
        true => Ok(()),
        false => Err(Refusal::new(Code::AnnahmescheinNichtGesperrt, message)),
    }
}

/// Returns the day of delivery, today if the receipt has none.
pub fn day_of(tx: &Tx<'_>, schein: &Annahmeschein) -> Day {
    schein.lieferdatum.map_or_else(|| tx.today(), |DayTime(day)| day)
}

/// Refuses if a value is missing or outside its table: the paid quantity is unknown.
fn refuse_unknown(befunde: &[Befund]) -> Checked<()> {
    let is_unknown = |befund: &&Befund| matches!(befund.code, Grund::MerkmalFehlt | Grund::TabelleEndet);
    let unknown: Vec<String> = befunde.iter().filter(is_unknown).map(said).collect();
    let message =
        format!("{} Bitte die Analyse nachtragen oder ein anderes Schema nennen.", unknown.join(" "));
    if unknown.is_empty() { Ok(()) } else { Err(Refusal::new(Code::FreigabeUnvollstaendig, message)) }
}

fn confirmation(schein: Annahmeschein, version: i64, hinweise: Hints) -> AnalyseBestaetigung {
    AnalyseBestaetigung {
        id: schein.id,
        belegnummer: schein.belegnummer,
        version,
        status: schein.status,
        netto_menge_kg: schein.netto_menge_kg,
        netto_betrag: schein.netto_betrag,
        schema: schein.schema,
        gesperrt: schein.gesperrt,
        sperrgruende: schein.sperrgruende,
        hinweise,
    }
}

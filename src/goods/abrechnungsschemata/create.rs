//! Checking and storing a version of a scheme (D29b).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use uuid::Uuid;

use super::gueltig::{Gueltig, merkmale};
use super::model::{Gespeichert, Kopf, SchemaEingabe, SchemaVersion};
use super::sql;
use crate::master::artikel;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::bytes::{fingerprint, hex};
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::settlement::{Schema, check, lagerkosten};
use crate::rules::verweis::parse_uuid;

/// Reasons to refuse a version.
pub const REFUSALS: &[Code] = &[
    Code::FeldWiderspruch,
    Code::DatumUngueltig,
    Code::ArtikelNichtGefunden,
    Code::ArtikelMehrdeutig,
    Code::MerkmalNichtGefunden,
    Code::TabelleUeberlappt,
    Code::TabelleLuecke,
    Code::SchemaUeberschneidet,
    Code::SchemaZeitraum,
];

/// A version that is checked but not stored yet.
pub struct Neu {
    pub kopf: Kopf,
    pub inhalt: Schema,
    artikel: Vec<Uuid>,
}

/// Creates a scheme with its first version.
pub fn create(tx: &WriteTx<'_>, new: SchemaEingabe, hints: Hints) -> Result<Gespeichert> {
    let nummer = required(new.nummer.clone(), "nummer")?;
    let mut neu = checked(tx, None, new)?;
    let message = format_args!("Das Schema {nummer} gibt es schon. Bitte dort eine neue Version anlegen.");
    refuse_if(sql::id_of(tx, &nummer)?.is_some(), Code::FeldWiderspruch, "nummer", message)?;
    neu.kopf.id = tx.new_id();
    sql::insert(tx, neu.kopf.id, &nummer)?;
    store(tx, neu, hints)
}

impl Neu {
    /// Whether a version says the same from the same day on, whichever way this one came (D39).
    pub fn repeats(&self, old: &Gueltig) -> bool {
        let says =
            |kopf: &Kopf| (kopf.gueltig_von, kopf.bezeichnung.clone(), kopf.erntejahr, kopf.artikel.clone());
        old.schema == self.inhalt && says(&old.kopf) == says(&self.kopf)
    }
}

/// Creates the next version of a scheme; the version valid at its start ends the day before. Returns that one, and
/// false, if it says the same.
pub fn next(
    tx: &WriteTx<'_>,
    last: &Kopf,
    new: SchemaEingabe,
    hinweise: Hints,
) -> Result<(Gespeichert, bool)> {
    let message = "Die Nummer eines Schemas bleibt. Bitte ein neues Schema anlegen.";
    let is_other = new.nummer.as_ref().is_some_and(|nummer| *nummer != last.nummer);
    refuse_if(is_other, Code::FeldWiderspruch, "nummer", message)?;
    let neu = checked(tx, Some(last), new)?;
    if let Some(known) = sql::find_valid(tx, last.id, neu.kopf.gueltig_von)?
        && known.gueltig_bis == neu.kopf.gueltig_bis
        && neu.repeats(&Gueltig::read(tx, known.clone())?)
    {
        return Ok((known.stored(hinweise), false));
    }
    Ok((store(tx, neu, hinweise)?, true))
}

/// Checks a request and returns it as the version after `last`, or as a first version, whose id is not
/// assigned yet.
fn checked(tx: &Tx<'_>, last: Option<&Kopf>, new: SchemaEingabe) -> Result<Neu> {
    let inhalt = new.inhalt()?;
    with_inhalt(tx, last, new, inhalt)
}

/// Does the same for an import, taking absent fields from another version.
pub fn changed(tx: &Tx<'_>, last: &Kopf, old: &Gueltig, mut new: SchemaEingabe) -> Result<Neu> {
    let Gueltig { kopf, schema } = old;
    new.bezeichnung.get_or_insert_with(|| kopf.bezeichnung.clone());
    new.artikel.get_or_insert_with(|| kopf.artikel.clone());
    new.erntejahr = new.erntejahr.or(kopf.erntejahr);
    new.bestand.get_or_insert(schema.bestand);
    new.preis_stellen.get_or_insert(schema.preis_stellen);
    new.mittelung.get_or_insert(schema.mittelung);
    new.bio.get_or_insert(schema.bio);
    let mut inhalt = new.inhalt()?;
    if new.grenzen.is_none() {
        inhalt.grenzen.clone_from(&schema.grenzen);
    }
    if new.schritte.is_none() {
        inhalt.schritte.clone_from(&schema.schritte);
    }
    with_inhalt(tx, Some(last), new, inhalt)
}

fn with_inhalt(tx: &Tx<'_>, last: Option<&Kopf>, new: SchemaEingabe, inhalt: Schema) -> Result<Neu> {
    let bezeichnung = required(new.bezeichnung, "bezeichnung")?;
    let gueltig_von = required(new.gueltig_von, "gueltig_von")?;
    let ends_before = new.gueltig_bis.is_some_and(|bis| bis < gueltig_von);
    refuse_if(ends_before, Code::DatumUngueltig, "gueltig_bis", "gueltig_bis liegt vor gueltig_von.")?;
    let named = required(new.artikel.filter(|artikel| !artikel.is_empty()), "artikel")?;
    let mut artikel = BTreeMap::new();
    for (index, word) in named.iter().enumerate() {
        let found = article(tx, word).map_err(|failure| failure.below(&format!("artikel[{index}]")))?;
        artikel.insert(found.0, found.1);
    }
    let inhalt = check(inhalt, &merkmale(tx)?)?;
    let numbers: BTreeSet<String> = artikel.values().cloned().collect();
    let mut kopf = Kopf {
        id: last.map_or_else(Uuid::nil, |last| last.id),
        nummer: last.map(|last| last.nummer.clone()).or(new.nummer).unwrap_or_default(),
        version: last.map_or(1, |last| last.version + 1),
        bezeichnung,
        erntejahr: new.erntejahr,
        gueltig_von,
        gueltig_bis: new.gueltig_bis,
        angelegt_am: tx.now(),
        sha256: String::new(),
        artikel: numbers.into_iter().collect(),
    };
    kopf.sha256 = hex(&digest(&kopf, &inhalt)?);
    Ok(Neu { kopf, inhalt, artikel: artikel.into_keys().collect() })
}

/// Finds an article by its number or id.
fn article(tx: &Tx<'_>, word: &str) -> Result<(Uuid, String)> {
    let by_id = parse_uuid(word);
    let found = artikel::named(tx, by_id, by_id.is_none().then_some(word))?;
    let found = required(found, "artikel")?;
    Ok((found.id, found.artikelnummer.clone()))
}

/// Returns the digest of everything in a version except its end, which the next version sets later.
fn digest(kopf: &Kopf, inhalt: &Schema) -> Result<[u8; 32]> {
    let Kopf { nummer, version, bezeichnung, erntejahr, gueltig_von, artikel, .. } = kopf;
    Ok(fingerprint(json!({
        "nummer": nummer, "version": version, "bezeichnung": bezeichnung, "erntejahr": erntejahr,
        "gueltig_von": gueltig_von, "artikel": artikel, "inhalt": inhalt,
    })))
}

pub fn store(tx: &WriteTx<'_>, neu: Neu, mut hinweise: Hints) -> Result<Gespeichert> {
    let Neu { kopf, inhalt, artikel } = neu;
    make_room(tx, &kopf)?;
    let new = kopf.id;
    for step in lagerkosten(&inhalt) {
        let message = format!(
            "„{}“ sieht nach Lagergeld aus; das darf dem Lieferanten meist nicht abgezogen werden (§14 AgrarOLkG).",
            step.text
        );
        hinweise.add_field(HintCode::LagerkostenPruefen, "schritte", message);
    }
    let sha256 = digest(&kopf, &inhalt)?;
    sql::insert_version(tx, &kopf, &serde_json::to_string(&inhalt)?, sha256, &artikel)?;
    hint_gaps(tx, new, &mut hinweise)?;
    Ok(kopf.stored(hinweise))
}

/// Ends the version valid on the first day of the new one, the day before; refuses if a later one overlaps.
fn make_room(tx: &WriteTx<'_>, new: &Kopf) -> Result<()> {
    for known in &sql::versions(tx, new.id)? {
        let begins_before_end = known.gueltig_bis.is_none_or(|bis| bis >= new.gueltig_von);
        let ends_after_begin = new.gueltig_bis.is_none_or(|bis| bis >= known.gueltig_von);
        // A version that was replaced ends before it begins.
        let is_replaced = known.gueltig_bis.is_some_and(|bis| bis < known.gueltig_von);
        if is_replaced || !begins_before_end || !ends_after_begin {
            continue;
        }
        let message = format_args!(
            "Ab {} gilt schon Version {}. Bitte vorher enden (gueltig_bis) oder später beginnen.",
            known.gueltig_von, known.version
        );
        let begins_later = known.gueltig_von > new.gueltig_von;
        refuse_if(begins_later, Code::SchemaUeberschneidet, "gueltig_von", message)?;
        check_period(tx, new, known)?;
        sql::end(tx, new.id, known.version, new.gueltig_von.yesterday())?;
    }
    Ok(())
}

/// Refuses a version that takes days from its predecessor which a settlement used, or ends before that one would: what is paid stays
/// computable, and no day loses its version.
fn check_period(tx: &Tx<'_>, new: &Kopf, known: &SchemaVersion) -> Result<()> {
    if let Some((day, beleg)) = sql::last_settled(tx, new, known.version)?
        && day >= new.gueltig_von
    {
        let what = format!(
            "Nach Version {} ist bis zum {} abgerechnet, zuletzt mit {beleg}.",
            known.version,
            day.german()
        );
        let advice = format!(
            "Bitte ab dem {} beginnen oder erst {beleg} stornieren; einzelne Annahmescheine lassen sich auf ein anderes Schema \
             freigeben.",
            day.tomorrow().german()
        );
        return Err(Refusal::field(Code::SchemaZeitraum, "gueltig_von", (what, advice)).into());
    }
    let ends_sooner = new.gueltig_bis.is_some_and(|bis| known.gueltig_bis.is_none_or(|known| bis < known));
    let until =
        known.gueltig_bis.map_or_else(|| "ohne Ende".to_owned(), |bis| format!("bis {}", bis.german()));
    let what = format_args!("Version {} gilt {until}; diese würde früher enden.", known.version);
    let message = (what, "Bitte gueltig_bis weglassen oder so spät wie dort angeben.");
    Ok(refuse_if(ends_sooner, Code::SchemaZeitraum, "gueltig_bis", message)?)
}

/// Adds a hint for days between two versions on which none holds.
fn hint_gaps(tx: &Tx<'_>, id: Uuid, hints: &mut Hints) -> Result<()> {
    let holds = |version: &SchemaVersion| version.gueltig_bis.is_none_or(|bis| bis >= version.gueltig_von);
    let mut versions: Vec<_> = sql::versions(tx, id)?.into_iter().filter(holds).collect();
    versions.sort_by_key(|version| version.gueltig_von);
    for pair in versions.windows(2) {
        let first = pair[0].gueltig_bis.map(Day::tomorrow);
        if let Some(first) = first.filter(|first| *first < pair[1].gueltig_von) {
            let message = format!(
                "Vom {} bis {} gilt keine Version des Schemas.",
                first.german(),
                pair[1].gueltig_von.yesterday().german()
            );
            hints.add_field(HintCode::SchemaLuecke, "gueltig_von", message);
        }
    }
    Ok(())
}

/// Returns a copy of the version `old` with other rows and another first day, as the version after `last`.
pub fn with_tables(tx: &Tx<'_>, last: &Kopf, old: &Kopf, gueltig_von: Day, inhalt: Schema) -> Result<Neu> {
    let artikel = sql::articles(tx, old)?.into_iter().map(|(id, _)| id).collect();
    let kopf = Kopf {
        version: last.version + 1,
        gueltig_von,
        gueltig_bis: None,
        angelegt_am: tx.now(),
        ..old.clone()
    };
    let sha256 = hex(&digest(&kopf, &inhalt)?);
    Ok(Neu { kopf: Kopf { sha256, ..kopf }, inhalt, artikel })
}

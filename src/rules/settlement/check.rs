//! Checks a scheme before it is saved: refuses what cannot be computed or is ambiguous (D29c, D29d).

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Basisseite, SatzEinheit, Schema, Schritt, SchrittZeile, Schrittregel, Wirkung, after};
use super::rate::plain;
use super::values::{Merkmal, grid};
use crate::rules::error::{Checked, Code, Refusal, Refusals, refuse_if, required};
use crate::rules::fixed::Zahl;

/// Largest value, basis or rate, so that a product of three of them and a weight stays exact.
const LARGEST: Zahl = Zahl::whole(100_000);

/// Most rows in all tables of a scheme, because every calculation reads them.
const ROWS_MAX: usize = 2_000;

/// Completes the omitted fields of the steps and sorts the rows of their tables; refuses the scheme with all
/// its mistakes at once.
pub fn check(mut schema: Schema, merkmale: &BTreeMap<String, Merkmal>) -> Checked<Schema> {
    let mut errors = Refusals::default();
    let stellen = schema.preis_stellen;
    let message = "Ein Preis hat 2 bis 4 Nachkommastellen.";
    errors.keep(refuse_if(!(2..=4).contains(&stellen), Code::WertUngueltig, "preis_stellen", message));
    let rows: usize = schema.schritte.iter().map(|step| step.zeilen.len()).sum();
    let message = format_args!("Ein Schema hat höchstens {ROWS_MAX} Tabellenzeilen. Bitte gröber abstufen.");
    errors.keep(refuse_if(rows > ROWS_MAX, Code::WertUngueltig, "schritte", message));
    for (index, grenze) in schema.grenzen.iter().enumerate() {
        let checked = merkmal(merkmale, &grenze.merkmal)
            .and_then(|_| within("wert", grenze.wert))
            .and_then(|()| not_blank("text", &grenze.text));
        errors.keep(checked.map_err(|refusal| refusal.below(&format!("grenzen[{index}]"))));
    }
    let quantities: BTreeSet<String> = schema
        .schritte
        .iter()
        .filter(|step| step.wirkung == Wirkung::Menge)
        .map(|step| step.code.clone())
        .collect();
    let (mut codes, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (index, step) in schema.schritte.iter_mut().enumerate() {
        let checked =
            unique(&mut codes, &mut numbers, step).and_then(|()| complete(step, merkmale, &quantities));
        errors.keep(checked.map_err(|refusal| refusal.below(&format!("schritte[{index}]"))));
    }
    errors.into_result()?;
    Ok(schema)
}

/// Returns the steps that look like a storage charge, which the supplier must not be made to pay (§14
/// AgrarOLkG).
pub fn lagerkosten(schema: &Schema) -> impl Iterator<Item = &Schritt> {
    let is_storage = |text: &str| text.to_lowercase().contains("lager");
    schema.schritte.iter().filter(move |step| is_storage(&step.text) || is_storage(&step.code))
}

fn unique(codes: &mut BTreeSet<String>, numbers: &mut BTreeSet<i64>, step: &Schritt) -> Checked<()> {
    not_blank("text", &step.text)?;
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_code = (1..=40).contains(&step.code.len()) && step.code.chars().all(is_word);
    let message = "Ein Code hat 1 bis 40 Zeichen aus a bis z, 0 bis 9 und _.";
    refuse_if(!is_code, Code::WertUngueltig, "code", message)?;
    let message = "Diesen Code hat schon ein anderer Schritt. Bitte einen eigenen vergeben.";
    refuse_if(!codes.insert(step.code.clone()), Code::WertUngueltig, "code", message)?;
    let message = "Diese Nummer hat schon ein anderer Schritt. Bitte fortlaufend nummerieren.";
    refuse_if(!numbers.insert(step.nr), Code::WertUngueltig, "nr", message)
}

fn complete(
    step: &mut Schritt,
    merkmale: &BTreeMap<String, Merkmal>,
    quantities: &BTreeSet<String>,
) -> Checked<()> {
    fields(step)?;
    unit(step)?;
    reference(step, quantities)?;
    let stellen = match &step.merkmal {
        Some(code) => merkmal(merkmale, code)?.stellen,
        None => 0,
    };
    numbers(step)?;
    match step.regel {
        Schrittregel::Tabelle => table(&mut step.zeilen, stellen),
        Schrittregel::Staffel => intervals(&step.zeilen),
        _ => Ok(()),
    }
}

/// Checks that a step has the fields of its rule, and refuses those that the rule would ignore.
fn fields(step: &Schritt) -> Checked<()> {
    use Schrittregel::{Faktor, Fest, Staffel, Standardgewicht, Tabelle};
    let Schritt { merkmal, richtung, basis, zaehlt_ab, grenzwert, schritt, satz, zeilen, .. } = step;
    let compares = &[Faktor, Standardgewicht, Staffel][..];
    let table: [(&str, bool, &[Schrittregel], &[Schrittregel]); 10] = [
        // field, whether it is present, rules that require it, rules that allow it
        ("merkmal", merkmal.is_some(), &[Faktor, Standardgewicht, Tabelle, Staffel], &[]),
        ("richtung", richtung.is_some(), compares, &[]),
        ("basis", basis.is_some(), compares, &[]),
        ("zaehlt_ab", zaehlt_ab.is_some(), &[], compares),
        ("grenzwert", grenzwert.is_some(), &[], compares),
        ("schritt", schritt.is_some(), &[], &[Faktor]),
        ("angefangen", step.angefangen, &[], &[Faktor]),
        ("satz", satz.is_some(), &[Faktor, Fest], &[Standardgewicht]),
        ("zeilen", !zeilen.is_empty(), &[Tabelle, Staffel], &[]),
        ("gestaffelt", step.gestaffelt, &[], &[Staffel]),
    ];
    for (feld, is_there, needing, having) in table {
        let is_needed = needing.contains(&step.regel);
        required((is_there || !is_needed).then_some(()), feld)?;
        let is_foreign = is_there && !is_needed && !having.contains(&step.regel);
        let regel = step.regel.as_str();
        let message = format_args!("Das Feld {feld} gehört nicht zur Schrittregel {regel}. Bitte weglassen.");
        refuse_if(is_foreign, Code::FeldWiderspruch, feld, message)?;
    }
    let message = "angefangen sagt etwas von einem schritt. Bitte auch schritt angeben.";
    refuse_if(step.angefangen && schritt.is_none(), Code::FeldFehlt, "schritt", message)
}

fn unit(step: &Schritt) -> Checked<()> {
    let (allowed, message) = match step.wirkung {
        Wirkung::Menge => (&[SatzEinheit::Prozent][..], "Eine Menge ändert sich um %."),
        Wirkung::Preis => {
            (&[SatzEinheit::EuroJeTonne, SatzEinheit::Prozent][..], "Ein Preis ändert sich um EUR/t oder %.")
        }
        Wirkung::Kosten => (
            &[SatzEinheit::EuroJeTonne, SatzEinheit::Euro][..],
            "Kosten haben EUR/t, oder EUR je Anlieferung.",
        ),
    };
    refuse_if(!allowed.contains(&step.einheit), Code::WertUngueltig, "einheit", message)?;
    let is_misplaced = step.regel == Schrittregel::Standardgewicht && step.wirkung != Wirkung::Menge;
    let message =
        "standardgewicht ist eine Schrittregel für Mengen. Bitte für Preis und Kosten eine andere nehmen.";
    refuse_if(is_misplaced, Code::WertUngueltig, "regel", message)
}

/// Checks the reference of a step; fills in the default if it is omitted and the effect has one.
fn reference(step: &mut Schritt, quantities: &BTreeSet<String>) -> Checked<()> {
    let is_of_nothing = match step.wirkung {
        Wirkung::Menge => false,
        Wirkung::Preis => step.einheit == SatzEinheit::EuroJeTonne,
        Wirkung::Kosten => step.einheit == SatzEinheit::Euro,
    };
    let bezug = step.bezug.as_deref();
    if is_of_nothing {
        let message = "Dieser Satz hat keinen Bezug. Bitte bezug weglassen.";
        return refuse_if(bezug.is_some(), Code::FeldWiderspruch, "bezug", message);
    }
    let message = "Bitte angeben, auf welches Gewicht diese Kosten zählen: brutto, netto oder nach:CODE.";
    let (default, allowed, message) = match step.wirkung {
        Wirkung::Menge => {
            (Some("vorher"), ["brutto", "vorher"], "Der Bezug einer Menge ist brutto oder vorher.")
        }
        Wirkung::Preis => (
            Some("grundpreis"),
            ["grundpreis", "vorher"],
            "Der Bezug eines Preises ist grundpreis oder vorher.",
        ),
        Wirkung::Kosten => (None, ["brutto", "netto"], message),
    };
    let Some(bezug) = bezug.or(default) else {
        return Err(Refusal::field(Code::FeldFehlt, "bezug", message));
    };
    let is_after =
        step.wirkung == Wirkung::Kosten && after(bezug).is_some_and(|code| quantities.contains(code));
    refuse_if(!is_after && !allowed.contains(&bezug), Code::WertUngueltig, "bezug", message)?;
    step.bezug = Some(bezug.to_owned());
    Ok(())
}

fn numbers(step: &Schritt) -> Checked<()> {
    for (feld, wert) in [("basis", step.basis), ("zaehlt_ab", step.zaehlt_ab), ("grenzwert", step.grenzwert)]
    {
        within(feld, wert.unwrap_or_default())?;
        let is_whole = step.regel == Schrittregel::Standardgewicht && wert >= Some(Zahl::whole(100));
        let message = "Ein Standardgewicht rechnet mit dem Rest zu 100; der Wert muss darunter liegen.";
        refuse_if(is_whole, Code::WertUngueltig, feld, message)?;
    }
    let is_inside = |grenzwert: Zahl| match step.richtung {
        Some(Basisseite::Unter) => Some(grenzwert) > step.basis,
        _ => Some(grenzwert) < step.basis,
    };
    let message = "Der Grenzwert liegt vor der Basis; so zählte nie etwas.";
    refuse_if(step.grenzwert.is_some_and(is_inside), Code::WertUngueltig, "grenzwert", message)?;
    let message = "Ein Schritt muss größer als 0 sein.";
    refuse_if(step.schritt.is_some_and(|each| each <= Zahl::ZERO), Code::WertUngueltig, "schritt", message)?;
    within("schritt", step.schritt.unwrap_or_default())?;
    rate("satz", step.satz.unwrap_or_default())?;
    for (index, row) in step.zeilen.iter().enumerate() {
        let checked = within("von", row.von.unwrap_or_default()).and_then(|()| within("bis", row.bis));
        let checked = checked.and_then(|()| rate("satz", row.satz));
        checked.map_err(|refusal| refusal.below(&format!("zeilen[{index}]")))?;
    }
    Ok(())
}

/// Sorts the rows; refuses those off the grid of the measured value, and gaps or overlaps between them.
fn table(rows: &mut [SchrittZeile], stellen: i64) -> Checked<()> {
    let grid = grid(stellen);
    for (index, row) in rows.iter().enumerate() {
        let feld = |name: &str| format!("zeilen[{index}].{name}");
        let von = required(row.von, "von").map_err(|refusal| refusal.below(&format!("zeilen[{index}]")))?;
        for (name, wert) in [("von", von), ("bis", row.bis)] {
            let message =
                format_args!("Der Messwert hat {stellen} Nachkommastellen, die Grenze einer Zeile auch.");
            refuse_if(wert.units() % grid != 0, Code::WertUngueltig, &feld(name), message)?;
        }
        let message = "Eine Zeile geht von dem kleineren bis zum größeren Wert.";
        refuse_if(row.bis < von, Code::WertUngueltig, &feld("bis"), message)?;
    }
    rows.sort_by_key(|row| row.von);
    for pair in rows.windows(2) {
        let (end, begin) = (pair[0].bis, pair[1].von.unwrap_or_default());
        let message = format_args!(
            "Die Zeilen ab {} überlappen sich. Ein Wert darf nur in einer stehen.",
            plain(begin)
        );
        refuse_if(begin <= end, Code::TabelleUeberlappt, "zeilen", message)?;
        let message = format_args!("Zwischen {} und {} fehlt eine Zeile.", plain(end), plain(begin));
        refuse_if(begin.units() - end.units() > grid, Code::TabelleLuecke, "zeilen", message)?;
    }
    Ok(())
}

/// Checks the interval ends of a staffel: each lies beyond the one before.
fn intervals(rows: &[SchrittZeile]) -> Checked<()> {
    let mut end = Zahl::ZERO;
    for (index, row) in rows.iter().enumerate() {
        let message = "Eine Staffel nennt nur das Ende ihrer Stufen (bis). Bitte von weglassen.";
        refuse_if(row.von.is_some(), Code::FeldWiderspruch, &format!("zeilen[{index}].von"), message)?;
        let message = "Jede Stufe endet hinter der vorigen, die erste über 0.";
        refuse_if(row.bis <= end, Code::TabelleUeberlappt, &format!("zeilen[{index}].bis"), message)?;
        end = row.bis;
    }
    Ok(())
}

fn merkmal<'m>(merkmale: &'m BTreeMap<String, Merkmal>, code: &str) -> Checked<&'m Merkmal> {
    let message =
        || format!("Das Merkmal {code} gibt es nicht. Bitte vorher anlegen (partnerd import merkmale).");
    merkmale.get(code).ok_or_else(|| Refusal::field(Code::MerkmalNichtGefunden, "merkmal", message()))
}

fn within(feld: &str, wert: Zahl) -> Checked<()> {
    let message = "Der Wert muss zwischen 0 und 100.000 liegen.";
    refuse_if(wert.is_negative() || wert > LARGEST, Code::WertUngueltig, feld, message)
}

fn rate(feld: &str, satz: Zahl) -> Checked<()> {
    let message = "Der Satz muss zwischen −100.000 und 100.000 liegen.";
    refuse_if(satz.abs() > LARGEST, Code::WertUngueltig, feld, message)
}

fn not_blank(feld: &str, text: &str) -> Checked<()> {
    required((!text.trim().is_empty()).then_some(()), feld)
}

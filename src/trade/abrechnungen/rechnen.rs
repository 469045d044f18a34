//! Computes the value of each receipt in a settlement (D29e, D29g, D29i): measured values, weight, prices,
//! earlier payments.

use std::collections::BTreeMap;
use std::rc::Rc;

use uuid::Uuid;

use super::kontrakt::{Kontrakte, Preisteil};
use super::model::NewAbrechnung;
use super::scheine;
use super::sql::{self, Abgerechnet, Abschlag};
use crate::goods::abrechnungsschemata::{self, Gueltig};
use crate::goods::chargen::Bewegung;
use crate::master::kunden::Kunde;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result, keep_refused, or_refusal};
use crate::rules::day::{Day, DayTime};
use crate::rules::error::{Checked, Code, HintCode, Hints, Message, Refusal, Refusals, refuse_if, required};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::receipt::net_amount;
use crate::rules::settlement::{
    AbrechnungsPosten, AbrechnungsTeil, Abrechnungsart, Grund, Lieferung, Merkmal, Messwert, Rechnung, Werte,
    compute, mean,
};
use crate::rules::tax::{Steuerkategorie, share};
use crate::trade::annahmescheine::{self, Annahmeschein, Gemessen, day_of};
use crate::trade::belege::{self, Geliefert};

/// A receipt with everything that its items need.
pub struct Note {
    pub schein: Annahmeschein,
    pub tag: Day,
    pub posten: AbrechnungsPosten,
    pub brutto_ins_lager: bool,
    /// The delivery of its EL; `None` if it has no live one.
    pub geliefert: Option<Geliefert>,
    /// The document of its final settlement, which a supplement refers to.
    pub endabrechnung: Option<Uuid>,
    /// Live advances on it.
    pub abschlaege: Vec<Abschlag>,
    /// Its value at the prices known so far; `None` where none is known.
    pub wert: Option<Money>,
}

/// A computed settlement, before it becomes a document.
pub struct Berechnet {
    pub art: Abrechnungsart,
    pub kunde: Kunde,
    pub notes: Vec<Note>,
}

/// The basis of a receipt's computation: its scheme, and its values or their mean.
pub struct Grundlage {
    gueltig: Option<Rc<Gueltig>>,
    werte: Werte,
    ist_mittel: bool,
    geraet: Option<String>,
    analyse: i64,
}

pub fn settlement(tx: &Tx<'_>, new: &NewAbrechnung, hints: &mut Hints) -> Result<Berechnet> {
    let art = required(new.art, "art")?;
    check_fields(new, art)?;
    let (kunde, scheine) = scheine::notes(tx, new, art)?;
    check_one_article(new, &scheine)?;
    let notes = match art {
        Abrechnungsart::Nachverguetung => supplements(tx, new, &kunde, scheine, hints)?,
        Abrechnungsart::End | Abrechnungsart::Abschlag => settled(tx, new, art, &kunde, scheine, hints)?,
    };
    Ok(Berechnet { art, kunde, notes })
}

/// Refuses fields that do not belong to this kind of settlement, and requires those that it needs.
fn check_fields(new: &NewAbrechnung, art: Abrechnungsart) -> Checked<()> {
    let sent = [
        ("preis_je_t", new.preis_je_t.is_some(), art != Abrechnungsart::Nachverguetung),
        ("rest_preis_je_t", new.rest_preis_je_t.is_some(), art == Abrechnungsart::End),
        ("abschlag", new.abschlag.is_some(), art == Abrechnungsart::Abschlag),
        ("zuschlag_je_t", new.zuschlag_je_t.is_some(), art == Abrechnungsart::Nachverguetung),
    ];
    for (feld, is_sent, belongs) in sent {
        let message = (format_args!("{feld} gehört nicht zu art {}.", art.as_str()), "Bitte weglassen.");
        refuse_if(is_sent && !belongs, Code::FeldWiderspruch, feld, message)?;
    }
    for (feld, price) in [("preis_je_t", new.preis_je_t), ("rest_preis_je_t", new.rest_preis_je_t)] {
        let is_negative = price.is_some_and(|price| price.is_negative());
        refuse_if(is_negative, Code::WertUngueltig, feld, "Der Preis darf nicht unter 0 sein.")?;
    }
    match art {
        Abrechnungsart::End => Ok(()),
        Abrechnungsart::Nachverguetung => required(new.zuschlag_je_t, "zuschlag_je_t").map(drop),
        Abrechnungsart::Abschlag => {
            let abschlag = required(new.abschlag.as_ref(), "abschlag")?;
            let is_one = abschlag.prozent.is_some() != abschlag.preis_je_t.is_some();
            let message = "Bitte prozent oder preis_je_t angeben, eines von beiden.";
            refuse_if(!is_one, Code::FeldWiderspruch, "abschlag", message)?;
            let is_low = abschlag.prozent.is_some_and(|prozent| prozent <= Percent::ZERO)
                || abschlag.preis_je_t.is_some_and(|preis| preis <= Price::ZERO);
            refuse_if(is_low, Code::WertUngueltig, "abschlag", "Ein Abschlag muss über 0 sein.")
        }
    }
}

/// Refuses a price if the receipts are of several articles.
fn check_one_article(new: &NewAbrechnung, scheine: &[Annahmeschein]) -> Checked<()> {
    let is_mixed = scheine.iter().any(|schein| schein.artikel_id != scheine[0].artikel_id);
    let message = ("Ein Preis gilt für einen Artikel; das sind mehrere.", "Bitte je Artikel abrechnen.");
    refuse_if(is_mixed && new.preis_je_t.is_some(), Code::FeldWiderspruch, "preis_je_t", message)?;
    refuse_if(is_mixed && new.rest_preis_je_t.is_some(), Code::FeldWiderspruch, "rest_preis_je_t", message)
}

/// What is paid for a weight beside the price of a contract.
fn paid_beside(kg: Quantity, je_t: Price, ware: Money) -> AbrechnungsTeil {
    let (kontrakt, kontrakt_position_id) = (None, None);
    AbrechnungsTeil { kontrakt, kontrakt_position_id, kg, grundpreis: je_t, preis_je_t: je_t, ware }
}

/// Computes a supplement, positive or negative, for settled receipts, at the tax of their day.
fn supplements(
    tx: &Tx<'_>,
    new: &NewAbrechnung,
    kunde: &Kunde,
    scheine: Vec<Annahmeschein>,
    hints: &mut Hints,
) -> Result<Vec<Note>> {
    let zuschlag = new.zuschlag_je_t.unwrap_or_default();
    let mut supplement = |schein: Annahmeschein| {
        let tag = day_of(tx, &schein);
        let gone = || Failure::Broken(format!("the settlement of {} is gone", schein.belegnummer));
        let Abgerechnet { posten, netto_kg, beleg } = sql::settled(tx, &schein)?.ok_or_else(gone)?;
        let betrag = net_amount(netto_kg, zuschlag)?;
        let teile = vec![paid_beside(netto_kg, zuschlag, betrag)];
        let (mwst_satz, steuer_kategorie) =
            belege::tax_of_delivery(tx, kunde, posten.artikel_id, tag, hints)?;
        if (posten.mwst_satz, posten.steuer_kategorie) != (mwst_satz, steuer_kategorie) {
            let what = format!("mit {} % abgerechnet", posten.mwst_satz);
            hint_changed(&schein, &what, mwst_satz, "Bitte erst die Endabrechnung korrigieren.", hints);
        }
        let abschlaege = Money::ZERO;
        let posten = AbrechnungsPosten { teile, betrag, abschlaege, mwst_satz, steuer_kategorie, ..posten };
        Ok(Note {
            tag,
            schein,
            posten,
            brutto_ins_lager: false,
            geliefert: None,
            endabrechnung: Some(beleg),
            abschlaege: Vec::new(),
            wert: None,
        })
    };
    scheine.into_iter().map(&mut supplement).collect()
}

/// Adds a hint that the Besteuerung of a receipt's day is another than an earlier document had it (D29i).
fn hint_changed(schein: &Annahmeschein, was: &str, satz: Percent, advice: &str, hints: &mut Hints) {
    let message = format!(
        "{} ist {was}; nach der Besteuerung am Tag der Lieferung gelten {satz} %. {advice}",
        schein.belegnummer
    );
    hints.add(HintCode::SteuerartGewechselt, message);
}

fn settled(
    tx: &Tx<'_>,
    new: &NewAbrechnung,
    art: Abrechnungsart,
    kunde: &Kunde,
    scheine: Vec<Annahmeschein>,
    hints: &mut Hints,
) -> Result<Vec<Note>> {
    let bases = bases(tx, &scheine, hints)?;
    let mut kontrakte = Kontrakte::of(tx, kunde, art);
    let mut errors = Refusals::default();
    let mut notes = Vec::with_capacity(scheine.len());
    let mut order: Vec<_> = scheine.into_iter().zip(bases).enumerate().collect();
    // What names its position of a contract is paid by it before the others fill what is left.
    order.sort_by_key(|(_, (schein, _))| schein.kontrakt_position_id.is_none());
    for (at, (schein, basis)) in order {
        let note = note(tx, new, schein, basis, &mut kontrakte, hints);
        notes.extend(keep_refused(&mut errors, note, "")?.map(|note| (at, note)));
    }
    errors.into_result()?;
    notes.sort_by_key(|(at, _)| *at);
    let notes: Vec<Note> = notes.into_iter().map(|(_, note)| note).collect();
    let nothing = notes.iter().all(|note| note.kg().is_zero());
    let message =
        ("Von diesen Annahmescheinen bleibt nichts übrig, was bezahlt würde.", "Bitte sie stornieren.");
    refuse_if(nothing, Code::AbrechnungLeer, "annahmeschein_ids", message)?;
    Ok(notes)
}

/// Returns the basis of each receipt. Receipts of a Partie share the mean of each value, weighted by
/// delivered quantity (D29e).
pub fn bases(tx: &Tx<'_>, scheine: &[Annahmeschein], hints: &mut Hints) -> Result<Vec<Grundlage>> {
    let merkmale = abrechnungsschemata::merkmale(tx)?;
    let mut bases = Vec::with_capacity(scheine.len());
    let mut known = Schemata::new();
    let mut parties: BTreeMap<(Option<Uuid>, Option<Uuid>), Vec<usize>> = BTreeMap::new();
    for (at, schein) in scheine.iter().enumerate() {
        let basis = basis(tx, schein, &mut known, hints)?;
        if basis.gueltig.as_ref().is_some_and(|gueltig| gueltig.schema.is_partie()) {
            parties.entry((schein.artikel_id, schein.kontrakt_id)).or_default().push(at);
        }
        bases.push(basis);
    }
    for members in parties.into_values().filter(|members| members.len() > 1) {
        let means = means(&merkmale, scheine, &bases, &members)?;
        for at in members {
            bases[at].werte = means.clone();
            bases[at].ist_mittel = true;
        }
    }
    Ok(bases)
}

/// Versions of schemes, each read once: by scheme, by the version that a receipt was recorded with, and by
/// day.
type Schemata = BTreeMap<(Uuid, Option<i64>, Day), Rc<Gueltig>>;

fn scheme_of(tx: &Tx<'_>, schein: &Annahmeschein, known: &mut Schemata) -> Result<Option<Rc<Gueltig>>> {
    let read = || Ok(annahmescheine::scheme_of(tx, schein)?.map(Rc::new));
    let Some(schema) = schein.schema_id else { return read() };
    let key = (schema, schein.schema_version, day_of(tx, schein));
    if let Some(gueltig) = known.get(&key) {
        return Ok(Some(Rc::clone(gueltig)));
    }
    let found = read()?;
    known.extend(found.iter().map(|gueltig| (key, Rc::clone(gueltig))));
    Ok(found)
}

fn basis(tx: &Tx<'_>, schein: &Annahmeschein, known: &mut Schemata, hints: &mut Hints) -> Result<Grundlage> {
    let gueltig = scheme_of(tx, schein, known)?;
    let (nummer, version) = (&schein.belegnummer, schein.schema_version);
    match &gueltig {
        None => {
            let message = format!("{nummer} hat kein Schema; er wird abgerechnet, wie er da steht.");
            hints.add(HintCode::SchemaFehlt, message);
        }
        Some(gueltig) if version.is_some_and(|version| version != gueltig.kopf.version) => {
            let message = format!(
                "{nummer}: Seit der Annahme gilt Version {} des Schemas {}; nach ihr wird gerechnet.",
                gueltig.kopf.version, gueltig.kopf.nummer
            );
            hints.add(HintCode::SchemaGeaendert, message);
        }
        Some(gueltig) if version.is_none() => {
            let message = format!(
                "{nummer} wurde ohne Schema angenommen; gerechnet wird nach {}, Version {}.",
                gueltig.kopf.nummer, gueltig.kopf.version
            );
            hints.add(HintCode::SchemaGeaendert, message);
        }
        Some(_) => {}
    }
    let Gemessen { werte, geraet, version } = annahmescheine::gemessen(tx, schein)?;
    Ok(Grundlage { gueltig, werte, ist_mittel: false, geraet, analyse: version })
}

/// Computes the mean of each value that a step of the Partie needs.
fn means(
    merkmale: &BTreeMap<String, Merkmal>,
    scheine: &[Annahmeschein],
    bases: &[Grundlage],
    members: &[usize],
) -> Checked<Werte> {
    let schemas = members.iter().filter_map(|at| bases[*at].gueltig.as_ref());
    let asked: Vec<&String> = schemas
        .flat_map(|gueltig| &gueltig.schema.schritte)
        .filter_map(|step| step.merkmal.as_ref())
        .collect();
    let mut means = Werte::new();
    for code in asked {
        let Some(merkmal) = merkmale.get(code).filter(|_| !means.contains_key(code)) else { continue };
        let values = members.iter().map(|at| (bases[*at].werte.get(code).copied(), weight(&scheine[*at])));
        let found = mean(merkmal, &values.collect::<Vec<_>>());
        let none = |grund: Grund| {
            let what = format_args!("Für die Partie gibt es kein Mittel von {code} ({}).", grund.as_str());
            let advice = "Bitte die Messwerte nachtragen oder einzeln abrechnen.";
            Refusal::new(Code::AnnahmescheinGesperrt, (what, advice))
        };
        means.insert(code.clone(), found.map_err(none)?);
    }
    Ok(means)
}

fn note(
    tx: &Tx<'_>,
    new: &NewAbrechnung,
    schein: Annahmeschein,
    basis: Grundlage,
    kontrakte: &mut Kontrakte<'_>,
    hints: &mut Hints,
) -> Result<Note> {
    let artikel = required(schein.artikel_id, "artikel_id")?;
    let tag = day_of(tx, &schein);
    let netto = settled_weight(&computed(&basis, &schein, None)?, &schein)?;
    let prices = kontrakte.prices(new, &schein, artikel, netto)?;
    let teile = prices.iter().map(|part| teil(&basis, &schein, part)).collect::<Result<Vec<_>>>()?;
    let rechnung = computed(&basis, &schein, prices.first().map(|part| part.preis))?;
    let brutto_ins_lager = basis.gueltig.as_ref().is_some_and(|gueltig| gueltig.schema.books_gross());
    let steuer = belege::tax_of_delivery(tx, kontrakte.kunde, artikel, tag, hints)?;
    let is_priced = !prices.is_empty();
    let posten = posten(tx, &schein, basis, steuer, teile, rechnung)?;
    let note = Note {
        tag,
        brutto_ins_lager,
        geliefert: delivered(tx, &schein)?,
        endabrechnung: None,
        abschlaege: sql::advances(tx, schein.id)?,
        wert: is_priced.then_some(posten.betrag),
        posten,
        schein,
    };
    match kontrakte.art {
        Abrechnungsart::Abschlag => note.into_advance(new),
        _ => note.less_advances(hints),
    }
}

/// Computes a part of a receipt at its price, after the steps.
fn teil(basis: &Grundlage, schein: &Annahmeschein, part: &Preisteil) -> Result<AbrechnungsTeil> {
    let of_part = computed(basis, schein, Some(part.preis))?;
    let preis_je_t = required(of_part.preis_je_t, "preis_je_t")?;
    let ware = net_amount(part.kg, preis_je_t)?;
    Ok(AbrechnungsTeil {
        kontrakt: part.kontrakt.clone(),
        kontrakt_position_id: part.position,
        kg: part.kg,
        grundpreis: part.preis,
        preis_je_t,
        ware,
    })
}

/// Returns a receipt as printed, with its value: goods and costs.
fn posten(
    tx: &Tx<'_>,
    schein: &Annahmeschein,
    basis: Grundlage,
    (mwst_satz, steuer_kategorie): (Percent, Steuerkategorie),
    teile: Vec<AbrechnungsTeil>,
    rechnung: Rechnung,
) -> Result<AbrechnungsPosten> {
    let mut betrag = rechnung.kosten.unwrap_or_default();
    for teil in &teile {
        betrag = betrag.plus(teil.ware)?;
    }
    let kopf = basis.gueltig.as_ref().map(|gueltig| &gueltig.kopf);
    let werte = basis.werte.into_iter().map(|(merkmal, wert)| Messwert { merkmal, wert });
    Ok(AbrechnungsPosten {
        annahmeschein_id: schein.id,
        belegnummer: schein.belegnummer.clone(),
        lieferdatum: schein.lieferdatum.map(|DayTime(day)| day),
        artikel_id: required(schein.artikel_id, "artikel_id")?,
        artikel_bezeichnung: schein.artikel_bezeichnung.clone(),
        wiegeschein_nr: annahmescheine::weighing_slip(tx, schein)?,
        schema: kopf.map(|kopf| kopf.nummer.clone()),
        schema_version: kopf.map(|kopf| kopf.version),
        analyse: basis.analyse,
        werte: werte.collect(),
        ist_mittel: basis.ist_mittel,
        geraet: basis.geraet,
        mwst_satz,
        steuer_kategorie,
        teile,
        rechnung,
        betrag,
        abschlag_je_t: None,
        abschlag_prozent: None,
        abschlaege: Money::ZERO,
    })
}

/// Returns the delivered weight, or the net weight if only that is known.
fn weight(schein: &Annahmeschein) -> Quantity {
    schein.anliefermenge_kg.or(schein.netto_menge_kg).unwrap_or_default()
}

/// Computes a receipt by its scheme or, without one, from its own fields (D23).
pub fn computed(basis: &Grundlage, schein: &Annahmeschein, grundpreis: Option<Price>) -> Result<Rechnung> {
    let menge = weight(schein);
    match &basis.gueltig {
        Some(gueltig) => Ok(compute(&gueltig.schema, &Lieferung { menge, grundpreis, werte: &basis.werte })?),
        None => Ok(Rechnung::as_stated(menge, schein.netto_menge_kg, grundpreis)?),
    }
}

/// Returns the paid weight; refuses if a value is missing or outside its table, which leaves it unknown.
fn settled_weight(rechnung: &Rechnung, schein: &Annahmeschein) -> Checked<Quantity> {
    if let (Some(kg), Some(_)) = (rechnung.netto_kg, rechnung.kosten) {
        return Ok(kg);
    }
    let reasons: Vec<&str> = rechnung.befunde.iter().map(|befund| befund.text.as_str()).collect();
    let message = format!("{} lässt sich nicht abrechnen: {}", schein.belegnummer, reasons.join(" "));
    Err(Refusal::new(Code::AnnahmescheinGesperrt, message))
}

/// Returns the delivery of its EL. Refuses goods that an invoice already bills, which would be paid twice
/// (D29h), and an EL that no longer contains these goods.
fn delivered(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<Geliefert>> {
    let Some(el) = schein.el_id else { return Ok(None) };
    let partner = required(schein.partner_id, "partner_id")?;
    let artikel = required(schein.artikel_id, "artikel_id")?;
    let Some(geliefert) = belege::delivered(tx, el, partner, artikel)? else { return Ok(None) };
    let nummer = &schein.belegnummer;
    if geliefert.is_met {
        let what =
            format_args!("Die Ware von {nummer} ist schon ganz oder zum Teil berechnet oder zurückgegeben.");
        let message = (what, "Bitte erst diese Belege klären.");
        return Err(Refusal::new(Code::AnnahmescheinBerechnet, message).into());
    }
    if geliefert.kg.is_zero() {
        let what =
            format_args!("Der Lieferschein von {nummer} wurde geändert und bringt dessen Ware nicht mehr.");
        let message = (what, "Bitte ihn berichtigen oder stornieren.");
        return Err(Refusal::new(Code::BezugPasstNicht, message).into());
    }
    Ok(Some(geliefert))
}

impl Berechnet {
    /// Books goods that no delivery brought into the stock before they are paid.
    pub fn deliver(&mut self, tx: &WriteTx<'_>, hints: &mut Hints) -> Result<Vec<Bewegung>> {
        let mut moved = Vec::new();
        if self.art == Abrechnungsart::End {
            for note in self.notes.iter_mut().filter(|note| note.geliefert.is_none() && !note.kg().is_zero())
            {
                moved.extend(note.deliver(tx, hints)?);
            }
        }
        Ok(moved)
    }
}

impl Note {
    fn deliver(&mut self, tx: &WriteTx<'_>, hints: &mut Hints) -> Result<Vec<Bewegung>> {
        let preis_je_t = self.posten.teile.first().map(|teil| teil.grundpreis);
        let netto_menge_kg = Some(self.kg());
        let mut schein = Annahmeschein { netto_menge_kg, preis_je_t, ..self.schein.clone() };
        let mut of_delivery = Hints::default();
        let moved = or_refusal(annahmescheine::deliver(tx, &mut schein, &mut of_delivery))?;
        let moved = moved.map_err(|refusal| {
            let what = format!("{}: {}", schein.belegnummer, refusal.message.what);
            Refusal::new(refusal.code, Message { what, ..refusal.message })
        })?;
        hints.extend(of_delivery.without_fields());
        self.geliefert = delivered(tx, &schein)?;
        (self.schein.el_id, self.schein.el_beleg_nummer) = (schein.el_id, schein.el_beleg_nummer);
        Ok(moved)
    }

    /// Returns the paid weight.
    pub fn kg(&self) -> Quantity {
        self.posten.rechnung.netto_kg.unwrap_or_default()
    }

    /// Replaces the value by an advance (D29i).
    fn into_advance(mut self, new: &NewAbrechnung) -> Result<Note> {
        let abschlag = required(new.abschlag.as_ref(), "abschlag")?;
        let betrag = match (abschlag.preis_je_t, abschlag.prozent) {
            (Some(preis), _) => net_amount(self.kg(), preis)?,
            (None, prozent) => share(self.posten.betrag, prozent.unwrap_or_default()),
        };
        self.posten.betrag = betrag;
        (self.posten.abschlag_je_t, self.posten.abschlag_prozent) = (abschlag.preis_je_t, abschlag.prozent);
        Ok(self)
    }

    /// Deducts the advances from a final settlement.
    fn less_advances(mut self, hints: &mut Hints) -> Result<Note> {
        let own = (self.posten.mwst_satz, self.posten.steuer_kategorie);
        for abschlag in &self.abschlaege {
            if (abschlag.mwst_satz, abschlag.steuer_kategorie) != own {
                let what = format!("mit {} % angezahlt ({})", abschlag.mwst_satz, abschlag.beleg_nummer);
                hint_changed(
                    &self.schein,
                    &what,
                    own.0,
                    "Der Abschlag wird mit seinem Satz abgezogen.",
                    hints,
                );
            }
            self.posten.abschlaege = self.posten.abschlaege.plus(abschlag.betrag)?;
        }
        Ok(self)
    }
}

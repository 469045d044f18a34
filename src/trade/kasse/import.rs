//! Import of till receipt lines (D22).

use std::collections::HashMap;

use uuid::Uuid;

use super::model::BarverkaufZeile;
use super::store::{BonEingabe, ZeileEingabe, find_article, store};
use crate::master::kunden;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Stored;
use crate::platform::import::file::{ParseError, Rows};
use crate::rules::error::{Checked, Code, Hints, Refusal};

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Bon(Uuid),
    Nummer(Option<String>, Option<Uuid>),
    Zeile(i64),
}

const NAMED_IN_TWO_WAYS: &str = "dieser Bon ist auf zwei Arten benannt; in allen seinen Zeilen entweder \
    bon_id oder bon_nr und kasse_id angeben.";

const STANDS_APART: &str =
    "dieser Bon steht weiter oben schon einmal; Zeilen ohne id müssen beieinander stehen.";

/// Groups the rows by receipt. Lines without id must be adjacent: their place is their key.
pub fn groups(rows: &Rows) -> std::result::Result<Vec<Vec<usize>>, ParseError> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    let mut named_by: HashMap<String, (bool, bool)> = HashMap::new();
    for at in 0..rows.len() {
        let line = rows.line(at);
        let mut hints = Hints::default();
        let zeile = BarverkaufZeile::from_json(&rows.row(at), &mut rows.at(&mut hints));
        let BarverkaufZeile { id, bon_id, bon_nr, kasse_id, .. } =
            zeile.map_err(|refusal| ParseError::at_line(line, &refusal.message))?;
        // If there is an id, the register is not part of the key.
        let named = (bon_id.is_some(), bon_id.is_none() && kasse_id.is_some());
        if let Some(nr) = bon_nr.clone()
            && *named_by.entry(nr).or_insert(named) != named
        {
            return Err(ParseError::at_line(line, NAMED_IN_TWO_WAYS));
        }
        let key = match (bon_id, &bon_nr, id) {
            (Some(bon), ..) => Key::Bon(bon),
            (None, None, Some(id)) => Key::Zeile(id),
            (None, ..) => Key::Nummer(bon_nr, kasse_id),
        };
        let group = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(group) {
            None => groups.push(vec![at]),
            Some(rows) if id.is_some() || rows.last().is_some_and(|last| last + 1 == at) => rows.push(at),
            Some(_) => return Err(ParseError::at_line(line, STANDS_APART)),
        }
    }
    Ok(groups)
}

pub fn bon(tx: &WriteTx<'_>, rows: &[&Json<'_>], at: &mut At<'_>) -> Stored {
    let mut eingabe = BonEingabe::default();
    for (index, row) in rows.iter().enumerate() {
        let added = add(tx, &mut eingabe, row, at);
        added.map_err(|failure| (index, failure))?;
    }
    store(tx, &eingabe, at.hints())
}

fn add(tx: &WriteTx<'_>, bon: &mut BonEingabe, row: &Json<'_>, at: &mut At<'_>) -> Result<()> {
    let mut zeile = BarverkaufZeile::from_json(row, at)?;
    agree(&mut bon.bon_id, zeile.bon_id, "bon_id")?;
    agree(&mut bon.bon_nr, zeile.bon_nr.take(), "bon_nr")?;
    agree(&mut bon.kasse_id, zeile.kasse_id, "kasse_id")?;
    agree(&mut bon.kassiert_at, zeile.kassiert_at, "kassiert_at")?;
    agree(&mut bon.art, zeile.art, "art")?;
    agree(&mut bon.storno_von_bon_id, zeile.storno_von_bon_id, "storno_von_bon_id")?;
    agree(&mut bon.zahlart, zeile.zahlart.take(), "zahlart")?;
    let kunde = zeile.kunde.take().map(|kundennr| kunden::must_have_number(tx, &kundennr, "kunde"));
    agree(&mut bon.kunde_id, kunde.transpose()?.map(|kunde| kunde.id), "kunde")?;
    let nummer = zeile.artikelnummer.take();
    let artikel = nummer.map(|nummer| find_article(tx, Some(nummer), None, at.hints())).transpose()?;
    bon.zeilen.push(ZeileEingabe { artikel, said: zeile });
    Ok(())
}

/// Takes over a field of the receipt; refuses a line with a different value.
fn agree<T: PartialEq>(field: &mut Option<T>, sent: Option<T>, feld: &str) -> Checked<()> {
    match (&*field, &sent) {
        (Some(first), Some(sent)) if first != sent => {
            let message = format!("Die Zeilen dieses Bons widersprechen sich in {feld}. Bitte angleichen.");
            Err(Refusal::field(Code::FeldWiderspruch, feld, message))
        }
        (None, Some(_)) => {
            *field = sent;
            Ok(())
        }
        _ => Ok(()),
    }
}

//! Matching the lines of an e-invoice with our articles.

use std::sync::Arc;

use uuid::Uuid;

use crate::master::artikel::{self, Artikel};
use crate::papers::erechnung::lesen::Zeile;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::stammdaten::ArtikelStatus;
use crate::trade::belege::create::lieferanten_nr;

/// Returns the article and how it was found: by the supplier's number, once confirmed; by our number; by its
/// EAN.
pub fn of(
    tx: &Tx<'_>,
    partner: Option<Uuid>,
    zeile: &Zeile,
    path: &str,
    hints: &mut Hints,
) -> Result<Option<(Arc<Artikel>, &'static str)>> {
    let mut found = None;
    if let (Some(partner), Some(nummer)) = (partner, &zeile.verkaeufer_nr)
        && let Some(id) = lieferanten_nr::article(tx, partner, nummer)?
    {
        found = artikel::find(tx, id)?.map(|artikel| (artikel, "lieferantennummer"));
    }
    if let (None, Some(nummer)) = (&found, &zeile.kaeufer_nr)
        && let [artikel] = artikel::find_by_number(tx, nummer)?.as_slice()
    {
        found = Some((Arc::clone(artikel), "artikelnummer"));
    }
    if let (None, Some(gtin)) = (&found, &zeile.gtin)
        && let Some(id) = artikel::find_by_ean(tx, gtin)?
    {
        found = artikel::find(tx, id)?.map(|artikel| (artikel, "ean"));
    }
    let message = match &found {
        Some((artikel, _)) if artikel.status == ArtikelStatus::Inaktiv => {
            format!("Der Artikel {} ist inaktiv. Bitte einen anderen angeben.", artikel.artikelnummer)
        }
        Some(_) => return Ok(found),
        None => "Welcher Artikel das ist, geht aus der Rechnung nicht hervor. Bitte artikel_id ergänzen; ohne Artikel \
            wird kein Bestand gebucht."
            .to_owned(),
    };
    hints.add_field(HintCode::ArtikelUnbekannt, path, message);
    Ok(None)
}

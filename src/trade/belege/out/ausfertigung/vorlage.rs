//! What sheet and e-invoice are made from, and what comes of it.

use std::sync::Arc;

use super::angaben::Angaben;
use crate::master::tenants::firma::Firma;
use crate::papers::erechnung::Partei;
use crate::rules::document::Profil;
use crate::trade::belege::model::{Beleg, BelegPosition};

pub struct Vorlage<'v> {
    pub beleg: &'v Beleg,
    pub positionen: Vec<BelegPosition>,
    /// A copy of the partner once the document is final (D24).
    pub partner: Partei,
    /// What the partner wants to recognise the invoice by; none where its e-invoice is written already.
    pub kaeuferreferenz: Option<String>,
    /// In which profile its e-invoice is to be written.
    pub profil: Profil,
    pub firma: Arc<Firma>,
    pub angaben: Angaben,
    /// The document that it takes back.
    pub storno_von: Option<Beleg>,
}

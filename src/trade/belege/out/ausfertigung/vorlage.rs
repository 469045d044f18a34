//! The template: all data from which the sheet and the e-invoice are created.

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
    /// The buyer reference of the partner; `None` if the e-invoice is already written.
    pub kaeuferreferenz: Option<String>,
    /// The profile in which to write its e-invoice.
    pub profil: Profil,
    pub firma: Arc<Firma>,
    pub angaben: Angaben,
    /// The document that it cancels.
    pub storno_von: Option<Beleg>,
}

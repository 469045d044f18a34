//! What sheet and e-invoice are made from, and what comes of it.

use std::sync::Arc;

use super::angaben::Angaben;
use super::kopie::Kopie;
use crate::belege::model::{Beleg, BelegPosition};
use crate::erechnung::Profil;
use crate::tenants::firma::Firma;

pub struct Vorlage<'v> {
    pub beleg: &'v Beleg,
    pub positionen: Vec<BelegPosition>,
    pub partner: Kopie,
    pub firma: Arc<Firma>,
    pub angaben: Angaben,
    /// The document that it takes back.
    pub storno_von: Option<Beleg>,
}

#[derive(Debug)]
pub struct Geschrieben {
    pub profil: Profil,
    pub xml: String,
}

pub struct Gespeichert {
    pub profil: Profil,
    pub xml: Vec<u8>,
}

//! belege_betraege

//! belege_aendern

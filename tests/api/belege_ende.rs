//! belege_ende

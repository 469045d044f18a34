//! laender

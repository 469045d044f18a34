//! artikel

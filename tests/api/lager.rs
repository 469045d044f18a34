//! lager

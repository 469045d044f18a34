//! waage

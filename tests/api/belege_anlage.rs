//! belege_anlage

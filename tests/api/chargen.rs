//! chargen

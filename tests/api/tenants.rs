//! tenants

//! What migrations need done that SQL cannot say.

use crate::belege;
use crate::db::migrate::Adoption;

/// Each with the version of the migration that it belongs to.
pub const ADOPTIONS: &[Adoption] = &[Adoption { version: 13, run: belege::adopt_pairs }];

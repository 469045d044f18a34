//! What migrations need done that SQL cannot say.

use crate::belege;
use crate::db::migrate::Adoption;

/// Each with the name of the migration that it belongs to.
pub const ADOPTIONS: &[Adoption] = &[Adoption { migration: "lager_paare", run: belege::adopt_pairs }];

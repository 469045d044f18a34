//! How long records that name a partner are kept.

/// Records of a slice that name a partner: they are named and kept when the partner is forgotten (D27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// What they are called, in German.
    pub records: &'static str,
    /// For how many whole years after that of the newest of them (AO § 147 (3) and (4), HGB § 257 (4) and (5)): 8 for
    /// what an entry in the books is made of, 10 for the books, those of the stock among them.
    pub years: i16,
    /// Statement on `:tenant` and `:partner`. Its columns: `anzahl`, how many there are; `offen`, how many of these are
    /// still worked on; `undatiert`, how many have no day; `tag` and `zeit`, the newest day and the newest instant among
    /// them, null where there is none.
    pub of_partner: &'static str,
}

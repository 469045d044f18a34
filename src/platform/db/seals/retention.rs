//! Retention periods of records that name a partner.

/// Records of a slice that name a partner: they are listed and retained when the partner's data is erased
/// (D27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The German name of the records.
    pub records: &'static str,
    /// Retention in whole years after the year of the newest record (AO § 147 (3) and (4), HGB § 257 (4) and
    /// (5)): 8 for the vouchers behind book entries, 10 for the books, including those of the stock.
    pub years: i16,
    /// Statement on `:tenant` and `:partner`. Its columns: `anzahl`, the number of records; `offen`, how many
    /// of them are still in progress; `undatiert`, how many have no day; `tag` and `zeit`, the newest day and
    /// the newest instant among them, null if there is none.
    pub of_partner: &'static str,
}

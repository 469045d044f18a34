//! Why a sheet cannot be drawn.

use std::fmt;

use super::logo::LogoError;

/// Pages a sheet may have. A document of 1,000 positions has 40 to 120; with a text of 4,000 characters in each of
/// them 1,200.
pub const MAX_PAGES: usize = 1_500;

/// Why a sheet cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawError {
    /// It would have more than [`MAX_PAGES`].
    TooLong,
    /// The logo is none.
    Logo(LogoError),
    /// A bug of ours, or of the library: in English, for the log.
    Broken(String),
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrawError::TooLong => write!(f, "the sheet has more than {MAX_PAGES} pages"),
            DrawError::Logo(error) => write!(f, "the logo cannot be drawn: {error}"),
            DrawError::Broken(what) => write!(f, "the sheet cannot be drawn: {what}"),
        }
    }
}

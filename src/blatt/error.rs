//! Why a sheet cannot be drawn.

use std::fmt;

/// Pages a sheet may have. A document of 1,000 positions has 40 to 120; with a text of 4,000 characters in each of
/// them 1,200.
pub const PAGES_MAX: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawError {
    TooLong,
    /// The logo is none.
    Logo(LogoError),
    /// A bug of ours, or of the library: in English, for the log.
    Broken(String),
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrawError::TooLong => write!(f, "the sheet has more than {PAGES_MAX} pages"),
            DrawError::Logo(error) => write!(f, "the logo cannot be drawn: {error}"),
            DrawError::Broken(what) => write!(f, "the sheet cannot be drawn: {what}"),
        }
    }
}

/// Largest logo, in bytes (D24).
pub const LOGO_BYTES_MAX: usize = 200 << 10;

/// Most pixels of a logo: 60 by 25 mm at 600 dots to the inch are 840,000. A PNG is unpacked and packed again for each sheet.
pub const LOGO_PIXELS_MAX: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoError {
    TooManyBytes,
    TooManyPixels,
    /// Neither PNG nor JPEG, damaged, or in colours for print (CMYK).
    Unreadable,
}

impl fmt::Display for LogoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogoError::TooManyBytes => write!(f, "it has more than {} KiB", LOGO_BYTES_MAX >> 10),
            LogoError::TooManyPixels => write!(f, "it has more than {LOGO_PIXELS_MAX} pixels"),
            LogoError::Unreadable => write!(f, "it is no readable PNG or JPEG in RGB or grey"),
        }
    }
}

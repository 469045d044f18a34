//! Why a sheet cannot be drawn.

use std::fmt;

/// Most pages of a sheet. A document of 1,000 positions has 40 to 120; with a text of 4,000 characters in
/// each position, 1,200.
pub const PAGES_MAX: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawError {
    TooLong,
    /// The logo cannot be used.
    Logo(LogoError),
    /// A bug of ours or of the library; in English, for the log.
    Broken(String),
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrawError::TooLong => write!(f, "das Blatt hat mehr als {PAGES_MAX} Seiten"),
            DrawError::Logo(error) => write!(f, "das Logo ist nicht zu zeichnen: {error}"),
            DrawError::Broken(what) => write!(f, "das Blatt ist nicht zu zeichnen: {what}"),
        }
    }
}

/// Largest logo, in bytes (D24).
pub const LOGO_BYTES_MAX: usize = 200 << 10;

/// Most pixels of a logo: 60 by 25 mm at 600 dots per inch are 840,000. A PNG is unpacked and packed again
/// for each sheet.
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
            LogoError::TooManyBytes => write!(f, "es hat mehr als {} KiB", LOGO_BYTES_MAX >> 10),
            LogoError::TooManyPixels => write!(f, "es hat mehr als {LOGO_PIXELS_MAX} Bildpunkte"),
            LogoError::Unreadable => write!(f, "es ist kein lesbares PNG oder JPEG in RGB oder Grau"),
        }
    }
}

//! The logo: a PNG or JPEG small enough to be drawn on every sheet.

use krilla::image::Image;

use super::error::{LOGO_BYTES_MAX, LOGO_PIXELS_MAX, LogoError};

/// Checks that a file can be the logo by drawing it once, on a page that nobody sees.
pub fn check(file: &[u8]) -> Result<(), LogoError> {
    let logo = read(file)?;
    super::pdf::try_logo(logo).map_err(|_| LogoError::Unreadable)
}

pub fn read(file: &[u8]) -> Result<Image, LogoError> {
    if file.len() > LOGO_BYTES_MAX {
        return Err(LogoError::TooManyBytes);
    }
    // PDF/A forbids that the reader smooths the image.
    let image = if let Some(size) = png_size(file) {
        // Checked before the image is unpacked.
        check_pixels(size)?;
        Image::from_png(file.to_vec().into(), false)
    } else {
        // A JPEG goes into the file unchanged.
        Image::from_jpeg(file.to_vec().into(), false)
    };
    let image = image.map_err(|_| LogoError::Unreadable)?;
    match check_pixels(image.size())? {
        0 => Err(LogoError::Unreadable),
        _ => Ok(image),
    }
}

fn check_pixels((width, height): (u32, u32)) -> Result<u64, LogoError> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > LOGO_PIXELS_MAX { Err(LogoError::TooManyPixels) } else { Ok(pixels) }
}

fn png_size(file: &[u8]) -> Option<(u32, u32)> {
    let rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number =
        |at: usize| -> Option<u32> { Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?)) };
    Some((number(8)?, number(12)?))
}

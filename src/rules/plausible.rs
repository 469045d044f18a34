//! Plausibility checks: whether a text can be an IBAN, a BIC, a VAT id, an e-mail address or an article
//! number of GS1.

use super::kennnummer::plain;

/// Characters of the shortest and longest IBAN (ISO 13616), and of a German one.
const IBAN: (usize, usize) = (15, 34);
const GERMAN_IBAN: usize = 22;

/// Bytes of the longest part before the @ and of the longest address (RFC 5321).
const LOCAL_BYTES_MAX: usize = 64;
const EMAIL_BYTES_MAX: usize = 254;

pub const WRONG_IBAN: &str =
    "Die Prüfziffer dieser IBAN stimmt nicht: Vermutlich ist eine Stelle vertippt. Bitte vergleichen.";

/// Whether a text has the form of an IBAN and correct check digits. The spelling does not matter.
pub fn is_iban(text: &str) -> bool {
    iban_checks(text) == Some(true)
}

/// Whether a text has the form of an IBAN but wrong check digits.
pub fn has_wrong_check_digits(text: &str) -> bool {
    iban_checks(text) == Some(false)
}

/// Whether the check digits (ISO 7064, mod 97-10) are correct; `None` if the text does not have the form of
/// an IBAN.
fn iban_checks(text: &str) -> Option<bool> {
    let iban = plain(text).into_bytes();
    let (country, rest) = iban.split_at_checked(2).filter(|_| (IBAN.0..=IBAN.1).contains(&iban.len()))?;
    let has_form = country.iter().all(u8::is_ascii_uppercase)
        && rest[..2].iter().all(u8::is_ascii_digit)
        && rest.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && (country != b"DE" || iban.len() == GERMAN_IBAN && rest.iter().all(u8::is_ascii_digit));
    // Country and check digits count last; a letter counts as a number from 10 to 35.
    let rotated = iban[4..].iter().chain(&iban[..4]);
    let remainder = rotated.fold(0u32, |sum, byte| match byte {
        b'A'..=b'Z' => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
        digit => (sum * 10 + u32::from(digit.wrapping_sub(b'0'))) % 97,
    });
    has_form.then_some(remainder == 1)
}

/// Whether a text is a GTIN, the article number of GS1 (EAN): 8, 12, 13 or 14 digits, the last of which is a
/// check digit.
pub fn is_gtin(text: &str) -> bool {
    let digits = text.bytes().rev().take(14).enumerate();
    let sum: u32 = digits.map(|(at, digit)| u32::from(digit.wrapping_sub(b'0')) * [1, 3][at % 2]).sum();
    matches!(text.len(), 8 | 12..=14)
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && sum.is_multiple_of(10)
}

/// Returns the spellings of an article number of GS1: itself, and with other zeros in front, of 8, 12, 13 and 14 digits.
pub fn same_gtins(text: &str) -> Vec<String> {
    let (plain, digits) = (text.trim(), text.trim().trim_start_matches('0'));
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let lengths = [8, 12, 13, 14].into_iter().filter(|length| is_number && digits.len() <= *length);
    let mut same: Vec<String> = lengths.map(|length| format!("{digits:0>length$}")).collect();
    same.push(plain.to_owned());
    same
}

/// Whether a text can be an e-mail address on the internet: one @, and a domain of several parts.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('-') && !part.ends_with('-');
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    let is_foreign = |c: char| c.is_whitespace() || c.is_control() || "\"(),:;<>@[\\]".contains(c);
    text.len() <= EMAIL_BYTES_MAX
        && (1..=LOCAL_BYTES_MAX).contains(&local.len())
        && !local.contains(is_foreign)
        && local.split('.').all(|part| !part.is_empty())
        && domain.contains('.')
        && domain.chars().all(is_letter)
        && domain.split('.').all(is_part)
}

/// Forms of VAT ids after the letters of the country: 9 is a digit, A a letter, X either (EU Commission,
/// VIES; Greece writes EL, Northern Ireland XI).
const UST_ID: &[(&str, &[&str])] = &[
    ("AT", &["A99999999"]),
    ("BE", &["9999999999"]),
    ("BG", &["999999999", "9999999999"]),
    ("CY", &["99999999A"]),
    ("CZ", &["99999999", "999999999", "9999999999"]),
    ("DE", &["999999999"]),
    ("DK", &["99999999"]),
    ("EE", &["999999999"]),
    ("EL", &["999999999"]),
    ("ES", &["X9999999X"]),
    ("FI", &["99999999"]),
    ("FR", &["XX999999999"]),
    ("HR", &["99999999999"]),
    ("HU", &["99999999"]),
    ("IE", &["9999999A", "9999999AA", "9X99999A"]),
    ("IT", &["99999999999"]),
    ("LT", &["999999999", "999999999999"]),
    ("LU", &["99999999"]),
    ("LV", &["99999999999"]),
    ("MT", &["99999999"]),
    ("NL", &["999999999A99"]),
    ("PL", &["9999999999"]),
    ("PT", &["999999999"]),
    ("RO", &["99", "999", "9999", "99999", "999999", "9999999", "99999999", "999999999", "9999999999"]),
    ("SE", &["999999999999"]),
    ("SI", &["99999999"]),
    ("SK", &["9999999999"]),
    ("XI", &["999999999", "999999999999"]),
];

fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'9' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase(),
        _ => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// Returns the EU country, or `XI`, to which a VAT id belongs by its form, however it is spelled (D7).
pub fn country_of_eu_ust_id(text: &str) -> Option<&'static str> {
    let (country, forms, rest) = known_country(text)?;
    forms.iter().any(|form| has_form(&rest, form)).then_some(country)
}

/// Whether a partner's VAT id cannot be valid, given whether the partner is in the EU (D7).
pub fn is_doubtful_ust_id(text: &str, is_in_eu: bool) -> bool {
    country_of_eu_ust_id(text).is_none() && (is_in_eu || known_country(text).is_some())
}

/// Splits a VAT id: the letters of its country, the forms of VAT ids there, and the rest of this one.
fn known_country(text: &str) -> Option<(&'static str, &'static [&'static str], String)> {
    let text = plain(text).to_ascii_uppercase();
    let (country, forms) = UST_ID.iter().find(|(country, _)| text.starts_with(country))?;
    Some((country, forms, text[country.len()..].to_owned()))
}

/// Whether an upper-case text has the form of a BIC: 8 or 11 characters (ISO 9362).
pub fn is_bic(text: &str) -> bool {
    ["AAAAAAXX", "AAAAAAXXXXX"].into_iter().any(|form| has_form(text, form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iban_has_its_form_and_its_check_digits() {
        let table = [
            ("DE89370400440532013000", true),
            ("de89 3704 0044 0532 0130 00", true),
            ("AT611904300234573201", true),
            ("GB82WEST12345698765432", true),
            ("NO9386011117947", true),
            ("DE89370400440532013001", false),
            ("DE98370400440532013000", false),
            ("DE8937040044053201300", false),
            ("GB82WEST1234569876543!", false),
            ("8937040044053201300000", false),
            ("DEÄ9370400440532013000", false),
            ("DE", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_iban(text), expected, "{text}");
        }
    }

    #[test]
    fn a_gtin_has_its_length_and_its_check_digit() {
        let table = [
            ("4006381333931", true),
            ("4006381333932", false),
            ("96385074", true),
            ("036000291452", true),
            ("10614141543219", true),
            ("00000000000000000", false),
            ("400638133393a", false),
            ("40063813339", false),
            ("4006381 33393", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_gtin(text), expected, "{text}");
        }
    }

    #[test]
    fn an_email_has_one_at_and_a_domain() {
        let table = [
            ("info@hof.example", true),
            ("eva.meier+hof@mail.hof-meier.de", true),
            ("post@müller.de", true),
            ("o'neill@hof.example", true),
            ("info", false),
            ("info@", false),
            ("@hof.example", false),
            ("info@hof", false),
            ("info@@hof.example", false),
            ("a@hof.example; b@hof.example", false),
            ("eva meier@hof.example", false),
            ("Eva <eva@hof.example>", false),
            ("eva.@hof.example", false),
            ("eva@hof..example", false),
            ("eva@-hof.example", false),
            ("eva@hof_meier.example", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_email(text), expected, "{text}");
        }
    }

    #[test]
    fn a_vat_id_of_the_eu_names_its_country_and_any_other_is_doubtful_there() {
        let table = [
            ("ATU12345675", Some("AT"), [false, false]),
            ("fr 12 345678901", Some("FR"), [false, false]),
            ("XI123456789", Some("XI"), [false, false]),
            ("DE123456789", Some("DE"), [false, false]),
            ("de123456789", Some("DE"), [false, false]),
            ("NL123456789B01", Some("NL"), [false, false]),
            ("ESX1234567X", Some("ES"), [false, false]),
            ("IE1234567FA", Some("IE"), [false, false]),
            ("EL123456789", Some("EL"), [false, false]),
            ("BE 0417.497.106", Some("BE"), [false, false]),
            ("PL 526-000-12-46", Some("PL"), [false, false]),
            ("FR1", None, [true, true]),
            ("DE12345678", None, [true, true]),
            ("DE1234567890", None, [true, true]),
            ("DEA23456789", None, [true, true]),
            ("AT123456789", None, [true, true]),
            ("CHE123456789", None, [true, false]),
            ("beantragt", None, [true, true]),
            ("wird nachgereicht", None, [true, false]),
            ("CHE-123.456.789", None, [true, false]),
            ("", None, [true, false]),
            ("ÄÖ1", None, [true, false]),
        ];
        for (text, country, doubtful) in table {
            assert_eq!(country_of_eu_ust_id(text), country, "{text}");
            assert_eq!([true, false].map(|in_eu| is_doubtful_ust_id(text, in_eu)), doubtful, "{text}");
        }
    }

    #[test]
    fn a_bic_has_eight_or_eleven_characters() {
        let table = [
            ("COBADEFF", true),
            ("COBADEFFXXX", true),
            ("GENODEM1GLS", true),
            ("COBADEF", false),
            ("COBADEFFXX", false),
            ("C0BADEFF", false),
            ("cobadeff", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_bic(text), expected, "{text}");
        }
    }
}

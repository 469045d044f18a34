//! Whether a text can be what its field says: an IBAN, an e-mail address.

/// Shortest and longest IBAN (ISO 13616), and that of Germany.
const IBAN: (usize, usize) = (15, 34);
const GERMAN_IBAN: usize = 22;

/// Longest part before the @ and longest address (RFC 5321).
const MAX_LOCAL: usize = 64;
const MAX_EMAIL: usize = 254;

/// Whether a text can be an IBAN: its form, and its check digits (ISO 7064, mod 97-10). Blanks and
/// case do not matter.
pub fn is_iban(text: &str) -> bool {
    let iban: Vec<u8> =
        text.bytes().filter(|byte| *byte != b' ').map(|byte| byte.to_ascii_uppercase()).collect();
    let (Some((country, rest)), true) = (iban.split_at_checked(2), (IBAN.0..=IBAN.1).contains(&iban.len()))
    else {
        return false;
    };
    let has_form = country.iter().all(u8::is_ascii_uppercase)
        && rest[..2].iter().all(u8::is_ascii_digit)
        && rest.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && (country != b"DE" || iban.len() == GERMAN_IBAN && rest.iter().all(u8::is_ascii_digit));
    // Country and check digits count last; a letter is the number 10 to 35.
    let rotated = iban[4..].iter().chain(&iban[..4]);
    let remainder = rotated.fold(0u32, |sum, byte| match byte {
        b'A'..=b'Z' => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
        digit => (sum * 10 + u32::from(digit.wrapping_sub(b'0'))) % 97,
    });
    has_form && remainder == 1
}

/// Whether a text can be the e-mail address of somebody outside: one @, and a domain of several parts.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('-') && !part.ends_with('-');
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    let is_foreign = |c: char| c.is_whitespace() || c.is_control() || "\"(),:;<>@[\\]".contains(c);
    text.len() <= MAX_EMAIL
        && (1..=MAX_LOCAL).contains(&local.len())
        && !local.contains(is_foreign)
        && local.split('.').all(|part| !part.is_empty())
        && domain.contains('.')
        && domain.chars().all(is_letter)
        && domain.split('.').all(is_part)
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
}

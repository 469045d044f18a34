//! VAT ids, tax numbers and IBANs: the one form in which they are stored and compared (D22).

/// Returns the normal form of a number: capitals without blanks, dots, hyphens and slashes. A text without a digit, such
/// as "beantragt", is no number and stays.
pub fn plain(text: &str) -> String {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return text.trim().to_owned();
    }
    let is_kept = |letter: &char| {
        !letter.is_whitespace()
            && !letter.is_control()
            && !matches!(
                letter,
                '.' | '-' | '/' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2060}' | '\u{feff}'
            )
    };
    text.chars().filter(is_kept).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// How the number of a tax office and of a taxpayer there make the federal form of 13 digits: its first digits, how many
/// digits of the office follow them, and what the number of the state has in front of these (ELSTER).
const STATES: &[(&str, usize, &str)] = &[
    ("28", 2, ""),
    ("9", 3, ""),
    ("11", 2, ""),
    ("30", 2, "0"),
    ("24", 2, ""),
    ("22", 2, ""),
    ("26", 2, "0"),
    ("40", 2, "0"),
    ("23", 2, ""),
    ("5", 3, ""),
    ("27", 2, ""),
    ("10", 2, "0"),
    ("32", 2, "2"),
    ("31", 2, "1"),
    ("21", 2, ""),
    ("41", 2, "1"),
];

/// Digits of an office with its state, and of a taxpayer, in the federal form; a zero stands between them.
const OFFICE: usize = 4;
const TAXPAYER: usize = 8;

/// Returns the tax numbers, in normal form, that mean the same as this one: itself, and its federal form or that of its
/// state. The number of a state does not say which state it is.
pub fn same_steuernummern(steuernummer: &str) -> Vec<String> {
    let plain = plain(steuernummer);
    let mut same = vec![plain.clone()];
    if plain.bytes().all(|byte| byte.is_ascii_digit()) {
        same.extend(
            STATES.iter().filter_map(|state| of_state(&plain, state).or_else(|| federal(&plain, state))),
        );
    }
    same
}

/// The number of the state of a federal one.
fn of_state(federal: &str, (country, office, before): &(&str, usize, &str)) -> Option<String> {
    if federal.len() != OFFICE + 1 + TAXPAYER || federal.get(OFFICE..=OFFICE) != Some("0") {
        return None;
    }
    let (head, taxpayer) = federal.split_at_checked(OFFICE + 1)?;
    let rest = head.strip_prefix(country)?.get(..*office)?;
    Some(format!("{before}{rest}{taxpayer}"))
}

/// The federal form of a number of this state.
fn federal(number: &str, (country, office, before): &(&str, usize, &str)) -> Option<String> {
    let (head, taxpayer) = number.split_at_checked(number.len().checked_sub(TAXPAYER)?)?;
    let office_digits = head.strip_prefix(before)?;
    (office_digits.len() == *office).then(|| format!("{country}{office_digits}0{taxpayer}"))
}

/// Whether a number has the digits of a tax number: 10 or 11 of a state, 13 of the federation.
pub fn is_steuernummer(number: &str) -> bool {
    let plain = plain(number);
    matches!(plain.len(), 10 | 11 | 13) && plain.bytes().all(|byte| byte.is_ascii_digit())
}

pub fn is_same_steuernummer(one: &str, other: &str) -> bool {
    same_steuernummern(one).contains(&plain(other))
}

/// Groups a tax number of a state as its tax office writes it: 24/290/12345, 181/815/08155.
pub fn grouped_steuernummer(steuernummer: &str) -> String {
    let plain = plain(steuernummer);
    let office = match plain.len() {
        10 => 2,
        11 => 3,
        _ => return steuernummer.to_owned(),
    };
    if !plain.bytes().all(|byte| byte.is_ascii_digit()) {
        return steuernummer.to_owned();
    }
    let (office, taxpayer) = plain.split_at(office);
    let (district, number) = taxpayer.split_at(3);
    format!("{office}/{district}/{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_form_however_it_is_typed() {
        let table = [
            ("BE 0417.497.106", "BE0417497106"),
            ("PL 526-000-12-46", "PL5260001246"),
            ("CHE-123.456.788 MWST", "CHE123456788MWST"),
            ("de\u{a0}89\u{202f}3704 0044 0532 0130 00", "DE89370400440532013000"),
            ("181/815/08155", "18181508155"),
            ("ATU\u{2011}12345675", "ATU12345675"),
            (" beantragt ", "beantragt"),
            ("wird nachgereicht", "wird nachgereicht"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn the_tax_number_of_a_state_and_its_federal_form_are_the_same() {
        let table = [
            ("93815/08152", "2893081508152", true),
            ("181/815/08155", "9181081508155", true),
            ("21/815/08150", "1121081508150", true),
            ("048/815/08155", "3048081508155", true),
            ("75 815 08152", "2475081508152", true),
            ("02/815/08156", "2202081508156", true),
            ("013 815 08153", "2613081508153", true),
            ("079/815/08151", "4079081508151", true),
            ("24/815/08151", "2324081508151", true),
            ("133/8150/8159", "5133081508159", true),
            ("22/815/08154", "2722081508154", true),
            ("010/815/08182", "1010081508182", true),
            ("201/123/12340", "3201012312340", true),
            ("101/815/08154", "3101081508154", true),
            ("29/815/08158", "2129081508158", true),
            ("151/815/08156", "4151081508156", true),
            ("181/815/08155", "9181081508156", false),
            ("181/815/08155", "181 815 08155", true),
            ("9181081508155", "5181081508155", false),
            ("181/815/08155", "181/815/0815", false),
        ];
        for (one, other, expected) in table {
            assert_eq!(is_same_steuernummer(one, other), expected, "{one} {other}");
            assert_eq!(is_same_steuernummer(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn a_tax_number_is_shown_in_its_groups() {
        let table = [
            ("2429012345", "24/290/12345"),
            ("18181508155", "181/815/08155"),
            ("51/200/12345", "51/200/12345"),
            ("9181081508155", "9181081508155"),
            ("12345", "12345"),
            ("FA Celle 17", "FA Celle 17"),
        ];
        for (number, shown) in table {
            assert_eq!(grouped_steuernummer(number), shown, "{number}");
        }
    }
}

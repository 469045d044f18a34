//! The country codes that an e-invoice may contain.

/// ISO 3166-1 alpha-2 as EN 16931 BR-CL-14 lists it: without SS (South Sudan), with XI (Northern Ireland).
const LAENDER: &str = "AD AE AF AG AI AL AM AN AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET \
    FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ \
    IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML \
    MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS \
    PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM \
    TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XI YE YT ZA ZM ZW";

pub fn is_known(code: &str) -> bool {
    LAENDER.as_bytes().chunks(3).any(|known| known.starts_with(code.as_bytes()) && code.len() == 2)
}

/// Whether a VAT id begins with a country (BR-CO-09), where EL is Greece, and continues after it.
pub fn is_vat_id(id: &str) -> bool {
    let country = id.get(..2).unwrap_or_default();
    id.len() > 2 && (country == "EL" || is_known(country))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_and_vat_ids() {
        let countries = [
            ("DE", true),
            ("XI", true),
            ("SS", false),
            ("de", false),
            ("D", false),
            ("E ", false),
            ("", false),
        ];
        for (code, expected) in countries {
            assert_eq!(is_known(code), expected, "{code}");
        }
        let ids =
            [("DE123456789", true), ("EL123", true), ("DE", false), ("123456789", false), ("ÄE1", false)];
        for (id, expected) in ids {
            assert_eq!(is_vat_id(id), expected, "{id}");
        }
    }
}

//! Digests of requests, which distinguish a repetition from a different request (D19).

use rust_decimal::Decimal;
use sha2::{Digest, Sha256};

use super::json::Json;

/// Returns the digest of a path and a JSON body. Blanks, the order of members and the spelling of numbers do
/// not matter. A body that is not JSON is digested byte by byte.
pub fn of_request(path: &str, json: Option<&Json<'_>>, body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    add_text(&mut digest, path);
    match json {
        Some(json) => add(&mut digest, json),
        None => digest.update(body),
    }
    digest.finalize().into()
}

/// Each value starts with a letter for its type, followed by its length if it has one, so that no two values
/// have the same encoding.
fn add(digest: &mut Sha256, json: &Json<'_>) {
    match json {
        Json::Null => digest.update("n"),
        Json::Bool(value) => digest.update(if *value { "t" } else { "f" }),
        Json::Number(text) => {
            digest.update("d");
            let number = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text));
            add_text(digest, &number.map_or((*text).to_owned(), |number| number.normalize().to_string()));
        }
        Json::String(text) => {
            digest.update("s");
            add_text(digest, text);
        }
        Json::Array(elements) => {
            digest.update("a");
            digest.update((elements.len() as u64).to_le_bytes());
            elements.iter().for_each(|element| add(digest, element));
        }
        Json::Object(members) => {
            digest.update("o");
            digest.update((members.len() as u64).to_le_bytes());
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            for (name, value) in members {
                add_text(digest, name);
                add(digest, value);
            }
        }
    }
}

fn add_text(digest: &mut Sha256, text: &str) {
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_compared_as_json() {
        let at = |path: &str, body: &str| {
            of_request(path, Json::parse(body.as_bytes()).ok().as_ref(), body.as_bytes())
        };
        let of = |body: &str| at("/a", body);
        let alike = [
            (r#"{"a":1,"b":[true,null]}"#, " { \"b\" : [ true , null ], \"a\" : 1.0 } "),
            (r#"{"a":"\u00fc"}"#, r#"{"a":"ü"}"#),
            ("[1e3, 0.50, -0]", "[1000,5e-1,0]"),
        ];
        for (one, other) in alike {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        let different =
            ["{}", "[]", "", "no JSON", r#""""#, "0", "null", "[[]]", "[{}]", r#"["a","b"]"#, r#"["ab"]"#];
        for (at, one) in different.iter().enumerate() {
            assert!(different[at + 1..].iter().all(|other| of(one) != of(other)), "{one}");
        }
        assert_ne!(at("/a", "{}"), at("/b", "{}"));
    }
}

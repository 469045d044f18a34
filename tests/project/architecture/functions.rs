//! Functions stay short enough to be read at a glance.

use crate::architecture::sources;

/// Maximum lines of a function, from `fn` to its closing brace.
const MOST: usize = 40;

/// Longer functions, and why they are not divided: each is a table with a row for each value or field.
const TABLES: &[(&str, &str, &str)] = &[(
    "leitstand/operations/advice.rs",
    "advice",
    "a sentence for each code about which somebody in the firm can do something",
)];

/// The functions of a file with their lengths. rustfmt indents the closing brace like the function.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap().lines().collect();
    let name = |line: &str| {
        let words = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "extern \"system\" "];
        let mut rest = line.trim_start();
        while let Some(behind) = words.iter().find_map(|word| rest.strip_prefix(word)) {
            rest = behind;
        }
        Some(rest.strip_prefix("fn ")?.split(['(', '<']).next().unwrap().to_owned())
    };
    let length = |from: usize| {
        let indent = &lines[from][..lines[from].len() - lines[from].trim_start().len()];
        let ends = |(at, line): (usize, &&str)| {
            let rest = line.strip_prefix(indent).unwrap_or_default();
            rest.starts_with('}') || (at == 0 || rest.starts_with(')')) && rest.ends_with(['}', ';'])
        };
        lines[from..].iter().enumerate().position(ends).unwrap_or_else(|| panic!("{}", lines[from])) + 1
    };
    (0..lines.len()).filter_map(|at| Some((name(lines[at])?, length(at)))).collect()
}

#[test]
fn functions_have_at_most_forty_lines() {
    let mut found = 0;
    let mut long = Vec::new();
    for source in sources() {
        for (name, lines) in functions(&source.text) {
            found += 1;
            if lines > MOST {
                long.push((source.name(), name, lines));
            }
        }
    }
    assert!(found > 1_500, "only {found} functions were found");
    for (file, name, why) in TABLES {
        assert!(!why.is_empty());
        let at = long
            .iter()
            .position(|(other, own, _)| (other, own) == (&(*file).to_owned(), &(*name).to_owned()));
        assert!(
            at.map(|at| long.remove(at)).is_some(),
            "{name} in {file} is short now: strike it from the list"
        );
    }
    assert!(long.is_empty(), "these functions are longer than {MOST} lines: {long:#?}");
}

#[test]
fn the_length_of_a_function_is_counted_from_its_name_to_its_brace() {
    let text = "impl A {\n    pub const fn one(self) -> u8 { 1 }\n\n    fn two(\n        self,\n    \
                ) -> u8 {\n        if x {\n            y\n        }\n    }\n}\n\ntrait B {\n    \
                fn three(&self);\n    fn four<T>(\n        t: T,\n    ) -> T;\n}\n\nfn five() {\n}\n\n\
                #[cfg(test)]\nmod tests {\n    fn six() {\n    }\n}\n";
    let expected = [("one", 1), ("two", 7), ("three", 1), ("four", 3), ("five", 2)];
    assert_eq!(functions(text), expected.map(|(name, lines)| (name.to_owned(), lines)));
}

//! The inputs that mutation starts from: files of the tests, and texts in them.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use partnerd::interface::{imports, routes};
use partnerd::platform::http::param::ParamKind;
use serde_json::Value;

use super::input::{BYTES_MAX, Input};

#[path = "../../papers/einlesen/feindlich.rs"]
#[allow(dead_code, reason = "some of it is for other tests")]
mod feindlich;
#[path = "../../program/import/corpus.rs"]
#[allow(dead_code, reason = "what must become of the files is for other tests")]
mod import_corpus;
#[path = "../../program/import/sheets.rs"]
mod sheets;
#[path = "../../program/import/understood.rs"]
mod understood;

use import_corpus as corpus;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn file(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap()
}

/// The small files of a folder, sorted by name.
fn folder(name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(path(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut entries: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    entries.sort();
    let read =
        |path: &PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
    let files = entries.iter().map(read);
    files.filter(|(_, content)| content.len() <= BYTES_MAX).collect()
}

/// All texts in a JSON file.
fn texts_of(name: &str) -> Vec<Input> {
    fn collect(json: Value, texts: &mut Vec<Input>) {
        match json {
            Value::String(text) => texts.push(Input::text(&text)),
            Value::Array(elements) => elements.into_iter().for_each(|element| collect(element, texts)),
            Value::Object(members) => members.into_iter().for_each(|(_, member)| collect(member, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(serde_json::from_slice(&file(name)).unwrap(), &mut texts);
    texts
}

pub fn decimals() -> Vec<Input> {
    let texts = [
        "0",
        "-0.0",
        "12.5",
        "1e3",
        "5e-7",
        "0.29999999901",
        "0.1234565",
        "999999999999.999999",
        "-99.995",
        "300e-1",
        "123456789.123456789123456789",
        "0.000000000000000000005e15",
    ];
    texts.into_iter().map(Input::text).chain(texts_of("data/decimal.json")).collect()
}

pub fn days() -> Vec<Input> {
    let texts = [
        "2026-07-10",
        "10.07.2026",
        "1.7.2026",
        "2026-07-10T00:00:00+02:00",
        "2026-07-10 23:30:00",
        "2026-03-29T02:30:00",
        "2026-10-25T02:30:00.123",
        "0001-01-01",
        "9999-12-31",
        "1893-04-01T00:03:00",
        "2026-12-31T23:59:60Z",
    ];
    texts.into_iter().map(Input::text).chain(texts_of("data/kasse/kassentag_vektoren.json")).collect()
}

pub fn cursors() -> Vec<Input> {
    let texts = [
        "AAAAAAAAAAEAAAAAAAAAKgAAAZgAAAAA",
        "____________________AAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ];
    texts.into_iter().map(Input::text).chain(texts_of("data/base64.json")).collect()
}

pub fn texts() -> Vec<Input> {
    let texts = [
        "Müller & Söhne",
        "K-010a",
        "0197f000-0000-7000-8000-000000000001",
        "=1+1;\"-2\"",
        "STRAẞE łódź e\u{301}",
    ];
    texts.into_iter().map(Input::text).chain(texts_of("data/partner.json")).collect()
}

/// A query with all parameters for each route.
pub fn queries() -> Vec<Input> {
    let value = |kind| match kind {
        ParamKind::Int | ParamKind::Quantity | ParamKind::Limit(_) | ParamKind::Offset => "12".to_owned(),
        ParamKind::IntWithin(_, max, _) => max.to_string(),
        ParamKind::Uuid | ParamKind::Partner => "0197f000-0000-7000-8000-000000000001".to_owned(),
        ParamKind::Day | ParamKind::Since => "2026-07-31".to_owned(),
        ParamKind::Bool | ParamKind::Flag => "true".to_owned(),
        ParamKind::OneOf(values) | ParamKind::OneOfOr(values, _) => values.join(""),
        ParamKind::ListOf(values) => values.join(","),
        ParamKind::Text => "M%C3%BCller+S%C3%B6hne".to_owned(),
    };
    let routes = routes::all().filter(|route| !route.query.is_empty());
    let query = |route: &partnerd::platform::http::route::Route| {
        let pairs = route.query.iter().map(|param| format!("{}={}", param.name, value(param.kind)));
        Input::text(&format!("{}\n{}", route.name(), pairs.collect::<Vec<_>>().join("&")))
    };
    routes.map(query).collect()
}

pub fn heads() -> Vec<Input> {
    let headers = "x-forwarded-for: 9.9.9.9, [2001:db8::1]:443, 127.0.0.1:80\n\
                   host: [::1]:8080\n\
                   accept-encoding: br;q=0.5, gzip;q=0.001, *\n\
                   x-api-key: ak_0123456789abcdef_0123456789abcdef\n\
                   forwarded: for=1.2.3.4";
    let id = "0197f000-0000-7000-8000-000000000001";
    let path = |pattern: &str| pattern.replace("{id}", id);
    routes::all().map(|route| Input::text(&format!("{}\n{headers}", path(route.pattern)))).collect()
}

pub fn json() -> Vec<Input> {
    let suites = ["test_parsing", "test_transform"].map(|suite| folder(&format!("data/json_parser/{suite}")));
    let suites = suites.into_iter().flatten().map(|(_, content)| Input::Plain(content));
    suites.chain(examples().iter().map(|(_, body)| Input::text(body))).collect()
}

/// The bodies of examples, and their routes.
fn examples() -> Vec<(String, String)> {
    let steps = ["data/beispiele.json", "data/ablehnungen.json"].map(file);
    let steps = steps.iter().flat_map(|steps| serde_json::from_slice::<Vec<Value>>(steps).unwrap());
    let example =
        |step: Value| Some((step.get("route")?.as_str()?.to_owned(), step.get("body")?.to_string()));
    let examples: Vec<_> = steps.filter_map(example).collect();
    assert!(examples.len() > 30, "{} examples", examples.len());
    examples
}

/// Each body, preceded by the name of its route.
pub fn bodies() -> Vec<Input> {
    examples().iter().map(|(route, body)| Input::text(&format!("{route}\n{body}"))).collect()
}

pub fn forms() -> Vec<Input> {
    let part = |head: &str, content: &str| {
        format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    };
    let parts = [
        part("name=\"token\"", "abc"),
        part("name=\"datei\"; filename=\"C:\\Daten\\Süd.csv\"\r\nContent-Type: text/csv", "a;b\r\n1;2\r\n"),
        part("name=\"logo\"; filename*=UTF-8''S%C3%BCd.png", ""),
    ];
    let form = |parts: &[String]| {
        Input::text(&format!("multipart/form-data; boundary=x\n{}--x--\r\n", parts.concat()))
    };
    (0..=parts.len()).map(|count| form(&parts[..count])).collect()
}

/// The files used by the tests of imports, except those that are large when unpacked.
fn imported(ending: &str) -> Vec<Input> {
    let cases = import_corpus::cases().into_iter();
    let small = cases.filter(|case| case.file.ends_with(ending) && case.bytes.len() <= BYTES_MAX);
    let input = |bytes: Vec<u8>| match ending {
        ".csv" => Some(Input::Plain(bytes)),
        _ => Input::unzipped(&bytes),
    };
    small.filter_map(|case| input(case.bytes)).collect()
}

/// Tables as text, including one of each kind of import with all of its columns.
pub fn tables() -> Vec<Input> {
    let of_kind = |fields: &[&str]| {
        Input::text(&format!("{}\n{}1\n", fields.join(";"), "1,5;".repeat(fields.len() - 1)))
    };
    imported(".csv").into_iter().chain(imports::all().map(|kind| of_kind(kind.fields))).collect()
}

/// Workbooks, including one with shared texts, dates and a formula.
pub fn workbooks() -> Vec<Input> {
    let texts =
        "<sst uniqueCount=\"2\"><si><t>name</t></si><si><r><t>Hof</t></r><r><t> Gut</t></r></si></sst>";
    let cells = [
        r#"<c t="s"><v>0</v></c><c t="inlineStr"><is><t>kundennr</t></is></c><c t="str"><v>plz</v></c>"#,
        r#"<c t="s"><v>1</v></c><c s="1"><v>46351.5</v></c><c><f>1+1</f><v>2</v></c>"#,
        r#"<c t="s"><v>1</v></c><c t="d"><v>2026-07-10</v></c><c t="b"><v>1</v></c>"#,
    ];
    let rows: String = cells.iter().map(|cells| format!("<row>{cells}</row>")).collect();
    let sheet = format!("<sheetData>{rows}</sheetData>");
    let shared = sheets::xlsx_with(&[("A", "visible", &sheet)], &[("xl/sharedStrings.xml", texts)]);
    imported(".xlsx").into_iter().chain(Input::unzipped(&shared)).collect()
}

pub fn documents() -> Vec<Input> {
    imported(".ods")
}

pub fn exports() -> Vec<Input> {
    vec![Input::Zip(folder("data/kasse/dsfinvk"))]
}

/// A sample, decompressed if necessary.
fn sample(name: &str) -> Vec<u8> {
    let packed = file(&format!("papers/einlesen/beispiele/{name}"));
    if !name.ends_with(".gz") {
        return packed;
    }
    let mut content = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    content
}

fn samples(ending: &str) -> Vec<Input> {
    let files = folder("papers/einlesen/beispiele").into_iter().filter(|(name, _)| name.ends_with(ending));
    files.map(|(name, _)| Input::Plain(sample(&name))).collect()
}

pub fn invoices() -> Vec<Input> {
    samples(".xml.gz")
}

/// PDFs, compressed and uncompressed, so that mutation reaches their tables and attachments.
pub fn pdfs() -> Vec<Input> {
    let hostile = feindlich::all().into_iter().filter(|(name, ..)| !name.contains("bomb"));
    let hostile = hostile.map(|(_, bytes, _)| bytes).filter(|bytes| bytes.starts_with(b"%PDF"));
    let whole = feindlich::odd().into_iter().chain(feindlich::nested_and_updated()).map(|(_, bytes)| bytes);
    let small = hostile.chain(whole).filter(|bytes| bytes.len() <= BYTES_MAX);
    small.map(Input::Plain).chain(samples(".pdf")).collect()
}

pub fn logos() -> Vec<Input> {
    folder("data/logo").into_iter().map(|(_, content)| Input::Plain(content)).collect()
}

/// Texts of a document, a line for each place on its sheet.
pub fn sheets() -> Vec<Input> {
    let marks = "/Type/Metadata/Subtype/XML>>\nstream\nstartxref\n</rdf:RDF>\nendstream\n%%EOF";
    let names: Vec<String> =
        texts().iter().map(|text| String::from_utf8_lossy(&text.bytes()).into_owned()).collect();
    let letters = "Grüße\tшалом שלום \u{1f33e} ﬃ e\u{301}\u{202e} ½ m²\u{ad}\u{200b}Donau\u{2028}dampf";
    names
        .chunks(12)
        .map(|names| Input::text(&names.join("\n")))
        .chain([marks, letters].map(Input::text))
        .collect()
}

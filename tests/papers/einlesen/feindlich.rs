//! Broken, hostile or odd files.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::sample;

/// The beginning of the refusal, and a text it contains.
type Expected = (&'static str, &'static str);

/// A minimal XML invoice.
fn minimum() -> Vec<u8> {
    sample("factur-x-minimum.xml.gz")
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A PDF of these objects, the first of which is the catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    for (at, object) in objects.iter().enumerate() {
        file.extend(format!("{} 0 obj\n", at + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    file.extend(b"trailer <</Root 1 0 R>>\n%%EOF");
    file
}

fn stream(dict: &str, bytes: &[u8]) -> Vec<u8> {
    let mut object = format!("<<{dict} /Length {}>>stream\n", bytes.len()).into_bytes();
    object.extend(bytes);
    object.extend(b"\nendstream");
    object
}

/// A PDF with an attachment, given by its encoded bytes and its filter.
fn hybrid(name: &str, filter: &str, bytes: &[u8]) -> Vec<u8> {
    pdf(&[
        b"<</Type/Catalog /Names <</EmbeddedFiles 2 0 R>>>>".to_vec(),
        format!("<</Names [(a) <</Type/Filespec /F ({name}) /EF <</F 3 0 R>>>>]>>").into_bytes(),
        stream(filter, bytes),
    ])
}

/// Object streams, each of which inflates to a MiB.
fn bombs(count: usize) -> Vec<u8> {
    let content = deflated(&[b"7 0 ".as_slice(), &vec![b' '; 1 << 20]].concat());
    let bomb = stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &content);
    pdf(&vec![bomb; count])
}

/// An object stream whose objects all begin at the same long list.
fn same_place() -> Vec<u8> {
    let numbers: String = (10..3_000).map(|id| format!("{id} 0 ")).collect();
    let content = format!("{numbers}[{}]", "(0123456789012345678901234567890123456789) ".repeat(20_000));
    let dict = format!("/Type /ObjStm /N 2990 /First {} /Filter /FlateDecode", numbers.len());
    pdf(&[b"<</Type/Catalog>>".to_vec(), stream(&dict, &deflated(content.as_bytes()))])
}

fn lines(count: usize) -> Vec<u8> {
    let line = "<InvoiceLine><LineExtensionAmount>1</LineExtensionAmount></InvoiceLine>".repeat(count);
    format!("<Invoice><LegalMonetaryTotal/>{line}</Invoice>").into_bytes()
}

/// Name, bytes, and how the file is refused.
pub fn all() -> Vec<(&'static str, Vec<u8>, Expected)> {
    let file = |text| ("Datei", text);
    let invoice = |text| ("Rechnung", text);
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let entities = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'><!ENTITY c '&b;&b;&b;'>]><Invoice>&c;</Invoice>";
    let external = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><Invoice/>";
    let twice = pdf(&[
        b"<</Type/Catalog /AF [2 0 R 3 0 R]>>".to_vec(),
        b"<</F (factur-x.xml) /EF <</F 4 0 R>>>>".to_vec(),
        b"<</F (Factur-X.XML) /EF <</F 5 0 R>>>>".to_vec(),
        stream("", &minimum()),
        stream("", &minimum()),
    ]);
    let circle = pdf(&[
        b"<</Type/Catalog /Names <</EmbeddedFiles 2 0 R>>>>".to_vec(),
        b"<</Kids [2 0 R 3 0 R 2 0 R]>>".to_vec(),
        b"<</Kids [2 0 R] /Names 3 0 R>>".to_vec(),
    ]);
    let half = cut(deflated(&minimum()));
    vec![
        ("nothing", Vec::new(), file("weder PDF noch XML")),
        ("a zip", b"PK\x03\x04\x14\x00".to_vec(), file("weder PDF noch XML")),
        ("zeros", vec![0; 5_000], file("weder PDF noch XML")),
        ("a text", b"Sehr geehrte Damen und Herren".to_vec(), file("weder PDF noch XML")),
        ("a page", b"<html><body>Rechnung</body></html>".to_vec(), invoice("keine Rechnung")),
        ("an order", sample("order-x-basic.xml.gz"), invoice("Bestellung")),
        ("another order", sample("order-x-comfort.xml.gz"), invoice("Bestellung")),
        ("an empty invoice", b"<CrossIndustryInvoice/>".to_vec(), invoice("fehlen")),
        ("an empty UBL invoice", b"<Invoice/>".to_vec(), invoice("fehlen")),
        ("half an XML", cut(minimum()), file("wohlgeformt")),
        ("half a UBL", cut(sample("ubl-21-en16931.xml.gz")), file("wohlgeformt")),
        ("a wrong end", b"<Invoice></Rechnung>".to_vec(), file("wohlgeformt")),
        ("two roots", b"<Invoice/><Invoice/>".to_vec(), file("wohlgeformt")),
        ("a bare ampersand", b"<Invoice>a & b</Invoice>".to_vec(), file("wohlgeformt")),
        ("entities", entities.into(), file("Dokumenttyp")),
        ("an external entity", external.into(), file("Dokumenttyp")),
        ("an unknown entity", b"<Invoice>&nbsp;</Invoice>".to_vec(), file("Entit")),
        ("deep", b"<a>".repeat(100_000), file("verschachtelt")),
        ("deep namespaces", b"<a xmlns:a='a' xmlns:b='b'>".repeat(50_000), file("verschachtelt")),
        ("wide", [b"<a>".to_vec(), b"<b/>".repeat(300_000)].concat(), file("zu viele Elemente")),
        ("not UTF-8", b"<Invoice>M\xfchle</Invoice>".to_vec(), file("Kodierung UTF-8")),
        ("half a letter of UTF-16", utf16("\u{feff}<Invoice/>")[..9].to_vec(), file("Kodierung UTF-16LE")),
        ("too many lines", lines(1_001), file("mehr als 1000 Positionen")),
        ("a PDF without", sample("ohne.pdf"), invoice("keine E-Rechnung")),
        ("half a PDF", cut(sample("linear.pdf")), file("entpacken")),
        ("a head of a PDF", b"%PDF-1.7".to_vec(), invoice("keine E-Rechnung")),
        ("a PDF with a password", sample("verschluesselt.pdf"), file("verschlüsselt")),
        ("a PDF with a key", sample("verschluesselt-offen.pdf"), file("verschlüsselt")),
        ("another attachment", hybrid("lieferschein.pdf", "", b"%PDF-1.4"), invoice("keine E-Rechnung")),
        (
            "an attachment that is no XML",
            hybrid("factur-x.xml", "", b"PK\x03\x04"),
            file("weder PDF noch XML"),
        ),
        (
            "a bomb",
            hybrid("factur-x.xml", "/Filter/FlateDecode", &deflated(&vec![b' '; 40 << 20])),
            file("32 MiB"),
        ),
        ("many bombs", bombs(40), file("32 MiB")),
        (
            "a bomb in a bomb",
            hybrid(
                "factur-x.xml",
                "/Filter [/FlateDecode /FlateDecode]",
                &deflated(&deflated(&vec![b' '; 40 << 20])),
            ),
            file("32 MiB"),
        ),
        (
            "a bomb of runs",
            hybrid("factur-x.xml", "/Filter /RunLengthDecode", &[129, b' '].repeat(300_000)),
            file("32 MiB"),
        ),
        ("half a stream", hybrid("factur-x.xml", "/Filter /FlateDecode", &half), file("entpacken")),
        ("no stream", pdf(&[b"<</AF [<</F (factur-x.xml) /EF <</F 9 0 R>>>>]>>".to_vec()]), file("fehlt")),
        ("two invoices", twice, file("mehrere E-Rechnungen")),
        ("a tree in a circle", circle, invoice("keine E-Rechnung")),
        ("objects at one place", same_place(), file("verschachtelt")),
    ]
}

/// Pieces of a PDF that a careless reader would read to the end again and again; repeated to a MiB.
pub fn repeated() -> Vec<(&'static str, Vec<u8>)> {
    let pieces = [
        "1 0 obj(",
        "1 0 obj<",
        "1 0 obj[",
        "1 0 obj<<",
        "1 0 obj<</A ",
        "1 0 obj<</A 1",
        "1 0 obj 1 1 1 1 1 1 1 1 ",
        "1 0 obj%",
        "1 0 obj[1 0 R 1 0 R]",
        "1 0 obj<</Length 9>>stream ",
        "1 0 obj<</Length 5 0 R>>stream endstream ",
        "trailer<</Root 1 0 R",
        "trailer(",
        "trailer trailer<<",
        "obj obj ",
    ];
    let file = |piece: &str| format!("%PDF-1.7\n{}", piece.repeat((1 << 20) / piece.len())).into_bytes();
    pieces.into_iter().map(|piece| (piece, file(piece))).collect()
}

/// An attachment whose filter and parameters are separate objects.
fn elsewhere() -> Vec<u8> {
    pdf(&[
        b"<</Type/Catalog /AF [<</F (factur-x.xml) /EF <</F 2 0 R>>>>]>>".to_vec(),
        stream("/Filter 3 0 R /DecodeParms [4 0 R]", &differences(&minimum())),
        b"[/FlateDecode]".to_vec(),
        b"<</Predictor 12 /Columns 6>>".to_vec(),
    ])
}

/// Files that no program should write, but that contain an invoice all the same.
pub fn odd() -> Vec<(&'static str, Vec<u8>)> {
    let text = String::from_utf8(minimum()).unwrap().replace("encoding='UTF-8'", "");
    let text = text.trim_start_matches('\u{feff}').to_owned();
    let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
    let plain = hybrid("factur-x.xml", "", &minimum());
    let again = |more: &str| [plain.clone(), more.into()].concat();
    let named = |name: &str| hybrid(name, "/Filter /Fl", &deflated(&minimum()));
    vec![
        ("UTF-16 from the small end", utf16(u16::to_le_bytes)),
        ("UTF-16 from the large end", utf16(u16::to_be_bytes)),
        ("plain", plain.clone()),
        ("junk before", [b"junk\n".to_vec(), plain.clone()].concat()),
        ("another case", named("ZUGFeRD-invoice.xml")),
        ("another name", named("Rechnung 4711.XML")),
        ("a name in UTF-16", named("\\376\\377\\000f\\000x\\000.\\000x\\000m\\000l")),
        (
            "a list of one filter",
            hybrid(
                "factur-x.xml",
                "/Filter [/FlateDecode] /DecodeParms [<</Predictor 12 /Columns 6>>]",
                &differences(&minimum()),
            ),
        ),
        ("a filter that stands elsewhere", elsewhere()),
        ("escapes in names", hybrid("factur-x.xml", "/F#69lter /Flate#44ecode", &deflated(&minimum()))),
        (
            "a table of objects in a circle",
            again("\nxref\n0 1\ntrailer<</Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF"),
        ),
        (
            "a later catalog",
            again("\n1 0 obj<</AF 2 0 R>>endobj\n2 0 obj[<</F(factur-x.xml)/EF<</F 3 0 R>>>>]endobj\n"),
        ),
        ("no catalog", [&plain[..plain.len() - 25], b"%%EOF"].concat()),
    ]
}

/// Objects with a cross-reference table and trailer; `before` is the file that they update.
fn with_table(before: &[u8], objects: &[(u32, Vec<u8>)], trailer: &str) -> Vec<u8> {
    let mut file = before.to_vec();
    let mut rows = String::new();
    for (id, object) in objects {
        rows += &format!("{id} 1\n{:010} 00000 n \n", file.len() + 1);
        file.extend(format!("\n{id} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj");
    }
    let at = file.len() + 1;
    file.extend(format!("\nxref\n{rows}trailer\n<<{trailer}>>\nstartxref\n{at}\n%%EOF\n").bytes());
    file
}

/// The same with a cross-reference stream (ISO 32000-1, 7.5.8) instead of the table; `filter` is its compression.
fn with_stream(
    objects: &[(u32, Vec<u8>)],
    trailer: &str,
    filter: &str,
    pack: fn(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut file = b"%PDF-1.7".to_vec();
    let (mut rows, mut index) = (Vec::new(), String::new());
    for (id, object) in objects {
        index += &format!("{id} 1 ");
        rows.extend([&[1], &(file.len() as u32 + 1).to_be_bytes()[..], &[0]].concat());
        file.extend(format!("\n{id} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj");
    }
    let at = file.len() + 1;
    let dict = format!("/Type/XRef /Size 99 /W [1 4 1] /Index [{index}] {trailer} {filter}");
    file.extend(b"\n90 0 obj\n");
    file.extend(stream(&dict, &pack(&rows)));
    file.extend(format!("\nendobj\nstartxref\n{at}\n%%EOF\n").bytes());
    file
}

/// Rows of six bytes, each as its difference to the previous one.
fn differences(rows: &[u8]) -> Vec<u8> {
    let mut above = [0; 6];
    let mut packed = Vec::new();
    for row in rows.chunks(6) {
        packed.push(2);
        packed.extend(row.iter().zip(above).map(|(byte, above)| byte.wrapping_sub(above)));
        above[..row.len()].copy_from_slice(row);
    }
    deflated(&packed)
}

/// Another invoice, which must not be found.
fn other() -> Vec<u8> {
    String::from_utf8(minimum()).unwrap().replace("F20260023", "INNEN").into_bytes()
}

/// A stream whose length is a separate object.
fn stream_of(length: u32, bytes: &[u8]) -> Vec<u8> {
    [format!("<</Length {length} 0 R>>stream\n").as_bytes(), bytes, b"\nendstream"].concat()
}

/// An invoice with a PDF attached that has another one, both uncompressed: its objects, and the same with
/// lengths in separate objects. The numbers of the inner one begin after `from`.
fn nested(from: u32) -> [Vec<(u32, Vec<u8>)>; 2] {
    let [catalog, names, xml] = [1, 2, 3].map(|number| from + number);
    let named = format!("<</Names [(a) <</F (factur-x.xml) /EF <</F {xml} 0 R>>>>]>>");
    let inner = [
        (xml, stream("", &other())),
        (catalog, format!("<</Type/Catalog /Names <</EmbeddedFiles {names} 0 R>>>>").into()),
        (names, named.into()),
    ];
    let inner = with_table(b"%PDF-1.7", &inner, &format!("/Root {catalog} 0 R"));
    let names =
        "<</Names [(a) <</F (factur-x.xml) /EF <</F 3 0 R>>>> (b) <</F (anlage.pdf) /EF <</F 4 0 R>>>>]>>";
    let objects = |xml, pdf| {
        let catalog = b"<</Type/Catalog /Names <</EmbeddedFiles 2 0 R>>>>".to_vec();
        vec![(1, catalog), (2, names.into()), (3, xml), (4, pdf)]
    };
    let mut apart = objects(stream_of(5, &minimum()), stream_of(6, &inner));
    apart.push((5, minimum().len().to_string().into()));
    apart.push((6, inner.len().to_string().into()));
    [objects(stream("", &minimum()), stream("", &inner)), apart]
}

/// Files that contain several invoices, of which one is their own.
pub fn nested_and_updated() -> Vec<(&'static str, Vec<u8>)> {
    let (begin, root) = (b"%PDF-1.7", "/Root 1 0 R");
    // The last occurrence of this word, after a line feed.
    let last =
        |file: &[u8], word: &[u8]| file.windows(word.len()).rposition(|found| found == word).unwrap() + 1;
    // Bytes after the table do not belong to it.
    let with_leftover = |mut file: Vec<u8>, table: &[u8]| {
        let end = format!("\nendobj\nstartxref\n{}\n%%EOF\n", last(&file, table));
        file.extend([b"\n3 0 obj\n", &stream("", &other())[..], end.as_bytes()].concat());
        file
    };
    let bare = |objects: &[(u32, Vec<u8>)]| {
        let numbered = objects.iter().map(|(_, object)| object.clone());
        pdf(&numbered.collect::<Vec<_>>())
    };
    let up = "/Filter/FlateDecode /DecodeParms <</Predictor 12 /Columns 6>>";
    let mut files = Vec::new();
    for [plain, apart] in [nested(0), nested(10)] {
        let xref = |filter, pack| with_leftover(with_stream(&apart, root, filter, pack), b"\n90 0 obj");
        let table = |objects: &[(u32, Vec<u8>)]| with_leftover(with_table(begin, objects, root), b"\nxref");
        files.extend([
            ("a table", table(&plain)),
            ("a table, lengths apart", table(&apart)),
            ("a table as a stream", xref("", |rows| rows.to_vec())),
            ("a packed table", xref("/Filter/FlateDecode", deflated)),
            ("a packed table of differences", xref(up, differences)),
            ("no table", bare(&plain)),
            ("no table, lengths apart", bare(&apart)),
            ("a wrong table", [b"%PDF-1.7 junk", &with_table(begin, &apart, root)[8..]].concat()),
        ]);
    }
    let first = with_table(begin, &[(1, b"<</AF 2 0 R>>".to_vec()), (3, stream("", &other()))], root);
    let file = b"[<</F(factur-x.xml)/EF<</F 3 0 R>>>>]".to_vec();
    let prev = format!("{root} /Prev {}", last(&first, b"\nxref"));
    let updated = with_table(&first, &[(2, file), (3, stream("", &minimum()))], &prev);
    files.push(("an update", updated));
    files
        .push(("an update that hides one object from older readers and deletes another", hybrid_reference()));
    files
}

/// The invoice is in an object stream that only /XRefStm leads to; the attachment of an older version is
/// deleted (ISO 32000-1, 7.5.8.4).
fn hybrid_reference() -> Vec<u8> {
    let named = |xml: u32| format!("<</F (factur-x.xml) /EF <</F {xml} 0 R>>>>").into_bytes();
    let catalog = b"<</Type/Catalog /AF [4 0 R 5 0 R]>>".to_vec();
    let old = [(1, catalog), (3, stream("", &other())), (4, named(3))];
    let mut file = with_table(b"%PDF-1.7", &old, "/Root 1 0 R");
    let prev = file.windows(5).rposition(|found| found == b"\nxref").unwrap() + 1;
    let place = |file: &Vec<u8>| file.len() as u32;
    let invoice = place(&file);
    file.extend([b"6 0 obj\n", &stream("", &minimum())[..], b"\nendobj\n"].concat());
    let packed = place(&file);
    let content = [b"5 0 ", &named(6)[..]].concat();
    file.extend([b"7 0 obj\n", &stream("/Type/ObjStm /N 1 /First 4", &content)[..], b"\nendobj\n"].concat());
    let hidden = place(&file);
    let row = [&[2][..], &7u32.to_be_bytes(), &[0]].concat();
    let dict = "/Type/XRef /Size 9 /W [1 4 1] /Index [5 1]";
    file.extend([b"8 0 obj\n", &stream(dict, &row)[..], b"\nendobj\n"].concat());
    let table = place(&file);
    let rows = format!(
        "4 2\n{:010} 00001 f \n{:010} 00000 f \n6 2\n{invoice:010} 00000 n \n{packed:010} 00000 n \n",
        0, 0
    );
    let trailer =
        format!("trailer\n<</Root 1 0 R /Prev {prev} /XRefStm {hidden}>>\nstartxref\n{table}\n%%EOF\n");
    file.extend([b"xref\n", rows.as_bytes(), trailer.as_bytes()].concat());
    file
}

/// Pseudo-random numbers, the same in each run.
pub struct Chance(pub u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Damages a file at random.
    pub fn damaged(&mut self, file: &[u8]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        let at = self.below(bytes.len());
        match self.below(5) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + self.below(200)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let end = (at + self.below(200)).min(bytes.len());
                let doubled = bytes[at..end].to_vec();
                bytes.splice(at..at, doubled);
            }
            _ => {
                for _ in 0..=self.below(4) {
                    let at = self.below(bytes.len());
                    bytes[at] ^= 1 << self.below(8);
                }
            }
        }
        bytes
    }
}

//! Forms with a file (multipart/form-data, RFC 7578).

use std::convert::Infallible;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::stream;
use hyper::body::Bytes;
use multer::{Error, Field, Multipart, parse_boundary};

use crate::platform::failure::Result;
use crate::rules::error::{Code, Refusal};
use crate::rules::text::steers;

/// Largest form with a file, in bytes: a third of the memory for large bodies.
pub const UPLOAD_BYTES_MAX: usize = 14 << 20;

/// Most fields and files of a form.
const PARTS_MAX: usize = 200;

/// Length of a boundary, in characters (RFC 2046 5.1.1).
const BOUNDARY_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=70;

/// Bytes of the form passed to the reader at a time; the reader copies them.
const STEP_BYTES: usize = 64 << 10;

/// Longest field other than a file, in bytes.
const FIELD_BYTES_MAX: usize = 64 << 10;

/// Longest file name, in characters; longer ones are cut.
const FILE_NAME_CHARACTERS_MAX: usize = 200;

#[derive(Clone)]
pub struct File {
    pub field: String,
    /// Its name, without the folders that some browsers send.
    pub name: String,
    pub content: Bytes,
}

/// Fields and files of a form. A file field without a chosen file is left out.
#[derive(Clone, Default)]
pub struct Form {
    pub fields: Vec<(String, String)>,
    pub files: Vec<File>,
}

/// Whether the content-type is that of a form with a file.
pub fn is_upload(content_type: &str) -> bool {
    content_type.trim_start().get(..19).is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/form-data"))
}

pub fn read(content_type: &str, body: &[u8]) -> Result<Form> {
    let boundary = parse_boundary(content_type).map_err(|_| broken())?;
    if !BOUNDARY_CHARACTERS.contains(&boundary.len()) {
        return Err(broken().into());
    }
    let steps = body.chunks(STEP_BYTES).map(|step| Ok::<_, Infallible>(Bytes::copy_from_slice(step)));
    let mut parts = Multipart::new(stream::iter(steps), boundary);
    let mut form = Form::default();
    while let Some(mut part) = ready(parts.next_field())? {
        if form.fields.len() + form.files.len() >= PARTS_MAX {
            return Err(Refusal::new(Code::AnfrageUngueltig, "Das Formular hat zu viele Felder.").into());
        }
        let field = part.name().unwrap_or_default().to_owned();
        let name = part.file_name().map(plain);
        let content = whole(&mut part)?;
        match name {
            Some(name) if name.is_empty() && content.is_empty() => {}
            Some(name) => form.files.push(File { field, name, content }),
            None if content.len() > FIELD_BYTES_MAX => return Err(broken().into()),
            None => {
                let text = std::str::from_utf8(&content).map_err(|_| broken())?;
                form.fields.push((field, text.to_owned()));
            }
        }
    }
    Ok(form)
}

/// Returns the content of a part. If it arrives in one piece, it is a slice of the reader's buffer and not
/// copied.
fn whole(part: &mut Field<'_>) -> Result<Bytes> {
    let mut content = Bytes::new();
    while let Some(piece) = ready(part.chunk())? {
        content = if content.is_empty() { piece } else { [content, piece].concat().into() };
    }
    Ok(content)
}

/// Returns the result of a step. It is ready at once, because the whole body is there.
fn ready<T>(step: impl Future<Output = std::result::Result<T, Error>>) -> Result<T> {
    match pin!(step).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(found)) => Ok(found),
        Poll::Ready(Err(_)) | Poll::Pending => Err(broken().into()),
    }
}

fn broken() -> Box<Refusal> {
    Refusal::new(Code::AnfrageUngueltig, "Die Datei kam nicht vollständig an. Bitte noch einmal hochladen.")
}

/// A file name without folders and without characters that control a terminal or the writing direction.
fn plain(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|c| !steers(*c)).take(FILE_NAME_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=----x";

    fn body(parts: &[(&str, &str)]) -> String {
        let part = |(head, content): &(&str, &str)| {
            format!("------x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        parts.iter().map(part).collect::<String>() + "------x--\r\n"
    }

    #[test]
    fn fields_and_files_are_read_as_they_were_sent() {
        let body = body(&[
            ("name=\"token\"", "abc"),
            ("name=\"text\"", "eins\r\nzwei"),
            ("name=\"datei\"; filename=\"C:\\Daten\\Kunden Süd.csv\"", "a;b\r\n1;2\r\n"),
            ("name=\"logo\"; filename=\"\"", ""),
        ]);
        let form = read(TYPE, body.as_bytes()).unwrap();
        let texts: Vec<_> = form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(texts, [("token", "abc"), ("text", "eins\r\nzwei")]);
        let [file] = &form.files[..] else { panic!("{} files", form.files.len()) };
        assert_eq!((file.field.as_str(), file.name.as_str()), ("datei", "Kunden Süd.csv"));
        assert_eq!(&file.content[..], b"a;b\r\n1;2\r\n");
    }

    #[test]
    fn what_is_cut_or_no_form_is_refused() {
        let whole = body(&[("name=\"a\"", "1"), ("name=\"datei\"; filename=\"k.csv\"", "a;b\r\n1;2\r\n")]);
        for end in 0..whole.len() - 4 {
            assert!(read(TYPE, &whole.as_bytes()[..end]).is_err(), "cut at {end}");
        }
        for kind in
            ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=y"]
        {
            assert!(read(kind, whole.as_bytes()).is_err(), "{kind}");
        }
        let many: Vec<_> = (0..=PARTS_MAX).map(|_| ("name=\"a\"", "1")).collect();
        assert!(read(TYPE, body(&many).as_bytes()).is_err());
    }
}

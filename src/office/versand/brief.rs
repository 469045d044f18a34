//! An e-mail: its text, its addresses and its attachments as one message (RFC 5322, MIME).

use std::time::{Duration, SystemTime};

use lettre::Message;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};
use uuid::Uuid;

use super::postausgang::Postausgang;
use crate::rules::day::Instant;

/// Placeholders of a subject or a text, which stand there in braces.
pub const PLACEHOLDERS: [&str; 5] = ["art", "nummer", "datum", "betrag", "firma"];

/// The values of the placeholders, in their order.
pub type Worte = [String; PLACEHOLDERS.len()];

/// Fills in the placeholders of a text; the error is the first name that is unknown.
pub fn filled(text: &str, worte: &Worte) -> Result<String, String> {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        let known = PLACEHOLDERS.iter().position(|known| *known == name);
        let wort = known.and_then(|at| worte.get(at)).ok_or_else(|| name.to_owned())?;
        said.push_str(before);
        said.push_str(wort);
        rest = after;
    }
    Ok(said + rest)
}

pub struct Anlage {
    pub name: String,
    /// MIME type: `application/pdf`, `application/xml`.
    pub typ: &'static str,
    pub inhalt: Vec<u8>,
}

pub struct Brief {
    /// The id of the form it was written in: a form submitted twice is one mail.
    pub id: Uuid,
    pub am: Instant,
    /// The company, as the sender's name.
    pub firma: String,
    /// Addresses that [`crate::rules::plausible::is_email`] accepts.
    pub an: Vec<String>,
    pub betreff: String,
    pub text: String,
    pub anlagen: Vec<Anlage>,
}

impl Brief {
    /// Builds the message for the mail server; the error is a German sentence about an address that cannot be
    /// written.
    pub fn message(&self, postausgang: &Postausgang) -> Result<Message, String> {
        let domain = postausgang.absender.rsplit('@').next().unwrap_or_default();
        let mut message = Message::builder()
            .from(mailbox(Some(self.firma.clone()), &postausgang.absender)?)
            .subject(self.betreff.as_str())
            .date(SystemTime::UNIX_EPOCH + Duration::from_millis(self.am.millis().unsigned_abs()))
            .message_id(Some(format!("<{}@{domain}>", self.id)));
        if let Some(reply) = &postausgang.antwort_an {
            message = message.reply_to(mailbox(None, reply)?);
        }
        for to in &self.an {
            message = message.to(mailbox(None, to)?);
        }
        let mut parts = MultiPart::mixed().singlepart(SinglePart::plain(self.text.clone()));
        for Anlage { name, typ, inhalt } in &self.anlagen {
            let kind = ContentType::parse(typ)
                .map_err(|error| format!("Ein Anhang hat den Typ {typ}, und den gibt es nicht ({error})."))?;
            parts = parts.singlepart(Attachment::new(name.clone()).body(inhalt.clone(), kind));
        }
        message.multipart(parts).map_err(|error| format!("Die E-Mail lässt sich nicht schreiben ({error})."))
    }
}

fn mailbox(name: Option<String>, address: &str) -> Result<Mailbox, String> {
    let unwritable = |_| format!("„{address}“ ist keine Adresse, an die eine E-Mail gehen kann.");
    Ok(Mailbox::new(name, address.parse().map_err(unwritable)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_others_named() {
        let worte = ["Rechnung", "RE-1", "01.02.2026", "1,00 €", "Mühle {art}"].map(str::to_owned);
        let table = [
            ("", Ok("")),
            ("{art} {nummer} vom {datum}: {betrag}", Ok("Rechnung RE-1 vom 01.02.2026: 1,00 €")),
            // Inserted values are not searched for placeholders.
            ("{firma}", Ok("Mühle {art}")),
            ("{kunde}", Err("kunde")),
            ("{", Err("")),
            ("a } b", Ok("a } b")),
        ];
        for (text, expected) in table {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(filled(text, &worte), expected, "{text}");
        }
    }
}

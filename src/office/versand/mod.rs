//! E-mail that people send with documents (D27): the mail server of a company, the sent mails, and their
//! delivery.
//!
//! There is no route: programs have a mailer of their own, and no key may write in the name of the company.

mod brief;
mod postausgang;
mod smtp;
mod sql;

pub use brief::{Anlage, Brief, PLACEHOLDERS, Worte, filled};
pub use postausgang::{Postausgang, Verschluesselung, load, store};
pub use smtp::has_certificate;
pub use sql::{Ergebnis, Versand, begin, end, forget, of_document};

/// Sends a mail and returns the result. Takes 70 seconds at most, on a thread that may block.
pub fn send(postausgang: &Postausgang, brief: &Brief) -> Ergebnis {
    match brief.message(postausgang) {
        Ok(message) => smtp::deliver(postausgang, &message).err().unwrap_or(Ergebnis::Gesendet),
        Err(why) => Ergebnis::NichtGesendet(why),
    }
}

//! The e-mails of a document, as a section of its page.

use maud::{Markup, Render, html};
use uuid::Uuid;

use crate::leitstand::kit::akteure::named;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{moment, or_blank, table};
use crate::master::tenants::firma;
use crate::office::versand::{self, Versand};
use crate::platform::failure::Result;
use crate::rules::document::BelegStatus;
use crate::trade::belege::Beleg;

/// Whether a document may be sent: it is final and not cancelled.
pub fn is_final(beleg: &Beleg) -> bool {
    [BelegStatus::Abgeschlossen, BelegStatus::Erledigt].contains(&beleg.status)
}

/// The name of the company in mails.
pub fn company(request: &PageRequest, db: &Snapshot<'_>) -> Result<String> {
    let own = firma::load(&db.tx)?.firma.clone();
    Ok(own.or_else(|| request.firma.as_ref().map(|firma| firma.name.clone())).unwrap_or_default())
}

pub fn button(beleg: &Beleg, here: &str) -> Markup {
    html! { @if is_final(beleg) { a.button href=(format!("{here}/email")) { "Per E-Mail senden" } } }
}

/// The mails sent for a document.
pub fn sent(request: &PageRequest, db: &Snapshot<'_>, beleg: Uuid) -> Result<Markup> {
    let mails = named(request, db, versand::of_document(&db.tx, beleg)?, |mail| mail.key_id.as_deref())?;
    let became = |mail: &Versand| match (mail.ergebnis.as_deref(), &mail.meldung) {
        (Some("gesendet"), _) => "gesendet".to_owned(),
        (Some("nicht_gesendet"), why) => format!("nicht gesendet. {}", or_blank(why)),
        (Some(_), why) => format!("ungewiss. {}", or_blank(why)),
        (None, _) => "unterwegs, oder der Dienst endete dabei".to_owned(),
    };
    let to = |mail: &Versand| mail.an.clone().unwrap_or_else(|| "(vergessen)".to_owned());
    Ok(html! { @if !mails.is_empty() {
        h2 { "E-Mails" }
        (table("E-Mails, die neueste zuerst", "", &mails)
            .text("Wann", |(mail, _)| moment(mail.am))
            .text("An", |(mail, _)| to(mail))
            .text("Betreff", |(mail, _)| or_blank(&mail.betreff))
            .text("Anhang", |(mail, _)| mail.anlagen.clone())
            .text("Wer", |(_, who)| who.clone())
            .text("Was daraus wurde", |(mail, _)| became(mail)).render())
    } })
}

//! The outcome of a restore in the last 24 hours, in words. Only people who manage the installation see where
//! files are.

use maud::{Markup, html};

use super::restoring::Restored;
use crate::leitstand::kit::page::PageRequest;
use crate::leitstand::kit::parts::moment;
use crate::rules::day::Instant;

pub fn last_in_words(request: &PageRequest) -> Markup {
    let is_new = |last: &&Restored| request.now.millis() - last.at.millis() < Instant::MILLIS_PER_DAY;
    let last = request.app.restoring.last().filter(is_new);
    let Some(Restored { id, at, outcome }) = last else { return html! {} };
    html! {
        @match outcome {
            Ok(aside) => p.note role="status" {
                "Am " (moment(*at)) " ist die Sicherung " (id)
                " zurückgespielt worden; sie ist geprüft. Es gelten die Passwörter und Schlüssel von damals. "
                @if let Some(aside) = aside.as_ref().filter(|_| request.manages_installation()) {
                    "Die Datenbank von vorher liegt daneben: " (aside.display())
                }
            },
            Err(why) => p.refused role="alert" {
                "Am " (moment(*at)) " ist es nicht gelungen, die Sicherung " (id) " zurückzuspielen. "
                @if request.manages_installation() { "Was das Programm dazu sagt: " (why) }
            },
        }
    }
}

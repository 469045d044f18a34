//! Refused requests of programs, by program and reason, with advice for each.

use std::collections::BTreeMap;

use maud::{Render, html};

use super::advice;
use crate::interface::description::meaning_of;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot, encoded};
use crate::leitstand::kit::parts::{linked, moment, number, or_blank};
use crate::platform::failure::Result;
use crate::platform::gate::audit::{Entry, Filter, Who, find, log_page};
use crate::platform::http::reply::Reply;
use crate::rules::day::Day;

/// Days that are searched for refusals.
const DAYS: i64 = 7;

/// Most refusals that are read.
const REFUSALS_MAX: usize = 5_000;

/// Rows searched for a refusal by the first page of a company, which stays open all day.
const ROWS_LOOKED_AT_AT_HOME: i64 = 2_000;

fn filter(request: &PageRequest, days: i64) -> Filter {
    let first = Day::of_number(Day::in_berlin(request.now).number() - (days - 1));
    Filter {
        tenant_id: request.tenant_id(),
        who: Some(Who::Keys),
        status_from: Some(400),
        from: Some(first.begin_in_berlin()),
        ..Filter::default()
    }
}

/// Whether a program was refused today or yesterday; looks only at the newest `ROWS_LOOKED_AT_AT_HOME` rows.
pub fn is_any(request: &PageRequest, db: &Snapshot<'_>) -> Result<bool> {
    let filter = Filter { looked_at: Some(ROWS_LOOKED_AT_AT_HOME), ..filter(request, 2) };
    Ok(!log_page(db.connection, &filter, None, 1)?.rows.is_empty())
}

/// The refusals of one program for one reason.
struct Group {
    newest: Entry,
    count: i64,
}

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let filter = filter(request, DAYS);
    let found = log_page(db.connection, &filter, None, REFUSALS_MAX)?;
    let last = found.next.map(|number| find(db.connection, number, None)).transpose()?.flatten();
    let since = last.map(|entry| entry.at).filter(|at| Some(*at) > filter.from);
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    // The newest come first.
    for entry in found.rows {
        let count = entry.count;
        let of = groups.entry((entry.key_id.clone(), entry.code.clone()));
        of.and_modify(|group| group.count += count).or_insert(Group { newest: entry, count });
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.newest.at));
    let body = html! {
        p {
            "Anfragen der angeschlossenen Programme, die in den letzten " (DAYS)
            " Tagen abgelehnt wurden, nach Programm und Grund."
        }
        @if let Some(since) = since {
            p {
                "Es kommen so viele Anfragen, dass hier nur bis zurück zum " (moment(since)) " gesucht wurde."
            }
        }
        div.wrap { (table(request, &groups).render()) }
        p {
            a href=(request.of_firma("protokoll?wer=programme&ergebnis=abgelehnt")) {
                "Alle abgelehnten Anfragen im Protokoll"
            }
        }
    };
    Ok(frame::page(request, "Abgelehnte Anfragen", body))
}

/// The table of groups; each links to its rows of the log.
fn table<'g>(request: &'g PageRequest, groups: &'g [Group]) -> impl Render + 'g {
    let code = |group: &Group| or_blank(&group.newest.code);
    let to = move |group: &Group| {
        let (key, code) = (or_blank(&group.newest.key_id), code(group));
        request.of_firma(&format!("protokoll?wer=schluessel-{}&code={}", encoded(&key), encoded(&code)))
    };
    let program =
        |group: &Group| group.newest.key_label.clone().or(group.newest.key_id.clone()).unwrap_or_default();
    linked(
        "Abgelehnte Anfragen, die neuesten zuerst",
        "Keine: Alle Programme bekamen, was sie wollten.",
        groups,
        to,
    )
    .text("Programm", program)
    .numbers("Wie oft", |group| number(group.count))
    .text("Zuletzt", |group| moment(group.newest.at))
    .text("Anfrage", |group| format!("{} {}", group.newest.method, group.newest.path))
    .text("Warum abgelehnt", move |group| format!("{}: {}", code(group), meaning_of(&code(group))))
    .text("Was tun", move |group| advice::of(&code(group)).to_owned())
}

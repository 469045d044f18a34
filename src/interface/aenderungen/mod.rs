//! The change feed (D28): every change of a company's records, in commit order.
//!
//! [`crate::platform::db::feed::followed`] writes the feed; this module contains the route, the cursor that
//! clients send back, and the integrity check.

mod checks;
pub mod cursor;

pub use checks::CHECKS;

use schemars::JsonSchema;
use serde::Serialize;

use crate::platform::db::feed::followed::Art;
use crate::platform::db::feed::{self, FeedEntry};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::param::{Param, ParamKind};
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Followed, Route, Wait};
use crate::platform::http::shape::Answer;
use crate::rules::choice::Choice;
use crate::rules::error::{Checked, Code, Refusal};
use crate::rules::scope::Scope;
use cursor::{Cursor, Position};

/// Rows read for one answer at most, including rows of kinds that were not requested.
const ROWS_READ_MAX: i64 = 5_000;

/// If at least this many rows of other kinds were skipped, the client gets a cursor after them at once
/// instead of waiting: with its old cursor it would make the server read all of them again.
const ROWS_SKIPPED_MAX: i64 = 500;

/// Longest wait in seconds.
const WAIT_SECONDS_MAX: i64 = 30;

pub const ROUTES: &[Route] = &[Route::follow(
    "/api/v1/aenderungen",
    "Was sich geändert hat, in der Reihenfolge, in der es gespeichert wurde",
    list,
)
.with_query(&[
    Param::text(
        "seit",
        "cursor der letzten Antwort; alles: von vorn, so weit es aufgehoben ist; ohne Angabe ab jetzt",
    ),
    Param::text(
        "arten",
        "nur diese Arten, mit Komma getrennt: kunde, artikel, beleg, wiegung, charge, kontrakt, annahmeschein, \
         produktionsauftrag, abrechnungsschema; ohne Angabe alle, die der Schlüssel lesen darf",
    ),
    Param::limit(Some(500)),
    Param::new(
        "warten",
        ParamKind::IntWithin(0, WAIT_SECONDS_MAX, 0),
        "Sekunden, die auf eine Änderung gewartet wird, wenn es noch keine gibt",
    ),
])
.gives(&[Answer::ok::<Aenderungen>().with(&["x-limit"])])
.refuses(&[&[Code::ScopeFehlt, Code::CursorAbgelaufen]])];

/// Changes in commit order, and the cursor to continue with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Aenderungen {
    pub data: Vec<FeedEntry>,
    pub cursor: String,
}

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Followed> {
    let arten = readable(call)?;
    let (limit, cut) = call.query.limit()?;
    let limit = limit.map_or(0, |limit| limit as usize);
    let seconds = call.query.int_within("warten")?.unsigned_abs();
    let epoch = feed::epoch(tx)?;
    let ends = feed::ends(tx)?.map(|ends| ends.map(|(nr, am)| Position { nr, am }));
    let from = match call.resumed.or(call.query.text("seit")) {
        None => ends.map_or(Position::START, |[_, last]| last),
        Some("alles") => {
            ends.map_or(Position::START, |[first, _]| Position { nr: first.nr - 1, ..Position::START })
        }
        Some(text) => Cursor::read(text).ok_or_else(no_cursor)?.position(epoch, ends)?,
    };
    let found = read_from(tx, from, &arten, limit)?;
    let cursor = Cursor { epoch, position: found.reached }.to_string();
    let waits =
        seconds > 0 && found.data.is_empty() && found.rows_read < ROWS_SKIPPED_MAX && !arten.is_empty();
    let wait =
        (waits && limit > 0).then(|| Wait { seconds, cursor: cursor.clone(), newest: found.reached.nr });
    let reply = Reply::ok(&Aenderungen { data: found.data, cursor })?.with_cut_limit(cut);
    Ok(Followed { reply, wait })
}

fn no_cursor() -> Box<Refusal> {
    let message = "Das ist kein cursor dieses Dienstes. Bitte den cursor der letzten Antwort unverändert senden, \
                   oder alles.";
    Query::refuse("seit", message)
}

struct Found {
    data: Vec<FeedEntry>,
    reached: Position,
    rows_read: i64,
}

/// Reads on from a position. Reads the row at the position again and refuses the cursor if its time differs:
/// if an older copy of the file was put back, that number may belong to another change.
fn read_from(tx: &Tx<'_>, from: Position, arten: &[Art], limit: usize) -> Result<Found> {
    let mut found = Found { data: Vec::new(), reached: from, rows_read: 0 };
    let mut is_other = false;
    feed::each_from(tx, from.nr, ROWS_READ_MAX + 1, |entry| {
        if entry.nr == from.nr {
            is_other = entry.am != from.am;
            return Ok(!is_other && limit > 0);
        }
        if limit == 0 {
            return Ok(false);
        }
        found.rows_read += 1;
        found.reached = Position { nr: entry.nr, am: entry.am };
        if arten.contains(&entry.art) {
            found.data.push(entry);
        }
        Ok(found.data.len() < limit)
    })?;
    if is_other { Err(cursor::expired().into()) } else { Ok(found) }
}

/// Returns the requested kinds, by default all that the key may read. Refuses a kind that the key may not
/// read.
fn readable(call: &Call<'_>) -> Checked<Vec<Art>> {
    let may_read = |art: &Art| call.scopes.contains(scope(*art));
    let Some(text) = call.query.text("arten") else {
        return Ok(Art::ALL.iter().copied().filter(may_read).collect());
    };
    let read = |name: &str| {
        let message = format!("Erlaubt sind, mit Komma getrennt: {}.", Art::texts());
        let art = Art::parse(name.trim()).ok_or_else(|| Query::refuse("arten", message))?;
        if may_read(&art) {
            return Ok(art);
        }
        let scope = scope(art).as_str();
        let message = format!("Für die Art {name} fehlt dem Schlüssel die Berechtigung {scope}.");
        Err(Refusal::field(Code::ScopeFehlt, "arten", message))
    };
    text.split(',').map(read).collect()
}

/// Scope a key needs for the changes of a kind: the one that allows reading its records.
const fn scope(art: Art) -> Scope {
    match art {
        Art::Kunde => Scope::KundenRead,
        Art::Artikel => Scope::ArtikelRead,
        Art::Beleg => Scope::BelegeRead,
        Art::Wiegung => Scope::WaageRead,
        Art::Charge => Scope::ChargenRead,
        Art::Kontrakt => Scope::KontrakteRead,
        Art::Abrechnungsschema => Scope::AbrechnungRead,
        Art::Annahmeschein => Scope::RohwarenRead,
        Art::Produktionsauftrag => Scope::ProduktionRead,
    }
}

//! Open items: unsettled invoices and Gutschriften by due date, with their sums. Paid ones are ticked and
//! settled together.

use maud::{Markup, html};
use serde_json::json;

use crate::leitstand::kit::done::{Done, FirmaChange, Response};
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{self, ROWS, TOO_MANY, amount, form, number, optional, refusal};
use crate::leitstand::trade::belege::art_of;
use crate::leitstand::trade::erledigen::{NO_COUNTERPART, counterpart, open_of};
use crate::papers::blatt::Skonto;
use crate::platform::db::list::Page;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, Refusal, Refusals};
use crate::rules::fixed::Money;
use crate::rules::verweis::parse_uuid;
use crate::trade::belege::{self, Auswahl, Beleg, Offen, OffenerPosten};

/// Choices of the fewest days overdue, with their labels.
const OVERDUE: [(&str, &str); 5] = [
    ("1", "überfällig"),
    ("8", "seit mehr als 7 Tagen"),
    ("15", "seit mehr als 14 Tagen"),
    ("31", "seit mehr als 30 Tagen"),
    ("61", "seit mehr als 60 Tagen"),
];

/// Prefix of a document's checkbox, before its id. The value of the box is the version to settle.
const TICK: &str = "beleg-";

struct Posten {
    beleg: Beleg,
    skonto: Option<Skonto>,
    /// The goods without a counterpart, in words.
    without: Vec<String>,
}

impl Posten {
    fn of(db: &Snapshot<'_>, beleg: Beleg) -> Result<Posten> {
        Ok(Posten { skonto: beleg.skonto()?, without: open_of(db, &beleg)?, beleg })
    }
}

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let (query, today) = (request.query_of("/api/v1/belege")?, db.tx.today());
    let auswahl =
        Auswahl { unbezahlt: true, faellig_bis: due_by(request, today), ..Auswahl::of(&db.tx, &query)? };
    let unpaid = |page| belege::unpaid(&db.tx, &auswahl, page);
    if let Some(file) = list_file::asked(&query, "offene-posten", unpaid)? {
        return Ok(file);
    }
    let found = found(db, &auswahl, lists::page_of(request))?;
    let kinds = [BelegTyp::Re, BelegTyp::Er].map(|typ| (typ.as_str(), kind(typ)));
    let list = List {
        records: "belege",
        empty: "Nichts offen: Was abgeschlossen ist, ist auch erledigt. Vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "suche", "Partner oder Nummer", "search"))
            (filter_choice(request, "typ", "Welche", kinds))
            (filter_choice(request, "tage", "Fällig", OVERDUE))
        },
        keeps: &[("kunden_id", "zu", "partner")],
        above: html! { (refusal(request, &[])) (tiles(&belege::open_sums(&db.tx, &auswahl, i64::MAX)?)?) },
        around: request.may_change().then_some(in_form as fn(&PageRequest, Markup) -> Markup),
        ..List::of("offen", "Offene Posten", |posten: &Posten| posten.beleg.id, &found)
    };
    lists::page(request, db, list, |table| {
        let table = table
            .text("Nummer", |posten| posten.beleg.beleg_nummer.clone())
            .text("Partner", |posten| posten.beleg.kunden_name.clone())
            .text("Art", |posten| art_of(&posten.beleg).to_owned())
            .text("Fällig", move |posten| due(&posten.beleg, today))
            .text("Skonto", move |posten| optional(posten.skonto, |skonto| in_words(skonto, today)))
            .numbers("Betrag (EUR)", |posten| number(posten.beleg.summe_brutto))
            .with("Es fehlt noch", false, |posten| missing(request, posten));
        match request.may_change() {
            true => table.with("Erledigt", false, |posten| tick(request, &posten.beleg)),
            false => table,
        }
    })
}

fn found(db: &Snapshot<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Records<Posten>> {
    let Records { rows, count } = belege::unpaid(&db.tx, auswahl, page)?;
    let rows = rows.into_iter().map(|OffenerPosten(beleg)| Posten::of(db, beleg)).collect::<Result<_>>()?;
    Ok(Records { rows, count })
}

/// The latest due date to show if only overdue documents are wanted.
fn due_by(request: &PageRequest, today: Day) -> Option<Day> {
    let days = OVERDUE.iter().find(|(days, _)| *days == request.param("tage"))?.0;
    days.parse().ok().map(|days: i64| Day::of_number(today.number() - days))
}

fn kind(typ: BelegTyp) -> &'static str {
    match typ.seite() {
        Seite::Verkauf => "zu bekommen",
        Seite::Einkauf => "zu zahlen",
    }
}

/// The sums of the selected documents; refunds are negative.
fn tiles(sums: &[Offen]) -> Result<Markup> {
    let sum = |typ: BelegTyp, is_overdue: bool| {
        let of = sums.iter().filter(move |sum| sum.typ == typ && (sum.is_overdue || !is_overdue));
        let brutto = of.clone().try_fold(Money::ZERO, |all, sum| all.plus(sum.brutto))?;
        Ok::<_, Failure>((of.map(|sum| sum.count).sum::<i64>(), brutto))
    };
    let typen = [BelegTyp::Re, BelegTyp::Er].into_iter().filter(|typ| sums.iter().any(|sum| sum.typ == *typ));
    let tile = |typ| Ok((kind(typ), sum(typ, false)?, sum(typ, true)?));
    let tiles = typen.map(tile).collect::<Result<Vec<_>>>()?;
    Ok(html! { @if !tiles.is_empty() { div.tiles { @for (kind, (count, all), (late, overdue)) in tiles {
        div.tile {
            (number(count)) " " (kind) " (EUR)" strong { (number(all)) }
            @if late > 0 { "davon überfällig: " (number(late)) " mit " (number(overdue)) }
            @else { "nichts davon überfällig" }
        }
    } } } })
}

/// The due date and whether it is past, in words; without an agreed day the document is due at once.
fn due(beleg: &Beleg, today: Day) -> String {
    let (agreed, due) = (beleg.faellig(), beleg.faellig().unwrap_or(beleg.datum()));
    let day = if agreed.is_some() { due.german() } else { format!("{} (sofort)", due.german()) };
    match today.number() - due.number() {
        ..0 => day,
        0 => format!("{day}, heute"),
        1 => format!("{day}, überfällig seit 1 Tag"),
        days => format!("{day}, überfällig seit {} Tagen", number(days)),
    }
}

fn in_words(Skonto { bis, prozent, betrag }: Skonto, today: Day) -> String {
    let until = format!("{} % bis {}", amount(prozent), bis.german());
    match bis.number() - today.number() {
        ..0 => format!("{until}, vorbei"),
        0 => format!("{until}, nur noch heute: {}", number(betrag)),
        1 => format!("{until}, noch 1 Tag: {}", number(betrag)),
        days => format!("{until}, noch {} Tage: {}", number(days), number(betrag)),
    }
}

/// The goods without a counterpart; the person who settles says whether one is still to come.
fn missing(request: &PageRequest, Posten { beleg, without, .. }: &Posten) -> Markup {
    let name = format!("{NO_COUNTERPART}-{}", beleg.id);
    html! { @if !without.is_empty() { div {
        (counterpart(beleg)) " zu " (without.join(", "))
        @if request.may_change() {
            (parts::tick(&name, request.is_sent(&name),
                html! { "kommt nicht mehr" span.unseen { " zu " (beleg.beleg_nummer) } }))
        }
    } } }
}

/// A checkbox with the version to settle: a document changed meanwhile is not settled.
fn tick(request: &PageRequest, beleg: &Beleg) -> Markup {
    let name = format!("{TICK}{}", beleg.id);
    let label = format!("{} ist erledigt", beleg.beleg_nummer);
    let sent = request.is_sent(&name).then(|| request.field(&name).to_owned());
    html! {
        input type="checkbox" name=(name) value=(sent.clone().unwrap_or(beleg.version.to_string()))
            aria-label=(label) checked[sent.is_some()];
    }
}

fn in_form(request: &PageRequest, table: Markup) -> Markup {
    let inside = html! {
        (table)
        p {
            "Angekreuzte sind dann bezahlt. Es geht für alle zusammen: Lässt sich einer nicht erledigen, \
             bleiben alle, wie sie sind."
        }
    };
    form(request, inside, "Angekreuzte erledigen", false)
}

pub fn settle(request: &PageRequest) -> Result<FirmaChange> {
    let ticked =
        request.form.fields.iter().filter_map(|(name, version)| Some((name.strip_prefix(TICK)?, version)));
    let change = |(id, version): (&str, &String)| {
        let id = parse_uuid(id).ok_or_else(|| Failure::not_found("Diesen Beleg"))?;
        let body = json!({NO_COUNTERPART: request.is_sent(&format!("{NO_COUNTERPART}-{id}"))});
        let path = format!("/api/v1/belege/{id}/erledigen");
        Ok((id, request.change_from(version, Method::Post, &path, &body, String::new(), "")?))
    };
    let changes = ticked.take(ROWS as usize + 1).map(change).collect::<Result<Vec<_>>>()?;
    if changes.len() > ROWS as usize {
        return Err(Refusal::new(Code::AnfrageUngueltig, TOO_MANY).into());
    }
    if changes.is_empty() {
        return Err(Refusal::new(Code::FeldFehlt, "Bitte ankreuzen, was erledigt ist.").into());
    }
    let to = request.of_firma(&format!("offen?{}", request.query_text));
    let done = match changes.len() {
        1 => "Ein Beleg ist erledigt.".to_owned(),
        count => format!("{count} Belege sind erledigt."),
    };
    Ok(Box::new(move |tx| {
        let (mut refused, mut notes) = (Refusals::default(), vec![done.clone()]);
        for (id, change) in &changes {
            match change(tx) {
                Err(Failure::Refused(refusal)) => {
                    let nummer = belege::found(tx, *id)?.beleg_nummer;
                    refused.keep::<()>(Err(Box::new(Refusal { feld: Some(nummer), ..*refusal })));
                }
                done => notes.extend(done?.notes.into_iter().filter(|note| !note.is_empty())),
            }
        }
        let message = "Keiner ist erledigt, denn es geht nicht bei allen:".into();
        refused.into_result().map_err(|refusal| Box::new(Refusal { message, ..*refusal }))?;
        Ok(Done { notes, ..Done::of(Response::Redirect(to.clone())) })
    }))
}

//! Statements that look for goods which a position may meet, and for those that it passes over.

use std::collections::BTreeSet;

use rusqlite::named_params;
use rusqlite::types::ToSql;
use uuid::Uuid;

use super::change::Gruppe;
use super::sql::{OpenGoods, art, column, is_open};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::Seite;
use crate::rules::pairing::{Portion, PortionKind, Reach, Role, Search, SentPosition};

/// Of what a search finds only a part.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// What names a batch, or what does not.
    pub is_named: Option<bool>,
    /// Nothing of an older document than this.
    pub after: Option<Uuid>,
}

pub fn first(tx: &Tx<'_>, gruppe: Gruppe, search: &Search, part: Part) -> Result<Option<Portion>> {
    let role = art(search.kind).1;
    asked(gruppe, search, part.after, &statement_of(search, part, 1), |statement, params| {
        tx.optional(statement, params, |row| match is_open(search.kind) {
            true => Ok(OpenGoods::read(row)?.portion(role)),
            false => Portion::read(row),
        })
    })
}

/// Runs a statement with the parameters of a search that it names; not where nothing is in reach.
fn asked<T: Default>(
    gruppe: Gruppe,
    search: &Search,
    after: Option<Uuid>,
    statement: &str,
    run: impl FnOnce(&str, &[(&str, &dyn ToSql)]) -> Result<T>,
) -> Result<T> {
    let (from, to) = match search.reach {
        Reach::Nothing => return Ok(T::default()),
        Reach::Any => (None, None),
        Reach::Dated { from, to } => (Some(from), Some(to)),
    };
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":artikel": gruppe.artikel,
        ":typ": gruppe.typ(art(search.kind).1),
        ":einkauf": gruppe.seite == Seite::Einkauf,
        ":named": search.named.charge,
        ":number": search.named.number,
        ":charge": search.charge.flatten(),
        ":bezug": search.bezug.map(|(_, beleg)| beleg),
        ":after": after,
        ":from": from,
        ":to": to,
    };
    let named: Vec<_> = params.iter().copied().filter(|(name, _)| statement.contains(name)).collect();
    run(statement, &named)
}

/// The table of a kind, and the column of its document, that of its position, and whether a batch is named.
fn columns_of(kind: PortionKind) -> (&'static str, &'static str, String, String, &'static str) {
    let role = column(art(kind).1);
    match is_open(kind) {
        true => {
            ("lager_offen o", OpenGoods::COLUMNS, "beleg_id".to_owned(), "position".to_owned(), "ist_genannt")
        }
        false => {
            let (beleg, position) = (format!("{role}_id"), format!("{role}_position"));
            ("lager_paar l", Portion::COLUMNS, beleg, position, "(genannt_id is not null)")
        }
    }
}

/// The statement that finds the first portions. Those that name no batch and those that do stand apart in the indexes:
/// the first of each is found at once, whatever others name.
fn statement_of(search: &Search, part: Part, most: i64) -> String {
    let is_open = is_open(search.kind);
    let (table, columns, beleg, position, is_named) = columns_of(search.kind);
    let conditions = conditions_of(search, part.after, &beleg);
    // Pairs of one invoice, and what of one position waits, come in the order in which they were made.
    let last = if is_open { "nr" } else { "id" };
    let direction = if search.newest_first { "desc" } else { "asc" };
    let order = format!("order by {beleg} {direction}, {position} {direction}, {last} {direction}");
    let first_with = |named: &str| {
        format!(
            "select {columns} from {table} where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel
               and {conditions} and {named} {order} limit {most}"
        )
    };
    let mut names = vec![format!("{is_named} = 0")];
    names.extend(search.named.charge.map(|_| "genannt_id = :named".to_owned()));
    names.extend(search.named.number.map(|_| "genannt_id = :number".to_owned()));
    if names.len() == 1 {
        names.push(format!("{is_named} = 1"));
    }
    match part.is_named {
        Some(true) => drop(names.remove(0)),
        Some(false) => names.truncate(1),
        None => {}
    }
    if search.charge.flatten().is_none() && (is_open || search.kind == PortionKind::Pair) {
        let firsts: Vec<_> =
            names.iter().map(|names| format!("select * from ({})", first_with(names))).collect();
        // A limit would have SQLite sort in a table that it makes for it; the first is read without one.
        let limit = if most == 1 { String::new() } else { format!(" limit {most}") };
        return format!("select * from ({}) {order}{limit}", firsts.join(" union all "));
    }
    first_with(&format!("({})", names.join(" or ")))
}

/// What a portion must be like, but for the batch that it names; `beleg` is the column of its document.
fn conditions_of(search: &Search, after: Option<Uuid>, beleg: &str) -> String {
    let mut conditions = match is_open(search.kind) {
        true => "beleg_typ = :typ".to_owned(),
        false => format!("einkauf = :einkauf and art = '{}'", art(search.kind).0),
    };
    conditions.push_str(match search.charge {
        None => "",
        Some(Some(_)) => " and charge_id = :charge",
        Some(None) => " and charge_id is :charge",
    });
    conditions.push_str(match search.has_moved {
        None => "",
        Some(true) => " and zurueck_von = 'gutschrift'",
        Some(false) => " and zurueck_von is null",
    });
    if search.bezug.is_some() {
        conditions.push_str(&format!(" and {beleg} = :bezug"));
    }
    if after.is_some() {
        conditions.push_str(&format!(" and {beleg} >= :after"));
    }
    conditions + &in_reach(search.reach, beleg)
}

fn in_reach(reach: Reach, beleg: &str) -> String {
    let Reach::Dated { .. } = reach else { return String::new() };
    format!(
        " and exists (select 1 from beleg b where b.tenant_id = :tenant and b.id = {beleg}
            and b.beleg_datum between :from and :to and b.ohne_gegenbeleg = 0)"
    )
}

/// Goods that are looked at for one position at most, where it met none of them.
const LOOKED_AT_MAX: i64 = 100;

/// The documents that a position could have met if it named no batch, the oldest first; only the one that it is bound
/// to, if it is.
pub fn in_other_batches(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<Vec<Uuid>> {
    // What takes back looks for goods, wherever they lie and whether somebody named that or not.
    let (kinds, names, batch) = match entry.role {
        Role::Credit => (&[PortionKind::OpenInvoice, PortionKind::Pair][..], &[0, 1][..], "charge_id"),
        Role::Invoice => (&[PortionKind::OpenDelivery][..], &[1][..], "genannt_id"),
        _ => (&[PortionKind::OpenInvoice][..], &[1][..], "genannt_id"),
    };
    let mut found = BTreeSet::new();
    for (kind, name) in kinds.iter().flat_map(|kind| names.iter().map(move |name| (*kind, name))) {
        let role = art(kind).1;
        let bezug = entry.bezug.filter(|bezug| bezug.roles.contains(&Some(role)));
        let bezug = bezug.map(|bezug| (role, bezug.beleg));
        let search = Search { bezug, reach: entry.reach, ..Search::oldest(kind, entry.named) };
        let (table, _, beleg, _, is_named) = columns_of(kind);
        let conditions = conditions_of(&Search { reach: Reach::Any, ..search }, None, &beleg);
        let statement = format!(
            "select o.beleg from (select {beleg} as beleg from {table}
               where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel and {conditions}
                 and {is_named} = {name} and {batch} is not :named and {batch} is not :number
               order by {beleg} limit {LOOKED_AT_MAX}) o where true{}",
            in_reach(search.reach, "o.beleg")
        );
        found.extend(asked(gruppe, &search, None, &statement, |statement, params| {
            tx.all(statement, params, |row| row.get::<_, Uuid>(0))
        })?);
    }
    Ok(found.into_iter().collect())
}

/// The oldest documents that a position could have met but for its reach, of its oldest goods: one that is closed, and
/// one that is dated too far from it.
pub fn passed_over(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<[Option<String>; 2]> {
    let Reach::Dated { .. } = entry.reach else { return Ok([None, None]) };
    let delivers = entry.role == Role::Delivery;
    let kind = if delivers { PortionKind::OpenInvoice } else { PortionKind::OpenDelivery };
    let goods = statement_of(&Search::oldest(kind, entry.named), Part::default(), LOOKED_AT_MAX);
    let statement = format!(
        "select b.ohne_gegenbeleg, b.beleg_nummer from ({goods}) o
           join beleg b on b.tenant_id = :tenant and b.id = o.beleg_id
         where b.ohne_gegenbeleg = 1 or b.beleg_datum not between :from and :to order by b.id desc"
    );
    let search = Search { reach: entry.reach, ..Search::oldest(kind, entry.named) };
    let mut found = [None, None];
    asked(gruppe, &search, None, &statement, |statement, params| {
        tx.each(statement, params, |row| {
            let is_closed: bool = row.get(0)?;
            found[usize::from(!is_closed)] = Some(row.get(1)?);
            Ok(())
        })
    })?;
    Ok(found)
}

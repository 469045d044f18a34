//! Statements that look for goods which a position may meet, and for those that it passes over.

use std::collections::BTreeSet;

use rusqlite::named_params;
use rusqlite::types::ToSql;
use uuid::Uuid;

use super::change::Gruppe;
use super::sql::{OpenGoods, art, column, compartment, is_open};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{
    Named, Portion, PortionKind, PositionKey, Reach, Role, Search, SentPosition, Stage, Target,
};
use crate::trade::belege::genannt::{of_same_order, position_names};

/// Limits a search to a part of what it would find.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// Only goods that name a batch, or only those that do not.
    pub is_named: Option<bool>,
    /// Nothing of an older document than this.
    pub after: Option<Uuid>,
}

/// The goods of a kind and a group, as the tables have them.
struct Goods {
    gruppe: Gruppe,
    kind: PortionKind,
    role: Role,
    typ: BelegTyp,
    is_purchase: bool,
    table: &'static str,
    columns: &'static str,
    /// The columns by which they are in order: document, position, and the order in which they were made.
    order: [&'static str; 3],
}

/// Conditions or a whole statement, with the values of the parameters.
#[derive(Default)]
struct Sql<'v> {
    text: String,
    params: Vec<(&'static str, &'v dyn ToSql)>,
}

/// Finds the first of the goods that a search is for.
pub fn first(tx: &Tx<'_>, gruppe: Gruppe, search: &Search, part: Part) -> Result<Option<Portion>> {
    if search.reach == Reach::Nothing {
        return Ok(None);
    }
    let goods = Goods::of(gruppe, search.kind);
    let statement = goods.first(search, &part, 1);
    tx.optional(&statement.text, &statement.params, |row| match is_open(search.kind) {
        true => Ok(OpenGoods::read(row)?.portion(goods.role)),
        false => Portion::read(row),
    })
}

impl Goods {
    fn of(gruppe: Gruppe, kind: PortionKind) -> Goods {
        let role = art(kind).1;
        let (table, columns) = match is_open(kind) {
            true => ("lager_offen o", OpenGoods::COLUMNS),
            false => ("lager_paar l", Portion::COLUMNS),
        };
        let order = match role {
            _ if is_open(kind) => ["beleg_id", "position", "nr"],
            Role::Delivery => ["lieferung_id", "lieferung_position", "id"],
            Role::Invoice => ["rechnung_id", "rechnung_position", "id"],
            Role::Return => ["rueckgabe_id", "rueckgabe_position", "id"],
            Role::Credit => ["gutschrift_id", "gutschrift_position", "id"],
        };
        let (typ, is_purchase) = (gruppe.typ(role), gruppe.seite == Seite::Einkauf);
        Goods { gruppe, kind, role, typ, is_purchase, table, columns, order }
    }

    /// Selects the first portions, `most` of them. In the indexes those that name no batch and those that
    /// name one are apart: the first of each is found at once, whatever the others name.
    fn first<'v>(&'v self, search: &'v Search, part: &'v Part, most: i64) -> Sql<'v> {
        let Goods { gruppe, kind, columns, order: [beleg, position, last], .. } = self;
        let Sql { text: conditions, mut params } = self.conditions(search, &part.after);
        params.extend([(":kunde", &gruppe.kunde as &dyn ToSql), (":artikel", &gruppe.artikel)]);
        let direction = if search.newest_first { "desc" } else { "asc" };
        let order = format!("order by {beleg} {direction}, {position} {direction}, {last} {direction}");
        let table = self.table(search);
        let first_with = |named: &str| {
            format!(
                "select {columns} from {table} where tenant_id = :tenant and kunde_id = :kunde
                   and artikel_id = :artikel and {conditions} and {named} {order} limit {most}"
            )
        };
        let names = self.names(search, part, &mut params);
        if search.charge.flatten().is_some() || !is_open(*kind) && *kind != PortionKind::Pair {
            return Sql { text: first_with(&format!("({})", names.join(" or "))), params };
        }
        let firsts: Vec<_> =
            names.iter().map(|named| format!("select * from ({})", first_with(named))).collect();
        // With a limit SQLite would sort in a temporary table; the first row is read without one.
        let limit = if most == 1 { String::new() } else { format!(" limit {most}") };
        Sql { text: format!("select * from ({}) {order}{limit}", firsts.join(" union all ")), params }
    }

    /// The table; by the position of another role, if that is what is named.
    fn table(&self, search: &Search) -> String {
        match search.bezug.filter(|bezug| !is_open(self.kind) && bezug.role != art(self.kind).1) {
            Some(bezug) => format!("{} indexed by lager_paar_{}", self.table, column(bezug.role)),
            None => self.table.to_owned(),
        }
    }

    /// Conditions for each part of an index in which goods lie that name no batch, or one that fits.
    fn names<'v>(
        &self,
        search: &'v Search,
        part: &Part,
        params: &mut Vec<(&'static str, &'v dyn ToSql)>,
    ) -> Vec<String> {
        let mut names = Vec::new();
        if part.is_named != Some(true) {
            names.extend(self.compartments(false, search.stage));
        }
        if part.is_named == Some(false) {
            return names;
        }
        let of_name = |name: &str| match search.stage {
            Some(stage) => format!("genannt_id = {name} and fach = {}", compartment(true, stage)),
            None => format!("genannt_id = {name}"),
        };
        if let Some(charge) = &search.named.charge {
            names.push(of_name(":named"));
            params.push((":named", charge));
        }
        if let Some(number) = &search.named.number {
            names.push(of_name(":number"));
            params.push((":number", number));
        }
        if search.named.id().is_none() {
            names.extend(self.compartments(true, search.stage));
        }
        names
    }

    /// The conditions under which goods name a batch, or none.
    fn compartments(&self, is_named: bool, stage: Option<Stage>) -> Vec<String> {
        if !is_open(self.kind) {
            return vec![format!("(genannt_id is not null) = {}", i64::from(is_named))];
        }
        let stages = Stage::ALL.into_iter().filter(|other| stage.is_none_or(|stage| stage == *other));
        stages.map(|stage| format!("fach = {}", compartment(is_named, stage))).collect()
    }

    /// What a portion must be like, but for the batch that it names.
    fn conditions<'v>(&'v self, search: &'v Search, after: &'v Option<Uuid>) -> Sql<'v> {
        let (mut sql, beleg) = (Sql::default(), self.order[0]);
        match is_open(self.kind) {
            true => sql.add("beleg_typ = :typ", ":typ", &self.typ),
            false => {
                sql.add("einkauf = :einkauf", ":einkauf", &self.is_purchase);
                sql.text.push_str(&format!(" and art = '{}'", art(self.kind).0));
            }
        }
        match &search.charge {
            None => {}
            Some(charge @ Some(_)) => sql.add(" and charge_id = :charge", ":charge", charge),
            Some(none) => sql.add(" and charge_id is :charge", ":charge", none),
        }
        if let Some(exactly) = &search.exactly {
            sql.add(" and gesamt = :exactly", ":exactly", exactly);
        }
        sql.text.push_str(match search.has_moved {
            None => "",
            Some(true) => " and zurueck_von = 'gutschrift'",
            Some(false) => " and zurueck_von is null",
        });
        if let Some(bezug) = &search.bezug {
            let [beleg, position] = match is_open(self.kind) {
                true => ["beleg_id", "position"].map(str::to_owned),
                false => ["id", "position"].map(|part| format!("{}_{part}", column(bezug.role))),
            };
            sql.add(&format!(" and {beleg} = :bezug"), ":bezug", &bezug.beleg);
            if let Some(number) = &bezug.position {
                sql.add(&format!(" and {position} = :bezug_position"), ":bezug_position", number);
            }
        }
        if let Some(after) = after {
            sql.add(&format!(" and {beleg} >= :after"), ":after", after);
        }
        sql.add_reach(&search.reach, beleg);
        sql
    }
}

impl<'v> Sql<'v> {
    fn add(&mut self, text: &str, name: &'static str, value: &'v dyn ToSql) {
        self.text.push_str(text);
        self.params.push((name, value));
    }

    /// The document in the column `beleg` must be in reach.
    fn add_reach(&mut self, reach: &'v Reach, beleg: &str) {
        let Reach::Dated { from, to } = reach else { return };
        self.text.push_str(&format!(
            " and exists (select 1 from beleg b where b.tenant_id = :tenant and b.id = {beleg}
                and b.beleg_datum between :from and :to and b.ohne_gegenbeleg = 0)"
        ));
        self.params.extend([(":from", from as &dyn ToSql), (":to", to)]);
    }
}

/// Returns the pair made last with what a target names, up to one that either side names or that a final invoice shows as
/// a whole (D38), in a batch that fits.
pub fn proposed(tx: &Tx<'_>, gruppe: Gruppe, named: Named, target: &Target) -> Result<Option<Portion>> {
    let role = column(target.role);
    let statement = format!(
        "select {} from lager_paar l indexed by lager_paar_{role}
           cross join beleg_position d on d.tenant_id = l.tenant_id and d.beleg_id = l.lieferung_id
             and d.position = l.lieferung_position
           cross join beleg_position i on i.tenant_id = l.tenant_id and i.beleg_id = l.rechnung_id
             and i.position = l.rechnung_position
           cross join beleg b on b.tenant_id = l.tenant_id and b.id = l.rechnung_id
         where l.tenant_id = :tenant and l.{role}_id = :beleg and (:position is null or l.{role}_position = :position)
           and l.artikel_id = :artikel and l.art = 'paar' and not {} and not {} and not {}
           and (b.status = 'offen' or d.lager_menge > (select sum(x.menge) from lager_paar x
             where x.tenant_id = l.tenant_id and x.lieferung_id = l.lieferung_id
               and x.lieferung_position = l.lieferung_position and x.rechnung_id = l.rechnung_id
               and x.rechnung_position = l.rechnung_position))
           and (:name is null or l.genannt_id is null or l.genannt_id is :charge or l.genannt_id is :number)
         order by l.id desc limit 1",
        Portion::COLUMNS,
        position_names!("d", "i"),
        position_names!("i", "d"),
        of_same_order!("d", "i")
    );
    let params = named_params! {
        ":beleg": target.beleg,
        ":position": target.position,
        ":artikel": gruppe.artikel,
        ":name": named.id(),
        ":charge": named.charge,
        ":number": named.number,
    };
    tx.optional(&statement, params, Portion::read)
}

/// Returns what was taken back last of that which a target names, by a return or a credit, as the position is, that names
/// nothing (D38). What a return and a credit have settled with each other stays so for a return.
pub fn taken_back(
    tx: &Tx<'_>,
    gruppe: Gruppe,
    entry: &SentPosition,
    (target, charge): (&Target, Option<Option<Uuid>>),
) -> Result<Option<Portion>> {
    let (of, taker) = (column(target.role), column(entry.role));
    let statement = format!(
        "select {} from lager_paar l indexed by lager_paar_{of}
           cross join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.{taker}_id
             and p.position = l.{taker}_position and p.bezug_beleg_id is null
         where l.tenant_id = :tenant and l.{of}_id = :beleg and (:position is null or l.{of}_position = :position)
           and l.artikel_id = :artikel and (l.gutschrift_id is null or :is_credit)
           and (:is_anywhere or l.charge_id is :charge)
         order by l.id desc limit 1",
        Portion::COLUMNS
    );
    let params = named_params! {
        ":beleg": target.beleg,
        ":position": target.position,
        ":artikel": gruppe.artikel,
        ":is_credit": entry.role == Role::Credit,
        ":is_anywhere": charge.is_none(),
        ":charge": charge.flatten(),
    };
    tx.optional(&statement, params, Portion::read)
}

/// Returns how much of a return waits for its credit, or the other way round.
pub fn waits(tx: &Tx<'_>, entry: &SentPosition) -> Result<Quantity> {
    let (own, other) = match entry.role {
        Role::Return => ("rueckgabe", "gutschrift"),
        _ => ("gutschrift", "rueckgabe"),
    };
    let statement = format!(
        "select coalesce(sum(menge), 0) from lager_paar where tenant_id = :tenant and {own}_id = :beleg
           and {own}_position = :position and {other}_id is null and art <> 'zurueckgenommen'
           and art <> 'mehr_aufgehoben'"
    );
    let PositionKey { beleg, position } = entry.place;
    tx.one(&statement, named_params! {":beleg": beleg, ":position": position}, |row| row.get(0))
}

/// Returns the positions of a partner's deliveries, or invoices, that were made from the same order as an invoice, or a
/// delivery; the oldest first.
pub fn of_same_order(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<Vec<Target>> {
    let role = if entry.role == Role::Delivery { Role::Invoice } else { Role::Delivery };
    let statement = format!(
        "select d.beleg_id, d.position from beleg_position p
           cross join beleg_fluss f on f.tenant_id = p.tenant_id and f.beleg_id = p.beleg_id and f.position_id = p.id
           cross join beleg_fluss g on g.tenant_id = f.tenant_id and g.von_beleg_id = f.von_beleg_id
             and g.von_position_id = f.von_position_id
           cross join beleg_position d on d.tenant_id = g.tenant_id and d.id = g.position_id and d.menge > 0
             and d.lager_buchen = 1
           cross join beleg b on b.tenant_id = d.tenant_id and b.id = d.beleg_id and b.kunde_id = :kunde
             and b.beleg_typ = :typ and b.status <> 'storniert'
         where p.tenant_id = :tenant and p.beleg_id = :beleg and p.position = :position
         order by d.beleg_id, d.position limit {LOOKED_AT_MAX}"
    );
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":typ": gruppe.typ(role),
        ":beleg": entry.place.beleg,
        ":position": entry.place.position,
    };
    tx.all(&statement, params, |row| Ok(Target { role, beleg: row.get(0)?, position: Some(row.get(1)?) }))
}

/// Goods that are examined for a position that met none of them, at most.
const LOOKED_AT_MAX: i64 = 100;

/// Returns what a return or a credit that names nothing took back of an invoice, and for which it waits for a position
/// like this: of the oldest that wait, the first.
pub fn waiting(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<Option<Portion>> {
    let kind =
        if entry.role == Role::Return { PortionKind::WaitingCredit } else { PortionKind::InvoiceReturned };
    let (art, role) = art(kind);
    let role = column(role);
    let statement = format!(
        "select {} from (select l.id as nr from lager_paar l where tenant_id = :tenant and kunde_id = :kunde
             and einkauf = :einkauf and artikel_id = :artikel and art = '{art}' and zurueck_von is not null
             and {role}_id <> :own order by {role}_id, {role}_position limit {LOOKED_AT_MAX}) w
           cross join lager_paar l on l.tenant_id = :tenant and l.id = w.nr
           cross join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.{role}_id
             and p.position = l.{role}_position and p.bezug_beleg_id is null
         where (:name is null or l.genannt_id is null or l.genannt_id is :charge or l.genannt_id is :number) limit 1",
        Portion::COLUMNS
    );
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":einkauf": gruppe.seite == Seite::Einkauf,
        ":artikel": gruppe.artikel,
        ":own": entry.place.beleg,
        ":name": entry.named.id(),
        ":charge": entry.named.charge,
        ":number": entry.named.number,
    };
    tx.optional(&statement, params, Portion::read)
}

/// Lists the documents that a position could have met if it named no batch, oldest first; if it is bound to a
/// document, only that one.
pub fn in_other_batches(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<Vec<Uuid>> {
    if entry.reach == Reach::Nothing {
        return Ok(Vec::new());
    }
    // What takes back looks for goods, wherever they lie and whether somebody named that or not.
    let (kinds, names, batch) = match entry.role {
        Role::Credit => (&[PortionKind::OpenInvoice, PortionKind::Pair][..], &[0, 1][..], "charge_id"),
        Role::Invoice => (&[PortionKind::OpenDelivery][..], &[1][..], "genannt_id"),
        _ => (&[PortionKind::OpenInvoice][..], &[1][..], "genannt_id"),
    };
    let mut found = BTreeSet::new();
    let each = kinds.iter().flat_map(|kind| names.iter().map(move |name| (*kind, *name == 1)));
    let each = each.flat_map(|(kind, is_named)| {
        let compartments = Goods::of(gruppe, kind).compartments(is_named, None);
        compartments.into_iter().map(move |is_there| (kind, is_there))
    });
    for (kind, is_there) in each {
        let goods = Goods::of(gruppe, kind);
        let Goods { role, table, order: [beleg, ..], .. } = goods;
        let bezug = entry.bezug.filter(|bezug| bezug.roles.contains(&Some(role)));
        let bezug = bezug.map(|bezug| bezug.to(role));
        let search = Search { bezug, ..Search::oldest(kind, entry.named) };
        let Sql { text: conditions, params } = goods.conditions(&search, &None);
        let text = format!(
            "select o.beleg from (select {beleg} as beleg from {table}
               where tenant_id = :tenant and kunde_id = :kunde and artikel_id = :artikel and {conditions}
                 and {is_there} and {batch} is not :named and {batch} is not :number
               order by {beleg} limit {LOOKED_AT_MAX}) o where true"
        );
        let mut statement = Sql { text, params };
        statement.params.extend([(":kunde", &gruppe.kunde as &dyn ToSql), (":artikel", &gruppe.artikel)]);
        statement
            .params
            .extend([(":named", &entry.named.charge as &dyn ToSql), (":number", &entry.named.number)]);
        statement.add_reach(&entry.reach, "o.beleg");
        found.extend(tx.all(&statement.text, &statement.params, |row| row.get::<_, Uuid>(0))?);
    }
    Ok(found.into_iter().collect())
}

/// Finds the oldest documents that a position could have met but for its reach, among its oldest goods: one
/// that is closed, and one whose date is too far away.
pub fn passed_over(tx: &Tx<'_>, gruppe: Gruppe, entry: &SentPosition) -> Result<[Option<String>; 2]> {
    let Reach::Dated { from, to } = &entry.reach else { return Ok([None, None]) };
    let delivers = entry.role == Role::Delivery;
    let kind = if delivers { PortionKind::OpenInvoice } else { PortionKind::OpenDelivery };
    let (goods, search, part) = (Goods::of(gruppe, kind), Search::oldest(kind, entry.named), Part::default());
    let Sql { text: oldest, mut params } = goods.first(&search, &part, LOOKED_AT_MAX);
    let statement = format!(
        "select b.ohne_gegenbeleg, b.beleg_nummer from ({oldest}) o
           join beleg b on b.tenant_id = :tenant and b.id = o.beleg_id
         where b.ohne_gegenbeleg = 1 or b.beleg_datum not between :from and :to order by b.id desc"
    );
    params.extend([(":from", from as &dyn ToSql), (":to", to)]);
    let mut found = [None, None];
    tx.each(&statement, &params, |row| {
        let is_closed: bool = row.get(0)?;
        found[usize::from(!is_closed)] = Some(row.get(1)?);
        Ok(())
    })?;
    Ok(found)
}

//! Checks that each series of numbers is complete.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

/// The fault: deletes a document and thus its number; a final one, if there is any.
pub fn take_out(database: &Connection) {
    let triggers = "select group_concat('drop trigger ' || name, ';') from sqlite_schema
        where type = 'trigger' and tbl_name = 'beleg'";
    let drop: String = database.query_row(triggers, [], |row| row.get(0)).unwrap();
    database.execute_batch(&format!("pragma foreign_keys = off; {drop}")).unwrap();
    let row = "delete from beleg where (tenant_id, id) in (select tenant_id, id from beleg
        order by status = 'abgeschlossen' desc, tenant_id, beleg_nummer limit 1)";
    assert_eq!(database.execute(row, []), Ok(1));
}

/// Checks that each series has all numbers up to its last, including the answered ones.
pub fn look(database: &Connection, answered: &BTreeSet<(i64, String)>) -> Result<(), String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let stored = numbers(database).map_err(failed)?;
    let mut series: BTreeMap<(i64, String), BTreeSet<i64>> = BTreeMap::new();
    for (company, number) in &stored {
        let (name, nr) = number.rsplit_once('-').ok_or_else(|| format!("{number} has no series"))?;
        let nr = nr.parse().map_err(|_| format!("{number} has no number"))?;
        series.entry((*company, name.to_owned())).or_default().insert(nr);
    }
    let mut last = last_numbers(database).map_err(failed)?;
    for ((company, name), numbers) in series {
        let counted = last.remove(&(company, name.clone())).unwrap_or_default();
        let highest = counted.max(numbers.last().copied().unwrap_or_default());
        let missing: Vec<i64> = (1..=highest).filter(|nr| !numbers.contains(nr)).collect();
        if counted != highest || !missing.is_empty() {
            return Err(format!(
                "{name} of company {company}: the counter says {counted}, of {highest} {missing:?} are missing"
            ));
        }
    }
    if let Some((series, counted)) = last.first_key_value() {
        return Err(format!("{series:?}: the counter says {counted}, and there is none"));
    }
    let lost = answered.iter().find(|number| !stored.contains(*number));
    lost.map_or(Ok(()), |(company, number)| {
        Err(format!("{number} of company {company} was answered and is not there"))
    })
}

fn numbers(database: &Connection) -> rusqlite::Result<BTreeSet<(i64, String)>> {
    let sql = "select tenant_id, beleg_nummer from beleg
        union all select tenant_id, wiegeschein_nr from wiegung
        union all select tenant_id, pa_nummer from produktionsauftrag
        union all select tenant_id, belegnummer from annahmeschein
        union all select tenant_id, charge_nr from charge where charge_nr like 'CH-%'";
    database.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The last number of each series, by company and a name such as RE-2026.
fn last_numbers(database: &Connection) -> rusqlite::Result<BTreeMap<(i64, String), i64>> {
    let sql = "select tenant_id, reihe || '-' || jahr, letzte from nummernkreis";
    database.prepare(sql)?.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?.collect()
}

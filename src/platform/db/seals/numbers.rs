//! Business numbers without gaps: the counter is incremented in the transaction that uses it (D5).

use rusqlite::named_params;

use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::number::Reihe;

pub fn next(tx: &WriteTx<'_>, reihe: Reihe, year: i64) -> Result<String> {
    let params = named_params! {":reihe": reihe.as_str(), ":jahr": year};
    // For a returning clause SQLite builds a table each time, which costs more than a second statement.
    tx.execute(
        "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (:tenant, :reihe, :jahr, 1)
         on conflict (tenant_id, reihe, jahr) do update set letzte = letzte + 1",
        params,
    )?;
    let last =
        "select letzte from nummernkreis where tenant_id = :tenant and reihe = :reihe and jahr = :jahr";
    let number: i64 = tx.one(last, params, |row| row.get(0))?;
    Ok(reihe.format(year, number))
}

/// Advances a series past one of our numbers that an import brought in, so that it is never assigned again.
pub fn reserve(tx: &WriteTx<'_>, reihe: Reihe, text: &str) -> Result<()> {
    let Some((year, number)) = reihe.parse(text) else { return Ok(()) };
    if reihe.format(year, number) != text {
        // Spelled differently, it is another number.
        return Ok(());
    }
    tx.execute(
        "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (:tenant, :reihe, :jahr, :nummer)
         on conflict (tenant_id, reihe, jahr) do update set letzte = max(letzte, :nummer)",
        named_params! {":reihe": reihe.as_str(), ":jahr": year, ":nummer": number},
    )?;
    Ok(())
}

//! Conditions in SQL on who names whom (D38).

/// SQL: whether the position `who` names the position `whom` or its document.
pub fn position_names(who: &str, whom: &str) -> String {
    format!(
        "coalesce({who}.bezug_beleg_id = {whom}.beleg_id
           and ({who}.bezug_position_id is null or {who}.bezug_position_id = {whom}.id), 0)"
    )
}

/// Whether a position of a delivery and one of an invoice were made from the same order, in SQL: they count as named.
pub fn of_same_order(delivery: &str, invoice: &str) -> String {
    format!(
        "exists (select 1 from beleg_fluss f
           join beleg_fluss g on g.tenant_id = f.tenant_id and g.beleg_id = {delivery}.beleg_id
             and g.position_id = {delivery}.id and g.von_position_id = f.von_position_id
           where f.tenant_id = {invoice}.tenant_id and f.beleg_id = {invoice}.beleg_id and f.position_id = {invoice}.id)"
    )
}

//! Conditions in SQL on who names whom, as text of the compiler: tables of a hand-over are constants (D36, D38).

/// Whether the position `who` names the position `whom` or its document.
macro_rules! position_names {
    ($who:literal, $whom:literal) => {
        concat!(
            "coalesce(",
            $who,
            ".bezug_beleg_id = ",
            $whom,
            ".beleg_id and coalesce(",
            $who,
            ".bezug_position_id = ",
            $whom,
            ".id, 1), 0)"
        )
    };
}

/// Whether a position of a delivery and one of an invoice were made from the same order: the invoice counts as naming the
/// delivery.
macro_rules! of_same_order {
    ($delivery:literal, $invoice:literal) => {
        concat!(
            "exists (select 1 from beleg_fluss f join beleg_fluss g on g.tenant_id = f.tenant_id and g.beleg_id = ",
            $delivery,
            ".beleg_id and g.position_id = ",
            $delivery,
            ".id and g.von_position_id = f.von_position_id where f.tenant_id = ",
            $invoice,
            ".tenant_id and f.beleg_id = ",
            $invoice,
            ".beleg_id and f.position_id = ",
            $invoice,
            ".id)"
        )
    };
}

pub(crate) use {of_same_order, position_names};

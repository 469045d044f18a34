//! Structs and the columns they stand in, declared once: the list of a select, reading a row and what is written all
//! follow from it.

use rusqlite::Row;
use rusqlite::types::{FromSqlError, ToSql, ValueRef};
use serde::Serialize;

use super::columns::Column;
use crate::platform::failure::Result;
use crate::rules::felder::Aenderung;

/// Columns and their values, as the statements of [`super::tx::WriteTx`] take them.
pub type Values<'v> = Vec<(&'static str, &'v dyn ToSql)>;

/// What a row is read as: [`record!`] and [`columns!`] say so.
pub trait Record: Sized {
    /// The record of a row that begins with its columns.
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self>;

    /// Writes such a row as JSON. [`record!`] does so without making the record.
    fn write(row: &Row<'_>, json: &mut Vec<u8>) -> Result<()>
    where
        Self: Serialize,
    {
        serialize(json, &Self::of_row(row)?)
    }
}

impl Record for Aenderung {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Aenderung> {
        let felder = serde_json::from_str(row.get_ref(2)?.as_str()?).map_err(FromSqlError::other)?;
        Ok(Aenderung { am: row.get(0)?, key_id: row.get(1)?, felder })
    }
}

/// Which columns of a record are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Those of a new row.
    All,
    /// Those that a change can touch.
    Mutable,
}

pub fn serialize(json: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    Ok(serde_json::to_writer(json, value)?)
}

/// Writes an object of JSON, whose members each have a comma in front.
pub fn object(json: &mut Vec<u8>, add_members: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let begin = json.len();
    add_members(json)?;
    if let Some(comma) = json.get_mut(begin) {
        *comma = b'{';
    }
    json.push(b'}');
    Ok(())
}

/// Adds a member to an object; `name` has its comma, quotes and colon.
pub fn member(json: &mut Vec<u8>, name: &str, value: &impl Serialize) -> Result<()> {
    json.extend_from_slice(name.as_bytes());
    serialize(json, value)
}

/// What stands behind the name of a member that is null.
const NULL: &str = "null";

/// Adds a column to an object of JSON; `null` is the member that it is where it holds nothing.
pub fn column<T: Column>(json: &mut Vec<u8>, null: &str, row: &Row<'_>, at: usize) -> rusqlite::Result<()> {
    match row.get_ref(at)? {
        ValueRef::Null if T::CAN_BE_NULL => json.extend_from_slice(null.as_bytes()),
        value => {
            let (name, _) = null.split_at(null.len() - NULL.len());
            json.extend_from_slice(name.as_bytes());
            T::write(value, json)?;
        }
    }
    Ok(())
}

/// Declares a struct together with the columns it stands in:
///
/// ```text
/// record! {
///     /// A partner.
///     #[derive(Serialize)]
///     pub struct Kunde in kunde as k {
///         id: Uuid = fixed,                               written with a new row, and never again
///         name: String = mutable,                         written with a new row and with each change
///         created_at: Instant = fixed as angelegt_am,     the column has another name
///         bestand: Quantity,                              only read: something else writes it
///         ort_name: Option<String> = "coalesce(o.name, k.ort)",   an expression
///         typen: Typen = |ist_kunde| { Typen { kunde: ist_kunde } },  no column; it follows from those that are named
///         rest: Option<Quantity> = { None },              something else works it out
///     } with {
///         ist_kunde: mutable = typen.kunde,   a column that is no field, and what is written there
///     }
/// }
/// ```
///
/// Its fields are public. `in` is a table that the record is written to; `from` one that it is only read from. The rest
/// of the slice gets:
///
/// - `COLUMNS`, the list of a select that names the table by its alias; an expression may name what the select joins;
/// - `read(&row)`, the struct of a row that begins with these columns;
/// - [`Record`]: a row goes into a list field by field, as serde would write the struct; of its attributes `skip` and
///   `skip_serializing_if` are known;
/// - `values(part)`, its columns and values for insert and update.
///
/// `tests/columns.rs` names a column of the table that is not declared. With `from` in the place of `in` the struct is
/// only read: `pub struct Dokument from beleg as b`. With `of` it is none of a list either, and its columns may be of any
/// type.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $record:ident $way:ident $table:ident as $alias:ident { $($fields:tt)* }
        $(with $with:tt)?) => {
        $crate::platform::db::record::record!(@field [$(#[$meta])* $record $way $table as $alias $(with $with)?]
            {} {} {} $($fields)*);
    };
    // One field after the other goes to the fields, and either to the columns or to what follows from them.
    (@field $head:tt { $($fields:tt)* } $columns:tt { $($computed:tt)* }
        $(#[$($meta:tt)*])* $field:ident : $type:ty = $(|$($of:ident),+|)? { $value:expr }, $($rest:tt)*) => {
        $crate::platform::db::record::record!(@field $head
            { $($fields)* $(#[$($meta)*])* $field: $type = { $($($of)+)? } $value, } $columns
            { $($computed)* $field: $value, } $($rest)*);
    };
    (@field $head:tt { $($fields:tt)* } { $($columns:tt)* } $computed:tt
        $(#[$($meta:tt)*])* $field:ident : $type:ty $(= $kind:tt $(as $column:ident)?)?, $($rest:tt)*) => {
        $crate::platform::db::record::record!(@field $head { $($fields)* $(#[$($meta)*])* $field: $type = column, }
            { $($columns)* $field $(: $kind $(as $column)?)?, } $computed $($rest)*);
    };
    (@field [$(#[$meta:meta])* $record:ident of $table:ident as $alias:ident $(with $with:tt)?]
        { $($(#[$($attribute:tt)*])* $field:ident : $type:ty = $source:tt $($value:expr)?,)* }
        $columns:tt $computed:tt) => {
        $(#[$meta])*
        pub struct $record { $($(#[$($attribute)*])* pub $field: $type,)* }
        $crate::platform::db::record::columns! { $record from $table as $alias $columns $(with $with)? => $computed }
    };
    (@field [$(#[$meta:meta])* $record:ident $way:ident $table:ident as $alias:ident $(with $with:tt)?]
        { $($(#[$($attribute:tt)*])* $field:ident : $type:ty = $source:tt $($value:expr)?,)* }
        $columns:tt $computed:tt) => {
        $(#[$meta])*
        pub struct $record { $($(#[$($attribute)*])* pub $field: $type,)* }
        $crate::platform::db::record::columns! { $record $way $table as $alias $columns $(with $with)? => $computed
            listed { $($(#[$($attribute)*])* $field: $type = $source $($value)?,)* } }
    };
    // The columns stand in `At`, in their order.
    (@listed { $($(#[$($attribute:tt)*])* $field:ident : $type:ty = $source:tt $($value:expr)?,)* }) => {
        fn write(row: &rusqlite::Row<'_>, json: &mut Vec<u8>) -> $crate::platform::failure::Result<()> {
            $crate::platform::db::record::object(json, |json| {
                $($crate::platform::db::record::record!(@member row json
                    $(#[$($attribute)*])* $field: $type = $source $($value)?);)*
                Ok(())
            })
        }
    };
    (@member $row:ident $json:ident #[serde(skip)] $($rest:tt)*) => {};
    (@member $row:ident $json:ident #[serde(skip_serializing_if = "Option::is_none")]
        $field:ident : $type:ty = $of:tt $value:expr) => {
        let value: $type = $crate::platform::db::record::record!(@value $row $of $value);
        if value.is_some() {
            $crate::platform::db::record::member($json, concat!(",\"", stringify!($field), "\":"), &value)?;
        }
    };
    (@member $row:ident $json:ident #[$($attribute:tt)*] $($rest:tt)*) => {
        $crate::platform::db::record::record!(@member $row $json $($rest)*)
    };
    (@member $row:ident $json:ident $field:ident : $type:ty = column) => {
        let null = concat!(",\"", stringify!($field), "\":null");
        $crate::platform::db::record::column::<$type>($json, null, $row, At::$field as usize)?;
    };
    (@member $row:ident $json:ident $field:ident : $type:ty = $of:tt $value:expr) => {
        let value: $type = $crate::platform::db::record::record!(@value $row $of $value);
        $crate::platform::db::record::member($json, concat!(",\"", stringify!($field), "\":"), &value)?;
    };
    (@value $row:ident { $($of:ident)* } $value:expr) => {{
        $(let $of = $row.get(At::$of as usize)?;)*
        $value
    }};
}

/// Declares which columns a struct of another file is read from; its entries are those of [`record!`], without types,
/// and what is no column stands behind `=>`:
///
/// ```text
/// columns! {
///     Portion from lager_paar as l {
///         menge,
///         artikelnr: "a.artikelnr",
///         bemerkung: borrowed "l.bemerkung",  an optional text that is not copied
///     } => {
///         rest: Rest::of(menge),
///     }
/// }
/// ```
///
/// The compiler names a field that is neither.
macro_rules! columns {
    (@select $alias:ident $name:ident) => { concat!(stringify!($alias), ".", stringify!($name)) };
    (@select $alias:ident $name:ident $sql:literal) => { $sql };
    (@select $alias:ident $name:ident borrowed $sql:literal) => { $sql };
    (@select $alias:ident $name:ident $kind:ident) => { concat!(stringify!($alias), ".", stringify!($name)) };
    (@select $alias:ident $name:ident $kind:ident as $column:ident) => {
        concat!(stringify!($alias), ".", stringify!($column))
    };

    (@read $row:ident $at:expr, borrowed) => { $row.get_ref($at)?.as_str_or_null()? };
    (@read $row:ident $at:expr, $($kind:tt)?) => { $row.get($at)? };

    (@value $values:ident $part:ident $value:expr, fixed $column:ident) => {
        if $part == $crate::platform::db::record::Part::All {
            $values.push((concat!(":", stringify!($column)), &$value as &dyn rusqlite::types::ToSql));
        }
    };
    (@value $values:ident $part:ident $value:expr, fixed $name:ident $column:ident) => {
        $crate::platform::db::record::columns!(@value $values $part $value, fixed $column)
    };
    (@value $values:ident $part:ident $value:expr, mutable $column:ident) => {
        $values.push((concat!(":", stringify!($column)), &$value as &dyn rusqlite::types::ToSql));
    };
    (@value $values:ident $part:ident $value:expr, mutable $name:ident $column:ident) => {
        $crate::platform::db::record::columns!(@value $values $part $value, mutable $column)
    };
    (@value $values:ident $part:ident $value:expr, $($read:tt)+) => {};

    (@stored in $record:ident {
        $($field:ident $(: $kind:tt $(as $column:ident)? $($sql:literal)?)?),*
    } { $($other:ident $(: $okind:tt $($osql:literal)? $(= $($path:ident).+)?)?),* }) => {
        impl $record {
            /// The columns that are written, and their values.
            #[allow(unused_variables, reason = "in some records every column is mutable")]
            pub(super) fn values(&self, part: $crate::platform::db::record::Part) -> $crate::platform::db::record::Values<'_> {
                let mut values = Vec::with_capacity(const { [$(stringify!($field),)*].len() } + 8);
                $($crate::platform::db::record::columns!(@value values part self.$field, $($kind)? $field $($($column)?)?);)*
                $($crate::platform::db::record::columns!(@value values part self$($($(.$path)+)?)?, $($okind)? $other);)*
                values
            }
        }
    };
    (@stored from $($rest:tt)*) => {};

    ($record:ident $way:ident $table:ident as $alias:ident {
        $first:ident $(: $fkind:tt $(as $fcolumn:ident)? $($fsql:literal)?)?
        $(, $field:ident $(: $kind:tt $(as $column:ident)? $($sql:literal)?)?)* $(,)?
    } $(with {
        $($other:ident $(: $okind:tt $($osql:literal)? $(= $($path:ident).+)?)?),+ $(,)?
    })? $(=> {
        $($part:ident : $value:expr),* $(,)?
    })? $(listed $listed:tt)?) => {
        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            enum At { $first, $($field,)* $($($other,)+)? }

            impl $record {
                /// The list of a select.
                pub(super) const COLUMNS: &'static str = concat!(
                    $crate::platform::db::record::columns!(@select $alias $first $($fkind $(as $fcolumn)? $($fsql)?)?)
                    $(, ", ", $crate::platform::db::record::columns!(@select $alias $field $($kind $(as $column)? $($sql)?)?))*
                    $($(, ", ", $crate::platform::db::record::columns!(@select $alias $other $($okind $($osql)?)?))+)?
                );

                /// The record of a row that begins with these columns.
                pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                    let $first = $crate::platform::db::record::columns!(@read row At::$first as usize, $($fkind)?);
                    $(let $field = $crate::platform::db::record::columns!(@read row At::$field as usize, $($kind)?);)*
                    $($(let $other = $crate::platform::db::record::columns!(@read row At::$other as usize, $($okind)?);)+)?
                    Ok(Self { $first, $($field,)* $($($part: $value,)*)? })
                }
            }

            impl $crate::platform::db::record::Record for $record {
                fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                    $record::read(row)
                }

                $($crate::platform::db::record::record! { @listed $listed })?
            }
        };
        $crate::platform::db::record::columns!(@stored $way $record {
            $first $(: $fkind $(as $fcolumn)? $($fsql)?)?
            $(, $field $(: $kind $(as $column)? $($sql)?)?)*
        } { $($($other $(: $okind $($osql)? $(= $($path).+)?)?),+)? });
    };
}

pub(crate) use {columns, record};

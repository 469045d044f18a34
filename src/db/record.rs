//! Structs and the columns they stand in, declared once: the list of a select, reading a row and what is written all
//! follow from it.

use rusqlite::Row;
use rusqlite::types::{ToSql, Type};

/// Columns and their values, as the statements of [`super::tx::WriteTx`] take them.
pub type Values<'v> = Vec<(&'static str, &'v dyn ToSql)>;

/// What a row is read as: [`record!`] and [`columns!`] say so for what owns its fields.
pub trait Record: Sized {
    /// The record of a row that begins with its columns.
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self>;
}

/// Which columns of a record are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Those of a new row.
    All,
    /// Those that a change can touch.
    Mutable,
}

/// A text as it lies in its row: `&str`, or an `Option` of it where the column can be null.
pub trait Borrowed<'r>: Sized {
    /// The text of a column, if it has one.
    fn from_column(text: Option<&'r str>) -> Option<Self>;
}

impl<'r> Borrowed<'r> for &'r str {
    fn from_column(text: Option<&'r str>) -> Option<&'r str> {
        text
    }
}

impl<'r> Borrowed<'r> for Option<&'r str> {
    fn from_column(text: Option<&'r str>) -> Option<Option<&'r str>> {
        Some(text)
    }
}

/// A column of a row, a text that is not copied.
pub fn borrowed<'r, T: Borrowed<'r>>(row: &'r Row<'_>, at: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(at)?.as_str_or_null()?;
    T::from_column(text).ok_or_else(|| rusqlite::Error::InvalidColumnType(at, String::new(), Type::Null))
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
///         typen: Typen = { Typen { kunde: ist_kunde } },  no column; every column can be named
///     } with {
///         ist_kunde: mutable = typen.kunde,   a column that is no field, and what is written there
///     }
/// }
/// ```
///
/// Its fields are public. The rest of the slice gets:
///
/// - `COLUMNS`, the list of a select that names the table by its alias; an expression may name what the select joins;
/// - `read(&row)`, the struct of a row that begins with these columns;
/// - `values(part)`, its columns and values for insert and update.
///
/// `tests/columns.rs` names a column of the table that is not declared. With `from` in the place of `in` the struct is
/// only read: `pub struct Dokument from beleg as b`.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $record:ident $way:ident $table:ident as $alias:ident { $($fields:tt)* }
        $(with $with:tt)?) => {
        $crate::db::record::record!(@field [$(#[$meta])* $record $way $table as $alias $(with $with)?]
            {} {} {} $($fields)*);
    };
    // One field after the other goes into the struct, and either to the columns or to what follows from them.
    (@field $head:tt { $($struct:tt)* } $columns:tt { $($computed:tt)* }
        $(#[$meta:meta])* $field:ident : $type:ty = { $value:expr }, $($rest:tt)*) => {
        $crate::db::record::record!(@field $head { $($struct)* $(#[$meta])* pub $field: $type, } $columns
            { $($computed)* $field: $value, } $($rest)*);
    };
    (@field $head:tt { $($struct:tt)* } { $($columns:tt)* } $computed:tt
        $(#[$meta:meta])* $field:ident : $type:ty = $kind:tt $(as $column:ident)?, $($rest:tt)*) => {
        $crate::db::record::record!(@field $head { $($struct)* $(#[$meta])* pub $field: $type, }
            { $($columns)* $field: $kind $(as $column)?, } $computed $($rest)*);
    };
    (@field $head:tt { $($struct:tt)* } { $($columns:tt)* } $computed:tt
        $(#[$meta:meta])* $field:ident : $type:ty, $($rest:tt)*) => {
        $crate::db::record::record!(@field $head { $($struct)* $(#[$meta])* pub $field: $type, }
            { $($columns)* $field, } $computed $($rest)*);
    };
    (@field [$(#[$meta:meta])* $record:ident $way:ident $table:ident as $alias:ident $(with $with:tt)?]
        { $($struct:tt)* } $columns:tt $computed:tt) => {
        $(#[$meta])*
        pub struct $record { $($struct)* }
        $crate::db::record::columns! { $record $way $table as $alias $columns $(with $with)? => $computed }
    };
}

/// Declares which columns a struct of another file is read from; its entries are those of [`record!`], without types,
/// and what is no column stands behind `=>`:
///
/// ```text
/// columns! {
///     Portion from lager_paar as l {
///         menge,
///         artikelnr: "a.artikelnr",
///         bemerkung: borrowed "l.bemerkung",  a text that is not copied
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

    (@read $row:ident $at:expr, borrowed) => { $crate::db::record::borrowed($row, $at)? };
    (@read $row:ident $at:expr, $($kind:tt)?) => { $row.get($at)? };

    (@record $record:ident) => {
        impl $crate::db::record::Record for $record {
            fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                $record::read(row)
            }
        }
    };
    (@record $record:ident $life:lifetime) => {};

    (@value $values:ident $part:ident $value:expr, fixed $column:ident) => {
        if $part == $crate::db::record::Part::All {
            $values.push((concat!(":", stringify!($column)), &$value as &dyn rusqlite::types::ToSql));
        }
    };
    (@value $values:ident $part:ident $value:expr, fixed $name:ident $column:ident) => {
        $crate::db::record::columns!(@value $values $part $value, fixed $column)
    };
    (@value $values:ident $part:ident $value:expr, mutable $column:ident) => {
        $values.push((concat!(":", stringify!($column)), &$value as &dyn rusqlite::types::ToSql));
    };
    (@value $values:ident $part:ident $value:expr, mutable $name:ident $column:ident) => {
        $crate::db::record::columns!(@value $values $part $value, mutable $column)
    };
    (@value $values:ident $part:ident $value:expr, $($read:tt)+) => {};

    (@stored in $record:ident {
        $($field:ident $(: $kind:tt $(as $column:ident)? $($sql:literal)?)?),*
    } { $($other:ident $(: $okind:tt $($osql:literal)? $(= $($path:ident).+)?)?),* }) => {
        impl $record {
            /// The columns that are written, and their values.
            #[allow(unused_variables, reason = "in some records every column is mutable")]
            pub(super) fn values(&self, part: $crate::db::record::Part) -> $crate::db::record::Values<'_> {
                let mut values = Vec::with_capacity(const { [$(stringify!($field),)*].len() } + 8);
                $($crate::db::record::columns!(@value values part self.$field, $($kind)? $field $($($column)?)?);)*
                $($crate::db::record::columns!(@value values part self$($($(.$path)+)?)?, $($okind)? $other);)*
                values
            }
        }
    };
    (@stored from $($rest:tt)*) => {};

    ($record:ident $(<$life:lifetime>)? $way:ident $table:ident as $alias:ident {
        $first:ident $(: $fkind:tt $(as $fcolumn:ident)? $($fsql:literal)?)?
        $(, $field:ident $(: $kind:tt $(as $column:ident)? $($sql:literal)?)?)* $(,)?
    } $(with {
        $($other:ident $(: $okind:tt $($osql:literal)? $(= $($path:ident).+)?)?),+ $(,)?
    })? $(=> {
        $($part:ident : $value:expr),* $(,)?
    })?) => {
        impl $(<$life>)? $record $(<$life>)? {
            /// The list of a select.
            pub(super) const COLUMNS: &'static str = concat!(
                $crate::db::record::columns!(@select $alias $first $($fkind $(as $fcolumn)? $($fsql)?)?)
                $(, ", ", $crate::db::record::columns!(@select $alias $field $($kind $(as $column)? $($sql)?)?))*
                $($(, ", ", $crate::db::record::columns!(@select $alias $other $($okind $($osql)?)?))+)?
            );

            /// The record of a row that begins with these columns.
            pub(super) fn read(row: & $($life)? rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                #[allow(non_camel_case_types, clippy::enum_variant_names)]
                enum At { $first, $($field,)* $($($other,)+)? }
                let $first = $crate::db::record::columns!(@read row At::$first as usize, $($fkind)?);
                $(let $field = $crate::db::record::columns!(@read row At::$field as usize, $($kind)?);)*
                $($(let $other = $crate::db::record::columns!(@read row At::$other as usize, $($okind)?);)+)?
                Ok(Self { $first, $($field,)* $($($part: $value,)*)? })
            }
        }
        $crate::db::record::columns!(@record $record $($life)?);
        $crate::db::record::columns!(@stored $way $record {
            $first $(: $fkind $(as $fcolumn)? $($fsql)?)?
            $(, $field $(: $kind $(as $column)? $($sql)?)?)*
        } { $($($other $(: $okind $($osql)? $(= $($path).+)?)?),+)? });
    };
}

pub(crate) use {columns, record};

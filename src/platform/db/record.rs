//! Structs and their columns, declared once: the list of a select, reading a row, its JSON and what is
//! written follow.

use rusqlite::Row;
use rusqlite::types::{FromSqlError, ToSql, ValueRef};
use serde::Serialize;

use super::columns::Column;
use crate::platform::failure::Result;
use crate::rules::felder::Aenderung;

/// Columns and their values, as the statements of [`super::tx::WriteTx`] take them.
pub type Values<'v> = Vec<(&'static str, &'v dyn ToSql)>;

/// What a row can be read as; [`record!`] and [`columns!`] implement it.
pub trait Record: Sized {
    /// Reads a row that begins with the columns of the record.
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self>;

    /// Writes such a row as JSON. [`record!`] does so without creating the record.
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

impl Part {
    #[inline]
    pub fn fixed<'v>(self, values: &mut Values<'v>, name: &'static str, value: &'v dyn ToSql) {
        if self == Part::All {
            values.push((name, value));
        }
    }

    #[inline]
    pub fn mutable<'v>(self, values: &mut Values<'v>, name: &'static str, value: &'v dyn ToSql) {
        values.push((name, value));
    }
}

/// A field of a record, built at compile time from its declaration.
#[derive(Clone, Copy)]
pub struct Field {
    name: &'static str,
    /// Its expression in a select; none: it is computed from other columns.
    select: Option<&'static str>,
}

impl Field {
    pub const fn new(name: &'static str, select: &'static str) -> Field {
        Field { name, select: Some(select) }
    }

    pub const fn select(self, select: &'static str) -> Field {
        Field { select: Some(select), ..self }
    }

    pub const fn computed(self, _from: &[&str]) -> Field {
        Field { select: None, ..self }
    }

    /// Returns the index of a column in the list of the select.
    pub const fn index(fields: &[Field], name: &str) -> usize {
        let (mut at, mut index) = (0, 0);
        while at < fields.len() {
            if fields[at].select.is_some() {
                // Only this comparison is const; no two columns differ in case alone.
                if fields[at].name.eq_ignore_ascii_case(name) {
                    return index;
                }
                index += 1;
            }
            at += 1;
        }
        panic!("no column has this name")
    }

    /// Writes the list of the select as far as there is room; also returns the length of the whole list.
    pub const fn list<const ROOM: usize>(fields: &[Field]) -> ([u8; ROOM], usize) {
        let (mut list, mut length, mut at) = ([0; ROOM], 0, 0);
        while at < fields.len() {
            if let Some(select) = fields[at].select {
                let comma = if length > 0 { ", " } else { "" };
                length = append(&mut list, length, comma);
                length = append(&mut list, length, select);
            }
            at += 1;
        }
        (list, length)
    }
}

const fn append(list: &mut [u8], length: usize, text: &str) -> usize {
    let mut at = 0;
    while at < text.len() && length + at < list.len() {
        list[length + at] = text.as_bytes()[at];
        at += 1;
    }
    length + text.len()
}

pub fn serialize(json: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    Ok(serde_json::to_writer(json, value)?)
}

/// Writes an object of JSON; `add_members` puts a comma in front of each member.
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

const NULL: &str = "null";

/// Adds a column to an object of JSON; `null` is the member for a column that is null.
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

/// Declares a struct together with its columns:
///
/// ```text
/// record! {
///     /// A partner.
///     #[derive(Serialize)]
///     pub struct Kunde in kunde as k {
///         id: Uuid = fixed,                               written with a new row, never changed
///         name: String = mutable,                         written with a new row and with each change
///         created_at: Instant = fixed as angelegt_am,     the column has another name
///         bestand: Quantity,                              only read: something else writes it
///         ort_name: Option<String> = "coalesce(o.name, k.ort)",   an expression
///         typen: Typen = |ist_kunde| { Typen { kunde: ist_kunde } },  no column; computed from the columns named
///         rest: Option<Quantity> = { None },              no column; something else computes it
///         ort: String = mutable => said("Ort", "Ort."),   what pages, imports and the description say of it
///     } with {
///         ist_kunde: mutable = typen.kunde,   a column that is no field, and the value written there
///     }
/// }
/// ```
///
/// The fields are public; what is said of them is [`DECLARED`](crate::rules::field::Declared::DECLARED). `in` is a
/// table that the record is written to; `from` one that it is only read from. The slice gets what [`columns!`] declares,
/// and the record a [`Record::write`] that puts a row into a list field by field, as serde would write the struct; it
/// knows the attributes `skip` and, of computed fields, `skip_serializing_if`. `tests/project/columns.rs` names the
/// columns of a table that are not declared.
///
/// Behind the record stand its bodies, which [`eingabe!`](crate::eingabe) declares: each has the fields that name the
/// type that reads them, `as Text`, and then its own. Its `apply_to` puts the former into a record.
///
/// ```text
///         telefon: Option<String> as Text = mutable => said("Telefon", "Telefon."),
///     }
///     body change KundeChange { vb_id: Verweis } nur_lesen: ["hinweise"]
///     body struct KundeZeile { vertreter: Text } nur_lesen: []
/// ```
macro_rules! record {
    (
        $(#[$meta:meta])* pub struct $record:ident $way:ident $table:ident as $alias:ident $fields:tt
        $(with $with:tt)?
        $(
            $(#[$body_meta:meta])* body $kind:ident $body:ident $(as $shown:literal)? { $($own:tt)* }
            nur_lesen: [$($read_only:literal),*]
        )+
    ) => {
        $crate::platform::db::record::record! {
            $(#[$meta])* pub struct $record $way $table as $alias $fields $(with $with)?
        }
        $($crate::eingabe! {
            @ of $record: $(#[$body_meta])* $kind $body $(as $shown)? { $($own)* } [$($read_only),*] $fields
        })+
    };
    ($(#[$meta:meta])* pub struct $record:ident $way:ident $table:ident as $alias:ident {
        $($(#[$($attribute:tt)*])* $field:ident: $type:ty $(as $wire:ty)?
            $(= $($kind:ident $(as $column:ident)?)? $($sql:literal)? $($(|$($of:ident),+|)? { $value:expr })?)?
            $(=> $said:expr)?),* $(,)?
    } $(with { $($with:tt)* })?) => {
        $(#[$meta])*
        pub struct $record {
            $($(#[$($attribute)*])* $(#[schemars(extend("x-meaning" = ($said).meaning))])? pub $field: $type,)*
        }

        impl $crate::rules::field::Declared for $record {
            const DECLARED: &'static [$crate::rules::field::Field<$record>] = &[$($($crate::rules::field::Field {
                name: stringify!($field),
                said: $said,
                kind: <$type as $crate::rules::field::Typed>::KIND,
                value: |record| $crate::rules::field::Typed::value(&record.$field),
            },)?)*];
        }

        $crate::platform::db::record::columns! {
            $record $way $table as $alias {
                $($field $(= $($kind $(as $column)?)? $($sql)? $($(|$($of),+|)? { $value })?)?),*
            } $(with { $($with)* })? impl {
                fn write(row: &rusqlite::Row<'_>, json: &mut Vec<u8>) -> $crate::platform::failure::Result<()> {
                    db::object(json, |json| {
                        $(db::write_member! {
                            $record row json $(#[$($attribute)*])* $field: $type $($($(|$($of),+|)? { $value })?)?
                        })*
                        Ok(())
                    })
                }
            }
        }
    };
}

/// Declares the columns of a struct that stands elsewhere. Entries are those of [`record!`] without types:
///
/// ```text
/// columns! {
///     Portion from lager_paar as l {
///         menge,
///         artikelnr = "a.artikelnr",
///         rest = |menge| { Rest::of(menge) },
///     }
/// }
/// ```
///
/// The compiler names a field that is missing. The slice gets:
///
/// - `COLUMNS`, the list of a select that names the table by its alias; an expression may name what the select joins;
/// - `read(&row)`, which reads a row that begins with these columns;
/// - `values(part)`, the columns and values for insert and update.
macro_rules! columns {
    ($record:ident $way:ident $table:ident as $alias:ident {
        $($field:ident
            $(= $($kind:ident $(as $column:ident)?)? $($sql:literal)?
                $($(|$($of:ident),+|)? { $value:expr })?)?),* $(,)?
    } $(with {
        $($other:ident $(: $($written:ident = $($path:ident).+)? $($expression:literal)?)?),+ $(,)?
    })? $(impl { $($method:tt)* })?) => {
        const _: () = {
            use $crate::platform::db::record as db;

            impl $record {
                const FIELDS: &'static [db::Field] = &[
                    $(db::Field::new(stringify!($field), concat!(stringify!($alias), ".", stringify!($field)))
                        $($($(.select(concat!(stringify!($alias), ".", stringify!($column))))?)?)?
                        $($(.select($sql))?)?
                        $($(.computed(&[$($(stringify!($of)),+)?]))?)?,)*
                    $($(db::Field::new(stringify!($other), concat!(stringify!($alias), ".", stringify!($other)))
                        $($(.select($expression))?)?,)+)?
                ];

                pub(super) const COLUMNS: &'static str = {
                    const LENGTH: usize = db::Field::list::<0>($record::FIELDS).1;
                    const LIST: [u8; LENGTH] = db::Field::list($record::FIELDS).0;
                    match std::str::from_utf8(&LIST) {
                        Ok(list) => list,
                        Err(_) => panic!("a list was cut"),
                    }
                };

                pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                    $(db::read_column! { $record row $field $($({ $value })?)? })*
                    $($(db::read_column! { $record row $other })+)?
                    $($($(let $field = $value;)?)?)*
                    Ok(Self { $($field,)* })
                }

                #[allow(unused, reason = "what is only read has no values")]
                pub(super) fn values(&self, part: db::Part) -> db::Values<'_> {
                    let mut values = Vec::with_capacity(Self::FIELDS.len() + 8);
                    $($($({
                        let [.., name] = [concat!(":", stringify!($field)) $(, concat!(":", stringify!($column)))?];
                        part.$kind(&mut values, name, &self.$field);
                    })?)?)*
                    $($($($(part.$written(&mut values, concat!(":", stringify!($other)), &self.$($path).+);)?)?)+)?
                    values
                }
            }

            impl db::Record for $record {
                fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                    $record::read(row)
                }

                $($($method)*)?
            }
        };
    };
}

/// Reads a column into a variable of its name; what is computed has no column.
macro_rules! read_column {
    ($record:ident $row:ident $name:ident) => {
        let $name = $row.get(const { db::Field::index($record::FIELDS, stringify!($name)) })?;
    };
    ($record:ident $row:ident $name:ident { $value:expr }) => {};
}

/// Adds a field to an object of JSON: a column from SQLite's memory, a computed value as serde writes it.
macro_rules! write_member {
    ($record:ident $row:ident $json:ident $(#[$($attribute:tt)*])* $field:ident: $type:ty) => {
        if true $(&& db::is_shown!(column $($attribute)*))* {
            const AT: usize = db::Field::index($record::FIELDS, stringify!($field));
            let null = concat!(",\"", stringify!($field), "\":null");
            db::column::<$type>($json, null, $row, AT)?;
        }
    };
    ($record:ident $row:ident $json:ident
        $(#[$($attribute:tt)*])* $field:ident: $type:ty $(|$($of:ident),+|)? { $value:expr }) => {{
        $($(db::read_column! { $record $row $of })+)?
        let value: $type = $value;
        if true $(&& db::is_shown!(value $($attribute)*))* {
            db::member($json, concat!(",\"", stringify!($field), "\":"), &value)?;
        }
    }};
}

/// Whether an attribute lets serde write a field.
macro_rules! is_shown {
    ($value:ident serde(skip)) => {
        false
    };
    ($value:ident serde(skip_serializing_if = "Option::is_none")) => {
        $value.is_some()
    };
    ($value:ident $($other:tt)*) => {
        true
    };
}

pub(crate) use {columns, is_shown, read_column, record, write_member};

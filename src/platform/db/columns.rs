//! How our types are stored in columns: decimals and instants as integers, days as text.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::feed::followed::{Aktion, Art};
use crate::rules::admin_event::AdminAction;
use crate::rules::besteuerung::Besteuerungen;
use crate::rules::choice::Choice;
use crate::rules::datev::{BuArt, Fall, Funktionsart, Rahmen};
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::document::{BelegAktion, BelegStatus, BelegTyp, Profil, Rechnungsart, Seite};
use crate::rules::fixed::Fixed;
use crate::rules::kasse::BonArt;
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::recipe::PaStatus;
use crate::rules::settlement::{Abrechnungsart, Mittel, Quelle};
use crate::rules::stammdaten::{Anrede, ArtikelStatus, ERechnung, EingangQuelle, KundeStatus};
use crate::rules::tax::{Gedruckt, Steuerart, Steuerkategorie};
use crate::rules::weighing::{Richtung, WiegungStatus};

impl<const SCALE: u32, const SHOWN: usize> ToSql for Fixed<SCALE, SHOWN> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.units().into())
    }
}

impl<const SCALE: u32, const SHOWN: usize> FromSql for Fixed<SCALE, SHOWN> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self::from_units)
    }
}

impl ToSql for Instant {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.millis().into())
    }
}

impl FromSql for Instant {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Instant::from_millis)
    }
}

impl ToSql for Day {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

impl FromSql for Day {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Day::parse_plain(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for DayTime {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for DayTime {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Day::column_result(value).map(DayTime)
    }
}

/// Writes a column as JSON: the same value that reading it would give, but straight from SQLite's memory.
pub trait Column {
    const CAN_BE_NULL: bool = false;

    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()>;
}

impl<T: Column> Column for Option<T> {
    const CAN_BE_NULL: bool = true;

    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        T::write(value, json)
    }
}

impl Column for String {
    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        let text = value.as_str()?;
        if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            return serialize(&text, json);
        }
        quote(text, json);
        Ok(())
    }
}

impl<const SCALE: u32, const SHOWN: usize> Column for Fixed<SCALE, SHOWN> {
    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        quote(Self::column_result(value)?.text(&mut Default::default()), json);
        Ok(())
    }
}

impl Column for Instant {
    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        quote(Self::column_result(value)?.text(&mut Default::default()), json);
        Ok(())
    }
}

impl Column for Uuid {
    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        quote(Self::column_result(value)?.hyphenated().encode_lower(&mut Uuid::encode_buffer()), json);
        Ok(())
    }
}

/// Writes a text that contains nothing to escape.
fn quote(text: &str, json: &mut Vec<u8>) {
    json.push(b'"');
    json.extend_from_slice(text.as_bytes());
    json.push(b'"');
}

fn serialize(value: &impl Serialize, json: &mut Vec<u8>) -> FromSqlResult<()> {
    serde_json::to_writer(json, value).map_err(FromSqlError::other)
}

/// Types that are written by their serde implementation.
macro_rules! serialized_column {
    ($($type:ty),+ $(,)?) => {$(
        impl Column for $type {
            fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
                serialize(&<$type>::column_result(value)?, json)
            }
        }
    )+};
}

serialized_column!(Day, DayTime, u16, i64, bool, [u8; 32], Gedruckt, Besteuerungen);

/// JSON stored in a column, passed on unchanged.
pub struct StoredJson(pub Box<RawValue>);

impl FromSql for StoredJson {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let json = RawValue::from_string(value.as_str()?.to_owned());
        json.map(StoredJson).map_err(FromSqlError::other)
    }
}

/// A value stored in a column as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Json<T>(pub T);

impl<T: Serialize + DeserializeOwned> Column for Json<T> {
    fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
        json.extend_from_slice(value.as_str()?.as_bytes());
        Ok(())
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = serde_json::to_string(&self.0);
        json.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}

/// Types that are stored as their JSON.
macro_rules! json_column {
    ($($type:ty),+ $(,)?) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let json = serde_json::to_string(self);
                json.map(ToSqlOutput::from).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Json::column_result(value).map(|Json(found)| found)
            }
        }
    )+};
}

json_column!(Gedruckt, Besteuerungen);

/// Enumerations stored as text.
macro_rules! text_column {
    ($($type:ty),+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl Column for $type {
            fn write(value: ValueRef<'_>, json: &mut Vec<u8>) -> FromSqlResult<()> {
                quote(<$type>::column_result(value)?.as_str(), json);
                Ok(())
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <$type>::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
            }
        }
    )+};
}

text_column!(
    BuArt,
    Fall,
    Funktionsart,
    Rahmen,
    Abrechnungsart,
    Aktion,
    AnnahmescheinStatus,
    Anrede,
    Art,
    ArtikelStatus,
    BelegAktion,
    BelegStatus,
    BelegTyp,
    BonArt,
    ERechnung,
    EingangQuelle,
    KundeStatus,
    Mittel,
    PaStatus,
    Profil,
    Quelle,
    Rechnungsart,
    Richtung,
    Seite,
    Steuerart,
    Steuerkategorie,
    AdminAction,
    WiegungStatus
);

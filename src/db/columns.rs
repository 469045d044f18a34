//! How our types stand in columns: decimals and instants as integers, days as texts.

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::followed::{Aktion, Art};
use super::record::Record;
use crate::erechnung::Profil;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::deed::Tat;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::felder::Aenderung;
use crate::rules::fixed::Fixed;
use crate::rules::kasse::BonArt;
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::recipe::PaStatus;
use crate::rules::stammdaten::{Anrede, ArtikelStatus, ERechnung, EingangQuelle, KundeStatus};
use crate::rules::tax::{Steuerart, Steuerkategorie};
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

/// JSON that a column holds, as it stands there.
pub struct StoredJson(pub Box<RawValue>);

impl FromSql for StoredJson {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let json = RawValue::from_string(value.as_str()?.to_owned());
        json.map(StoredJson).map_err(FromSqlError::other)
    }
}

impl Record for Aenderung {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Aenderung> {
        let felder = serde_json::from_str(row.get_ref(2)?.as_str()?).map_err(FromSqlError::other)?;
        Ok(Aenderung { am: row.get(0)?, key_id: row.get(1)?, felder })
    }
}

/// A value that a column holds as JSON.
pub struct Json<T>(pub T);

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

/// Texts of an enumeration.
macro_rules! text_column {
    ($($type:ty),+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
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
    Aktion,
    AnnahmescheinStatus,
    Anrede,
    Art,
    ArtikelStatus,
    BelegStatus,
    BelegTyp,
    BonArt,
    ERechnung,
    EingangQuelle,
    KundeStatus,
    PaStatus,
    Profil,
    Richtung,
    Steuerart,
    Steuerkategorie,
    Tat,
    WiegungStatus
);

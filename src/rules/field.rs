//! What a record says of its fields where it declares them (D39): the description of the interface, imports, pages,
//! histories and files read it there.

use uuid::Uuid;

use super::choice::Choice;
use super::day::{Day, DayTime, Instant};
use super::fixed::{Money, Percent, Price, Quantity};

/// What is said of a field, built at compile time: `said("Zusatz", "Zweite Bezeichnung.").aliases("zusatz")`.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// In forms, tables, histories and files.
    pub label: &'static str,
    /// What a form adds to the label, in brackets.
    pub hint: &'static str,
    /// A sentence for the description of the interface and for templates of imports.
    pub meaning: &'static str,
    /// Headings of other programs that mean the field, as `platform::import::header` compares them.
    pub aliases: &'static str,
    /// The form section that asks for it; `None`: no section, or the form asks its own way.
    pub group: Option<&'static str>,
    /// The type of its input in a browser, if it is a line of text.
    pub input: &'static str,
    /// Whether its text has several lines.
    pub is_long: bool,
    /// It is the code of a country, chosen by its name; the words for none, blank where there always is one.
    pub country: Option<&'static str>,
    pub when: When,
}

/// Which form asks for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Always,
    /// Only that of a new record: the field never changes.
    New,
    /// Any while it has no value: it is set once.
    Unset,
}

pub const fn said(label: &'static str, meaning: &'static str) -> Said {
    Said {
        label,
        hint: "",
        meaning,
        aliases: "",
        group: None,
        input: "text",
        is_long: false,
        country: None,
        when: When::Always,
    }
}

impl Said {
    pub const fn hint(self, hint: &'static str) -> Said {
        Said { hint, ..self }
    }

    pub const fn aliases(self, aliases: &'static str) -> Said {
        Said { aliases, ..self }
    }

    pub const fn group(self, group: &'static str) -> Said {
        Said { group: Some(group), ..self }
    }

    pub const fn input(self, input: &'static str) -> Said {
        Said { input, ..self }
    }

    pub const fn long(self) -> Said {
        Said { is_long: true, ..self }
    }

    pub const fn country(self, none: &'static str) -> Said {
        Said { country: Some(none), ..self }
    }

    pub const fn when(self, when: When) -> Said {
        Said { when, ..self }
    }
}

/// A field of a record: its name in the interface, what is said of it, and how its value is read.
pub struct Field<R> {
    pub name: &'static str,
    pub said: Said,
    pub kind: Kind,
    pub value: fn(&R) -> Value,
}

/// A record that says something of its fields.
pub trait Declared: Sized + 'static {
    /// The fields of which something is said, in the order of answers.
    const DECLARED: &'static [Field<Self>] = &[];

    fn declared(name: &str) -> Option<&'static Field<Self>> {
        Self::DECLARED.iter().find(|field| field.name == name)
    }
}

/// A record as a row of a file.
pub trait Tabular {
    fn headings() -> Vec<&'static str>;

    fn cells(&self) -> Vec<Value>;
}

impl<T: Declared> Tabular for T {
    fn headings() -> Vec<&'static str> {
        T::DECLARED.iter().map(|field| field.said.label).collect()
    }

    fn cells(&self) -> Vec<Value> {
        T::DECLARED.iter().map(|field| (field.value)(self)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A decimal with at least the decimals of a price.
    Price,
    Percent,
    /// Any other decimal.
    Decimal,
    Integer,
    YesNo,
    Day,
    Instant,
    /// One of these texts; `true`: or none.
    Choice(&'static [&'static str], bool),
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Empty,
    Text(String),
    Price(Price),
    Percent(Percent),
    Decimal(Quantity),
    Money(Money),
    Integer(i64),
    YesNo(bool),
    Day(Day),
    Instant(Instant),
}

/// A type that a declared field may have.
pub trait Typed {
    const KIND: Kind;

    fn value(&self) -> Value;
}

macro_rules! typed {
    ($($type:ty, $kind:ident, $value:ident => $read:expr;)+) => {$(
        impl Typed for $type {
            const KIND: Kind = Kind::$kind;

            fn value(&self) -> Value {
                let $value = self;
                $read
            }
        }
    )+};
}

typed! {
    String, Text, text => Value::Text(text.clone());
    Price, Price, price => Value::Price(*price);
    Percent, Percent, percent => Value::Percent(*percent);
    Quantity, Decimal, quantity => Value::Decimal(*quantity);
    Money, Decimal, money => Value::Money(*money);
    i64, Integer, number => Value::Integer(*number);
    bool, YesNo, is_so => Value::YesNo(*is_so);
    Day, Day, day => Value::Day(*day);
    DayTime, Day, day => Value::Day(day.0);
    Instant, Instant, instant => Value::Instant(*instant);
    Uuid, Text, id => Value::Text(id.to_string());
    Vec<String>, Text, texts => Value::Text(texts.join(", "));
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = match T::KIND {
        Kind::Choice(texts, _) => Kind::Choice(texts, true),
        kind => kind,
    };

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Empty, T::value)
    }
}

impl<T: Choice> Typed for T {
    const KIND: Kind = Kind::Choice(T::TEXTS, false);

    fn value(&self) -> Value {
        Value::Text(self.text().to_owned())
    }
}

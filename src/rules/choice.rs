//! Enumerations with one text per value, used on the wire and in the database.

pub trait Choice: Copy + 'static {
    const ALL: &'static [Self];

    /// The texts of all values, in their order.
    const TEXTS: &'static [&'static str];

    fn text(self) -> &'static str;

    fn parse(text: &str) -> Option<Self>;

    /// Parses a text in any case.
    fn parse_any_case(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.text().eq_ignore_ascii_case(text))
    }

    fn texts() -> String {
        Self::TEXTS.join(", ")
    }
}

#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl $crate::rules::choice::Choice for $name {
            const ALL: &'static [$name] = &[$($name::$variant),+];
            const TEXTS: &'static [&'static str] = &[$($text),+];

            fn text(self) -> &'static str {
                self.as_str()
            }

            fn parse(text: &str) -> Option<$name> {
                match text {
                    $($text => Some($name::$variant),)+
                    _ => None,
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<$name, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                let value = <$name as $crate::rules::choice::Choice>::parse(&text);
                value.ok_or_else(|| serde::de::Error::custom(format!("{text} is none of its values")))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": <$name as $crate::rules::choice::Choice>::TEXTS})
            }
        }
    };
}

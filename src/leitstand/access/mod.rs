//! Who may see a page and send its form: a table of roles (D27).

pub mod anmelden;
pub mod entry;
pub mod password_thread;
pub mod passwords;
pub mod people;
pub mod rechte;
pub mod schluessel;
pub mod zugaenge;

use people::{Person, Rolle};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Open,
    /// Everybody who is logged in; also for its form.
    Person,
    /// The everyday work of the company in its path.
    Firma,
    /// The administration of that company: keys, settings, its log, imports, erasing.
    Verwaltung,
    /// The whole installation, for people who may change everything of all companies.
    Haus,
}

/// The rights of a person on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    pub sees: bool,
    pub sends: bool,
}

impl Access {
    pub const fn is_of_firma(self) -> bool {
        matches!(self, Access::Firma | Access::Verwaltung)
    }

    /// The table of roles (D27), for companies that the person sees.
    pub fn rights(self, person: &Person) -> Rights {
        let (sees, sends) = match (self, person.rolle) {
            (Access::Open | Access::Person, _) => (true, true),
            (Access::Firma, Rolle::Ansehen) | (Access::Verwaltung, Rolle::Ansehen) => (true, false),
            (Access::Firma, Rolle::Buero | Rolle::Verwalten) => (true, true),
            (Access::Verwaltung, Rolle::Buero) => (false, false),
            (Access::Verwaltung, Rolle::Verwalten) => (true, true),
            (Access::Haus, _) => (person.manages_installation(), person.manages_installation()),
        };
        Rights { sees, sends }
    }
}

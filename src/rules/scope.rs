//! Scopes: each opens one group of endpoints (specification, Authentication 5).

use super::choice::Choice;
use crate::choice;

choice! {
    pub enum Scope {
        KundenRead = "kunden:read",
        KundenWrite = "kunden:write",
        ArtikelRead = "artikel:read",
        ArtikelWrite = "artikel:write",
        ArtikelgruppenRead = "artikelgruppen:read",
        BelegeRead = "belege:read",
        BelegeWrite = "belege:write",
        ChargenRead = "chargen:read",
        ChargenWrite = "chargen:write",
        DokumenteWrite = "dokumente:write",
        KasseRead = "kasse:read",
        RohwarenRead = "rohwaren:read",
        RohwarenWrite = "rohwaren:write",
        KontrakteRead = "kontrakte:read",
        KontrakteWrite = "kontrakte:write",
        ProduktionRead = "produktion:read",
        ProduktionWrite = "produktion:write",
        WaageRead = "waage:read",
        WaageWrite = "waage:write",
        AbrechnungRead = "abrechnung:read",
        AbrechnungWrite = "abrechnung:write",
        BuchhaltungRead = "buchhaltung:read",
        BuchhaltungWrite = "buchhaltung:write",
    }
}

choice! {
    /// The purpose of a key: each kind of program needs other scopes.
    pub enum Purpose {
        /// Sells: reads articles and batches, adds customers, writes documents.
        Shop = "shop",
        /// Weighs lorries and receives their goods.
        Waage = "waage",
        /// Files documents and attaches files.
        Dms = "dms",
        /// Reads the bookings and exports them for the tax adviser.
        Buchhaltung = "buchhaltung",
        /// Sells at a register: reads articles, prices, stock and customers.
        Kasse = "kasse",
    }
}

impl Purpose {
    pub fn scopes(self) -> ScopeSet {
        use Scope::*;
        let own: &[Scope] = match self {
            Purpose::Shop => &[KundenWrite, ArtikelgruppenRead, BelegeRead, BelegeWrite, ChargenRead],
            Purpose::Waage => &[
                ChargenRead,
                RohwarenRead,
                RohwarenWrite,
                KontrakteRead,
                WaageRead,
                WaageWrite,
                AbrechnungRead,
            ],
            Purpose::Dms => &[BelegeRead, DokumenteWrite],
            Purpose::Buchhaltung => &[
                ArtikelgruppenRead,
                BelegeRead,
                KasseRead,
                RohwarenRead,
                KontrakteRead,
                AbrechnungRead,
                BuchhaltungRead,
                BuchhaltungWrite,
            ],
            Purpose::Kasse => &[ArtikelgruppenRead, ChargenRead, KasseRead],
        };
        // All of them read customers and articles.
        own.iter().copied().chain([KundenRead, ArtikelRead]).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeSet(u32);

impl ScopeSet {
    pub fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u32) != 0
    }

    pub fn all() -> ScopeSet {
        Scope::ALL.iter().copied().collect()
    }

    pub fn and(self, other: ScopeSet) -> ScopeSet {
        ScopeSet(self.0 | other.0)
    }

    /// Parses scopes as stored, separated by blanks; unknown scopes of a newer version are skipped.
    pub fn from_stored(text: &str) -> ScopeSet {
        text.split_ascii_whitespace().filter_map(Scope::parse).collect()
    }

    pub fn to_stored(self) -> String {
        let texts: Vec<_> =
            Scope::ALL.iter().filter(|scope| self.contains(**scope)).map(|scope| scope.as_str()).collect();
        texts.join(" ")
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> ScopeSet {
        ScopeSet(scopes.into_iter().fold(0, |bits, scope| bits | 1 << scope as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_stored_and_read_back() {
        let set: ScopeSet = [Scope::WaageWrite, Scope::KundenRead].into_iter().collect();
        assert_eq!(set.to_stored(), "kunden:read waage:write");
        assert_eq!(ScopeSet::from_stored("kunden:read neu:read waage:write"), set);
        assert!(set.contains(Scope::KundenRead) && !set.contains(Scope::KundenWrite));
        assert!(Scope::ALL.iter().all(|scope| Scope::parse(scope.as_str()) == Some(*scope)));
    }
}

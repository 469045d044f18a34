//! Administration events: what a person or the command line did, as the administration log stores it (D27).
//! Where it is shown, it is worded from [`Art::in_words`] and [`AdminAction::in_words`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::changed::Changed;
use crate::choice;

choice! {
    pub enum AdminAction {
        Angelegt = "angelegt",
        Geaendert = "geaendert",
        Geleert = "geleert",
        Geloescht = "geloescht",
        Zurueckgespielt = "zurueckgespielt",
        Gesperrt = "gesperrt",
        Freigegeben = "freigegeben",
        LinkErzeugt = "link_erzeugt",
        PasswortGesetzt = "passwort_gesetzt",
        Importiert = "importiert",
        Zurueckgenommen = "zurueckgenommen",
        Abgeschlossen = "abgeschlossen",
        Erledigt = "erledigt",
        Vergessen = "vergessen",
        Verworfen = "verworfen",
    }
}

choice! {
    pub enum Art {
        Firma = "firma",
        Schluessel = "schluessel",
        Zugang = "zugang",
        Import = "import",
        Beleg = "beleg",
        Partner = "partner",
        Sicherung = "sicherung",
        Zertifikat = "zertifikat",
        DatevStapel = "datev_stapel",
        Ueberlassung = "ueberlassung",
    }
}

impl Art {
    pub fn in_words(self) -> &'static str {
        match self {
            Art::Firma => "Firma",
            Art::Schluessel => "Schlüssel",
            Art::Zugang => "Zugang",
            Art::Import => "Import",
            Art::Beleg => "Beleg",
            Art::Partner => "Partner",
            Art::Sicherung => "Sicherung",
            Art::Zertifikat => "Zertifikat",
            Art::DatevStapel => "DATEV-Stapel",
            Art::Ueberlassung => "Daten für die Betriebsprüfung",
        }
    }
}

impl AdminAction {
    pub fn in_words(self) -> &'static str {
        match self {
            AdminAction::Angelegt => "angelegt",
            AdminAction::Geaendert => "geändert",
            AdminAction::Geleert => "geleert",
            AdminAction::Geloescht => "gelöscht",
            AdminAction::Zurueckgespielt => "zurückgespielt",
            AdminAction::Gesperrt => "gesperrt",
            AdminAction::Freigegeben => "freigegeben",
            AdminAction::LinkErzeugt => "Link erzeugt",
            AdminAction::PasswortGesetzt => "Passwort gesetzt",
            AdminAction::Importiert => "gespeichert",
            AdminAction::Zurueckgenommen => "zurückgenommen",
            AdminAction::Abgeschlossen => "abgeschlossen",
            AdminAction::Erledigt => "erledigt",
            AdminAction::Vergessen => "vergessen",
            AdminAction::Verworfen => "verworfen",
        }
    }
}

/// The object of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gegenstand {
    pub art: Art,
    /// The public part of a key, the number of a person, the uuid of a partner, the row kind of an import.
    pub id: Option<String>,
    /// Display name: a label, a name, a document number, a file name. Partners have none, because it could
    /// not be erased.
    pub name: Option<String>,
    /// The company it belongs to; `None` for the installation.
    pub firma: Option<i64>,
}

/// Field values by field name; never those of a partner.
pub type Felder = BTreeMap<String, String>;

/// One administration event. A field without a value has no entry in `vorher` or `nachher`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdminEvent {
    pub tat: AdminAction,
    pub gegenstand: Gegenstand,
    pub vorher: Felder,
    pub nachher: Felder,
}

impl AdminEvent {
    pub fn new(tat: AdminAction, art: Art) -> AdminEvent {
        let gegenstand = Gegenstand { art, id: None, name: None, firma: None };
        AdminEvent { tat, gegenstand, vorher: Felder::new(), nachher: Felder::new() }
    }

    pub fn id(mut self, id: impl ToString) -> AdminEvent {
        self.gegenstand.id = Some(id.to_string());
        self
    }

    pub fn name(mut self, name: impl Into<String>) -> AdminEvent {
        self.gegenstand.name = Some(name.into());
        self
    }

    /// Records the fields whose value changed.
    pub fn changing(mut self, changed: impl IntoIterator<Item = Changed>) -> AdminEvent {
        for Changed { name, before, after } in changed {
            let felder = [(&mut self.vorher, before), (&mut self.nachher, after)];
            for (felder, value) in felder.into_iter().filter(|(_, value)| !value.is_empty()) {
                felder.insert(name.clone(), value);
            }
        }
        self
    }

    pub fn changed(&self) -> impl Iterator<Item = Changed> {
        let names: BTreeSet<&String> = self.vorher.keys().chain(self.nachher.keys()).collect();
        let value = |felder: &Felder, name: &String| felder.get(name).cloned().unwrap_or_default();
        names.into_iter().map(move |name| Changed {
            name: name.clone(),
            before: value(&self.vorher, name),
            after: value(&self.nachher, name),
        })
    }
}

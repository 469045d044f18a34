//! What a person or the command line did, as the administration log keeps it (D27): worded where it is shown.

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

/// What something was done to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gegenstand {
    pub art: Art,
    /// Of a key its public part, of a person the number, of a partner the uuid, of an import the kind of its rows.
    pub id: Option<String>,
    /// What people call it: a label, a name, the number of a document, a file. Partners have none: it could not be erased.
    pub name: Option<String>,
    /// The company that it belongs to; none: the installation.
    pub firma: Option<i64>,
}

/// Values of fields by their names; never those of a partner.
pub type Felder = BTreeMap<String, String>;

/// Something that was done. Fields without a value have none of their own.
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

    /// The fields that have another value than before.
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

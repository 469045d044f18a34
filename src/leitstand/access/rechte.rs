//! The part of a form that chooses a key's scopes, by purpose or one by one, and their German names.

use maud::{Markup, html};

use crate::leitstand::kit::page::PageRequest;
use crate::platform::gate::access::key_changes;
use crate::rules::choice::Choice;
use crate::rules::scope::{Purpose, Scope, ScopeSet};

/// Name of the field with the single scopes, where their refusal is shown.
pub const SCOPE: &str = "scope";

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Shop => "Shop: liest, was es gibt, legt Partner an und schreibt Belege",
        Purpose::Waage => "Waage: wiegt Fahrzeuge und nimmt ihre Ware an",
        Purpose::Dms => "DMS: legt Belege ab und hängt Dateien an",
        Purpose::Buchhaltung => "Buchhaltung: liest, was gebucht ist",
        Purpose::Kasse => "Kasse: liest Artikel, Preise, Bestand und Partner",
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::KundenRead => "Partner lesen",
        Scope::KundenWrite => "Partner anlegen und ändern",
        Scope::ArtikelRead => "Artikel und Preise lesen",
        Scope::ArtikelWrite => "Artikel und Preise anlegen und ändern",
        Scope::ArtikelgruppenRead => "Artikelgruppen lesen",
        Scope::BelegeRead => "Belege lesen",
        Scope::BelegeWrite => "Belege anlegen, ändern, abschließen und stornieren",
        Scope::ChargenRead => "Chargen und Bestand lesen",
        Scope::ChargenWrite => "Chargen anlegen und berichtigen",
        Scope::DokumenteWrite => "Dateien an Partner und Artikel anhängen",
        Scope::KasseRead => "Kassenbons lesen",
        Scope::RohwarenRead => "Annahmescheine lesen",
        Scope::RohwarenWrite => "Annahmescheine anlegen, nachmessen, freigeben und stornieren",
        Scope::KontrakteRead => "Kontrakte lesen",
        Scope::KontrakteWrite => "Kontrakte anlegen und ändern",
        Scope::ProduktionRead => "Produktionsaufträge lesen",
        Scope::ProduktionWrite => "Produktionsaufträge anlegen und weiterführen",
        Scope::WaageRead => "Wiegungen lesen",
        Scope::WaageWrite => "Wiegungen anlegen, abschließen und stornieren",
        Scope::AbrechnungRead => "Abrechnungen und ihre Schemata lesen, probeweise rechnen",
        Scope::AbrechnungWrite => "Annahmescheine abrechnen, Schemata anlegen und ändern",
        Scope::BuchhaltungRead => "DATEV-Stapel, Auswertungen und die Übergabe an den Prüfer lesen",
        Scope::BuchhaltungWrite => "DATEV-Stapel anlegen und verwerfen",
    }
}

/// Scopes in words: everything, a purpose, or each scope.
pub fn in_words(scopes: ScopeSet) -> String {
    if scopes == ScopeSet::all() {
        return "alles".to_owned();
    }
    if let Some(known) = Purpose::ALL.iter().find(|known| known.scopes() == scopes) {
        return purpose(*known).to_owned();
    }
    each(scopes).join(", ")
}

pub fn each(scopes: ScopeSet) -> Vec<&'static str> {
    Scope::ALL.iter().filter(|known| scopes.contains(**known)).map(|known| scope(*known)).collect()
}

/// The values of a field that may be ticked several times.
fn ticked<'a>(request: &'a PageRequest, name: &'a str) -> impl Iterator<Item = &'a str> {
    request.form.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The ticked scopes; `None` if nothing was ticked. Unknown values are ignored.
pub fn read(request: &PageRequest) -> Option<ScopeSet> {
    if request.field("alles") == "ja" {
        return Some(ScopeSet::all());
    }
    let purposes: Vec<_> = ticked(request, "zweck").filter_map(Purpose::parse).collect();
    key_changes::scopes(&purposes, ticked(request, SCOPE).filter_map(Scope::parse).collect())
}

/// The part of a form that chooses scopes. It ticks the values that were sent or, at first, the scopes stored
/// for the key.
pub fn fields(request: &PageRequest, stored: Option<ScopeSet>) -> Markup {
    let refused = request.refusal.as_deref().and_then(|refusal| refusal.of_field(SCOPE));
    let is_sent = !request.form.fields.is_empty();
    let has = |name: &str, value: &str| is_sent && ticked(request, name).any(|known| known == value);
    let all = if is_sent { has("alles", "ja") } else { stored == Some(ScopeSet::all()) };
    let is_stored = |known: Scope| !is_sent && !all && stored.is_some_and(|scopes| scopes.contains(known));
    html! {
        fieldset aria-describedby=[refused.map(|_| "fehler-scope")] {
            legend { "Wofür ist der Schlüssel?" }
            @for known in Purpose::ALL {
                div { label {
                    input type="checkbox" name="zweck" value=(known.as_str())
                        checked[has("zweck", known.as_str())];
                    " " (purpose(*known))
                } }
            }
            div { label {
                input type="checkbox" name="alles" value="ja" checked[all];
                " Alles: jede Anfrage der Schnittstelle"
            } }
            @if let Some(refused) = refused { p.refused id="fehler-scope" role="alert" { (refused) } }
        }
        details open[refused.is_some()
            || stored.is_some() && !all
            || is_sent && ticked(request, SCOPE).next().is_some()]
        {
            summary { "Einzeln ankreuzen" }
            fieldset {
                legend { "Er darf auch" }
                @for known in Scope::ALL {
                    div { label {
                        input type="checkbox" name=(SCOPE) value=(known.as_str())
                            checked[has(SCOPE, known.as_str()) || is_stored(*known)];
                        " " (scope(*known)) " " small { "(" (known.as_str()) ")" }
                    } }
                }
            }
        }
    }
}

//! Request and response models of weighings.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Kennung, LongText, OneOf, Text, Waegung};
use crate::rules::day::{Day, Instant};
use crate::rules::error::Hints;
use crate::rules::field::said;
use crate::rules::fixed::Quantity;
use crate::rules::weighing::{Richtung, WiegungStatus};
use crate::{auswahl, eingabe};

record! {
    /// A weighing (specification, Wiegung; also shows the other fields that a POST stores: D18).
    #[derive(Debug, Clone, Default, Serialize, JsonSchema)]
    pub struct Wiegung in wiegung as w {
        id: Uuid = fixed,
        wiegeschein_nr: String = fixed => said("Wiegeschein", "Nummer des Wiegescheins."),
        status: WiegungStatus = mutable => said("Status", "Status des Datensatzes."),
        richtung: Option<Richtung> as OneOf<Richtung> = mutable
            => said("Richtung", "eingang oder ausgang; ohne Angabe folgt sie aus den Gewichten."),
        kennzeichen: Option<String> as Text = fixed => said("Kennzeichen", "Kennzeichen des Fahrzeugs."),
        fahrer: Option<String> as Text = fixed => said("Fahrer", "Fahrer."),
        gewicht_erst_kg: Quantity as Waegung = fixed => said("Erstgewicht (kg)", "Erstes Gewicht in kg."),
        gewicht_zweit_kg: Option<Quantity> = mutable => said("Zweitgewicht (kg)", "Zweites Gewicht in kg."),
        gewicht_netto_kg: Option<Quantity> = mutable
            => said("Netto (kg)", "Nettogewicht in kg: Unterschied beider Gewichte."),
        ts_erst: Instant = fixed => said("Erstwiegung", "Zeitpunkt der ersten Wiegung."),
        ts_zweit: Option<Instant> = mutable => said("Zweitwiegung", "Zeitpunkt der zweiten Wiegung."),
        waage_id: i64 as Kennung = fixed => said("Waage", "Kennung der Waage."),
        partner_id: Uuid as Uuid = fixed,
        artikel_id: Option<Uuid> as Uuid = fixed,
        charge_id: Option<Uuid> as Uuid = mutable,
        niederlassung_id: Option<i64> as Kennung = mutable => said("Niederlassung", "Kennung der Niederlassung."),
        lagerhalle_id: Option<i64> as Kennung = mutable => said("Lagerhalle", "Kennung der Lagerhalle."),
        kontrakt_id: Option<Uuid> as Uuid = mutable,
        kontrakt_position_id: Option<Uuid> as Uuid = mutable,
        /// The first live document that references it.
        beleg_id: Option<Uuid> = "(select b.id from beleg_position p
            join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
          where p.tenant_id = w.tenant_id and p.wiegung_id = w.id and b.status <> 'storniert'
          order by b.id limit 1)",
        fremdwiegung: bool as bool = fixed
            => said("Fremdwiegung", "Auf einer fremden Waage gewogen; das zweite Gewicht darf 0 sein."),
        bemerkung: Option<String> as LongText = fixed => said("Bemerkung", "Freier Text."),
        storno_grund: Option<String> = mutable => said("Grund des Stornos", "Warum storniert wurde."),
        partner_name: Option<String> = "k.name" => said("Partner", "Name des Partners."),
        artikel_bezeichnung: Option<String> = "a.bezeichnung" => said("Artikel", "Bezeichnung des Artikels."),
        /// Only in the answer about a single weighing (specification).
        #[serde(skip_serializing_if = "Option::is_none")]
        charge_nr: Option<Option<String>> = { None },
        #[serde(skip)]
        version: i64 = mutable,
    }
    body struct NewWiegung {} nur_lesen: []
}

auswahl! {
    /// Filters of a list of weighings; von and bis are Berlin days of the first weighing (D12).
    pub struct Auswahl<'a> of (query: &'a Query) {
        status: Option<&'static str> = query.one_of("status")?,
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        partner: Option<Uuid> = query.uuid("partner_id")?,
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
        /// Ignores case, blanks and hyphens.
        kennzeichen: Option<&'a str> = query.text("kennzeichen"),
        wiegeschein_nr: Option<String> = query.text("wiegeschein_nr").map(str::to_uppercase),
        sortierung: Option<&'a str> = query.one_of("sortierung")?,
    }
}

eingabe! {
    pub change Zweitwiegung {
        gewicht_zweit_kg: Waegung,
        charge_id: Uuid,
        kontrakt_id: Uuid,
        kontrakt_position_id: Uuid,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
        richtung: OneOf<Richtung>,
    }
    nur_lesen: [..Wiegung]
}

eingabe! {
    /// The reason for a cancellation: body of a storno of weighings, documents and goods receipts.
    pub struct Storno {
        grund: Text,
    }
    nur_lesen: []
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WiegungBestaetigung {
    pub id: Uuid,
    pub wiegeschein_nr: String,
    pub status: WiegungStatus,
    pub gewicht_netto_kg: Option<Quantity>,
    pub richtung: Option<Richtung>,
    pub hinweise: Hints,
}

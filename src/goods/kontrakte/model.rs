//! Request and response models of contracts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Int, Liste, LongText, NotNegative, Text};
use crate::rules::day::{Day, DayTime};
use crate::rules::error::Hints;
use crate::rules::field::said;
use crate::rules::fixed::{Price, Quantity};
use crate::{auswahl, eingabe};

record! {
    /// A contract (specification, Kontrakt), with its delivered quantities.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Kontrakt in kontrakt as v {
        id: Uuid = fixed,
        kontrakt_nr: String as Text = mutable => said("Nummer", "Nummer des Kontrakts.")
            .aliases("kontraktnummer kontrakt vertragsnummer vertragsnr vertrag nr nummer")
            .group(KOPF),
        kontrakt_typ: Option<String> as Text = mutable => said("Art", "Art des Kontrakts.")
            .aliases("typ art vertragsart")
            .group(KOPF),
        partner_id: Option<Uuid> = mutable,
        gueltig_von: Option<DayTime> as Day = mutable => said("Gültig von", "Erster Tag der Gültigkeit.")
            .aliases("von ab beginn gueltigab startdatum")
            .group(KOPF),
        gueltig_bis: Option<DayTime> as Day = mutable => said("Gültig bis", "Letzter Tag der Gültigkeit.")
            .aliases("bis ende ablauf ablaufdatum enddatum")
            .group(KOPF),
        erfassungsdatum: Option<DayTime> as Day = mutable => said("Geschlossen am", "Tag der Erfassung.")
            .aliases("datum vertragsdatum kontraktdatum")
            .group(KOPF),
        gesamtmenge: Option<Quantity> as NotNegative<Quantity> = mutable
            => said("Vereinbarte Menge", "Vereinbarte Menge.")
            .aliases("menge kontraktmenge vertragsmenge")
            .group(KOPF),
        gesamtmenge_einheit: Option<String> as Text = mutable
            => said("Einheit", "Einheit der vereinbarten Menge.").hint("t, dt, kg")
            .aliases("einheit me mengeneinheit")
            .group(KOPF),
        mengenart: Option<String> as Text = mutable
            => said("Menge ist", "Art der Mengenvereinbarung.").hint("circa, genau").group(KOPF),
        paritat: Option<String> as Text = mutable => said("Parität", "Parität.")
            .aliases("paritaet lieferbedingung")
            .group(KOPF),
        zahlungsbedingung: Option<String> as Text = mutable => said("Zahlungsbedingung", "Zahlungsbedingung.")
            .aliases("zahlungsbedingungen")
            .group(KOPF),
        erntejahr: Option<i64> as Int<1900, 2200> = mutable
            => said("Erntejahr", "Erntejahr.").aliases("ernte").group(KOPF),
        erledigt: bool as bool = mutable => said("Erledigt", "Ob der Kontrakt erledigt ist.").group(KOPF),
        notizen: Option<String> as LongText = mutable => said("Notizen", "Freier Text.")
            .aliases("notiz bemerkung bemerkungen anmerkung anmerkungen")
            .group(NOTIZEN).long(),
        referenz: Option<String> as Text = mutable => said("Referenz", "Referenz des Partners.").group(KOPF),
        /// Number of the scheme by which its goods are settled (D29b); null if none.
        schema: Option<String> as Text = "sc.nummer" => said("Abrechnungsschema",
            "Nummer des Abrechnungsschemas, nach dem Ware auf diesen Kontrakt abgerechnet wird; null: er nennt \
             keines.").group(KOPF),
        #[serde(skip)]
        schema_id: Option<Uuid> = mutable,
        partner_name: Option<String> = "k.name" => said("Partnername", "Name des Partners."),
        /// Delivered on this contract, in its unit: gesamtmenge_einheit, else that of the first article of
        /// its positions; null if there is neither, or if the goods do not convert to it (D21g).
        geliefert: Option<Quantity> = { None } => said("Geliefert",
            "Auf den Kontrakt geliefert, in seiner Einheit, sonst der des ersten Artikels seiner Positionen; null, wo \
             sie sich nicht vergleichen lässt."),
        /// gesamtmenge, else the sum of the positions, minus geliefert; negative if more was delivered.
        offen: Option<Quantity> = { None } => said("Offen",
            "Vereinbarte Menge (sonst die Summe der Positionen) ohne das Gelieferte; negativ, wenn mehr geliefert \
             wurde."),
        /// Quantity that live settlements paid at its price (D29g), in its unit; null if that is not a unit
        /// of weight.
        abgerechnet: Option<Quantity> = { None } => said("Mit Annahmescheinen abgerechnet",
            "Was zum Preis des Kontrakts mit Annahmescheinen abgerechnet ist, in seiner Einheit; null, wo sie kein \
             Gewicht ist."),
        positionen: Vec<Position> = { Vec::new() },
    }
    /// Body of POST and PUT /kontrakte (D22). `positionen` replaces all positions, each of them complete.
    body change KontraktChange {
        partner_id: Uuid,
        positionen: Liste<PositionEingabe, POSITIONS_MAX>,
    } nur_lesen: ["hinweise"]
    /// A row of kontrakte; its key is kontrakt_nr. `partner` is a kundennr (D22).
    body struct KontraktZeile {
        partner: Text,
        positionen: Liste<PositionZeile, POSITIONS_MAX>,
    } nur_lesen: []
}

/// The parts of the form.
pub const KOPF: &str = "Kontrakt";
pub const NOTIZEN: &str = "Notizen";

impl Kontrakt {
    /// Delivered percentage of the agreed quantity; `None` if either is unknown.
    pub fn percent(&self) -> Option<i128> {
        let delivered = i128::from(self.geliefert?.units());
        let agreed = delivered + i128::from(self.offen?.units());
        (agreed > 0).then(|| delivered.max(0) * 100 / agreed)
    }
}

auswahl! {
    /// Filters of a list of contracts; von and bis refer to erfassungsdatum.
    pub struct Auswahl<'a> of (query: &'a Query) {
        typ: Option<&'a str> = query.text("kontrakt_typ"),
        partner: Option<Uuid> = query.uuid("partner_id")?,
        erledigt: Option<bool> = query.bool("erledigt")?,
        erntejahr: Option<i64> = query.int("erntejahr")?,
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        suche: Option<&'a str> = query.search("suche")?,
    }
}

eingabe! {
    pub struct PositionZeile {
        id: uuid::Uuid,
        position: Int<1, 10_000>,
        artikelnummer: Text,
        menge: NotNegative<Quantity>,
        preis: NotNegative<Price>,
    }
    nur_lesen: []
}

/// Maximum number of positions per contract.
const POSITIONS_MAX: usize = 1_000;

eingabe! {
    /// A position in the body of a contract; an id or a number refers to an existing position.
    pub struct PositionEingabe as "KontraktPositionNeu" {
        id: Uuid,
        position: Int<1, 10_000>,
        artikel_id: Uuid,
        artikelnr: Text,
        menge: NotNegative<Quantity>,
        preis: NotNegative<Price>,
    }
    nur_lesen: []
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct KontraktAngelegt {
    pub id: Uuid,
    pub kontrakt_nr: String,
    pub hinweise: Hints,
}

record! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "KontraktPosition")]
    pub struct Position in kontrakt_position as p {
        id: Uuid = fixed,
        position: i64 = mutable,
        artikel_id: Option<Uuid> = mutable,
        menge: Option<Quantity> = mutable,
        preis: Option<Price> = mutable,
    }
}

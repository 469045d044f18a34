//! The partner of a document: found by number, integer or uuid (D1), and allowed to have one (D3).

use uuid::Uuid;

use super::eingabe::{BelegEingabe, KundenId};
use crate::db::error::Result;
use crate::db::tx::Tx;
use crate::http::wire::{Text, Verweis};
use crate::kunden::{self, Kunde};
use crate::laender;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::stammdaten::KundeStatus;
use crate::rules::tax::Steuerpartner;

/// A customer by integer id or uuid.
pub fn find(tx: &Tx<'_>, verweis: &Verweis) -> Result<Option<Kunde>> {
    match verweis {
        Verweis::Nummer(kunden_id) => kunden::find_by_kunden_id(tx, *kunden_id),
        Verweis::Id(id) => kunden::find(tx, *id),
        Verweis::Name(_) => Ok(None),
    }
}

/// The partner that a body names, by kunden_id, kundennummer or both; none when by neither.
pub fn resolve(tx: &Tx<'_>, eingabe: &BelegEingabe) -> Result<Option<Kunde>> {
    let by_id = match eingabe.kunden_id.get() {
        Some(KundenId(verweis)) => Some(find(tx, verweis)?.ok_or_else(|| not_found("kunden_id"))?),
        None => None,
    };
    let by_number = match eingabe.kundennummer.get() {
        Some(Text(number)) => {
            Some(kunden::find_by_kundennr(tx, number)?.ok_or_else(|| not_found("kundennummer"))?)
        }
        None => None,
    };
    match (by_id, by_number) {
        (Some(a), Some(b)) if a.id != b.id => {
            let message = "kunden_id und kundennummer nennen verschiedene Kunden. Bitte nur eines senden.";
            Err(Refusal::field(Code::KundeWiderspruch, "kundennummer", message).into())
        }
        (a, b) => Ok(a.or(b)),
    }
}

/// The refusal of a document without a partner.
pub fn missing() -> Box<Refusal> {
    let message = "Es fehlt der Kunde oder Lieferant. Bitte kunden_id oder kundennummer angeben.";
    Refusal::field(Code::KundeFehlt, "kunden_id", message)
}

/// A locked partner gets no new documents, except the invoices he sends (D3).
pub fn check_status(typ: BelegTyp, kunde: &Kunde, hints: &mut Hints) -> Result<()> {
    match kunde.status {
        KundeStatus::Gesperrt if typ != BelegTyp::Er => {
            let message = format!("{} ist gesperrt. Bitte den Status des Kunden prüfen.", kunde.name);
            Err(Refusal::field(Code::KundeGesperrt, "kunden_id", message).into())
        }
        KundeStatus::Inaktiv => {
            hints.add(HintCode::KundeInaktiv, format!("{} ist inaktiv.", kunde.name));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What the tax rules need to know of a partner.
pub fn steuerpartner(kunde: &Kunde) -> Steuerpartner {
    let foreign = |ust_id: &String| !ust_id.to_uppercase().starts_with("DE");
    Steuerpartner {
        steuerart: kunde.steuerart,
        gebiet: laender::gebiet(&kunde.staat),
        fremde_ust_id: kunde.ust_id.as_ref().is_some_and(foreign),
    }
}

/// The customer of a filter; one that nobody has gives an empty list (D1).
pub fn of_filter(tx: &Tx<'_>, verweis: Option<&Verweis>) -> Result<Option<Uuid>> {
    match verweis {
        None => Ok(None),
        Some(verweis) => Ok(Some(find(tx, verweis)?.map_or(Uuid::nil(), |kunde| kunde.id))),
    }
}

fn not_found(feld: &str) -> Box<Refusal> {
    Refusal::field(
        Code::KundeNichtGefunden,
        feld,
        "Diesen Kunden oder Lieferanten gibt es nicht. Bitte die Nummer prüfen.",
    )
}

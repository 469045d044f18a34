//! How other records reference a contract.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::Kontrakt;
use super::sql;
use crate::platform::db::record::record;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Price;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KontraktBezug {
    pub kontrakt_id: Option<Uuid>,
    pub kontrakt_position_id: Option<Uuid>,
}

impl KontraktBezug {
    /// Returns the reference if both parts exist and belong together; a position alone implies its contract.
    pub fn checked(self, tx: &Tx<'_>) -> Result<KontraktBezug> {
        let KontraktBezug { kontrakt_id, kontrakt_position_id } = self;
        if let Some(position) = kontrakt_position_id {
            let statement =
                "select kontrakt_id from kontrakt_position where tenant_id = :tenant and id = :id";
            let owner: Option<Uuid> =
                tx.optional(statement, named_params! {":id": position}, |row| row.get(0))?;
            let owner = owner.filter(|owner| kontrakt_id.is_none_or(|kontrakt| kontrakt == *owner));
            let owner = owner.ok_or_else(|| not_found("kontrakt_position_id"))?;
            return Ok(KontraktBezug { kontrakt_id: Some(owner), kontrakt_position_id });
        }
        if let Some(kontrakt) = kontrakt_id {
            let statement = "select 1 from kontrakt where tenant_id = :tenant and id = :id";
            if !tx.exists(statement, named_params! {":id": kontrakt})? {
                return Err(not_found("kontrakt_id").into());
            }
        }
        Ok(self)
    }

    /// Adds a hint for each mismatch between a document's position and the contract: its partner, its
    /// article, whether it buys or sells (D21g).
    pub fn hints(
        self,
        tx: &Tx<'_>,
        partner: Uuid,
        artikel: Option<Uuid>,
        seite: Seite,
        hints: &mut Hints,
    ) -> Result<()> {
        let Some(kontrakt) = self.kontrakt_id else { return Ok(()) };
        let statement =
            "select partner_id, kontrakt_typ from kontrakt where tenant_id = :tenant and id = :id";
        let (owner, typ): (Option<Uuid>, Option<String>) =
            tx.one(statement, named_params! {":id": kontrakt}, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut hint = |code, message: &str| hints.add_field(code, "kontrakt_id", message);
        if owner.is_some_and(|owner| owner != partner) {
            hint(HintCode::KontraktAndererPartner, "Der Kontrakt gehört zu einem anderen Partner.");
        }
        if typ.as_deref().and_then(side).is_some_and(|side| side != seite) {
            let message = match seite {
                Seite::Einkauf => "Der Kontrakt ist ein Verkaufskontrakt, der Beleg ein Einkauf.",
                Seite::Verkauf => "Der Kontrakt ist ein Einkaufskontrakt, der Beleg ein Verkauf.",
            };
            hint(HintCode::KontraktAndereRichtung, message);
        }
        if let Some(artikel) = artikel
            && !self.names(tx, kontrakt, artikel)?
        {
            hint(HintCode::KontraktAndererArtikel, "Der Kontrakt nennt diesen Artikel nicht.");
        }
        Ok(())
    }

    /// Adds a hint if the contract is completed, or did not hold on the day of the goods (D21g).
    pub fn hint_over(self, tx: &Tx<'_>, day: Day, hints: &mut Hints) -> Result<()> {
        let Some(kontrakt) = self.kontrakt_id else { return Ok(()) };
        let statement = "select kontrakt_nr, gueltig_von, gueltig_bis, erledigt from kontrakt
            where tenant_id = :tenant and id = :id";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let (nummer, first, last, is_settled): (String, Option<Day>, Option<Day>, bool) =
            tx.one(statement, named_params! {":id": kontrakt}, read)?;
        let state = match (first, last) {
            _ if is_settled => "ist erledigt".to_owned(),
            (_, Some(last)) if last < day => format!("galt bis {last}"),
            (Some(first), _) if day < first => format!("gilt erst ab {first}"),
            _ => return Ok(()),
        };
        let message = format!("Der Kontrakt {nummer} {state}. Bitte prüfen, ob er gemeint ist.");
        hints.add_field(HintCode::KontraktAbgelaufen, "kontrakt_id", message);
        Ok(())
    }

    /// Whether the contract, or the referenced position of it, names an article; one that names none accepts
    /// all.
    fn names(self, tx: &Tx<'_>, kontrakt: Uuid, artikel: Uuid) -> Result<bool> {
        let positions = sql::positions(tx, kontrakt)?.into_iter();
        let meant = positions.filter(|position| self.kontrakt_position_id.is_none_or(|id| id == position.id));
        let named: Vec<_> = meant.filter_map(|position| position.artikel_id).collect();
        Ok(named.is_empty() || named.contains(&artikel))
    }
}

/// Returns whether a contract sells or buys, if its type says so.
pub fn side(kontrakt_typ: &str) -> Option<Seite> {
    let typ = kontrakt_typ.to_lowercase();
    match typ.as_str() {
        "vk" => Some(Seite::Verkauf),
        "ek" => Some(Seite::Einkauf),
        _ if typ.starts_with("verkauf") => Some(Seite::Verkauf),
        _ if typ.starts_with("einkauf") => Some(Seite::Einkauf),
        _ => None,
    }
}

impl Kontrakt {
    /// Whether it applies to goods of this partner on this side: its partner and its side, if set, must
    /// match.
    pub(super) fn binds(&self, partner: Uuid, seite: Seite) -> bool {
        let is_theirs = self.partner_id.is_none_or(|own| own == partner);
        is_theirs && self.kontrakt_typ.as_deref().and_then(side).is_none_or(|side| side == seite)
    }
}

/// Returns the contract by which goods of a supplier are settled; `None` if it does not apply to them (D29g).
pub fn of_supplier(tx: &Tx<'_>, kontrakt: Uuid, partner: Uuid) -> Result<Option<Kontrakt>> {
    Ok(sql::find(tx, kontrakt)?.filter(|kontrakt| kontrakt.binds(partner, Seite::Einkauf)))
}

fn not_found(feld: &str) -> Box<Refusal> {
    let message = ("Diesen Kontrakt gibt es nicht.", "Bitte die id prüfen.");
    Refusal::field(Code::KontraktNichtGefunden, feld, message)
}

record! {
    /// The price that a contract sets for goods.
    pub struct AgreedPrice from kontrakt_position as p {
        preis: Price,
        /// Unit of the whole contract; `None`: that of the article.
        einheit: Option<String> = "v.gesamtmenge_einheit",
        kontrakt_nr: String = "v.kontrakt_nr",
        kontrakt_typ: Option<String> = "v.kontrakt_typ",
    }
}

/// Returns the price of a contract position if it has one and applies to this article, this partner and this
/// side (D6).
pub fn agreed_price(
    tx: &Tx<'_>,
    position: Uuid,
    artikel: Uuid,
    partner: Uuid,
    seite: Seite,
) -> Result<Option<AgreedPrice>> {
    let statement = format!(
        "select {} from kontrakt_position p join kontrakt v on v.tenant_id = p.tenant_id and v.id = p.kontrakt_id
         where p.tenant_id = :tenant and p.id = :position and p.artikel_id = :artikel and p.preis is not null
           and (v.partner_id is null or v.partner_id = :partner)",
        AgreedPrice::COLUMNS
    );
    let params = named_params! {":position": position, ":artikel": artikel, ":partner": partner};
    let agreed = tx.optional(&statement, params, AgreedPrice::read)?;
    Ok(agreed.filter(|agreed| agreed.kontrakt_typ.as_deref().and_then(side).is_none_or(|side| side == seite)))
}

//! Effects of a document on the receipts that it settles (D29i, D29j). `abrechnungen` creates settlements; a
//! document only knows whether it is one.

use std::collections::BTreeSet;

use rusqlite::{Row, named_params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::platform::db::columns::Json;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::sums;
use crate::rules::settlement::{AbrechnungsPosten, Abrechnungsart};
use crate::trade::belege::model::{Beleg, BelegPosition};

/// A receipt of a settlement, and the first of its positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abgerechnet {
    pub position: i64,
    #[serde(flatten)]
    pub posten: AbrechnungsPosten,
}

/// Returns the receipts that a document settles; none for a supplement, which does not compute them again.
pub fn notes(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Abgerechnet>> {
    let statement = "select x.position, x.inhalt from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and a.art <> 'nachverguetung' order by x.nr";
    tx.all(statement, named_params! {":beleg": beleg}, |row| {
        let (position, Json(posten)) = (row.get(0)?, row.get(1)?);
        Ok(Abgerechnet { position, posten })
    })
}

/// Refuses to change the positions of a settlement, because they follow from its receipts.
pub fn refuse_other_positions(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select 1 from abrechnung where tenant_id = :tenant and beleg_id = :beleg";
    let message = "Die Positionen dieser Gutschrift folgen aus den Annahmescheinen. Bitte sie stornieren \
        und neu abrechnen.";
    let is_settlement = tx.exists(statement, named_params! {":beleg": beleg})?;
    Ok(refuse_if(is_settlement, Code::AbrechnungNichtAenderbar, "items", message)?)
}

/// Updates the status of the receipts after their settlement became final or was cancelled, and reports it to
/// the feed.
pub fn follow(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select s.id, s.status, s.stand from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join annahmeschein_stand s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg";
    follow_receipts(tx, statement, beleg)
}

/// Updates the status of these documents' receipts from what their goods are paired with (D21a), and reports
/// it to the feed.
pub fn update_receipts<'b>(tx: &WriteTx<'_>, belege: impl IntoIterator<Item = &'b Uuid>) -> Result<()> {
    let statement = "select id, status, stand from annahmeschein_stand where tenant_id = :tenant \
        and el_beleg_id = :beleg";
    belege.into_iter().try_for_each(|beleg| follow_receipts(tx, statement, *beleg))
}

/// Updates the status of receipts; `statement` selects those of a document, each with its old and its new
/// status.
fn follow_receipts(tx: &WriteTx<'_>, statement: &str, beleg: Uuid) -> Result<()> {
    let follow = "insert into annahmeschein_stand (tenant_id, id, status) values (:tenant, :id, :status)";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let notes: Vec<(Uuid, String, String)> = tx.all(statement, named_params! {":beleg": beleg}, row)?;
    for (id, status, stand) in notes {
        if status != stand {
            tx.execute(follow, named_params! {":id": id, ":status": stand})?;
        }
        tx.changed("annahmeschein", id);
    }
    Ok(())
}

/// Refuses to cancel an advance before the final settlement that deducts it, or a final settlement before its
/// supplement.
pub fn check_last(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select d.beleg_nummer from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join abrechnung_annahme y on y.tenant_id = x.tenant_id and y.annahmeschein_id = x.annahmeschein_id
        join abrechnung f on f.tenant_id = y.tenant_id and f.id = y.abrechnung_id
        join beleg d on d.tenant_id = f.tenant_id and d.id = f.beleg_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and d.status <> 'storniert'
          and (a.art = 'abschlag' and f.art = 'end' or a.art = 'end' and f.art = 'nachverguetung')
        order by d.beleg_nummer limit 1";
    let last = tx.optional(statement, named_params! {":beleg": beleg}, |row| row.get::<_, String>(0))?;
    let Some(nummer) = last else { return Ok(()) };
    let message = format!("{nummer} baut auf dieser Abrechnung auf. Bitte zuerst {nummer} stornieren.");
    Err(Refusal::new(Code::AbrechnungHatFolge, message).into())
}

/// A live settlement that pays for a receipt, or paid an advance on it.
struct Bezahlt {
    schein: String,
    art: Abrechnungsart,
    nummer: String,
}

/// Returns a live settlement of the goods that a purchase delivery brought: its final one, else an advance.
fn paid_by(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<Bezahlt>> {
    if beleg.beleg_typ != BelegTyp::El {
        return Ok(None);
    }
    let statement = "select s.belegnummer, a.art, d.beleg_nummer from annahmeschein s
        join abrechnung_annahme x on x.tenant_id = s.tenant_id and x.annahmeschein_id = s.id
        join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
        join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id
        where s.tenant_id = :tenant and s.el_beleg_id = :beleg and d.status <> 'storniert'
          and a.art <> 'nachverguetung'
        order by a.art = 'end' desc, d.beleg_nummer limit 1";
    tx.optional(statement, named_params! {":beleg": beleg.id}, |row| {
        Ok(Bezahlt { schein: row.get(0)?, art: row.get(1)?, nummer: row.get(2)? })
    })
}

impl Bezahlt {
    fn refusal(&self, feld: Option<&str>) -> Box<Refusal> {
        let Bezahlt { schein, art, nummer } = self;
        let what = match art {
            Abrechnungsart::Abschlag => format!("Auf {schein} ist mit {nummer} ein Abschlag bezahlt."),
            _ => format!("{schein} ist mit {nummer} abgerechnet."),
        };
        let message = (what, format!("Bitte zuerst {nummer} stornieren."));
        match feld {
            Some(feld) => Refusal::field(Code::AnnahmescheinAbgerechnet, feld, message),
            None => Refusal::new(Code::AnnahmescheinAbgerechnet, message),
        }
    }
}

/// Refuses to cancel a delivery whose receipt is settled or has an advance: the next lorry of the lot would take its
/// place in the settlement and never be paid (D29h).
pub fn refuse_cancelled_delivery(tx: &Tx<'_>, beleg: &Beleg) -> Result<()> {
    match paid_by(tx, beleg)? {
        Some(paid) => Err(paid.refusal(None).into()),
        None => Ok(()),
    }
}

/// Refuses to change what such a delivery says of its goods: partner, article, quantity, days.
pub fn refuse_changed_delivery(
    tx: &Tx<'_>,
    (old, before): (&Beleg, &[BelegPosition]),
    (new, after): (&Beleg, &[BelegPosition]),
) -> Result<()> {
    let goods = |position: &BelegPosition| Some((position.artikel_id?, position.lager_menge?));
    let (before, after) = (sums(before.iter().filter_map(goods))?, sums(after.iter().filter_map(goods))?);
    let changed = [
        ("kunden_id", old.kunde_id != new.kunde_id),
        ("lieferdatum", old.lieferdatum != new.lieferdatum),
        ("beleg_datum", old.beleg_datum != new.beleg_datum),
        ("items", before != after),
    ];
    let Some((feld, _)) = changed.into_iter().find(|(_, is_changed)| *is_changed) else { return Ok(()) };
    match paid_by(tx, new)? {
        Some(paid) => Err(paid.refusal(Some(feld)).into()),
        None => Ok(()),
    }
}

/// Adds a hint for each live settlement that pays for goods which this document returns.
pub fn hint_returned(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    if beleg.beleg_typ != BelegTyp::El || !positions.iter().any(|position| position.menge.is_negative()) {
        return Ok(());
    }
    let returned = "select von_beleg_id from beleg_fluss where tenant_id = :tenant and beleg_id = :beleg
        union select lieferung_id from lager_paar
          where tenant_id = :tenant and rueckgabe_id = :beleg and lieferung_id is not null
        union select rechnung_id from lager_paar
          where tenant_id = :tenant and rueckgabe_id = :beleg and rechnung_id is not null";
    let settled = "select d.beleg_nummer from abrechnung a
        join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and a.art <> 'nachverguetung'
          and d.status <> 'storniert'
        union
        select d.beleg_nummer from annahmeschein s
        join abrechnung_annahme x on x.tenant_id = s.tenant_id and x.annahmeschein_id = s.id
        join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
        join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id
        where s.tenant_id = :tenant and s.el_beleg_id = :beleg and a.art <> 'nachverguetung'
          and d.status <> 'storniert'";
    let mut numbers = BTreeSet::new();
    for id in tx.all(returned, named_params! {":beleg": beleg.id}, |row| row.get::<_, Uuid>(0))? {
        numbers.extend(tx.all(settled, named_params! {":beleg": id}, |row| row.get::<_, String>(0))?);
    }
    for nummer in numbers {
        let message = format!(
            "Diese Ware ist mit {nummer} abgerechnet oder angezahlt; die Rückgabe ändert daran nichts. Bitte sie \
             dort gutschreiben oder {nummer} stornieren."
        );
        hints.add(HintCode::AnnahmescheinAbgerechnet, message);
    }
    Ok(())
}

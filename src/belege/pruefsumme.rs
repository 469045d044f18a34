//! The chain of checksums over finalised documents (D4): each is
//! `sha256(the one before ‖ content)`, so that no document can be altered or taken out afterwards
//! without breaking every checksum behind it. `partnerd check` recomputes them.

use rusqlite::named_params;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::nachweis;
use crate::db::evidence::Subject;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};

type Pruefsumme = [u8; 32];

/// What the first document of a company is chained to.
const BEGINNING: Pruefsumme = [0; 32];

/// The content: everything but state, events and why it was cancelled, with the company as it was and what leaves the
/// house, sheet and e-invoice. The columns and their order are part of every checksum.
const CONTENT: &str = "select json_array(hex(b.id), b.beleg_nummer, b.beleg_typ, b.beleg_datum, b.lieferdatum,
    b.leistung_von, b.leistung_bis, b.liefertermin, hex(b.kunde_id), b.kunden_name, b.kunden_strasse,
    b.kunden_plz, b.kunden_ort, b.kunden_staat, b.kunden_ust_id, b.kunden_kundennr, b.kunden_steuernummer,
    b.kunden_email, b.kunden_iban, b.kunden_bic, b.kunden_kaeuferreferenz, b.kunden_e_adresse, b.gutschrift,
    b.firma_nr, b.blatt_am, b.summe_netto, b.summe_mwst, b.summe_brutto,
    b.ist_gutschrift, b.notizen, b.zahlungsziel_tage, b.zahlungsbedingung, b.skonto_tage, b.skonto_prozent,
    b.external_ref, b.fremdbelegnummer, b.kontaktperson, b.niederlassung_id, b.lagerhalle_id, b.vb_id,
    hex(b.storno_von_beleg_id), b.angelegt_am,
    (select json_group_array(json_array(p.position, hex(p.id), hex(p.artikel_id), p.bezeichnung, p.bezeichnung2,
       p.langtext, p.menge, p.einheit, p.ep_netto, p.rabatt_prozent, p.mwst_satz, p.steuer_kategorie,
       p.gesamtpreis, hex(p.charge_id),
       p.fremde_charge_nr, p.mhd, p.herkunftsland, p.biozertifikat_id, p.lager_buchen, p.lager_menge,
       hex(p.bezug_beleg_id), hex(p.wiegung_id), hex(p.kontrakt_id), hex(p.kontrakt_position_id), p.kostenstelle,
       p.niederlassung_id, p.lagerhalle_id) order by p.position)
     from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
    (select json_array(a.angaben, a.profil, a.ausgabe, hex(a.sha256), a.grund) from ausfertigung a
     where a.tenant_id = b.tenant_id and a.beleg_id = b.id),
    (select json_array(f.seit, f.firma, f.strasse, f.plz, f.ort, f.staat, f.ust_id, f.steuernummer, f.registernummer,
       f.rechnungstext, f.email, f.kontakt_name, f.kontakt_telefon, f.kontakt_email, f.iban, f.bic, f.kontoinhaber,
       f.oeko_kontrollstelle, hex(f.logo))
     from firma f where f.tenant_id = b.tenant_id and f.nr = b.firma_nr))
  from beleg b where b.tenant_id = :tenant and b.id = :id";

/// Chains a document that has just become final.
pub fn chain(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let last = "select kette_nr, pruefsumme from beleg where tenant_id = :tenant and kette_nr is not null
        order by kette_nr desc limit 1";
    let last: Option<(i64, Pruefsumme)> = tx.optional(last, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (number, before) = last.unwrap_or((0, BEGINNING));
    let pruefsumme = link(tx, before, beleg)?;
    tx.update("beleg", beleg, named_params! {":kette_nr": number + 1, ":pruefsumme": pruefsumme})?;
    nachweis::keep(tx, Subject::Document(beleg))
}

/// How many documents break the chain of a company.
pub fn broken_links(tx: &Tx<'_>) -> Result<i64> {
    let unchained = "select count(*) from beleg where tenant_id = :tenant and kette_nr is null
        and ereignis_am is not null";
    let mut broken: i64 = tx.one(unchained, &[], |row| row.get(0))?;
    let links =
        "select id, kette_nr, pruefsumme from beleg where tenant_id = :tenant and kette_nr is not null
        order by kette_nr";
    let links: Vec<(Uuid, i64, Pruefsumme)> =
        tx.all(links, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut before = BEGINNING;
    for (expected, (beleg, number, pruefsumme)) in (1..).zip(links) {
        let holds = number == expected && link(tx, before, beleg)? == pruefsumme;
        broken += i64::from(!holds);
        before = pruefsumme;
    }
    Ok(broken)
}

fn link(tx: &Tx<'_>, before: Pruefsumme, beleg: Uuid) -> Result<Pruefsumme> {
    let content: Option<String> = tx.optional(CONTENT, named_params! {":id": beleg}, |row| row.get(0))?;
    let content = content.ok_or_else(|| Failure::Broken("a chained document is gone".into()))?;
    Ok(Sha256::new().chain_update(before).chain_update(content).finalize().into())
}

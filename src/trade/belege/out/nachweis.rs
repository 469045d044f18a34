//! Documents in the chain of evidence: each final one, each version of its history, each PDF.

use rusqlite::named_params;
use uuid::Uuid;

use crate::platform::db::seals::evidence::{self, Digest, Subject};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;

/// A final document except status, events and the reason of its cancellation, with the company as it was, the
/// sheet and the e-invoice. The columns and their order are part of the chain.
const DOCUMENT: &str = "select json_array(hex(b.id), b.beleg_nummer, b.beleg_typ, b.beleg_datum, b.lieferdatum,
    b.leistung_von, b.leistung_bis, b.liefertermin, b.gueltig_bis, hex(b.kunde_id), b.kunden_name, b.kunden_strasse,
    b.kunden_plz, b.kunden_ort, b.kunden_staat, b.kunden_ust_id, b.kunden_kundennr, b.kunden_steuernummer,
    b.kunden_email, b.kunden_iban, b.kunden_bic, b.kunden_kaeuferreferenz, b.kunden_e_adresse, b.rechnungsart,
    b.firma_nr, b.blatt_am, b.erechnung_fehlt, b.summe_netto, b.summe_mwst, b.summe_brutto, b.steuergruppen,
    b.notizen, b.zahlungsziel_tage, b.zahlungsbedingung, b.skonto_tage, b.skonto_prozent,
    b.external_ref, b.fremdbelegnummer, b.kontaktperson, b.niederlassung_id, b.lagerhalle_id, b.vb_id,
    hex(b.storno_von_beleg_id), hex(b.vorgaenger_beleg_id), b.angelegt_am,
    (select json_group_array(json_array(p.position, hex(p.id), hex(p.artikel_id), p.bezeichnung, p.bezeichnung2,
       p.langtext, p.menge, p.einheit, p.ep_netto, p.rabatt_prozent, p.mwst_satz, p.steuer_kategorie,
       p.gesamtpreis, hex(p.charge_id),
       p.fremde_charge_nr, p.mhd, p.herkunftsland, p.biozertifikat_id, p.lager_buchen, p.lager_menge,
       hex(p.bezug_beleg_id), hex(p.bezug_position_id), hex(p.wiegung_id), hex(p.kontrakt_id), hex(p.kontrakt_position_id), p.kostenstelle,
       p.niederlassung_id, p.lagerhalle_id) order by p.position)
     from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
    (select json_array(a.angaben, a.profil, a.ausgabe, hex(a.sha256), a.grund) from ausfertigung a
     where a.tenant_id = b.tenant_id and a.beleg_id = b.id),
    (select json_array(f.seit, f.firma, f.strasse, f.plz, f.ort, f.staat, f.ust_id, f.steuernummer, f.registernummer,
       f.rechnungstext, f.email, f.kontakt_name, f.kontakt_telefon, f.kontakt_email, f.iban, f.bic, f.kontoinhaber,
       f.oeko_kontrollstelle, hex(f.logo), f.logo_mit_name, f.anrede, f.gruss,
       f.text_vor_an, f.text_nach_an, f.text_vor_au, f.text_nach_au, f.text_vor_ls, f.text_nach_ls, \
       f.text_vor_re, f.text_nach_re, f.text_vor_bs, f.text_nach_bs, \
       f.text_vor_el, f.text_nach_el, f.text_vor_gs, f.text_nach_gs)
     from firma f where f.tenant_id = b.tenant_id and f.nr = b.firma_nr))
  from beleg b where b.tenant_id = :tenant and b.id = :id and b.ereignis_am is not null";
/// A version, with its positions if they differ from those of the previous version.
const VERSION: &str = "select v.beleg_id, v.version, v.am, v.key_id, v.aktion, v.beleg, p.positionen
    from beleg_verlauf v left join beleg_verlauf_positionen p
      on p.tenant_id = v.tenant_id and p.beleg_id = v.beleg_id and p.version = v.version
    where v.tenant_id = :tenant and v.beleg_id = :id and v.version = :version";
/// Represents the content of a PDF by its sha256.
const PDF: &str = "select beleg_id, id, dateiname, sha256, erstellt_am from beleg_pdf
    where tenant_id = :tenant and beleg_id = :beleg and id = :id";

/// Returns the digest of the current state of a record in the chain; `None` if there is no such record.
pub fn digest(tx: &Tx<'_>, subject: Subject) -> Result<Option<Digest>> {
    match subject {
        Subject::Document(id) => evidence::digest(tx, DOCUMENT, named_params! {":id": id}),
        Subject::Version(id, version) => {
            evidence::digest(tx, VERSION, named_params! {":id": id, ":version": version})
        }
        Subject::Pdf(beleg, id) => evidence::digest(tx, PDF, named_params! {":beleg": beleg, ":id": id}),
        Subject::Attachment(_) | Subject::Partner(..) => Ok(None),
    }
}

/// Adds a record that was just written to the chain.
pub fn keep(tx: &WriteTx<'_>, subject: Subject) -> Result<()> {
    evidence::keep(tx, subject, digest(tx, subject)?)
}

pub fn without_evidence(tx: &Tx<'_>) -> Result<Vec<Subject>> {
    let documents = "select b.id from beleg b where b.tenant_id = :tenant and b.ereignis_am is not null
          and not exists (select 1 from nachweis n
            where n.tenant_id = b.tenant_id and n.id = b.id and n.version is null and n.art = 'beleg')
        order by b.ereignis_am";
    let mut found: Vec<_> = tx.all(documents, &[], |row| row.get(0).map(Subject::Document))?;
    let versions = "select v.beleg_id, v.version from beleg_verlauf v where v.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = v.tenant_id and n.id = v.beleg_id and n.version = v.version and n.art = 'verlauf')
        order by v.beleg_id, v.version";
    found.extend(tx.all(versions, &[], |row| Ok(Subject::Version(row.get(0)?, row.get(1)?)))?);
    let pdfs = "select p.beleg_id, p.id from beleg_pdf p where p.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = p.tenant_id and n.id = p.id and n.version is null and n.art = 'pdf')
        order by p.beleg_id, p.id";
    found.extend(tx.all(pdfs, &[], |row| Ok(Subject::Pdf(row.get(0)?, row.get(1)?)))?);
    Ok(found)
}

/// Finds the first PDF of a company whose content does not match its sha256.
pub fn altered_pdf(tx: &Tx<'_>) -> Result<Option<Subject>> {
    let statement = "select beleg_id, id, sha256, inhalt from beleg_pdf
        where tenant_id = :tenant order by beleg_id, id";
    evidence::altered_content(tx, statement, |row| {
        Ok(Subject::Pdf(row.get::<_, Uuid>(0)?, row.get::<_, Uuid>(1)?))
    })
}

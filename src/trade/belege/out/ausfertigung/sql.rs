//! SQL statements for the data frozen with final documents (`ausfertigung`, and its columns of `beleg`).

use rusqlite::named_params;
use uuid::Uuid;

use super::angaben::Angaben;
use super::pflicht::Ohne;
use crate::papers::blatt::ERechnung;
use crate::papers::erechnung::{Kontakt, Partei};
use crate::platform::db::columns::Json;
use crate::platform::db::record::columns;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::Profil;
use crate::trade::belege::model::Beleg;
use crate::trade::belege::out::packen::{deflated, digest, inflated};

/// The columns of a document that keep its partner, and those of the partner.
const KEPT: &str =
    "kunden_kundennr, kunden_name, kunden_strasse, kunden_plz, kunden_ort, kunden_staat, kunden_ust_id,
    kunden_steuernummer, kunden_email, kunden_iban, kunden_bic, kunden_kaeuferreferenz, kunden_e_adresse";
const PARTNER: &str = "kundennr, name, strasse, plz, ort, staat, ust_id, steuernummer, email, iban, bic,
    kaeuferreferenz, e_adresse";

/// Stores for a document that becomes final the state of the company's master data, the time of its sheet and
/// the data missing for its e-invoice; copies the partner (D4, D24), for a storno as it was in the cancelled
/// document.
pub fn freeze(tx: &WriteTx<'_>, beleg: Beleg) -> Result<Beleg> {
    let partner = match beleg.storno_von_beleg_id {
        Some(_) => format!(
            "{KEPT} from beleg o where o.tenant_id = beleg.tenant_id and o.id = beleg.storno_von_beleg_id"
        ),
        None => {
            format!("{PARTNER} from kunde k where k.tenant_id = beleg.tenant_id and k.id = beleg.kunde_id")
        }
    };
    let statement = format!(
        "update beleg set firma_nr = :firma_nr, blatt_am = :blatt_am, erechnung_fehlt = :fehlt, \
         ({KEPT}) = (select {partner})
         where tenant_id = :tenant and id = :id"
    );
    let Beleg { id, firma_nr, blatt_am, erechnung_fehlt, .. } = &beleg;
    let fehlt = erechnung_fehlt.as_ref().map(Json);
    tx.execute(
        &statement,
        named_params! {":id": id, ":firma_nr": firma_nr, ":blatt_am": blatt_am, ":fehlt": fehlt},
    )?;
    Ok(beleg)
}

/// Stores the data of the sheet, and the compressed e-invoice with its sha256, or why there is none.
pub fn insert(
    tx: &WriteTx<'_>,
    beleg: Uuid,
    angaben: &Angaben,
    erechnung: &std::result::Result<ERechnung, Ohne>,
) -> Result<()> {
    let written = erechnung.as_ref().ok();
    let packed = written.map(|written| deflated(&written.xml)).transpose()?;
    tx.insert(
        "ausfertigung",
        named_params! {
            ":beleg_id": beleg,
            ":angaben": Json(angaben),
            ":profil": written.map(|written| written.profil),
            ":ausgabe": written.map(|written| written.profil.edition()),
            ":sha256": written.map(|written| digest(&written.xml)),
            ":grund": erechnung.as_ref().err().map(|ohne| &ohne.grund),
            ":erechnung": packed,
        },
    )
}

pub fn angaben(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Angaben>> {
    let statement = "select angaben from ausfertigung where tenant_id = :tenant and beleg_id = :beleg";
    let found = tx.optional(statement, named_params! {":beleg": beleg}, |row| row.get(0))?;
    Ok(found.map(|Json(angaben)| angaben))
}

columns! {
    Partei from beleg as b {
        kennung = "b.kunden_kundennr",
        name = "b.kunden_name",
        strasse = "b.kunden_strasse",
        plz = "b.kunden_plz",
        ort = "b.kunden_ort",
        staat = "b.kunden_staat",
        ust_id = "b.kunden_ust_id",
        steuernummer = "b.kunden_steuernummer",
        e_adresse = "coalesce(b.kunden_e_adresse, b.kunden_email)",
        iban = "b.kunden_iban",
        bic = "b.kunden_bic",
        kontoinhaber = "iif(b.kunden_iban is null, null, b.kunden_name)",
        registernummer = { None },
        rechtliches = { None },
        kontakt = { Kontakt::default() },
    }
}

/// Returns the partner of a document as it was when the document became final (D24).
pub fn partner(tx: &Tx<'_>, beleg: Uuid) -> Result<Partei> {
    let statement =
        format!("select {} from beleg b where b.tenant_id = :tenant and b.id = :id", Partei::COLUMNS);
    tx.one(&statement, named_params! {":id": beleg}, Partei::read)
}

pub fn erechnung(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<ERechnung>> {
    let statement = "select profil, erechnung from ausfertigung
        where tenant_id = :tenant and beleg_id = :beleg and erechnung is not null";
    let found: Option<(Profil, Vec<u8>)> =
        tx.optional(statement, named_params! {":beleg": beleg}, |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.map(|(profil, packed)| Ok(ERechnung { profil, xml: inflated(&packed)? })).transpose()
}

/// Returns the buyer reference of a final document's partner, and the profile of its e-invoice.
pub fn kaeuferreferenz(tx: &Tx<'_>, beleg: Uuid) -> Result<(Option<String>, Option<Profil>)> {
    let statement = "select b.kunden_kaeuferreferenz, a.profil from beleg b
          left join ausfertigung a on a.tenant_id = b.tenant_id and a.beleg_id = b.id
        where b.tenant_id = :tenant and b.id = :id";
    tx.one(statement, named_params! {":id": beleg}, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn grund(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<String>> {
    let statement = "select grund from ausfertigung where tenant_id = :tenant and beleg_id = :beleg";
    Ok(tx.optional(statement, named_params! {":beleg": beleg}, |row| row.get(0))?.flatten())
}

/// Returns the number of the first document whose e-invoice does not match its sha256.
pub fn altered(tx: &Tx<'_>) -> Result<Option<String>> {
    let statement = "select b.beleg_nummer, a.sha256, a.erechnung from ausfertigung a
          join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
        where a.tenant_id = :tenant and a.erechnung is not null order by b.ereignis_am";
    let mut altered = None;
    tx.each_while(statement, &[], |row| {
        let (sha256, packed): ([u8; 32], Vec<u8>) = (row.get(1)?, row.get(2)?);
        let holds = inflated(&packed).is_ok_and(|xml| digest(&xml) == sha256);
        if !holds {
            altered = Some(row.get(0)?);
        }
        Ok(holds)
    })?;
    Ok(altered)
}

//! Statements on partners.

use rusqlite::types::ToSql;
use rusqlite::{Row, named_params};
use serde_json::json;
use uuid::Uuid;

use super::model::{Kunde, PartnerTypen};
use super::suche;
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::{Listing, Rows};
use crate::rules::error::{Code, Refusal};
use crate::rules::text::{Search, case_key, natural_key, searchable};

const COLUMNS: &str = "k.id, k.kunden_id, k.kundennr, k.name, k.nachname_firma, k.anrede, k.vorname, k.email,
    k.telefon, k.telefon2, k.strasse, k.plz, k.ort, k.staat, k.status, k.ist_kunde, k.ist_lieferant,
    k.ist_spediteur, k.steuerart, k.zahlungsziel_tage, k.skonto_tage, k.skonto_prozent, k.steuernummer, k.ust_id,
    k.betriebsnummer, k.iban, k.bic, k.vb_id, k.notizen, k.angelegt_am, k.geaendert_am, k.version";

const FROM: &str = "from kunde k";

/// So many found customers are put in order; of more the order is followed.
const FEW: usize = 1_000;

const LIST: ListSql<'_> = ListSql {
    columns: COLUMNS,
    from: FROM,
    count: "select count(*) from kunde k",
    ids_first: Some("k"),
    order: "order by k.kundennr_sort, k.id",
};

fn kunde(row: &Row<'_>) -> rusqlite::Result<Kunde> {
    let mut columns = Columns::of(row);
    Ok(Kunde {
        id: columns.take()?,
        kunden_id: columns.take()?,
        kundennr: columns.take()?,
        name: columns.take()?,
        nachname_firma: columns.take()?,
        anrede: columns.take()?,
        vorname: columns.take()?,
        email: columns.take()?,
        telefon: columns.take()?,
        telefon2: columns.take()?,
        strasse: columns.take()?,
        plz: columns.take()?,
        ort: columns.take()?,
        staat: columns.take()?,
        status: columns.take()?,
        partner_typen: PartnerTypen {
            kunde: columns.take()?,
            lieferant: columns.take()?,
            spediteur: columns.take()?,
        },
        steuerart: columns.take()?,
        zahlungsziel_tage: columns.take()?,
        skonto_tage: columns.take()?,
        skonto_prozent: columns.take()?,
        steuernummer: columns.take()?,
        ust_id: columns.take()?,
        betriebsnummer: columns.take()?,
        iban: columns.take()?,
        bic: columns.take()?,
        vb_id: columns.take()?,
        notizen: columns.take()?,
        created_at: columns.take()?,
        updated_at: columns.take()?,
        version: columns.take()?,
    })
}

fn write(row: &Row<'_>, rows: &mut Rows) -> Result<()> {
    rows.push(&kunde(row)?)
}

/// One page of partners.
pub fn list(tx: &Tx<'_>, suche: Option<&str>, partner_typ: Option<&str>, page: Page) -> Result<Listing> {
    let mut filter = Filter::of("k");
    match partner_typ {
        Some("kunde") => filter.and("k.ist_kunde = 1"),
        Some("lieferant") => filter.and("k.ist_lieferant = 1"),
        Some(_) => filter.and("k.ist_spediteur = 1"),
        None => {}
    }
    let words = match Search::of(suche) {
        Search::Words(words) => words,
        Search::Nothing => return Ok(Listing::empty(0)),
        Search::All => {
            return match partner_typ {
                None => tx.page(&LIST, &filter, page, count(tx)?, write),
                Some(_) => tx.list(&LIST, &filter, page, write),
            };
        }
    };
    let found = suche::containing(tx, &words)?;
    if found.len() <= FEW {
        filter.and("k.kunden_id in (select value from json_each(:gefunden))");
        filter.with(":gefunden", json!(found).to_string());
        return tx.list(&LIST, &filter, page, write);
    }
    // Many lie close together in the order of the list: it is followed until the page is full.
    filter.contains_words("k.such_text", suche);
    match partner_typ {
        None => tx.page(&LIST, &filter, page, found.len() as i64, write),
        Some(_) => tx.list(&LIST, &filter, page, write),
    }
}

fn find_where(tx: &Tx<'_>, column: &str, value: &dyn ToSql) -> Result<Option<Kunde>> {
    let statement = format!("{LIST} where k.tenant_id = :tenant and {column} = :value");
    tx.optional(&statement, &[(":value", value)], kunde)
}

/// A partner by id.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Kunde>> {
    find_where(tx, "k.id", &id)
}

/// A partner by integer id (D1).
pub fn find_by_kunden_id(tx: &Tx<'_>, kunden_id: i64) -> Result<Option<Kunde>> {
    find_where(tx, "k.kunden_id", &kunden_id)
}

/// A partner by number: trimmed, in any case (D1).
pub fn find_by_kundennr(tx: &Tx<'_>, kundennr: &str) -> Result<Option<Kunde>> {
    find_where(tx, "k.kundennr_key", &case_key(kundennr))
}

/// The partner that a row of an import names by its number (D22).
pub fn must_have_number(tx: &Tx<'_>, kundennr: &str, feld: &str) -> Result<Kunde> {
    let message = || format!("Den Partner {kundennr} gibt es nicht. Bitte erst die Kunden importieren.");
    let missing = || Refusal::field(Code::PartnerNichtGefunden, feld, message());
    Ok(find_by_kundennr(tx, kundennr)?.ok_or_else(missing)?)
}

/// Partners of one name, postcode and town: the key of an import without numbers (D22).
pub fn find_by_address(
    tx: &Tx<'_>,
    name: &str,
    plz: Option<String>,
    ort: Option<String>,
) -> Result<Vec<Kunde>> {
    let statement = format!(
        "{LIST} where k.tenant_id = :tenant and k.nachname_firma = :name collate nocase and k.nachname_firma = :name
           and k.ort is :ort collate nocase and k.ort is :ort and k.plz is :plz
         order by k.id limit 2"
    );
    tx.all(&statement, named_params! {":name": name, ":plz": plz, ":ort": ort}, kunde)
}

/// The number of another partner with the same name and place, whatever the case of A to Z (D18). Who names no town
/// is at no place; of two postcodes there are two places.
pub fn find_double(tx: &Tx<'_>, kunde: &Kunde) -> Result<Option<String>> {
    tx.optional(
        "select kundennr from kunde
         where tenant_id = :tenant and nachname_firma = :name collate nocase and ort = :ort collate nocase
           and coalesce(vorname, '') = coalesce(:vorname, '') collate nocase
           and (plz = :plz or plz is null or :plz is null) and id <> :id
         order by kunden_id limit 1",
        named_params! {
            ":name": kunde.nachname_firma,
            ":ort": kunde.ort,
            ":vorname": kunde.vorname,
            ":plz": kunde.plz,
            ":id": kunde.id,
        },
        |row| row.get(0),
    )
}

/// How many partners there are.
pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one("select coalesce(sum(anzahl), 0) from kunde_suche where tenant_id = :tenant", &[], |row| {
        row.get(0)
    })
}

/// The next integer id.
pub fn next_kunden_id(tx: &Tx<'_>) -> Result<i64> {
    let statement = "select coalesce(max(kunden_id), 0) + 1 from kunde where tenant_id = :tenant";
    tx.one(statement, &[], |row| row.get(0))
}

/// Adds a partner.
pub fn insert(tx: &WriteTx<'_>, kunde: &Kunde) -> Result<()> {
    with_columns(kunde, |columns| {
        let own: [(&str, &dyn ToSql); 3] =
            [(":id", &kunde.id), (":kunden_id", &kunde.kunden_id), (":angelegt_am", &kunde.created_at)];
        tx.insert("kunde", &[&own[..], columns].concat())
    })
}

/// Stores a changed partner.
pub fn update(tx: &WriteTx<'_>, kunde: &Kunde) -> Result<()> {
    with_columns(kunde, |columns| tx.update("kunde", kunde.id, columns))
}

/// The columns that a change can touch.
fn with_columns(kunde: &Kunde, store: impl FnOnce(&[(&str, &dyn ToSql)]) -> Result<()>) -> Result<()> {
    let fields = [Some(&kunde.name), Some(&kunde.nachname_firma), kunde.vorname.as_ref()];
    let more = [kunde.email.as_ref(), Some(&kunde.kundennr), kunde.ort.as_ref()];
    let such_text = searchable(fields.into_iter().chain(more).flatten().map(String::as_str));
    store(named_params! {
        ":kundennr": kunde.kundennr,
        ":kundennr_key": case_key(&kunde.kundennr),
        ":kundennr_sort": natural_key(&kunde.kundennr),
        ":such_text": such_text,
        ":name": kunde.name,
        ":nachname_firma": kunde.nachname_firma,
        ":anrede": kunde.anrede,
        ":vorname": kunde.vorname,
        ":email": kunde.email,
        ":telefon": kunde.telefon,
        ":telefon2": kunde.telefon2,
        ":strasse": kunde.strasse,
        ":plz": kunde.plz,
        ":ort": kunde.ort,
        ":staat": kunde.staat,
        ":status": kunde.status,
        ":ist_kunde": kunde.partner_typen.kunde,
        ":ist_lieferant": kunde.partner_typen.lieferant,
        ":ist_spediteur": kunde.partner_typen.spediteur,
        ":steuerart": kunde.steuerart,
        ":zahlungsziel_tage": kunde.zahlungsziel_tage,
        ":skonto_tage": kunde.skonto_tage,
        ":skonto_prozent": kunde.skonto_prozent,
        ":steuernummer": kunde.steuernummer,
        ":ust_id": kunde.ust_id,
        ":betriebsnummer": kunde.betriebsnummer,
        ":iban": kunde.iban,
        ":bic": kunde.bic,
        ":vb_id": kunde.vb_id,
        ":notizen": kunde.notizen,
        ":geaendert_am": kunde.updated_at,
        ":version": kunde.version,
    })
}

//! SQL statements for partners.

use rusqlite::named_params;
use serde_json::json;
use uuid::Uuid;

use super::model::{Auswahl, Kunde};
use super::suche;
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::{Part, record};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;
use crate::rules::day::Day;
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::{Money, Percent};
use crate::rules::kennnummer::same_steuernummern;
use crate::rules::text::{Search, case_key, natural_key, searchable};

/// Up to this many hits are fetched and sorted; beyond it the index of the sort order is scanned.
const FOUND_SORTED_MAX: usize = 1_000;

const LIST: ListSql<'_> = ListSql {
    columns: Kunde::COLUMNS,
    from: "from kunde k",
    count: "select count(*) from kunde k",
    ids_first: Some("k"),
    order: "order by k.kundennr_sort, k.id",
};

/// Sort orders of the list. `such_text` begins with the name, folded: ä sorts like ae.
const ORDERS: [Order; 4] = [
    ("kundennr", LIST.order),
    ("-kundennr", "order by k.kundennr_sort desc, k.id desc"),
    ("name", "order by k.such_text, k.id"),
    ("-name", "order by k.such_text desc, k.id desc"),
];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

pub fn list<P: PageOf<Kunde>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
    let suche = auswahl.suche;
    let is_narrowed = auswahl.partner_typ.is_some() || auswahl.kundennr.is_some();
    let mut filter = Filter::of("k");
    let sql = LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter);
    filter.when("k.kundennr_key = :kundennr", ":kundennr", auswahl.kundennr.map(case_key));
    match auswahl.partner_typ {
        Some("kunde") => filter.and("k.ist_kunde = 1"),
        Some("lieferant") => filter.and("k.ist_lieferant = 1"),
        Some(_) => filter.and("k.ist_spediteur = 1"),
        None => {}
    }
    let words = match Search::parse(suche) {
        Search::Words(words) => words,
        Search::Nothing => return Ok(P::empty(0)),
        Search::All => {
            return match is_narrowed {
                false => P::read(tx, &sql, &filter, page, count(tx)?),
                true => tx.list(&sql, &filter, page),
            };
        }
    };
    let found = suche::containing(tx, &words)?;
    if found.len() <= FOUND_SORTED_MAX {
        filter.and("k.kunden_id in (select value from json_each(:gefunden))");
        filter.with(":gefunden", json!(found).to_string());
        return tx.list(&sql, &filter, page);
    }
    // With so many hits, scanning in the order of the list fills the page soon. A filtered list looks at all
    // rows.
    filter.contains_words("k.such_text", suche);
    match is_narrowed {
        false => P::read(tx, &sql, &filter, page, found.len() as i64),
        true => tx.list(&sql, &filter, page),
    }
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Kunde>> {
    tx.find_by(&LIST, "k.id", &id)
}

pub fn find_by_kunden_id(tx: &Tx<'_>, kunden_id: i64) -> Result<Option<Kunde>> {
    tx.find_by(&LIST, "k.kunden_id", &kunden_id)
}

/// Finds a partner by number, trimmed and ignoring case (D1).
pub fn find_by_kundennr(tx: &Tx<'_>, kundennr: &str) -> Result<Option<Kunde>> {
    tx.find_by(&LIST, "k.kundennr_key", &case_key(kundennr))
}

/// Returns the partner that a row of an import references by number, or a refusal (D22).
pub fn must_have_number(tx: &Tx<'_>, kundennr: &str, feld: &str) -> Result<Kunde> {
    let message = || format!("Den Partner {kundennr} gibt es nicht. Bitte erst die Kunden importieren.");
    let missing = || Refusal::field(Code::PartnerNichtGefunden, feld, message());
    Ok(find_by_kundennr(tx, kundennr)?.ok_or_else(missing)?)
}

/// Finds the partner with an account in the tax adviser's books; `feld` is its column (D34).
pub fn find_by_konto(tx: &Tx<'_>, feld: &str, konto: i64) -> Result<Option<Kunde>> {
    tx.find_by(&LIST, &format!("k.{feld}"), &konto)
}

/// Finds the partners with this name, postcode and town: the key of an import without numbers (D22).
pub fn find_by_address(
    tx: &Tx<'_>,
    name: &str,
    plz: Option<String>,
    ort: Option<String>,
) -> Result<Vec<Kunde>> {
    let statement = format!(
        "{LIST} where k.tenant_id = :tenant and k.nachname_firma = :name collate nocase and k.nachname_firma = :name
           and k.ort is :ort collate nocase and k.ort is :ort and k.plz is :plz
         order by k.id limit 20"
    );
    tx.all(&statement, named_params! {":name": name, ":plz": plz, ":ort": ort}, Kunde::read)
}

/// An attribute by which an invoice identifies its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merkmal {
    /// VAT id, in its normal form.
    UstId,
    /// Tax number of a state, or its federal form.
    Steuernummer,
    /// IBAN, in its normal form.
    Iban,
    /// Name of the company, ignoring the case of A to Z.
    Name,
}

/// Maximum number of partners examined that share such an attribute.
const MATCHES_MAX: i64 = 20;

pub fn with(tx: &Tx<'_>, merkmal: Merkmal, value: &str) -> Result<Vec<Kunde>> {
    let has = match merkmal {
        Merkmal::UstId => "k.ust_id in (select value from json_each(:values))",
        Merkmal::Steuernummer => "k.steuernummer in (select value from json_each(:values))",
        Merkmal::Iban => "k.iban in (select value from json_each(:values))",
        Merkmal::Name => "k.nachname_firma collate nocase in (select value from json_each(:values))",
    };
    let values = match merkmal {
        Merkmal::Steuernummer => same_steuernummern(value),
        _ => vec![value.to_owned()],
    };
    let statement = format!("{LIST} where k.tenant_id = :tenant and {has} order by k.id limit :sharing");
    tx.all(
        &statement,
        named_params! {":values": json!(values).to_string(), ":sharing": MATCHES_MAX},
        Kunde::read,
    )
}

/// Returns the number of another partner with the same name and town, ignoring the case of A to Z (D18). A
/// partner without a town matches nobody; different postcodes mean different places.
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

pub fn count(tx: &Tx<'_>) -> Result<i64> {
    tx.one("select coalesce(sum(anzahl), 0) from kunde_suche where tenant_id = :tenant", &[], |row| {
        row.get(0)
    })
}

pub fn next_kunden_id(tx: &Tx<'_>) -> Result<i64> {
    let statement = "select coalesce(max(kunden_id), 0) + 1 from kunde where tenant_id = :tenant";
    tx.one(statement, &[], |row| row.get(0))
}

pub fn insert(tx: &WriteTx<'_>, kunde: &Kunde) -> Result<()> {
    with_keys(kunde, |keys| tx.insert("kunde", &[&kunde.values(Part::All)[..], keys].concat()))
}

pub fn update(tx: &WriteTx<'_>, kunde: &Kunde) -> Result<()> {
    with_keys(kunde, |keys| tx.update("kunde", kunde.id, &[&kunde.values(Part::Mutable)[..], keys].concat()))
}

/// Updates only the account in the column `feld`: a run sets hundreds, and a full update would touch eight
/// indexes.
pub fn set_konto(tx: &WriteTx<'_>, kunde: &Kunde, feld: &str, konto: i64) -> Result<()> {
    let feld = format!(":{feld}");
    let columns = named_params! {":version": kunde.version, ":geaendert_am": kunde.updated_at};
    tx.update("kunde", kunde.id, &[columns, &[(feld.as_str(), &konto)]].concat())
}

/// Adds the columns by which partners are searched and sorted.
fn with_keys(kunde: &Kunde, store: impl FnOnce(Params<'_>) -> Result<()>) -> Result<()> {
    let fields = [Some(&kunde.name), Some(&kunde.nachname_firma), kunde.vorname.as_ref()];
    let more = [kunde.email.as_ref(), Some(&kunde.kundennr), kunde.ort.as_ref()];
    store(named_params! {
        ":kundennr_key": case_key(&kunde.kundennr),
        ":kundennr_sort": natural_key(&kunde.kundennr),
        ":such_text": searchable(fields.into_iter().chain(more).flatten().map(String::as_str)),
    })
}

/// Whether a partner has this account in the tax adviser's books; `feld` is its column (D34).
pub fn is_konto_taken(tx: &Tx<'_>, feld: &str, konto: i64) -> Result<bool> {
    let statement = format!("select 1 from kunde where tenant_id = :tenant and {feld} = :konto");
    tx.exists(&statement, named_params! {":konto": konto})
}

/// Returns the first free account, starting at `from`.
pub fn next_free_konto(tx: &Tx<'_>, feld: &str, from: i64) -> Result<i64> {
    if !is_konto_taken(tx, feld, from)? {
        return Ok(from);
    }
    let statement = format!(
        "select k.{feld} + 1 from kunde k where k.tenant_id = :tenant and k.{feld} >= :from
           and not exists (select 1 from kunde n where n.tenant_id = k.tenant_id and n.{feld} = k.{feld} + 1)
         order by k.{feld} limit 1"
    );
    tx.one(&statement, named_params! {":from": from}, |row| row.get(0))
}

/// Whether receipts, or final documents, of a partner lie before today.
pub fn has_past(tx: &Tx<'_>, kunde: Uuid) -> Result<bool> {
    let note = "select 1 from annahmeschein where tenant_id = :tenant and partner_id = :kunde and lieferdatum < :heute
        and status <> 'storniert' limit 1";
    let beleg = "select 1 from beleg where tenant_id = :tenant and kunde_id = :kunde and beleg_datum < :heute
        and status <> 'offen' and ereignis_am is not null limit 1";
    Ok(tx.exists(note, named_params! {":kunde": kunde})?
        || tx.exists(beleg, named_params! {":kunde": kunde})?)
}

record! {
    /// A position of a final Gutschrift whose rate follows from its article and its day.
    pub struct GutschriftPosition from beleg_position as p {
        beleg_id: Uuid,
        beleg_nummer: String = "b.beleg_nummer",
        annahmeschein_id: Option<Uuid> = "iif(a.art = 'end', s.id, null)",
        /// That of the receipt, for costs, advances and supplements.
        artikel_id: Uuid = "coalesce(p.artikel_id, s.artikel_id)",
        satz_datum: Day,
        mwst_satz: Percent,
        gesamtpreis: Money,
    }
}

/// Returns the positions of the live final Gutschriften of a partner: of settlements all but the advances that they deduct, else those
/// whose rate nobody sent.
pub fn gutschrift_positionen(tx: &Tx<'_>, kunde: Uuid) -> Result<Vec<GutschriftPosition>> {
    let statement = format!(
        "select {} from beleg b
         join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
         left join abrechnung a on a.tenant_id = b.tenant_id and a.beleg_id = b.id
         left join annahmeschein s on s.tenant_id = a.tenant_id and s.id = (
           select x.annahmeschein_id from abrechnung_annahme x
           where x.tenant_id = a.tenant_id and x.abrechnung_id = a.id and x.position <= p.position
           order by x.position desc limit 1)
         where b.tenant_id = :tenant and b.kunde_id = :kunde and b.rechnungsart = 'gutschrift'
           and b.status in ('abgeschlossen', 'erledigt') and b.storno_von_beleg_id is null
           and p.steuer_kategorie in ('S', 'E') and coalesce(p.artikel_id, s.artikel_id) is not null
           and (a.id is not null or p.satz_gesendet = 0)
           and not (a.art is not null and p.artikel_id is null and p.bezug_beleg_id is not null and exists (
             select 1 from abrechnung v where v.tenant_id = p.tenant_id and v.beleg_id = p.bezug_beleg_id
               and v.art = 'abschlag'))
         order by b.beleg_nummer, p.position",
        GutschriftPosition::COLUMNS
    );
    tx.all(&statement, named_params! {":kunde": kunde}, GutschriftPosition::read)
}

//! The company whose requests are measured.

use std::path::Path;
use std::process::Command;

use rusqlite::Connection;

/// The body of a delivery note with five positions: five of the hundred articles, from `first` on.
pub fn document(customer: u64, first: u64) -> String {
    let item = |at: u64| format!(r#"{{"artikelnr": "S{}", "menge": 3}}"#, (first + at * 13) % 100 + 1);
    let items = (0..5).map(item).collect::<Vec<_>>().join(",");
    format!(r#"{{"beleg_typ": "LS", "kunden_id": {customer}, "items": [{items}]}}"#)
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partnerd"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Creates a further key of a company, without a limit.
pub fn another_key(folder: &Path, company: &str) -> String {
    let limit = i32::MAX.to_string();
    let create = ["key", "create", "--tenant", company, "--label", "load", "--all-scopes", "--daily-limit"];
    run(folder, &[&create[..], &[&limit]].concat())
}

/// Creates a company with a hundred articles; returns a key without a limit.
pub fn company(folder: &Path, name: &str) -> String {
    run(folder, &["tenant", "create", name]);
    let article = |number| {
        format!(
            r#"{{"artikelnummer": "S{number}", "bezeichnung": "Sack", "einheit": "Stk", "preis": "1.25", "mwst_satz": 7}}"#
        )
    };
    let articles = (1..=100).map(article).collect::<Vec<_>>().join(",");
    std::fs::write(folder.join("a.json"), format!("[{articles}]")).unwrap();
    run(folder, &["import", "artikel", "a.json", "--tenant", name]);
    another_key(folder, name)
}

/// Settings of a company that e-invoices require.
pub const COMPLETE: &[&str] = &[
    "firma=Mühle Musterbach GmbH",
    "strasse=Mühlweg 1",
    "plz=99999",
    "ort=Musterbach",
    "ust_id=DE123456789",
    "iban=DE89370400440532013000",
    "email=buero@muehle.example",
];

/// Sets these settings of a company.
pub fn set(folder: &Path, company: &str, settings: &[&str]) {
    if !settings.is_empty() {
        run(folder, &[&["tenant", "set", company][..], settings].concat());
    }
}

/// Fills the tables: ten thousand customers and some receipts of ten lines, `scale` times as many; returns
/// the id of a customer.
pub fn fill(folder: &Path, scale: u64, receipts: u64) -> String {
    let connection = Connection::open(folder.join("partnerd.db")).unwrap();
    let (customers, receipts) = (10_000 * scale, receipts * scale);
    // Ids as in uuid v7: the time first, so that they grow.
    connection
        .execute_batch(&format!(
            "pragma synchronous = off;
             begin;
             with recursive n(i) as (select 1 union all select i + 1 from n where i < {customers})
             insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, ort, plz, strasse, \
             staat, status,
               ist_kunde, ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, \
               kundennr_sort, such_text)
             select 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i, i % 65536)), i, 'K-' || i,
               'Kunde ' || i, case i % 3 when 0 then 'Raiffeisen ' || i else 'Hof ' || i end, 'Ort ' || (i % \
               500), '93183',
               'Weg ' || i, 'DE', 'aktiv', 1, 0, 0, 1700000000000, 1700000000000, 'k-' || i, printf('k-%010d', i),
               case i % 3 when 0 then 'raiffeisen ' || i else 'hof ' || i end || ' kunde ' || i || ' zwirbel' || i
             from n;
             with recursive n(i) as (select 0 union all select i + 1 from n where i < {receipts} - 1)
             insert into bon (tenant_id, id, bon_nr, bon_nr_sort, kassiert_am, datum, art, zahlart, zeilen)
             select 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i, i % 65536)), '' || i, \
             printf('%010d', i),
               (1735689600 + (i * 1000 / {receipts}) * 86400) * 1000, date('2025-01-01', '+' || (i * 1000 / \
               {receipts}) || ' days'),
               'verkauf', 'bar', 10 from n;
             with recursive n(i) as (select 0 union all select i + 1 from n where i < {receipts} * 10 - 1)
             insert into barverkauf (tenant_id, id, bon_id, position, bezeichnung, menge, einzelpreis, \
             mwst_satz, gesamt, steuer)
             select 1, i + 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i / 10, (i / 10) % \
             65536)), i % 10 + 1,
               'Weizenmehl 405', 1000000, 1250000, 7000000, 125, 8 from n;
             insert into lagerbewegung (tenant_id, id, artikel_id, menge, am)
             select tenant_id, id, id, 1000000000000000, 1700000000000 from artikel;
             insert into artikel_bestand (tenant_id, artikel_id, bestand)
             select tenant_id, artikel_id, sum(menge) from lagerbewegung group by 1, 2;
             commit;"
        ))
        .unwrap();
    let id: String = connection
        .query_row("select lower(hex(id)) from kunde where kunden_id = 5000", [], |row| row.get(0))
        .unwrap();
    format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..])
}

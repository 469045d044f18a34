//! The cost of reads, compared with bare hyper and SQLite alone.

use crate::alone::{Alone, Form, Read};
use crate::client::{Load, answer};
use crate::fields::{BARVERKAUF, DOKUMENT, KUNDE};
use crate::server::{Round, Server};
use crate::{Bench, middle};

/// A read: its name, connections, path, and the same by SQLite alone.
struct Workload {
    name: &'static str,
    connections: usize,
    path: String,
    alone: Read,
}

/// Measures everything requested and prints a table.
pub fn table(bench: &Bench, server: &Server, bare: &Server) {
    let workloads = workloads(bench).into_iter();
    let wanted: Vec<_> = workloads.filter(|read| bench.wants(read.name, read.connections)).collect();
    if wanted.is_empty() {
        return;
    }
    println!("## Reads\n");
    println!(
        "| workload | connections | requests/s | of bare hyper | p99 ms | server CPU µs | times bare hyper | \
         SQLite alone µs | times SQLite alone | answer KiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let alone = Alone::open(&bench.service.folder);
    for workload in wanted {
        let request = bench.get(&workload.path);
        let body = answer(&server.address, &request);
        let (ours, fixed) =
            (Load::same(workload.connections, &request), Load::same(workload.connections, BARE));
        let (mut rounds, mut bares, mut alones) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..bench.rounds {
            bares.push(bare.measure(&fixed, bench.time));
            rounds.push(server.measure(&ours, bench.time));
            let (cpu, same) = alone.measure(&workload.alone, bench.time / 2);
            assert!(
                same == body,
                "{}: SQLite alone answers something else: {}",
                workload.name,
                diff(&body, &same)
            );
            alones.push(cpu);
        }
        let (ours, bare) = (middle(rounds, |round| round.rate), middle(bares, |round| round.rate));
        let alone = middle(alones, |cpu| *cpu);
        let Round { rate, p99, cpu_us, .. } = ours;
        println!(
            "| {} | {} | {rate:.0} | {:.2} | {:.2} | {cpu_us:.0} | {:.1} | {alone:.1} | {:.1} | {:.1} |",
            workload.name,
            workload.connections,
            rate / bare.rate,
            p99.as_secs_f64() * 1e3,
            cpu_us / bare.cpu_us,
            cpu_us / alone,
            body.len() as f64 / 1024.0
        );
    }
    println!();
}

/// A request to the bare server.
pub const BARE: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

fn workloads(bench: &Bench) -> Vec<Workload> {
    let customers = |condition: &str, limit: u64| Read {
        fields: KUNDE,
        rows: format!(
            "{KUNDEN} where k.tenant_id = 1 {condition} order by k.kundennr_sort, k.id limit {limit} offset 0"
        ),
        form: Form::Listing(format!("select count(*) from kunde k where k.tenant_id = 1 {condition}")),
    };
    let lines = |days: &str, limit: u64| Read {
        fields: BARVERKAUF,
        rows: format!(
            "{ZEILEN} where b.tenant_id = 1 {} order by b.datum, b.bon_nr_sort, z.id limit {limit}",
            days.replace("t.", "b.")
        ),
        form: Form::Listing(format!("select sum(t.zeilen) from kassentag t where t.tenant_id = 1 {days}")),
    };
    let late_lines = |limit: u64, offset: i64| Read {
        fields: BARVERKAUF,
        rows: format!(
            "{ZEILEN} where b.tenant_id = 1 and b.datum >= ?1 order by b.datum, b.bon_nr_sort, z.id
             limit {limit} offset ?2"
        ),
        form: Form::Days(
            "select t.datum, sum(t.zeilen) from kassentag t where t.tenant_id = 1 group by t.datum
             order by t.datum"
                .to_owned(),
            offset,
        ),
    };
    let documents = |since: i64, limit: u64| Read {
        fields: DOKUMENT,
        rows: format!(
            "{DOKUMENTE} where b.tenant_id = 1 and b.ereignis_am >= {since} order by b.ereignis_am, b.id
             limit {limit} offset 0"
        ),
        form: Form::Array(format!(
            "select count(*) from beleg b where b.tenant_id = 1 and b.ereignis_am >= {since}"
        )),
    };
    let one = Read {
        fields: KUNDE,
        rows: format!(
            "{KUNDEN} where k.tenant_id = 1 and k.id = unhex('{}')",
            bench.customer.replace('-', "")
        ),
        form: Form::Single,
    };
    let read =
        |name, connections, path: &str, alone| Workload { name, connections, path: path.to_owned(), alone };
    let (day, late) = ("2025-03-03", 900_000 * bench.scale);
    let [von, bis] = ["and t.datum >= '2025-03-03'", "and t.datum <= '2025-03-03'"];
    let words = |word: &str| format!("and instr(k.such_text, '{word}') > 0");
    vec![
        read("one customer by id", 64, &format!("kunden/{}", bench.customer), one),
        read("100 customers with count", 16, "kunden?limit=100", customers("", 100)),
        read("suche, rare word", 16, "kunden?suche=zwirbel7777", customers(&words("zwirbel7777"), 20_000)),
        read(
            "suche, every third",
            16,
            "kunden?suche=raiffeisen&limit=100",
            customers(&words("raiffeisen"), 100),
        ),
        read(
            "500 receipt lines of a day",
            8,
            &format!("barverkaeufe?von={day}&bis={day}&limit=500"),
            lines(&format!("{von} {bis}"), 500),
        ),
        read("5,000 receipt lines", 4, &format!("barverkaeufe?von={day}&limit=5000"), lines(von, 5_000)),
        read("first page of receipt lines", 16, "barverkaeufe?limit=50", lines("", 50)),
        read(
            "page at 90 % of receipt lines",
            16,
            &format!("barverkaeufe?limit=50&offset={late}"),
            late_lines(50, late as i64),
        ),
        read("GET /dokumente, 100", 16, "dokumente?since=2024-12-01&limit=100", documents(DECEMBER, 100)),
        read(
            "GET /dokumente, nothing new",
            16,
            "dokumente?since=2100-01-01",
            documents(4_102_441_200_000, 100),
        ),
    ]
}

/// 2024-12-01 in Berlin.
const DECEMBER: i64 = 1_733_007_600_000;

const KUNDEN: &str = "select k.id, k.kunden_id, k.kundennr, k.name, k.nachname_firma, k.anrede, k.vorname, k.email,
    k.telefon, k.telefon2, k.strasse, k.plz, k.ort, k.staat, k.status, k.ist_kunde, k.ist_lieferant,
    k.ist_spediteur, iif(k.besteuerungen = '[]', null, k.besteuerungen), k.besteuerungen, k.zahlungsziel_tage, k.skonto_tage, k.skonto_prozent, k.steuernummer, k.ust_id,
    k.betriebsnummer, k.iban, k.bic, k.e_rechnung, k.kaeuferreferenz, k.e_adresse, k.gutschrift_vereinbart_am,
    k.debitor_konto, k.kreditor_konto, k.vb_id,
    k.notizen, k.angelegt_am, k.geaendert_am
  from kunde k";

const ZEILEN: &str =
    "select z.id, z.bon_id, z.artikel_id, z.bezeichnung, coalesce(z.ean, a.ean), z.menge, z.einheit,
    z.einzelpreis, z.mwst_satz, z.gesamt, b.datum, b.kassiert_am, b.bon_nr, b.art, b.storniert,
    b.storno_von_bon_id, b.zahlart, b.kasse_id, b.kunde_id, coalesce(a.artikelnummer, z.artikelnummer),
    a.artikelnr, a.bezeichnung2, z.gesamt - z.steuer, z.steuer
  from bon b cross join barverkauf z on z.tenant_id = b.tenant_id and z.bon_id = b.id
    left join artikel a on a.tenant_id = z.tenant_id and a.id = z.artikel_id";

const DOKUMENTE: &str = "select b.id, b.beleg_typ, b.beleg_nummer, b.beleg_datum, b.status, b.summe_brutto,
    b.summe_netto, b.summe_mwst, b.kunde_id, coalesce(b.kunden_name, k.name),
    (select count(*) from beleg_pdf p where p.tenant_id = b.tenant_id and p.beleg_id = b.id),
    (select max(p.erstellt_am) from beleg_pdf p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)
  from beleg b join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id";

/// The place where two bodies differ.
fn diff(ours: &[u8], theirs: &[u8]) -> String {
    let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let from = at.saturating_sub(40);
    let part = |body: &[u8]| String::from_utf8_lossy(&body[from..body.len().min(at + 80)]).into_owned();
    format!("{} / {}", part(ours), part(theirs))
}

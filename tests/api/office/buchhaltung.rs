//! Accounts and batches for the tax adviser (D31 to D34), compared byte for byte with the worked documents of
//! the design.

use std::io::{Cursor, Read};

use serde_json::{Value, json};
use zip::ZipArchive;

use crate::harness::{Answer, COMPLETE, Client, Server};

mod berichte;
mod chance;
mod entwurf;
mod konten;
mod regeln;
mod stapel;
pub mod worked;

pub const STAPEL: &str = "/api/v1/datev/stapel";
pub const KONTEN: &str = "/api/v1/datev/konten";
const BELEGE: &str = "/api/v1/belege";

/// Settings as told by the tax adviser; documents are final when created.
const ADVISED: &[(&str, &str)] = &[
    ("datev_berater", "1001"),
    ("datev_mandant", "1"),
    ("datev_ab", "2026-01-01"),
    ("abschluss_bei_anlage", "RE,ER"),
];

/// The accounts of the worked documents, SKR03.
const ACCOUNTS: &str = "fall;satz;artikelgruppe;konto;bu\n\
    erloes;7;;8300;\nerloes;7;B;8301;\nerloes;7;C;8302;\nerloes;19;;8400;\nerloes_ig;;;8125;\nerloes_ausfuhr;;;8120;\n\
    aufwand;7,8;;3540;\naufwand;7,8;Abzug;3541;\naufwand;19;;3400;\naufwand;19;Büro;4710;401\naufwand_ig;7;;3420;\n\
    aufwand_13b;19;;3123;\naufwand_ohne;;;3200;\n";

const ARTICLES: &str = "artikelnummer;bezeichnung;einheit;mwst_satz;gruppe\n\
                        A;Mehl;kg;7;A\n\
                        B;Grieß;kg;7;B\n\
                        C;Rabatt;kg;7;C\n\
                        W;Weizen;t;7;Getreide\n\
                        R;Reinigung;t;7;Abzug\n\
                        P;Papier;Stück;19;Büro\n";

/// Creates a company set up for its tax adviser, on a day of October 2026.
pub fn advised(server: &Server) -> Client {
    let mill = server.company_with("Mühle", &[COMPLETE, ADVISED].concat());
    server.import(&mill, "artikelgruppen", "name\nA\nB\nC\nGetreide\nAbzug\nBüro\n");
    server.import(&mill, "artikel", ARTICLES);
    server.import(&mill, "konten", ACCOUNTS);
    mill
}

fn stapel(mill: &Client, bis: &str) -> Answer {
    mill.post(STAPEL, json!({"bis": bis}))
}

/// The files of a batch: names and bytes.
fn files(mill: &Client, id: &str) -> Vec<(String, Vec<u8>)> {
    let answer = mill.send("GET", &format!("{STAPEL}/{id}"), &[("accept", "application/zip")], None);
    assert_eq!(answer.status, 200);
    unzipped(&answer.bytes)
}

fn unzipped(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let count = zip.len();
    let read = |at| {
        let mut file = zip.by_index(at).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        (file.name().unwrap().into_owned(), content)
    };
    (0..count).map(read).collect()
}

/// Posts an invoice with one item of an article of group A.
pub fn re(mill: &Client, kunde: &str, day: &str, ep_netto: &str) -> Answer {
    let items = json!([{"artikelnr": "A", "menge": 1, "ep_netto": ep_netto}]);
    let answer =
        mill.post(BELEGE, json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": day, "items": items}));
    answer.is(201);
    answer
}

pub fn kunde(mill: &Client, more: Value) -> String {
    let mut body = json!({"nachname_firma": "Bäckerei Weiß", "anrede": "Firma"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    mill.post("/api/v1/kunden", body).id()
}

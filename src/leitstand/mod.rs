//! The Leitstand: the page for the people of the firm (D27), made on the server; one small script shows what is new.
//!
//! A new page is a file with the function that shows it and a row in [`PAGES`], of everyday work or of management: that says
//! which roles open it and send its form ([`access::Access::rights`]). It reads records from the slices and sends its forms to
//! the routes of the interface ([`page::Ask::change`]), so no rule stands here.
//!
//! `page` says what a page is, `access` whom it is for, `done` what its form does, `entry` who is let in, `server` how a
//! request is answered, `frame` and `parts` what pages are made of, `lists` the pages of lists, `line`, `bars` and `graph` pictures, `akteure`, `anhaenge`, `storno`, `verlauf`
//! and `taten` what several pages show, `people` and `passwords` who may log in. `upkeep` looks at the disk, `rat` says
//! what to do about errors, `zustand` and `handgriffe` say on the first page what needs a hand, `hilfe` shows the handbook.
//! `carry` has forms carried out, `flash` keeps what they leave to be said, `resume` brings one back behind a log-in,
//! `restoring` has a backup restored, `jobs` runs what takes longer than a page may, `uploads` keeps files to be imported,
//! `eviction` says whose entry makes room.

mod abgelehnt;
mod abrechnen;
mod abschluss;
pub mod access;
mod akteure;
mod analyse;
mod anhaenge;
mod anmelden;
mod annahme;
mod arbeit;
mod artikel;
mod artikel_formular;
mod bars;
mod beleg_formular;
mod beleg_zeile;
mod belege;
mod bestand;
mod chargen;
pub mod done;
mod einlesen;
mod email;
pub mod entry;
mod entwurf;
mod erledigen;
mod eviction;
mod firma;
mod firmen;
mod flash;
mod frame;
mod graph;
mod handgriffe;
mod herkunft;
mod hilfe;
mod import;
mod inventur;
pub mod jobs;
mod kasse;
mod konten;
mod kontoluecken;
mod kontrakt_formular;
mod kontrakte;
mod lager;
mod line;
mod lists;
mod offen;
pub mod page;
mod partner;
mod partner_felder;
mod partner_formular;
mod parts;
mod password_thread;
mod passwords;
pub mod people;
mod postausgang;
mod produktion;
mod protokoll;
mod pruefung;
mod rat;
mod rechte;
pub mod restoring;
mod resume;
mod ruecknahme;
mod schemata;
mod schluessel;
pub mod server;
mod sicherung;
mod sorge;
mod steuerberater;
mod storno;
mod suche;
mod suchfelder;
pub mod taten;
mod uebergabe;
mod uebersicht;
mod umsatzsteuer;
pub mod upkeep;
pub mod upload;
mod uploads;
mod vergessen;
mod verlauf;
mod versendet;
mod visit;
mod vorlage;
mod wahl;
mod wiegen;
mod wiegungen;
mod zugaenge;
mod zurueckgespielt;
mod zurueckspielen;
mod zustand;

use crate::http::reply::Reply;
use access::Access;
use page::{Page, Take};

/// A page of the everyday work of a company, by its path behind that of the company.
macro_rules! firma {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand/f/{firma}", $path), Access::Firma, $show)
    };
}

/// A page of a company that is no everyday work.
macro_rules! verwaltung {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand/f/{firma}", $path), Access::Verwaltung, $show)
    };
}

/// A page of who keeps the house.
macro_rules! haus {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand", $path), Access::Haus, $show)
    };
}

/// Every page. If two patterns match a path, the first wins.
pub const PAGES: &[Page] = &[
    Page::new("/leitstand", Access::Person, firmen::start),
    Page::new("/leitstand/anmelden", Access::Open, anmelden::show_log_in)
        .takes(Take::Hashed(anmelden::log_in)),
    Page::new("/leitstand/passwort", Access::Open, anmelden::show_set_password)
        .takes(Take::Hashed(anmelden::set_password)),
    Page::new("/leitstand/abmelden", Access::Person, anmelden::show_log_out)
        .takes(Take::Haus(anmelden::log_out)),
    Page::new("/leitstand/hilfe", Access::Open, hilfe::index),
    Page::new("/leitstand/hilfe/{id}", Access::Open, hilfe::show),
    Page::new("/leitstand/firmen", Access::Person, firmen::list),
    haus!("/firmen/neu", firma::show_new).takes(Take::Haus(firma::create)),
    Page::new("/leitstand/suche", Access::Person, suche::in_chosen),
    firma!("", uebersicht::show).in_menu("Übersicht"),
    firma!("/neues", |_, _| Ok(Reply::default())).waiting(),
    firma!("/suche", suche::show),
    firma!("/wiegungen", wiegungen::list).in_menu("Wiegungen"),
    firma!("/wiegungen/neu", wiegen::show_new).takes(Take::Firma(wiegen::create)),
    firma!("/wiegungen/{id}", wiegungen::show),
    firma!("/wiegungen/{id}/zweitwiegung", wiegen::show_second).takes(Take::Firma(wiegen::second)),
    firma!("/wiegungen/{id}/pdf", |ask, db| ask.file_of(db, "wiegungen/{id}/pdf")).heavy(),
    firma!("/wiegungen/{id}/storno", wiegungen::show_cancel).takes(Take::Firma(wiegungen::cancel)),
    firma!("/belege", belege::list).in_menu("Belege"),
    firma!("/belege/neu", beleg_formular::show_new)
        .takes(Take::Firma(beleg_formular::create))
        .in_steps()
        .heavy(),
    firma!("/belege/{id}", belege::show),
    firma!("/belege/{id}/aendern", beleg_formular::show_change)
        .takes(Take::Firma(beleg_formular::change))
        .in_steps()
        .heavy(),
    firma!("/belege/{id}/pdf", belege::pdf).heavy(),
    firma!("/belege/{id}/erechnung", |ask, db| ask.file_of(db, "belege/{id}/erechnung")),
    firma!("/belege/{id}/email", email::show).takes(Take::Sends(email::send)),
    firma!("/belege/{id}/abschliessen", abschluss::show).takes(Take::Firma(abschluss::finalise)).in_steps(),
    firma!("/belege/{id}/erledigen", erledigen::show).takes(Take::Firma(erledigen::settle)),
    firma!("/belege/{id}/storno", belege::show_cancel).takes(Take::Firma(belege::cancel)),
    firma!("/belege/{id}/anhaenge/{id}", belege::attachment).heavy(),
    firma!("/offen", offen::list).in_menu("Offene Posten").takes(Take::Firma(offen::settle)),
    firma!("/bestand", bestand::list).in_menu("Bestand"),
    firma!("/bestand/inventur", lager::show).takes(Take::Firma(lager::count)),
    firma!("/bestand/{id}", bestand::show),
    firma!("/chargen", chargen::list).in_menu("Chargen"),
    firma!("/chargen/{id}", chargen::show),
    firma!("/chargen/{id}/berichtigen", chargen::show_correct).takes(Take::Firma(chargen::correct)),
    firma!("/chargen/{id}/sperren", chargen::show_lock).takes(Take::Firma(chargen::lock)),
    firma!("/chargen/{id}/freigeben", chargen::show_unlock).takes(Take::Firma(chargen::unlock)),
    firma!("/chargen/{id}/inventur", inventur::show_charge).takes(Take::Firma(inventur::count_charge)),
    firma!("/chargen/{id}/herkunft", herkunft::show),
    firma!("/chargen/{id}/herkunft.csv", herkunft::csv).heavy(),
    firma!("/partner", partner::list).in_menu("Partner"),
    firma!("/partner/neu", partner_formular::show_new).takes(Take::Firma(partner_formular::create)),
    firma!("/partner/{id}", partner::show),
    firma!("/partner/{id}/aendern", partner_formular::show_change)
        .takes(Take::Firma(partner_formular::change)),
    verwaltung!("/partner/{id}/vergessen", vergessen::show).takes(Take::Firma(vergessen::forget)),
    firma!("/partner/{id}/anhaenge", partner::show_attach).takes(Take::Firma(partner::attach)).with_upload(),
    firma!("/partner/{id}/anhaenge/{id}", partner::attachment).heavy(),
    firma!("/artikel", artikel::list).in_menu("Artikel"),
    firma!("/artikel/neu", artikel_formular::show_new).takes(Take::Firma(artikel_formular::create)),
    firma!("/artikel/{id}", artikel::show),
    firma!("/artikel/{id}/aendern", artikel_formular::show_change)
        .takes(Take::Firma(artikel_formular::change)),
    firma!("/artikel/{id}/inventur", inventur::show_artikel).takes(Take::Firma(inventur::count_artikel)),
    firma!("/artikel/{id}/anhaenge", artikel::show_attach).takes(Take::Firma(artikel::attach)).with_upload(),
    firma!("/artikel/{id}/anhaenge/{id}", artikel::attachment).heavy(),
    firma!("/kontrakte", kontrakte::list).in_menu("Kontrakte"),
    firma!("/kontrakte/neu", kontrakt_formular::show_new).takes(Take::Firma(kontrakt_formular::create)),
    firma!("/kontrakte/{id}", kontrakte::show),
    firma!("/kontrakte/{id}/aendern", kontrakt_formular::show_change)
        .takes(Take::Firma(kontrakt_formular::change)),
    firma!("/annahme", annahme::list).in_menu("Annahme"),
    firma!("/annahme/abrechnen", abrechnen::show).takes(Take::Firma(abrechnen::settle)).in_steps().heavy(),
    firma!("/annahme/rechner", abrechnen::calculate),
    firma!("/annahme/schemata", schemata::list),
    firma!("/annahme/schemata/{id}", schemata::show),
    firma!("/annahme/schemata/{id}/pdf", schemata::pdf).heavy(),
    firma!("/annahme/{id}", annahme::show),
    firma!("/annahme/{id}/analyse", analyse::show).takes(Take::Firma(analyse::add)),
    firma!("/annahme/{id}/korrektur", abrechnen::show_correct).takes(Take::Firma(abrechnen::correct)),
    firma!("/annahme/{id}/freigabe", analyse::show_release).takes(Take::Firma(analyse::release)),
    firma!("/annahme/{id}/pdf", |ask, db| ask.file_of(db, "annahmescheine/{id}/pdf")).heavy(),
    firma!("/annahme/{id}/storno", annahme::show_cancel).takes(Take::Firma(annahme::cancel)),
    firma!("/produktion", produktion::list).in_menu("Produktion"),
    firma!("/produktion/{id}", produktion::show),
    firma!("/produktion/{id}/status", produktion::show_status).takes(Take::Firma(produktion::change_status)),
    firma!("/kasse", kasse::list).in_menu("Kasse"),
    firma!("/steuerberater", steuerberater::show)
        .in_administration("Steuerberater")
        .takes(Take::Draft(steuerberater::create))
        .in_steps()
        .heavy(),
    verwaltung!("/steuerberater/konten", konten::list).takes(Take::Firma(konten::set)),
    verwaltung!("/steuerberater/konten/fehlende", kontoluecken::show).takes(Take::Firma(kontoluecken::fill)),
    verwaltung!("/steuerberater/konten/entfernen", konten::show_remove).takes(Take::Firma(konten::remove)),
    verwaltung!("/steuerberater/konten/vorschlag", konten::show_proposal)
        .takes(Take::Firma(konten::take_proposal)),
    firma!("/steuerberater/{id}", uebergabe::show),
    firma!("/steuerberater/{id}/datei", uebergabe::download).heavy(),
    verwaltung!("/steuerberater/{id}/verwerfen", uebergabe::show_discard)
        .takes(Take::Firma(uebergabe::discard)),
    firma!("/umsatzsteuer", umsatzsteuer::show).in_administration("Umsatzsteuer").heavy(),
    firma!("/umsatzsteuer/belege", umsatzsteuer::documents).heavy(),
    verwaltung!("/import", import::show)
        .in_administration("Import")
        .takes(Take::Haus(import::look))
        .with_upload(),
    verwaltung!("/import/speichern", import::show).takes(Take::Haus(import::store)).with_upload(),
    verwaltung!("/import/vorlage/{id}", import::template),
    verwaltung!("/import/{id}", ruecknahme::show).takes(Take::Firma(ruecknahme::take_back)).in_steps(),
    verwaltung!("/schluessel", schluessel::list).in_administration("Schlüssel"),
    verwaltung!("/schluessel/neu", schluessel::show_new).takes(Take::Hashed(schluessel::create)),
    verwaltung!("/schluessel/{id}", schluessel::show),
    verwaltung!("/schluessel/{id}/aendern", schluessel::show_change).takes(Take::Haus(schluessel::change)),
    verwaltung!("/schluessel/{id}/sperren", schluessel::show_lock)
        .takes(Take::Haus(|ask| schluessel::set_active(ask, false))),
    verwaltung!("/schluessel/{id}/freigeben", schluessel::show_unlock)
        .takes(Take::Haus(|ask| schluessel::set_active(ask, true))),
    verwaltung!("/abgelehnt", abgelehnt::list).in_administration("Abgelehnte Anfragen").heavy(),
    verwaltung!("/protokoll", protokoll::list).in_administration("Protokoll"),
    verwaltung!("/protokoll/{id}", protokoll::show),
    verwaltung!("/betriebspruefung", pruefung::list)
        .in_administration("Betriebsprüfung")
        .takes(Take::Firma(pruefung::begin)),
    verwaltung!("/betriebspruefung/{id}/datei", pruefung::download),
    verwaltung!("/firma", firma::show_data)
        .in_administration("Firma")
        .takes(Take::Haus(firma::change_data))
        .with_upload(),
    verwaltung!("/firma/logo", firma::logo),
    verwaltung!("/postausgang", postausgang::show)
        .in_administration("Mailserver")
        .takes(Take::Haus(postausgang::change)),
    verwaltung!("/postausgang/test", postausgang::show).takes(Take::Sends(postausgang::test)),
    verwaltung!("/einstellungen", firma::show_settings)
        .in_administration("Einstellungen")
        .takes(Take::Haus(firma::change_settings)),
    haus!("/sicherung", sicherung::list)
        .in_administration("Sicherung")
        .heavy()
        .takes(Take::Haus(sicherung::make)),
    haus!("/sicherung/pruefen", frame::back).takes(Take::Haus(sicherung::prove_database)),
    haus!("/sicherung/{id}", sicherung::show).heavy(),
    haus!("/sicherung/{id}/datei", sicherung::download).heavy(),
    haus!("/sicherung/{id}/pruefen", frame::back).takes(Take::Haus(sicherung::prove)),
    haus!("/sicherung/{id}/zurueckspielen", zurueckspielen::show)
        .heavy()
        .takes(Take::Hashed(zurueckspielen::order)),
    haus!("/sicherung/{id}/loeschen", sicherung::show_delete).heavy().takes(Take::Haus(sicherung::delete)),
    haus!("/protokoll", protokoll::list).in_administration("Protokoll aller Firmen"),
    haus!("/protokoll/pruefen", frame::back).takes(Take::Haus(protokoll::prove)),
    haus!("/protokoll/{id}", protokoll::show),
    haus!("/zugaenge", zugaenge::list).in_administration("Zugänge"),
    haus!("/zugaenge/neu", zugaenge::show_new).takes(Take::Haus(zugaenge::create)),
    haus!("/zugaenge/{id}", zugaenge::show),
    haus!("/zugaenge/{id}/link", zugaenge::show_link).takes(Take::Haus(zugaenge::make_link)),
    haus!("/zugaenge/{id}/sperren", zugaenge::show_lock)
        .takes(Take::Haus(|ask| zugaenge::set_active(ask, false))),
    haus!("/zugaenge/{id}/freigeben", zugaenge::show_unlock)
        .takes(Take::Haus(|ask| zugaenge::set_active(ask, true))),
    Page::new("/leitstand/arbeit", Access::Person, arbeit::list).in_administration("Arbeiten"),
    Page::new("/leitstand/arbeit/{id}", Access::Person, arbeit::show).takes(Take::Haus(arbeit::give_up)),
    Page::new("/leitstand/konto", Access::Person, anmelden::show_account)
        .in_administration("Mein Zugang")
        .takes(Take::Hashed(anmelden::change_password)),
];

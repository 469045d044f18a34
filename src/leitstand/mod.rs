//! The Leitstand: the page for the people of the firm (D27), made on the server; one small script shows what is new.
//!
//! A new page is a file with the function that shows it and a row in [`PAGES`]. It reads records from the
//! slices and sends its forms to the routes of the interface ([`page::Ask::change`]), so no rule stands here.
//!
//! `page` says what a page is, `entry` who is let in, `server` how a request is answered, `frame` and `parts` what pages
//! are made of, `lists` the pages of lists, `line`, `bars` and `graph` pictures, `akteure`, `anhaenge`, `storno`, `verlauf`
//! and `taten` what several pages show, `people` and `passwords` who may log in. `upkeep` looks at the disk, `rat` says
//! what to do about errors. `carry` has forms carried out, `flash` keeps what they leave to be said, `jobs` runs what
//! takes longer than a page may, `uploads` keeps files to be imported, `eviction` says whose entry makes room.

mod akteure;
mod anhaenge;
mod anmelden;
mod annahme;
mod arbeit;
mod artikel;
mod bars;
mod belege;
mod bestand;
mod chargen;
mod einlesen;
pub mod entry;
mod eviction;
mod firma;
mod firmen;
mod flash;
mod frame;
mod graph;
mod herkunft;
mod import;
pub mod jobs;
mod kasse;
mod kontrakte;
mod line;
mod lists;
pub mod page;
mod partner;
mod partner_felder;
mod partner_formular;
mod parts;
mod password_thread;
mod passwords;
pub mod people;
mod produktion;
mod protokoll;
mod rat;
mod rechte;
mod schluessel;
pub mod server;
mod sicherung;
mod storno;
mod suche;
mod suchfelder;
mod taten;
mod uebersicht;
pub mod upkeep;
mod upload;
mod uploads;
mod vergessen;
mod verlauf;
mod visit;
mod wiegungen;
mod zugaenge;
mod zustand;

use page::{Access, Page, Take};

/// Every page. If two patterns match a path, the first wins.
pub const PAGES: &[Page] = &[
    Page::new("/leitstand", Access::Person, firmen::start),
    Page::new("/leitstand/anmelden", Access::Open, anmelden::show_log_in)
        .takes(Take::Hashed(anmelden::log_in)),
    Page::new("/leitstand/passwort", Access::Open, anmelden::show_set_password)
        .takes(Take::Hashed(anmelden::set_password)),
    Page::new("/leitstand/abmelden", Access::Person, anmelden::show_log_out)
        .takes(Take::Haus(anmelden::log_out)),
    Page::new("/leitstand/firmen", Access::Person, firmen::list),
    Page::new("/leitstand/firmen/neu", Access::Haus, firma::show_new).takes(Take::Haus(firma::create)),
    Page::new("/leitstand/suche", Access::Person, suche::in_chosen),
    Page::new("/leitstand/f/{firma}", Access::Firma, uebersicht::show).in_menu("Übersicht"),
    Page::new("/leitstand/f/{firma}/neues", Access::Firma, uebersicht::news).waiting(),
    Page::new("/leitstand/f/{firma}/suche", Access::Firma, suche::show),
    Page::new("/leitstand/f/{firma}/wiegungen", Access::Firma, wiegungen::list).in_menu("Wiegungen"),
    Page::new("/leitstand/f/{firma}/wiegungen/{id}", Access::Firma, wiegungen::show),
    Page::new("/leitstand/f/{firma}/wiegungen/{id}/pdf", Access::Firma, wiegungen::pdf).heavy(),
    Page::new("/leitstand/f/{firma}/wiegungen/{id}/storno", Access::Firma, wiegungen::show_cancel)
        .takes(Take::Firma(wiegungen::cancel)),
    Page::new("/leitstand/f/{firma}/belege", Access::Firma, belege::list).in_menu("Belege"),
    Page::new("/leitstand/f/{firma}/belege/{id}", Access::Firma, belege::show),
    Page::new("/leitstand/f/{firma}/belege/{id}/pdf", Access::Firma, belege::pdf).heavy(),
    Page::new("/leitstand/f/{firma}/belege/{id}/erechnung", Access::Firma, belege::erechnung),
    Page::new("/leitstand/f/{firma}/belege/{id}/abschliessen", Access::Firma, belege::show_finalise)
        .takes(Take::Firma(belege::finalise)),
    Page::new("/leitstand/f/{firma}/belege/{id}/storno", Access::Firma, belege::show_cancel)
        .takes(Take::Firma(belege::cancel)),
    Page::new("/leitstand/f/{firma}/belege/{id}/anhaenge/{id}", Access::Firma, belege::attachment).heavy(),
    Page::new("/leitstand/f/{firma}/bestand", Access::Firma, bestand::list).in_menu("Bestand"),
    Page::new("/leitstand/f/{firma}/bestand/{id}", Access::Firma, bestand::show),
    Page::new("/leitstand/f/{firma}/chargen", Access::Firma, chargen::list).in_menu("Chargen"),
    Page::new("/leitstand/f/{firma}/chargen/{id}", Access::Firma, chargen::show),
    Page::new("/leitstand/f/{firma}/chargen/{id}/berichtigen", Access::Firma, chargen::show_correct)
        .takes(Take::Firma(chargen::correct)),
    Page::new("/leitstand/f/{firma}/chargen/{id}/herkunft", Access::Firma, herkunft::show),
    Page::new("/leitstand/f/{firma}/chargen/{id}/herkunft.csv", Access::Firma, herkunft::csv).heavy(),
    Page::new("/leitstand/f/{firma}/partner", Access::Firma, partner::list).in_menu("Partner"),
    Page::new("/leitstand/f/{firma}/partner/neu", Access::Firma, partner_formular::show_new)
        .takes(Take::Firma(partner_formular::create)),
    Page::new("/leitstand/f/{firma}/partner/{id}", Access::Firma, partner::show),
    Page::new("/leitstand/f/{firma}/partner/{id}/aendern", Access::Firma, partner_formular::show_change)
        .takes(Take::Firma(partner_formular::change)),
    Page::new("/leitstand/f/{firma}/partner/{id}/vergessen", Access::Firma, vergessen::show)
        .takes(Take::Firma(vergessen::forget)),
    Page::new("/leitstand/f/{firma}/partner/{id}/anhaenge", Access::Firma, partner::show_attach)
        .takes(Take::Firma(partner::attach))
        .with_upload(),
    Page::new("/leitstand/f/{firma}/partner/{id}/anhaenge/{id}", Access::Firma, partner::attachment).heavy(),
    Page::new("/leitstand/f/{firma}/artikel", Access::Firma, artikel::list).in_menu("Artikel"),
    Page::new("/leitstand/f/{firma}/artikel/{id}", Access::Firma, artikel::show),
    Page::new("/leitstand/f/{firma}/artikel/{id}/anhaenge", Access::Firma, artikel::show_attach)
        .takes(Take::Firma(artikel::attach))
        .with_upload(),
    Page::new("/leitstand/f/{firma}/artikel/{id}/anhaenge/{id}", Access::Firma, artikel::attachment).heavy(),
    Page::new("/leitstand/f/{firma}/kontrakte", Access::Firma, kontrakte::list).in_menu("Kontrakte"),
    Page::new("/leitstand/f/{firma}/kontrakte/{id}", Access::Firma, kontrakte::show),
    Page::new("/leitstand/f/{firma}/annahme", Access::Firma, annahme::list).in_menu("Annahme"),
    Page::new("/leitstand/f/{firma}/annahme/{id}", Access::Firma, annahme::show),
    Page::new("/leitstand/f/{firma}/annahme/{id}/pdf", Access::Firma, annahme::pdf).heavy(),
    Page::new("/leitstand/f/{firma}/annahme/{id}/storno", Access::Firma, annahme::show_cancel)
        .takes(Take::Firma(annahme::cancel)),
    Page::new("/leitstand/f/{firma}/produktion", Access::Firma, produktion::list).in_menu("Produktion"),
    Page::new("/leitstand/f/{firma}/produktion/{id}", Access::Firma, produktion::show),
    Page::new("/leitstand/f/{firma}/produktion/{id}/status", Access::Firma, produktion::show_status)
        .takes(Take::Firma(produktion::change_status)),
    Page::new("/leitstand/f/{firma}/kasse", Access::Firma, kasse::list).in_menu("Kasse"),
    Page::new("/leitstand/f/{firma}/import", Access::Firma, import::show)
        .in_administration("Import")
        .takes(Take::Haus(import::look))
        .with_upload(),
    Page::new("/leitstand/f/{firma}/import/speichern", Access::Firma, import::show)
        .takes(Take::Haus(import::store))
        .with_upload(),
    Page::new("/leitstand/f/{firma}/import/vorlage/{id}", Access::Firma, import::template),
    Page::new("/leitstand/f/{firma}/schluessel", Access::Firma, schluessel::list)
        .in_administration("Schlüssel"),
    Page::new("/leitstand/f/{firma}/schluessel/neu", Access::Firma, schluessel::show_new)
        .takes(Take::Hashed(schluessel::create)),
    Page::new("/leitstand/f/{firma}/schluessel/{id}", Access::Firma, schluessel::show),
    Page::new("/leitstand/f/{firma}/schluessel/{id}/aendern", Access::Firma, schluessel::show_change)
        .takes(Take::Haus(schluessel::change)),
    Page::new("/leitstand/f/{firma}/schluessel/{id}/sperren", Access::Firma, schluessel::show_lock)
        .takes(Take::Haus(|ask| schluessel::set_active(ask, false))),
    Page::new("/leitstand/f/{firma}/schluessel/{id}/freigeben", Access::Firma, schluessel::show_unlock)
        .takes(Take::Haus(|ask| schluessel::set_active(ask, true))),
    Page::new("/leitstand/f/{firma}/protokoll", Access::Firma, protokoll::list)
        .in_administration("Protokoll"),
    Page::new("/leitstand/f/{firma}/protokoll/{id}", Access::Firma, protokoll::show),
    Page::new("/leitstand/f/{firma}/firma", Access::Firma, firma::show_data)
        .in_administration("Firma")
        .takes(Take::Haus(firma::change_data))
        .with_upload(),
    Page::new("/leitstand/f/{firma}/firma/logo", Access::Firma, firma::logo),
    Page::new("/leitstand/f/{firma}/einstellungen", Access::Firma, firma::show_settings)
        .in_administration("Einstellungen")
        .takes(Take::Haus(firma::change_settings)),
    Page::new("/leitstand/sicherung", Access::Haus, sicherung::list)
        .in_administration("Sicherung")
        .heavy()
        .takes(Take::Haus(sicherung::make)),
    Page::new("/leitstand/sicherung/pruefen", Access::Haus, sicherung::back)
        .takes(Take::Haus(sicherung::prove_database)),
    Page::new("/leitstand/sicherung/{id}", Access::Haus, sicherung::show).heavy(),
    Page::new("/leitstand/sicherung/{id}/datei", Access::Haus, sicherung::download).heavy(),
    Page::new("/leitstand/sicherung/{id}/pruefen", Access::Haus, sicherung::back)
        .takes(Take::Haus(sicherung::prove)),
    Page::new("/leitstand/sicherung/{id}/loeschen", Access::Haus, sicherung::show_delete)
        .heavy()
        .takes(Take::Haus(sicherung::delete)),
    Page::new("/leitstand/protokoll", Access::Haus, protokoll::list)
        .in_administration("Protokoll aller Firmen"),
    Page::new("/leitstand/protokoll/pruefen", Access::Haus, protokoll::back)
        .takes(Take::Haus(protokoll::prove)),
    Page::new("/leitstand/protokoll/{id}", Access::Haus, protokoll::show),
    Page::new("/leitstand/zugaenge", Access::Haus, zugaenge::list).in_administration("Zugänge"),
    Page::new("/leitstand/zugaenge/neu", Access::Haus, zugaenge::show_new)
        .takes(Take::Haus(zugaenge::create)),
    Page::new("/leitstand/zugaenge/{id}", Access::Haus, zugaenge::show),
    Page::new("/leitstand/zugaenge/{id}/link", Access::Haus, zugaenge::show_link)
        .takes(Take::Haus(zugaenge::make_link)),
    Page::new("/leitstand/zugaenge/{id}/sperren", Access::Haus, zugaenge::show_lock)
        .takes(Take::Haus(|ask| zugaenge::set_active(ask, false))),
    Page::new("/leitstand/zugaenge/{id}/freigeben", Access::Haus, zugaenge::show_unlock)
        .takes(Take::Haus(|ask| zugaenge::set_active(ask, true))),
    Page::new("/leitstand/arbeit", Access::Person, arbeit::list),
    Page::new("/leitstand/arbeit/{id}", Access::Person, arbeit::show).takes(Take::Haus(arbeit::give_up)),
    Page::new("/leitstand/konto", Access::Person, anmelden::show_account)
        .in_administration("Mein Zugang")
        .takes(Take::Hashed(anmelden::change_password)),
];

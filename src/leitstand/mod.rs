//! The Leitstand: the pages for the people of the firm (D27), rendered on the server.
//!
//! Contains: a file per page, in directories named like the group whose work they serve. `access` says who
//! may log in and see what, `kit` holds the parts of pages and answers requests for them, `home` holds the
//! pages of no single subject.
//! Does not contain: rules. A page reads records from the slices and sends its form to a route of the interface
//! ([`kit::page::PageRequest::change`]).
//! Start with [`PAGES`] below: a new page is a function that shows it and a row there.

pub mod kit;

pub mod access;

mod home;

mod master;

mod goods;

mod trade;

mod office;

pub mod operations;

use crate::platform::http::reply::Reply;
use access::Access;
use kit::page::{Page, Take};

/// A page of a company's everyday work; the path is relative to the company's.
macro_rules! firma {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand/f/{firma}", $path), Access::Firma, $show)
    };
}

/// A page of a company's administration.
macro_rules! verwaltung {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand/f/{firma}", $path), Access::Verwaltung, $show)
    };
}

/// A page of the whole installation.
macro_rules! haus {
    ($path:literal, $show:expr) => {
        Page::new(concat!("/leitstand", $path), Access::Haus, $show)
    };
}

/// Every page. If two patterns match a path, the first wins.
pub const PAGES: &[Page] = &[
    Page::new("/leitstand", Access::Person, home::firmen::start),
    Page::new("/leitstand/anmelden", Access::Open, access::anmelden::show_log_in)
        .takes(Take::Hashed(access::anmelden::log_in)),
    Page::new("/leitstand/passwort", Access::Open, access::anmelden::show_set_password)
        .takes(Take::Hashed(access::anmelden::set_password)),
    Page::new("/leitstand/abmelden", Access::Person, access::anmelden::show_log_out)
        .takes(Take::Haus(access::anmelden::log_out)),
    Page::new("/leitstand/hilfe", Access::Open, home::hilfe::index),
    Page::new("/leitstand/hilfe/{id}", Access::Open, home::hilfe::show),
    Page::new("/leitstand/firmen", Access::Person, home::firmen::list),
    haus!("/firmen/neu", master::firma::show_new).takes(Take::Haus(master::firma::create)),
    Page::new("/leitstand/suche", Access::Person, home::suche::in_chosen),
    firma!("", home::uebersicht::show).in_menu("Übersicht"),
    firma!("/neues", |_, _| Ok(Reply::default())).waiting(),
    firma!("/suche", home::suche::show),
    firma!("/wiegungen", goods::wiegungen::list).in_menu("Wiegungen"),
    firma!("/wiegungen/neu", goods::wiegen::show_new).takes(Take::Firma(goods::wiegen::create)),
    firma!("/wiegungen/{id}", goods::wiegungen::show),
    firma!("/wiegungen/{id}/zweitwiegung", goods::wiegen::show_second)
        .takes(Take::Firma(goods::wiegen::second)),
    firma!("/wiegungen/{id}/pdf", |request, db| request.file_of(db, "wiegungen/{id}/pdf")).heavy(),
    firma!("/wiegungen/{id}/storno", goods::wiegungen::show_cancel)
        .takes(Take::Firma(goods::wiegungen::cancel)),
    firma!("/belege", trade::belege::list).in_menu("Belege"),
    firma!("/belege/neu", trade::beleg_formular::show_new)
        .takes(Take::Firma(trade::beleg_formular::create))
        .in_steps()
        .heavy(),
    firma!("/belege/sammelrechnung", trade::sammelrechnung::show).heavy(),
    firma!("/belege/{id}", trade::belege::show),
    firma!("/belege/{id}/aendern", trade::beleg_formular::show_change)
        .takes(Take::Firma(trade::beleg_formular::change))
        .in_steps()
        .heavy(),
    firma!("/belege/{id}/pdf", trade::belege::pdf).heavy(),
    firma!("/belege/{id}/erechnung", |request, db| request.file_of(db, "belege/{id}/erechnung")),
    firma!("/belege/{id}/email", trade::email::show).takes(Take::Sends(trade::email::send)),
    firma!("/belege/{id}/abschliessen", trade::abschluss::show)
        .takes(Take::Firma(trade::abschluss::finalise))
        .in_steps(),
    firma!("/belege/{id}/erledigen", trade::erledigen::show).takes(Take::Firma(trade::erledigen::settle)),
    firma!("/belege/{id}/storno", trade::belege::show_cancel).takes(Take::Firma(trade::belege::cancel)),
    firma!("/belege/{id}/anhaenge/{id}", trade::belege::attachment).heavy(),
    firma!("/offen", office::offen::list).in_menu("Offene Posten").takes(Take::Firma(office::offen::settle)),
    firma!("/bestand", goods::bestand::list).in_menu("Bestand"),
    firma!("/bestand/inventur", goods::lager::show).takes(Take::Firma(goods::lager::count)),
    firma!("/bestand/{id}", goods::bestand::show),
    firma!("/chargen", goods::chargen::list).in_menu("Chargen"),
    firma!("/chargen/{id}", goods::chargen::show),
    firma!("/chargen/{id}/berichtigen", goods::chargen::show_correct)
        .takes(Take::Firma(goods::chargen::correct)),
    firma!("/chargen/{id}/sperren", goods::chargen::show_lock).takes(Take::Firma(goods::chargen::lock)),
    firma!("/chargen/{id}/freigeben", goods::chargen::show_unlock).takes(Take::Firma(goods::chargen::unlock)),
    firma!("/chargen/{id}/inventur", goods::inventur::show_charge)
        .takes(Take::Firma(goods::inventur::count_charge)),
    firma!("/chargen/{id}/herkunft", trade::herkunft::show),
    firma!("/chargen/{id}/herkunft.csv", trade::herkunft::csv).heavy(),
    firma!("/partner", master::partner::list).in_menu("Partner"),
    firma!("/partner/neu", master::partner_formular::show_new)
        .takes(Take::Firma(master::partner_formular::create)),
    firma!("/partner/{id}", master::partner::show),
    firma!("/partner/{id}/aendern", master::partner_formular::show_change)
        .takes(Take::Firma(master::partner_formular::change)),
    verwaltung!("/partner/{id}/vergessen", master::vergessen::show)
        .takes(Take::Firma(master::vergessen::forget)),
    firma!("/partner/{id}/anhaenge", master::partner::show_attach)
        .takes(Take::Firma(master::partner::attach))
        .with_upload(),
    firma!("/partner/{id}/anhaenge/{id}", master::partner::attachment).heavy(),
    firma!("/artikel", master::artikel::list).in_menu("Artikel"),
    firma!("/artikel/neu", master::artikel_formular::show_new)
        .takes(Take::Firma(master::artikel_formular::create)),
    firma!("/artikel/{id}", master::artikel::show),
    firma!("/artikel/{id}/aendern", master::artikel_formular::show_change)
        .takes(Take::Firma(master::artikel_formular::change)),
    firma!("/artikel/{id}/inventur", goods::inventur::show_artikel)
        .takes(Take::Firma(goods::inventur::count_artikel)),
    firma!("/artikel/{id}/anhaenge", master::artikel::show_attach)
        .takes(Take::Firma(master::artikel::attach))
        .with_upload(),
    firma!("/artikel/{id}/anhaenge/{id}", master::artikel::attachment).heavy(),
    firma!("/kontrakte", goods::kontrakte::list).in_menu("Kontrakte"),
    firma!("/kontrakte/neu", goods::kontrakt_formular::show_new)
        .takes(Take::Firma(goods::kontrakt_formular::create)),
    firma!("/kontrakte/{id}", goods::kontrakte::show),
    firma!("/kontrakte/{id}/aendern", goods::kontrakt_formular::show_change)
        .takes(Take::Firma(goods::kontrakt_formular::change)),
    firma!("/annahme", trade::annahme::list).in_menu("Annahme"),
    firma!("/annahme/abrechnen", trade::abrechnen::show)
        .takes(Take::Firma(trade::abrechnen::settle))
        .in_steps()
        .heavy(),
    firma!("/annahme/rechner", trade::abrechnen::calculate),
    firma!("/annahme/schemata", goods::schemata::list),
    firma!("/annahme/schemata/{id}", goods::schemata::show),
    firma!("/annahme/schemata/{id}/pdf", goods::schemata::pdf).heavy(),
    firma!("/annahme/{id}", trade::annahme::show),
    firma!("/annahme/{id}/analyse", trade::analyse::show).takes(Take::Firma(trade::analyse::add)),
    firma!("/annahme/{id}/korrektur", trade::abrechnen::show_correct)
        .takes(Take::Firma(trade::abrechnen::correct)),
    firma!("/annahme/{id}/freigabe", trade::analyse::show_release)
        .takes(Take::Firma(trade::analyse::release)),
    firma!("/annahme/{id}/pdf", |request, db| request.file_of(db, "annahmescheine/{id}/pdf")).heavy(),
    firma!("/annahme/{id}/storno", trade::annahme::show_cancel).takes(Take::Firma(trade::annahme::cancel)),
    firma!("/produktion", goods::produktion::list).in_menu("Produktion"),
    firma!("/produktion/{id}", goods::produktion::show),
    firma!("/produktion/{id}/status", goods::produktion::show_status)
        .takes(Take::Firma(goods::produktion::change_status)),
    firma!("/kasse", trade::kasse::list).in_menu("Kasse"),
    firma!("/steuerberater", office::steuerberater::show)
        .in_administration("Steuerberater")
        .takes(Take::Draft(office::steuerberater::create))
        .in_steps()
        .heavy(),
    verwaltung!("/steuerberater/konten", office::konten::list).takes(Take::Firma(office::konten::set)),
    verwaltung!("/steuerberater/konten/fehlende", office::kontoluecken::show)
        .takes(Take::Firma(office::kontoluecken::fill)),
    verwaltung!("/steuerberater/konten/entfernen", office::konten::show_remove)
        .takes(Take::Firma(office::konten::remove)),
    verwaltung!("/steuerberater/konten/vorschlag", office::konten::show_proposal)
        .takes(Take::Firma(office::konten::take_proposal)),
    firma!("/steuerberater/{id}", office::uebergabe::show),
    firma!("/steuerberater/{id}/datei", office::uebergabe::download).heavy(),
    verwaltung!("/steuerberater/{id}/verwerfen", office::uebergabe::show_discard)
        .takes(Take::Firma(office::uebergabe::discard)),
    firma!("/umsatzsteuer", office::umsatzsteuer::show).in_administration("Umsatzsteuer").heavy(),
    firma!("/umsatzsteuer/belege", office::umsatzsteuer::documents).heavy(),
    verwaltung!("/import", operations::import::show)
        .in_administration("Import")
        .takes(Take::Haus(operations::import::look))
        .with_upload(),
    verwaltung!("/import/speichern", operations::import::show)
        .takes(Take::Haus(operations::import::store))
        .with_upload(),
    verwaltung!("/import/vorlage/{id}", operations::import::template),
    verwaltung!("/import/{id}", operations::ruecknahme::show)
        .takes(Take::Firma(operations::ruecknahme::take_back))
        .in_steps(),
    verwaltung!("/schluessel", access::schluessel::list).in_administration("Schlüssel"),
    verwaltung!("/schluessel/neu", access::schluessel::show_new)
        .takes(Take::Hashed(access::schluessel::create)),
    verwaltung!("/schluessel/{id}", access::schluessel::show),
    verwaltung!("/schluessel/{id}/aendern", access::schluessel::show_change)
        .takes(Take::Haus(access::schluessel::change)),
    verwaltung!("/schluessel/{id}/sperren", access::schluessel::show_lock)
        .takes(Take::Haus(|request| access::schluessel::set_active(request, false))),
    verwaltung!("/schluessel/{id}/freigeben", access::schluessel::show_unlock)
        .takes(Take::Haus(|request| access::schluessel::set_active(request, true))),
    verwaltung!("/abgelehnt", operations::abgelehnt::list).in_administration("Abgelehnte Anfragen").heavy(),
    verwaltung!("/protokoll", operations::protokoll::list).in_administration("Protokoll"),
    verwaltung!("/protokoll/{id}", operations::protokoll::show),
    verwaltung!("/betriebspruefung", office::pruefung::list)
        .in_administration("Betriebsprüfung")
        .takes(Take::Firma(office::pruefung::begin)),
    verwaltung!("/betriebspruefung/{id}/datei", office::pruefung::download),
    verwaltung!("/firma", master::firma::show_data)
        .in_administration("Firma")
        .takes(Take::Haus(master::firma::change_data))
        .with_upload(),
    verwaltung!("/firma/logo", master::firma::logo),
    verwaltung!("/postausgang", office::postausgang::show)
        .in_administration("Mailserver")
        .takes(Take::Haus(office::postausgang::change)),
    verwaltung!("/postausgang/test", office::postausgang::show).takes(Take::Sends(office::postausgang::test)),
    verwaltung!("/einstellungen", master::firma::show_settings)
        .in_administration("Einstellungen")
        .takes(Take::Haus(master::firma::change_settings)),
    haus!("/sicherung", operations::sicherung::list)
        .in_administration("Sicherung")
        .heavy()
        .takes(Take::Haus(operations::sicherung::make)),
    haus!("/sicherung/pruefen", kit::frame::back).takes(Take::Haus(operations::sicherung::prove_database)),
    haus!("/sicherung/{id}", operations::sicherung::show).heavy(),
    haus!("/sicherung/{id}/datei", operations::sicherung::download).heavy(),
    haus!("/sicherung/{id}/pruefen", kit::frame::back).takes(Take::Haus(operations::sicherung::prove)),
    haus!("/sicherung/{id}/zurueckspielen", operations::zurueckspielen::show)
        .heavy()
        .takes(Take::Hashed(operations::zurueckspielen::order)),
    haus!("/sicherung/{id}/loeschen", operations::sicherung::show_delete)
        .heavy()
        .takes(Take::Haus(operations::sicherung::delete)),
    haus!("/protokoll", operations::protokoll::list).in_administration("Protokoll aller Firmen"),
    haus!("/protokoll/pruefen", kit::frame::back).takes(Take::Haus(operations::protokoll::prove)),
    haus!("/protokoll/{id}", operations::protokoll::show),
    haus!("/zugaenge", access::zugaenge::list).in_administration("Zugänge"),
    haus!("/zugaenge/neu", access::zugaenge::show_new).takes(Take::Haus(access::zugaenge::create)),
    haus!("/zugaenge/{id}", access::zugaenge::show),
    haus!("/zugaenge/{id}/link", access::zugaenge::show_link).takes(Take::Haus(access::zugaenge::make_link)),
    haus!("/zugaenge/{id}/sperren", access::zugaenge::show_lock)
        .takes(Take::Haus(|request| access::zugaenge::set_active(request, false))),
    haus!("/zugaenge/{id}/freigeben", access::zugaenge::show_unlock)
        .takes(Take::Haus(|request| access::zugaenge::set_active(request, true))),
    Page::new("/leitstand/arbeit", Access::Person, operations::arbeit::list).in_administration("Arbeiten"),
    Page::new("/leitstand/arbeit/{id}", Access::Person, operations::arbeit::show)
        .takes(Take::Haus(operations::arbeit::give_up)),
    Page::new("/leitstand/konto", Access::Person, access::anmelden::show_account)
        .in_administration("Mein Zugang")
        .takes(Take::Hashed(access::anmelden::change_password)),
];

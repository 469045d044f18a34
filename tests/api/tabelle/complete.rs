//! The tables leave nothing out: every route and parameter that there is, every body field that
//! the specification has.

use std::collections::BTreeSet;

use partnerd::app::routes;
use partnerd::http::param::ParamKind;
use partnerd::http::route::{Method, Route};

use super::defaults::DEFAULTS;
use super::{Read, is_refusal, reading, writing};

/// The body fields of the specification, of D4, D12 and D13 for what they add, and of D21a and D21c.
const FIELDS: &[(&str, &str)] = &[
    (
        "POST /kunden",
        "nachname_firma name kundennr anrede vorname strasse plz ort email telefon telefon2 staat \
         zahlungsziel_tage steuernummer ust_id betriebsnummer iban bic vb_id partner_typen notizen",
    ),
    ("PUT /kunden/{id}", "name email telefon strasse plz ort staat land"),
    ("POST /kunden/{id}/dokumente", "dateiname inhalt_base64 beschreibung"),
    ("POST /artikel/{id}/dokumente", "dateiname inhalt_base64 beschreibung"),
    (
        "POST /belege",
        "beleg_typ items kunden_id kundennummer external_ref auto_price beleg_datum notizen niederlassung_id \
         lagerhalle_id fremdbelegnummer vb_id items.menge items.artikel_id items.artikelnr items.einheit \
         items.ep_netto items.mwst_satz items.rabatt_prozent items.bezeichnung items.bezeichnung2 \
         items.langtext items.fremde_charge_nr items.mhd items.herkunftsland items.biozertifikat_id \
         items.charge_id",
    ),
    (
        "PUT /belege/{id}",
        "beleg_typ items kunden_id kundennummer auto_price beleg_datum notizen niederlassung_id \
         lagerhalle_id fremdbelegnummer vb_id",
    ),
    ("POST /belege/{id}/storno", "grund"),
    ("POST /belege/{id}/pdf", "datei_base64 dateiname"),
    (
        "POST /chargen",
        "artikel_id charge_nr fremde_charge_nr mhd herkunftsland biozertifikat_id eingang_menge eingang_ep \
         einheit niederlassung_id lagerhalle_id partner_id eingang_quelle",
    ),
    ("PUT /chargen/{id}", "fremde_charge_nr mhd herkunftsland"),
    (
        "POST /produktionsauftraege",
        "rezeptur_id faktor produktions_datum niederlassung_id lagerhalle_id bezeichnung bemerkung \
         zugewiesen_an",
    ),
    ("PUT /produktionsauftraege/{id}/status", "status inputs outputs"),
    ("PUT /wiegungen/{id}/storno", "grund"),
    ("PUT /annahmescheine/{id}/storno", "grund"),
    (
        "POST /wiegungen",
        "waage_id gewicht_erst_kg partner_id kennzeichen fahrer artikel_id richtung niederlassung_id \
         lagerhalle_id charge_id kontrakt_id kontrakt_position_id fremdwiegung bemerkung",
    ),
    (
        "PUT /wiegungen/{id}/zweitwiegung",
        "gewicht_zweit_kg charge_id kontrakt_id kontrakt_position_id niederlassung_id lagerhalle_id richtung",
    ),
    (
        "POST /annahmescheine",
        "partner_id kunden_id kundennummer artikel_id artikelnr wiegung_id anliefermenge_kg lieferdatum \
         feuchte_prozent basisfeuchte_prozent schwundfaktor besatz_prozent basisbesatz_prozent \
         sonstige_abzuege_kg preis_je_t kontrakt_id fremde_charge_nr herkunftsland biozertifikat_id \
         bemerkung external_ref el_erzeugen",
    ),
];

/// The routes of the interface by their names below /api/v1; probes are none of them.
fn named() -> impl Iterator<Item = (&'static str, &'static Route)> {
    routes().filter_map(|route| Some((route.pattern.strip_prefix("/api/v1")?, route)))
}

/// The rows of a route that are about a parameter.
fn rows<'r>(route: &'r str, parameter: &'r str) -> impl Iterator<Item = &'static Read> + 'r {
    reading().filter(move |row| row.0 == route && row.1 == parameter)
}

/// The refusals that a route has for sure: one of its own, and 404 where its path has an id.
fn refusals(name: &str, own: &'static str) -> impl Iterator<Item = &'static str> {
    [own].into_iter().chain(name.contains("{id}").then_some("404 NICHT_GEFUNDEN"))
}

#[test]
fn every_reading_route_and_parameter_has_its_rows() {
    let mut missing = Vec::new();
    for (name, route) in named().filter(|(_, route)| route.method == Method::Get) {
        let happy = rows(name, "-").find(|row| !is_refusal(row.3));
        if happy.is_none() {
            missing.push(format!("GET {name}: the happy case"));
        }
        for refusal in refusals(name, "400 UNBEKANNTER_PARAMETER") {
            if !rows(name, "-").any(|row| row.3 == refusal) {
                missing.push(format!("GET {name}: {refusal}"));
            }
        }
        for param in route.query {
            let mut selections: BTreeSet<&str> = happy.iter().map(|row| row.3).collect();
            selections.extend(rows(name, param.name).map(|row| row.3).filter(|came| !is_refusal(came)));
            // One row alone, or rows that all bring the same, do not show that anything is selected.
            if selections.len() < 2 {
                missing.push(format!("GET {name}: {} selects nothing", param.name));
            }
            let is_free_text = param.kind == ParamKind::Text;
            if !is_free_text && !rows(name, param.name).any(|row| is_refusal(row.3)) {
                missing.push(format!("GET {name}: {} is never refused", param.name));
            }
            let sent = format!("{}=", param.name);
            if !rows(name, param.name).any(|row| is_refusal(row.3) && row.2.matches(&sent).count() == 2) {
                missing.push(format!("GET {name}: {} sent twice", param.name));
            }
            if let ParamKind::Limit(Some(_)) = param.kind
                && !DEFAULTS.iter().any(|(route, ..)| *route == name)
            {
                missing.push(format!("GET {name}: the default of limit"));
            }
        }
    }
    assert!(missing.is_empty(), "rows are missing:\n{}", missing.join("\n"));
}

#[test]
fn every_writing_route_and_field_has_its_rows() {
    let mut missing = Vec::new();
    for (name, route) in named().filter(|(_, route)| route.method != Method::Get) {
        let name = format!("{} {name}", route.method.as_str());
        let rows = || writing().filter(|table| table.route == name).flat_map(|table| table.rows);
        if rows().all(|row| is_refusal(row.2)) {
            missing.push(format!("{name}: the happy case"));
        }
        for refusal in refusals(&name, "400") {
            if !rows().any(|row| row.2.starts_with(refusal)) {
                missing.push(format!("{name}: {refusal}"));
            }
        }
        let fields = FIELDS.iter().find(|(known, _)| *known == name).map_or("", |(_, fields)| fields);
        for field in fields.split_whitespace() {
            for refused in [false, true] {
                if !rows().any(|row| row.0 == field && is_refusal(row.2) == refused) {
                    missing.push(format!("{name}: {field}, refused: {refused}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "rows are missing:\n{}", missing.join("\n"));
}

#[test]
fn every_row_is_about_something_that_there_is() {
    let all: BTreeSet<String> =
        named().map(|(name, route)| format!("{} {name}", route.method.as_str())).collect();
    for (route, parameter, request, _) in reading() {
        assert!(all.contains(&format!("GET {route}")), "{route}");
        let known = named()
            .any(|(name, known)| name == *route && known.query.iter().any(|param| param.name == *parameter));
        assert!(*parameter == "-" || known, "{route} {parameter}");
        let names = request.contains(&format!("{parameter}=")) || request.is_empty();
        assert!(*parameter == "-" || names, "{route} {request} is not about {parameter}");
    }
    for table in writing() {
        assert!(all.contains(table.route), "{}", table.route);
    }
    for (route, _) in FIELDS {
        assert!(all.contains(*route), "{route}");
    }
}

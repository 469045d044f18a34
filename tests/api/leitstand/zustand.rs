//! What needs a hand, on the first page of a company.

use partnerd::gate::{Policy, Zugang};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::person;
use crate::harness::{NOON, Server};

#[test]
fn a_certificate_that_ends_is_named_in_time_to_who_keeps_the_house() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("partnerd-cert.pem");
    // Its last instant is midnight of this day in UTC, two in the morning in Berlin.
    for (year, month, day, expected) in [
        (2026, 8, 10, None),
        (2026, 8, 8, Some((false, "Das Zertifikat gilt nur noch bis 08.08.2026, 02:00."))),
        (2026, 7, 11, Some((false, "Das Zertifikat gilt nur noch bis 11.07.2026, 02:00."))),
        (2026, 7, 10, Some((true, "Das Zertifikat ist am 10.07.2026, 02:00 abgelaufen"))),
        (2025, 12, 31, Some((true, "Das Zertifikat ist am 31.12.2025, 01:00 abgelaufen"))),
    ] {
        let mut params = CertificateParams::new(vec!["muehle.local".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(year, month, day));
        std::fs::write(&file, params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()).unwrap();
        let leitstand = Zugang { certificate: Some(file.clone()), ..Zugang::default() };
        let server = Server::start_with(NOON, Policy { leitstand, ..Policy::default() });
        server.company("Mühle");
        let shown = person(&server, &["Erika", "--role", "verwalten"]).get("/leitstand/f/1");
        let lists =
            [" class=\"sorgen refused\"", " class=\"sorgen\""].map(|class| list(&shown.is(200).text, class));
        let said = [true, false].map(|is_urgent| expected.is_some_and(|(urgent, _)| urgent == is_urgent));
        assert_eq!(lists.map(|list| list.contains("Zertifikat")), said, "{day}.{month}.{year}: {lists:?}");
        if let Some((_, words)) = expected {
            assert!(lists.concat().contains(words), "{words}: {lists:?}");
        }
        // It is nothing that the others could mend.
        let shown = person(&server, &["Paul"]).get("/leitstand/f/1");
        assert!(!shown.is(200).text.contains("Zertifikat"), "{}", shown.text);
    }
}

/// What stands in the list of this class; blank where there is none.
fn list<'t>(text: &'t str, class: &str) -> &'t str {
    let after = text.split(&format!("<ul{class}>")).nth(1);
    after.and_then(|list| list.split("</ul>").next()).unwrap_or_default()
}

//! The tables are complete: they cover every route, parameter and body field of the description.

use std::collections::BTreeSet;

use partnerd::interface::routes;
use partnerd::platform::http::route::{Method, Route};

use super::described::{Field, fields};
use super::{Read, happy, is_refusal, reading, writing};

/// The routes of the interface by their names below /api/v1, without the probes.
pub fn named() -> impl Iterator<Item = (&'static str, &'static Route)> {
    routes::all().filter_map(|route| Some((route.pattern.strip_prefix("/api/v1")?, route)))
}

/// The rows of a route for a parameter.
fn rows<'r>(route: &'r str, parameter: &'r str) -> impl Iterator<Item = &'static Read> + 'r {
    reading().filter(move |row| row.0 == route && row.1 == parameter)
}

/// Refusals follow from the route's row and are tested in `refused`.
#[test]
fn every_reading_route_and_parameter_has_its_rows() {
    let mut missing = Vec::new();
    for (name, route) in named().filter(|(_, route)| route.method == Method::Get) {
        let happy = happy(name);
        if happy.is_none() {
            missing.push(format!("GET {name}: the happy case"));
        }
        for param in route.query {
            let mut selections: BTreeSet<&str> = happy.iter().map(|row| row.3).collect();
            selections.extend(rows(name, param.name).map(|row| row.3).filter(|came| !is_refusal(came)));
            // A single row, or rows that all return the same, do not show that the parameter selects anything.
            if selections.len() < 2 {
                missing.push(format!("GET {name}: {} selects nothing", param.name));
            }
        }
    }
    assert!(missing.is_empty(), "rows are missing:\n{}", missing.join("\n"));
}

#[test]
fn every_writing_route_has_its_rows() {
    let mut missing = Vec::new();
    for (name, route) in named().filter(|(_, route)| route.method != Method::Get) {
        let name = format!("{} {name}", route.method.as_str());
        let rows = || writing().filter(|table| table.route == name).flat_map(|table| table.rows);
        if rows().all(|row| is_refusal(row.2)) {
            missing.push(format!("{name}: the happy case"));
        }
        // At least one 400 of its own, and 404 if its path has an id.
        for refusal in ["400"].into_iter().chain(name.contains("{id}").then_some("404 NICHT_GEFUNDEN")) {
            if !rows().any(|row| row.2.starts_with(refusal)) {
                missing.push(format!("{name}: {refusal}"));
            }
        }
    }
    assert!(missing.is_empty(), "rows are missing:\n{}", missing.join("\n"));
}

/// Invalid values of a field are tested in `described`, its effect only in these tables. Items are the same
/// object in each body that takes them, so the rows of one body are enough.
#[test]
fn every_body_field_has_a_row_that_is_accepted() {
    let fields = fields();
    let has_row = |field: &Field| {
        let rows = writing().filter(|table| table.route == field.route).flat_map(|table| table.rows);
        rows.into_iter().any(|row| row.0 == field.path && row.1 != "-" && !is_refusal(row.2))
    };
    let mut missing = BTreeSet::new();
    for field in &fields {
        let mut same = fields.iter().filter(|other| {
            field.path.contains('.') && other.object == field.object && other.path == field.path
        });
        if !has_row(field) && !same.any(has_row) {
            missing.insert(format!("{} {}", field.route, field.path));
        }
    }
    let missing: Vec<_> = missing.into_iter().collect();
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
}

//! The table of settings matches the columns of a company.

use partnerd::master::tenants::firma::ANGABEN;
use partnerd::master::tenants::{SETTINGS, set};
use partnerd::rules::day::Instant;
use rusqlite::types::Value;

use crate::harness::Server;

#[test]
fn each_column_of_a_company_is_a_setting() {
    let server = Server::start();
    let columns: String = server.sql(
        "select group_concat(name, ' ') from (select name from pragma_table_info('tenant')
         where name not in ('id', 'name', 'angelegt_am', 'test', 'test_mac') order by name)",
    );
    let mut names: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    names.sort_unstable();
    assert_eq!(columns, names.join(" "));
}

#[test]
fn each_column_of_the_master_data_can_be_entered() {
    let server = Server::start();
    let columns: String = server.sql(
        "select group_concat(name, ' ') from pragma_table_info('firma') where name not in ('tenant_id', 'nr', 'seit')",
    );
    let names: Vec<_> = ANGABEN.iter().map(|setting| setting.name).collect();
    assert_eq!(columns, names.join(" "));
}

#[test]
fn a_new_company_has_the_defaults_that_are_documented() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let writer = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    for setting in SETTINGS {
        let stored = || -> Value {
            server.sql(&format!("select {} from tenant where id = {}", setting.name, mill.tenant))
        };
        let before = stored();
        set(&writer, mill.tenant, &[(setting.name, setting.default)], Instant::from_millis(0)).unwrap();
        assert_eq!(stored(), before, "{}", setting.name);
    }
}

//! Deliveries, invoices, returns and credits (D8), told twice: by the server over HTTP, and by a model of a few plain
//! maps that shares nothing with it. What D8 lists as tests, then stories that chance writes.

#[path = "torture/dice.rs"]
mod dice;
mod process;

mod stock {
    mod both;
    mod controls;
    mod http;
    mod lots;
    mod model;
    mod notation;
    mod pairing;
    mod story;
    mod table;
    mod withdrawal;
}

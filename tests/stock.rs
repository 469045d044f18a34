//! Deliveries, invoices, returns and credits (D8), carried out twice: by the server over HTTP, and by a model
//! of a few plain maps that shares no code with it. First the tests listed in D8, then random stories.

#[path = "torture/dice.rs"]
mod dice;
mod process;

mod stock {
    mod back;
    mod both;
    mod controls;
    mod facts;
    mod http;
    mod lots;
    mod model;
    mod notation;
    mod order;
    mod pairing;
    mod story;
    mod table;
    mod withdrawal;
}

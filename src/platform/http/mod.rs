//! HTTP: requests and answers as the slices see them, and the server behind the socket.

pub mod answering;
pub mod budget;
pub mod cached;
pub mod call;
pub mod client;
mod connections;
pub mod cpu_pool;
pub mod encoding;
pub mod error;
pub mod fingerprint;
pub mod json;
mod message;
mod paced;
pub mod param;
mod plain;
pub mod query;
pub mod reply;
pub mod request;
pub mod route;
pub mod router;
pub mod server;
pub mod shape;
pub mod sheet;
mod socket;
pub mod tls;
pub mod upload;
pub mod wire;

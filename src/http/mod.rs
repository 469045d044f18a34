//! HTTP: requests and answers as the slices see them, and the socket.

pub mod call;
pub mod encoding;
pub mod error;
pub mod fingerprint;
mod framing;
pub mod json;
pub mod query;
pub mod reply;
pub mod route;
pub mod router;
pub mod server;
pub mod shape;
pub mod tls;
pub mod upload;
pub mod wire;

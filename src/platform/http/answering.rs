//! The trait by which the socket passes requests to the gate and the web pages.

use std::net::IpAddr;
use std::sync::Arc;

use super::client::Client;
use super::reply::Reply;
use super::request::Request;

/// Answers requests: implemented for the gate and the web pages.
pub trait Answering: Send + Sync + 'static {
    /// Answers a request. The socket polls the future once in place; if it is not ready, it continues in a
    /// task of its own, so that a client that hangs up stops nothing and its request still gets an audit row.
    fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> impl Future<Output = Reply> + Send;
    /// Returns the address by which a peer counts as one client; `None` for a trusted proxy, which stands for
    /// many.
    fn client(&self, peer: IpAddr) -> Option<IpAddr>;
}

//! The trait through which the socket passes requests to the gate and the pages.

use std::net::IpAddr;
use std::sync::Arc;

use super::client::Client;
use super::reply::Reply;
use super::request::Request;

/// Who answers requests: the gate and the pages, seen from the socket.
pub trait Answering: Send + Sync + 'static {
    /// Answers a request. The socket polls it once where it is; what is not ready then goes on in a task of its own, so
    /// that a client that hangs up stops nothing and its request still has its audit row.
    fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> impl Future<Output = Reply> + Send;
    /// What is taken for one client at the other end of a connection; none for a proxy of ours, which speaks for many.
    fn client(&self, peer: IpAddr) -> Option<IpAddr>;
}

//! The entry point for all requests: passes each one to the web pages or to the gate.

use std::net::IpAddr;
use std::sync::Arc;

use super::server::Leitstand;
use crate::platform::gate::Gate;
use crate::platform::http::answering::Answering;
use crate::platform::http::client::Client;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;

/// Passes well-formed requests for `/leitstand` and below to the Leitstand, and all others to the gate.
pub struct Front {
    /// Answers programs.
    pub gate: Arc<Gate>,
    /// Answers people; `None` if the setting is `aus`.
    pub leitstand: Option<Arc<Leitstand>>,
}

impl Front {
    /// Resolves when the server is told to stop, or a backup is to be restored.
    pub async fn end(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let Some(leitstand) = &self.leitstand else { return stop.await };
        tokio::select! { () = stop => {}, () = leitstand.restoring().ordered() => {} }
    }
}

impl Answering for Front {
    async fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> Reply {
        let is_page = request.path == "/leitstand" || request.path.starts_with("/leitstand/");
        match &self.leitstand {
            Some(leitstand) if is_page && request.malformed.is_none() => {
                Arc::clone(leitstand).answer(request, client).await
            }
            _ => Arc::clone(&self.gate).answer(request, client).await,
        }
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        self.gate.client(peer)
    }
}

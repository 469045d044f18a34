//! Answers for monitoring: whether the service runs, whether it can work, and its metrics.

use schemars::JsonSchema;
use serde::Serialize;

use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::ServiceStatus;
use crate::rules::error::{Code, Refusal};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Zustand")]
pub struct Health {
    status: &'static str,
}

const WELL: Health = Health { status: "ok" };

pub fn health(_: &Call<'_>, _: &dyn ServiceStatus) -> Result<Reply> {
    Reply::ok(&WELL)
}

/// GET /readyz: 503 if a request could not be carried out; the log says why.
pub fn ready(_: &Call<'_>, service: &dyn ServiceStatus) -> Result<Reply> {
    service.ready().map_err(|why| Failure::Busy(format!("not ready: {why}")))?;
    Reply::ok(&WELL)
}

/// GET /metrics, only for this machine unless the configuration opens it.
pub fn metrics(call: &Call<'_>, service: &dyn ServiceStatus) -> Result<Reply> {
    if !service.shows_metrics_to(call.request) {
        let message = "Die Messwerte gibt es nur auf dem Rechner des Dienstes selbst. Bitte dort über localhost \
                       abrufen.";
        return Err(Refusal::new(Code::NichtGefunden, message).into());
    }
    Ok(Reply::text("text/plain; version=0.0.4; charset=utf-8", service.metrics()))
}

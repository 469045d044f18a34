//! A client that keeps its connection.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request, Response};

#[derive(Clone)]
pub struct Client {
    /// `http://127.0.0.1:PORT`
    pub base: String,
    agent: Agent,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub request_id: String,
    pub etag: Option<String>,
    /// The remaining daily quota of the key.
    pub remaining: Option<i64>,
    pub body: Value,
}

impl Client {
    pub fn new() -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(300)))
            .max_idle_age(Duration::from_secs(2))
            .build();
        Client { base: String::new(), agent: config.into() }
    }

    pub fn send(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: &Option<String>,
        headers: &[(&'static str, String)],
    ) -> Result<Answer, String> {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(format!("{}{path}", self.base))
            .header("x-api-key", key)
            .header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let response = match body {
            Some(body) => self.agent.run(request.body(body).unwrap()),
            None => self.agent.run(request.body(()).unwrap()),
        };
        response.map_err(|error| error.to_string()).and_then(read)
    }
}

fn read(response: Response<ureq::Body>) -> Result<Answer, String> {
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (etag, request_id) = (header("etag"), header("x-request-id").unwrap_or_default());
    let remaining = header("x-ratelimit-remaining").map(|number| number.parse().unwrap());
    let status = response.status().as_u16();
    let bytes = response.into_body().into_with_config().limit(64 << 20).read_to_vec();
    let bytes = bytes.map_err(|error| error.to_string())?;
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Answer { status, request_id, etag, remaining, body })
}

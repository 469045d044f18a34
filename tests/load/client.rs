//! A client that does as little as possible: each connection sends a request, reads the answer, and sends the next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// The requests of one connection: returns the next one, given the body of the previous answer.
pub type Script = Box<dyn FnMut(&[u8]) -> Arc<str> + Send>;

/// Requests, sent over several connections at once.
pub struct Load {
    pub connections: usize,
    /// Requests that make one piece of work, which is timed as a whole.
    pub steps: usize,
    /// Creates the script of a connection.
    pub script: Box<dyn Fn(usize) -> Script + Send + Sync>,
}

/// The duration of each piece of work, and of all together.
pub struct Seen {
    pub durations: Vec<Duration>,
    pub elapsed: Duration,
}

impl Load {
    /// One request, again and again.
    pub fn same(connections: usize, request: &str) -> Load {
        let request: Arc<str> = request.into();
        let script = move |_| {
            let request = Arc::clone(&request);
            Box::new(move |_: &[u8]| Arc::clone(&request)) as Script
        };
        Load { connections, steps: 1, script: Box::new(script) }
    }

    /// Sends for this time.
    pub fn run(&self, address: &str, time: Duration) -> Seen {
        let begun = Instant::now();
        let durations = runtime().block_on(async {
            let clients: Vec<_> = (0..self.connections)
                .map(|at| client(address.to_owned(), (self.script)(at), self.steps, begun + time))
                .map(tokio::spawn)
                .collect();
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.await.unwrap());
            }
            all
        });
        Seen { durations, elapsed: begun.elapsed() }
    }
}

/// The body of the answer to one request.
pub fn answer(address: &str, request: &str) -> Vec<u8> {
    runtime().block_on(async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut buffer = Vec::new();
        let body = read_answer(&mut stream, &mut buffer).await;
        buffer.split_off(body)
    })
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn client(address: String, mut script: Script, steps: usize, until: Instant) -> Vec<Duration> {
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut durations = Vec::new();
    let (mut buffer, mut body) = (Vec::with_capacity(64 << 10), 0);
    while Instant::now() < until {
        let begun = Instant::now();
        for _ in 0..steps {
            let request = script(&buffer[body..]);
            stream.write_all(request.as_bytes()).await.unwrap();
            body = read_answer(&mut stream, &mut buffer).await;
        }
        durations.push(begun.elapsed());
    }
    durations
}

/// Reads one whole answer and returns where its body begins; any status but 2xx ends the run.
async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> usize {
    buffer.clear();
    let (mut head, mut whole) = (0, usize::MAX);
    while buffer.len() < whole {
        assert!(stream.read_buf(buffer).await.unwrap() > 0, "the server closed the connection");
        if head == 0
            && let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n")
        {
            head = end + 4;
            let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
            assert!(text.starts_with("http/1.1 2"), "{}", String::from_utf8_lossy(buffer));
            let length = text.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
            whole = head + length.parse::<usize>().unwrap();
        }
    }
    head
}

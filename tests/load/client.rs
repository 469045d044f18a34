//! A client that does as little as possible: each connection sends a request, reads the answer, and
//! sends it again.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request, sent over several connections at once.
pub struct Load {
    pub address: String,
    pub request: String,
    pub connections: usize,
}

/// How long each answer took, and all of them together.
pub struct Seen {
    pub durations: Vec<Duration>,
    pub elapsed: Duration,
}

impl Load {
    /// Sends it again and again for a time.
    pub fn run(&self, time: Duration) -> Seen {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let begun = Instant::now();
        let durations = runtime.block_on(async {
            let clients: Vec<_> = (0..self.connections)
                .map(|_| tokio::spawn(one(self.address.clone(), self.request.clone(), begun + time)))
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

async fn one(address: String, request: String, until: Instant) -> Vec<Duration> {
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut durations = Vec::new();
    let mut buffer = Vec::with_capacity(64 << 10);
    while Instant::now() < until {
        let sent = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        read_answer(&mut stream, &mut buffer).await;
        durations.push(sent.elapsed());
    }
    durations
}

/// Reads one answer whole; any but 2xx ends the run.
async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) {
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
}

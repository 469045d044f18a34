//! Tells clients that speak http on the https port to use https.

use tokio::net::TcpStream;

/// Whether a client on the https port starts with a request method: TLS starts with the byte 22.
pub async fn is_spoken(stream: &TcpStream) -> bool {
    let mut first = [0; 1];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0].is_ascii_uppercase()
}

const NOT_ENCRYPTED: &str = "Diese Adresse spricht https. Bitte https:// statt http:// schreiben.\n";

/// Answers that this port speaks https. First reads at most `at_most` bytes: the system would discard the
/// answer if received data were left unread.
pub async fn answer(stream: TcpStream, at_most: usize) {
    let mut received = vec![0; at_most];
    if stream.readable().await.is_ok() {
        let _ = stream.try_read(&mut received);
    }
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{NOT_ENCRYPTED}",
        NOT_ENCRYPTED.len()
    );
    if stream.writable().await.is_ok() {
        // Smaller than the system's send buffer for a new connection.
        let _ = stream.try_write(answer.as_bytes());
    }
}

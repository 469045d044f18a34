//! A client that speaks http to the port for https is told so.

use tokio::net::TcpStream;

/// Whether a client of the port for https begins with the method of a request: TLS begins with the byte 22.
pub async fn is_spoken(stream: &TcpStream) -> bool {
    let mut first = [0; 1];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0].is_ascii_uppercase()
}

const NOT_ENCRYPTED: &str = "Diese Adresse spricht https. Bitte https:// statt http:// schreiben.\n";

/// Tells a client that this port speaks https. At most `at_most` bytes that it sent are read first: what is
/// left unread would make the system throw the answer away.
pub async fn answer(stream: TcpStream, at_most: usize) {
    let mut received = vec![0; at_most];
    if stream.readable().await.is_ok() {
        let _ = stream.try_read(&mut received);
    }
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{NOT_ENCRYPTED}",
        NOT_ENCRYPTED.len()
    );
    if stream.writable().await.is_ok() {
        // Less than what the system keeps for a new connection.
        let _ = stream.try_write(answer.as_bytes());
    }
}

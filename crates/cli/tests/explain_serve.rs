//! `klamm explain --serve` as a process.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::support::{finish, signal, start};

/// Neither a client that has not said what it wants nor one whose bytes are on their way holds up
/// the end.
#[tokio::test]
async fn signals_end_it_while_slow_clients_are_connected() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = start("explain --serve");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let url = lines.next_line().await.expect("readable").expect("a line");
        let address = url
            .strip_prefix("http://")
            .and_then(|url| url.strip_suffix('/'))
            .expect("an address");
        let mut clients = Vec::new();
        for said in [
            String::new(),
            "GET / HT".to_owned(),
            format!("POST /decode.html HTTP/1.1\r\nhost: {address}\r\ncontent-length: 9\r\n\r\n00"),
        ] {
            let mut client = TcpStream::connect(address).await.expect("it listens");
            client
                .write_all(said.as_bytes())
                .await
                .expect("it takes bytes");
            clients.push(client);
        }
        // They were accepted before this one, which is answered.
        let mut client = TcpStream::connect(address).await.expect("it listens");
        let get = format!("GET / HTTP/1.1\r\nhost: {address}\r\n\r\n");
        client
            .write_all(get.as_bytes())
            .await
            .expect("it takes bytes");
        let mut answer = [0; 12];
        client.read_exact(&mut answer).await.expect("it answers");
        assert_eq!(&answer, b"HTTP/1.1 200");
        signal(&child, name).await;
        let finished = finish(child).await;
        assert_eq!(finished.code, Some(code), "{finished}");
        assert_eq!(finished.stderr, "", "{finished}");
        drop(clients);
    }
}

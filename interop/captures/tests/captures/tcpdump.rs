use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use klamm_cluster::wait_until;

/// Longer than it takes on any machine.
const DEADLINE: Duration = Duration::from_secs(60);
/// The client id of the last request, after which everything before it is in the file.
const LAST: &str = "end-of-the-session";

/// A running tcpdump. It is killed when this is dropped.
pub(crate) struct Tcpdump {
    child: Child,
    file: PathBuf,
    port: u16,
}

impl Tcpdump {
    /// Captures what goes to and from a port of this machine.
    pub(crate) fn start(file: &Path, port: u16) -> Self {
        let mut child = Command::new("tcpdump")
            // Each packet is written as it comes.
            .args(["-i", "lo", "-U", "--immediate-mode", "-Z", "root", "-w"])
            .arg(file)
            .args(["tcp", "port", &port.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("tcpdump cannot be started ({error}): install Debian's package tcpdump")
            });
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening on") {
            let read = lines.read_line(&mut said).unwrap();
            assert!(
                read > 0,
                "tcpdump may not capture on lo: run this suite as root, or give tcpdump the \
                 capabilities CAP_NET_RAW and CAP_NET_ADMIN. It says: {said}"
            );
        }
        // What it says later must have somewhere to go.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self {
            child,
            file: file.to_owned(),
            port,
        }
    }

    /// Ends the capture once all that was sent so far is in the file.
    pub(crate) fn stop(self) {
        // ApiVersions v0, whose response is read so that the connection ends in peace.
        let mut request = vec![0, 18, 0, 0, 0, 0, 0, 1];
        request.extend((LAST.len() as u16).to_be_bytes());
        request.extend(LAST.as_bytes());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .write_all(&(request.len() as u32).to_be_bytes())
            .unwrap();
        stream.write_all(&request).unwrap();
        let mut size = [0; 4];
        stream.read_exact(&mut size).unwrap();
        let mut response = vec![0; u32::from_be_bytes(size) as usize];
        stream.read_exact(&mut response).unwrap();
        // The response follows the request at once.
        let has_all = wait_until(DEADLINE, || {
            let bytes = std::fs::read(&self.file).unwrap();
            bytes
                .windows(response.len())
                .any(|window| window == response)
                && bytes
                    .windows(LAST.len())
                    .any(|window| window == LAST.as_bytes())
        });
        assert!(
            has_all,
            "tcpdump has not written all packets after {DEADLINE:?}"
        );
    }
}

impl Drop for Tcpdump {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

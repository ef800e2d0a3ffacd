use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::time::timeout;

/// How long a test waits for what must come. No test that passes waits for so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a key sends.
pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const ENTER: &str = "\r";

/// klamm on a terminal of its own, which its standard input, output and error are.
pub(crate) struct Terminal {
    child: Child,
    screen: OwnedReadPty,
    keys: OwnedWritePty,
    /// All that was written so far.
    shown: Vec<u8>,
    /// How much of it was looked at.
    looked_at: usize,
}

impl Terminal {
    /// Starts klamm on a terminal of so many columns and rows.
    pub(crate) fn start(words: &str, size: (u16, u16)) -> Self {
        Self::start_as(words, size, "xterm-256color")
    }

    /// The same on a terminal of another kind.
    pub(crate) fn start_as(words: &str, (columns, rows): (u16, u16), term: &str) -> Self {
        let (pty, pts) = pty_process::open().expect("the system has terminals");
        pty.resize(Size::new(rows, columns)).expect("a size");
        let child = pty_process::Command::new(env!("CARGO_BIN_EXE_klamm"))
            .args(words.split_whitespace())
            .env_remove("NO_COLOR")
            .env("TERM", term)
            .kill_on_drop(true)
            .spawn(pts)
            .expect("klamm starts");
        let (screen, keys) = pty.into_split();
        Self {
            child,
            screen,
            keys,
            shown: Vec::new(),
            looked_at: 0,
        }
    }

    /// Waits until a text is written, after those that were waited for before.
    pub(crate) async fn expect(&mut self, text: &str) {
        let found = timeout(PATIENCE, self.find(text)).await;
        assert_eq!(found, Ok(true), "{text:?} is not in {:?}", self.text());
    }

    async fn find(&mut self, text: &str) -> bool {
        loop {
            let rest = &self.shown[self.looked_at..];
            let mut parts = rest.windows(text.len());
            if let Some(at) = parts.position(|part| part == text.as_bytes()) {
                self.looked_at += at + text.len();
                return true;
            }
            if !self.read().await {
                return false;
            }
        }
    }

    /// Presses keys.
    pub(crate) async fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .await
            .expect("it takes keys");
    }

    /// Waits for the end: how it ended, and all that was written.
    pub(crate) async fn end(mut self) -> (ExitStatus, String) {
        let ended = timeout(PATIENCE, async {
            while self.read().await {}
            self.child.wait().await
        });
        let ended = ended.await;
        let Ok(Ok(status)) = ended else {
            panic!("{ended:?} after {:?}", self.text());
        };
        (status, self.text())
    }

    /// Reads what comes next; false where klamm has ended.
    async fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // On Linux a terminal that nobody has open any more is an error to read from.
        let count = self.screen.read(&mut bytes).await.unwrap_or(0);
        self.shown.extend_from_slice(&bytes[..count]);
        count > 0
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }
}

/// The status as a shell says it: 128 and the number of the signal that ended it.
pub(crate) fn shell_status(status: ExitStatus) -> i32 {
    let by_signal = status.signal().map(|signal| 128 + signal);
    status.code().or(by_signal).expect("it has ended")
}

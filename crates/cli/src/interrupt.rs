use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::exit::Signal;

/// Ctrl-C and SIGTERM, listened to from the first [`Interrupt::race`] on.
///
/// SIGHUP keeps its meaning: under `nohup` it is ignored, and a handler would undo that.
pub(crate) struct Interrupt {
    /// One future for the whole command, so that no signal between two waits is lost.
    signal: Pin<Box<dyn Future<Output = Signal>>>,
    came: Option<Signal>,
}

/// The command was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted(pub(crate) Signal);

impl Interrupt {
    pub(crate) fn new() -> Self {
        let signal = async {
            tokio::select! {
                () = ctrl_c() => Signal::Interrupt,
                () = terminate() => Signal::Terminate,
            }
        };
        Self {
            signal: Box::pin(signal),
            came: None,
        }
    }

    /// Waits for something, unless a signal comes first. Once it came, there is no more waiting.
    pub(crate) async fn race<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        if let Some(signal) = self.came {
            return Err(Interrupted(signal));
        }
        tokio::select! {
            biased;
            signal = &mut self.signal => {
                self.came = Some(signal);
                Err(Interrupted(signal))
            }
            done = work => Ok(done),
        }
    }
}

// Without a handler a signal ends the process, as for any program.

async fn ctrl_c() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signals) => drop(signals.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminate() {
    std::future::pending().await
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt")
            .field("came", &self.came)
            .finish()
    }
}

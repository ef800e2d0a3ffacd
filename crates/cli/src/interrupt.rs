use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// Ctrl-C, listened to from the first [`Interrupt::race`] on.
pub(crate) struct Interrupt {
    /// One future for the whole command, so that no signal between two waits is lost.
    signal: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// A person pressed Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted;

impl Interrupt {
    pub(crate) fn new() -> Self {
        let signal = async {
            if tokio::signal::ctrl_c().await.is_err() {
                // Without a handler the signal ends the process, as for any program.
                std::future::pending::<()>().await;
            }
        };
        Self {
            signal: Some(Box::pin(signal)),
        }
    }

    /// Waits for something, unless Ctrl-C comes first. Once it came, there is no more waiting.
    pub(crate) async fn race<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        let Some(signal) = &mut self.signal else {
            return Err(Interrupted);
        };
        tokio::select! {
            biased;
            () = signal => {}
            done = work => return Ok(done),
        }
        self.signal = None;
        Err(Interrupted)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt")
            .field("came", &self.signal.is_none())
            .finish()
    }
}

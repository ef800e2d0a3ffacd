//! Waiting for what may fail for a while.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long anything may take that is waited for: sessions are short, and on a machine that is busy
/// with other things brokers lose them again and again.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);
/// How often it is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Tries until it works: on a busy machine any answer may come too late.
///
/// # Panics
/// If it does not work in time.
pub(crate) async fn eventually<T, E: Display>(
    what: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) if Instant::now() > deadline => {
                panic!("{what} in vain for {LIMIT:?}: {error}")
            }
            Err(_) => sleep(LOOK).await,
        }
    }
}

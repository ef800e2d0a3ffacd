use std::thread;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(50);

/// Polls until `done` says so; true if it did before the deadline.
pub fn wait_until(deadline: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if done() {
            return true;
        }
        if start.elapsed() > deadline {
            return false;
        }
        thread::sleep(INTERVAL);
    }
}

use std::panic;
use std::sync::{Mutex, PoisonError};

/// What the first panic since the last look said, and where.
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Keeps what panics say, beside what is done with it anyway.
pub(crate) fn keep() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        SAID.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| info.to_string());
        before(info);
    }));
}

/// What the first panic since the last call said.
pub(crate) fn take() -> Option<String> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).take()
}

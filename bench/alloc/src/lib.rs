//! The system's allocator, counting what one piece of code asks of it.
//!
//! Counting is off but within [`measure`], so that it costs a timed loop one predictable branch an
//! allocation. The counters are the process's: measure on one thread while no other allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// What a piece of code allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// How many times memory was asked for; growing a block counts once more.
    pub count: usize,
    /// How many bytes were asked for in all; growing a block counts the growth.
    pub bytes: usize,
    /// The most bytes held at one time, without what was held before.
    pub peak: usize,
}

/// The allocator, for `#[global_allocator]`.
#[derive(Debug)]
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Runs `code` and says what it allocated.
pub fn measure<T>(code: impl FnOnce() -> T) -> (T, Allocated) {
    COUNT.store(0, Relaxed);
    BYTES.store(0, Relaxed);
    HELD.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
    let result = code();
    ON.store(false, Relaxed);
    let allocated = Allocated {
        count: COUNT.load(Relaxed),
        bytes: BYTES.load(Relaxed),
        peak: PEAK.load(Relaxed).unsigned_abs(),
    };
    (result, allocated)
}

fn more(bytes: usize) {
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
    let held = HELD.fetch_add(bytes as isize, Relaxed) + bytes as isize;
    PEAK.fetch_max(held, Relaxed);
}

fn less(bytes: usize) {
    HELD.fetch_sub(bytes as isize, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            more(layout.size());
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            more(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            less(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            if new_size > layout.size() {
                more(new_size - layout.size());
            } else {
                less(layout.size() - new_size);
            }
        }
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

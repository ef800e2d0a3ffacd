//! Captures of real clients, read by `klamm explain`. Everything is in `tests/captures`.

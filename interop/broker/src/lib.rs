//! Only tests: `tests/broker` has real clients on klamm's brokers.

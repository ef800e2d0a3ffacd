//! klamm's codec against Apache Kafka's. The suite is `tests/codec`; this crate has nothing else.

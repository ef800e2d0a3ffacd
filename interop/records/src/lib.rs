//! Records sent and read on a real Apache Kafka cluster. The suite is `tests/records.rs`; this crate
//! has nothing else.

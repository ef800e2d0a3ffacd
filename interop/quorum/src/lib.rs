//! klamm's controller with real Apache Kafka brokers. The suite is `tests/quorum`; this crate has
//! nothing else.

//! klamm's decisions against Apache Kafka's. The suite is `tests/controller`; this crate has
//! nothing else.

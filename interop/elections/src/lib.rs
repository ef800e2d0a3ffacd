//! Elections on real Apache Kafka clusters. The suite is `tests/elections`; this crate has nothing
//! else.

//! Files that klamm and a real Apache Kafka node take over from each other. The suite is
//! `tests/storage`.

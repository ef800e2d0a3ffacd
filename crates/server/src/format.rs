//! The directories that a node starts on, as the storage tool of Apache Kafka makes them.

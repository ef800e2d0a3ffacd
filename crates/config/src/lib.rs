//! Kafka's properties files and key tables.

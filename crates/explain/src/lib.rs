//! Every Kafka message, byte by byte.

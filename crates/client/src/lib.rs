//! A Kafka client: admin calls, metadata, retries and deadlines.

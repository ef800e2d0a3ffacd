//! Framing, connections and deadlines for Kafka's protocol.

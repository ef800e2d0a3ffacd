//! The APIs that a broker serves by itself, one file a subject. What it hands over to the controller
//! is in [`super::forward`].

mod api_versions;
mod cluster_view;
mod configs;
mod describe_cluster;
mod describe_topic_partitions;
mod metadata;
mod records;

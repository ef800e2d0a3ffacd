//! The APIs of the controller's listener: one file an API, and one table of all.

mod allocate_producer_ids;
mod alter_client_quotas;
mod alter_configs;
mod alter_partition;
mod alter_partition_reassignments;
mod api_versions;
mod assign_replicas_to_dirs;
mod begin_quorum_epoch;
mod broker_heartbeat;
mod broker_registration;
mod controller_registration;
mod create_acls;
mod create_partitions;
mod create_topics;
mod delete_acls;
mod delete_topics;
mod describe_acls;
mod describe_cluster;
mod describe_configs;
mod describe_quorum;
mod elect_leaders;
mod end_quorum_epoch;
mod envelope;
mod fetch;
mod fetch_snapshot;
mod incremental_alter_configs;
mod list_partition_reassignments;
mod sasl_authenticate;
mod sasl_handshake;
mod serve;
mod table;
mod unregister_broker;
mod unregister_controller;
mod update_features;
mod vote;

pub(crate) use serve::{Caller, Unserved, serve};

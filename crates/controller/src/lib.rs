//! The decisions of a Kafka controller: who leads, who is in sync, what is where.
//!
//! This crate is pure: it opens no socket or file, reads no clock and draws no random number. It reads
//! the cluster's [`Image`](klamm_metadata::Image) and answers with records; it never changes the image.
//!
//! - [`Candidates::elect`] is the one function that picks a leader.
//! - [`WantedChange`] turns a wanted change of a partition into a record, with the election, the
//!   eligible leader replicas, the epochs and the end of a reassignment that go with it.
//! - A handler reads a [`View`] and gives a [`Decision`]: records, an answer, and the reason of every
//!   change of a leader. The caller appends the records, applies them to the image at once, so that
//!   the next decision sees them, and answers when they are committed.

mod allocate_producer_ids;
mod alter_client_quotas;
mod alter_configs;
mod alter_partition;
mod alter_user_scram_credentials;
mod assign_dirs;
mod assignment;
mod change;
mod config_source;
mod configs;
mod controller_registration;
mod create_acls;
mod create_partitions;
mod create_topics;
mod decision;
mod delegation_tokens;
mod delete_acls;
mod delete_topics;
mod describe_acls;
mod describe_client_quotas;
mod describe_configs;
mod describe_user_scram_credentials;
mod elect_leaders;
mod elections;
mod failover;
mod heartbeat;
mod incremental_alter_configs;
mod lost;
mod reassignments;
mod refusal;
mod registration;
mod rounds;
mod sessions;
#[cfg(test)]
mod testing;
mod time;
mod unregister_controller;
mod update_features;
mod view;

pub use allocate_producer_ids::allocate_producer_ids;
pub use alter_client_quotas::alter_client_quotas;
pub use alter_configs::AlterConfigs;
pub use alter_partition::AlterPartition;
pub use alter_user_scram_credentials::alter_user_scram_credentials;
pub use assign_dirs::assign_replicas_to_dirs;
pub use change::{Change, ChangeRules, WantedChange};
pub use controller_registration::register_controller;
pub use create_acls::CreateAcls;
pub use create_partitions::CreatePartitions;
pub use create_topics::{CreateTopics, is_topic_name};
pub use decision::{Decision, LeaderChange, Why};
pub use delegation_tokens::{
    CreateDelegationToken, DelegationTokenConfig, DescribeDelegationToken, TokenRequester,
    expire_delegation_token, remove_expired_tokens, renew_delegation_token,
};
pub use delete_acls::DeleteAcls;
pub use delete_topics::DeleteTopics;
pub use describe_acls::DescribeAcls;
pub use describe_client_quotas::describe_client_quotas;
pub use describe_configs::DescribeConfigs;
pub use describe_user_scram_credentials::describe_user_scram_credentials;
pub use elect_leaders::ElectLeaders;
pub use elections::{Candidates, Election, ElectionKind, How};
pub use failover::{elect_leaderless, fence, unregister};
pub use heartbeat::{HeartbeatReply, heartbeat};
pub use incremental_alter_configs::IncrementalAlterConfigs;
pub use lost::Lost;
pub use reassignments::{alter_partition_reassignments, list_partition_reassignments};
pub use registration::{EarlierRun, Registered, Registration, RegistrationError};
pub use rounds::{MAX_ELECTIONS_PER_ROUND, elect_uncleanly, rebalance};
pub use sessions::Sessions;
pub use time::Now;
pub use unregister_controller::unregister_controller;
pub use update_features::UpdateFeatures;
pub use view::{ControllerConfig, ElectionConfig, View};

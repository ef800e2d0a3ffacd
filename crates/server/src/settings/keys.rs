use klamm_config::{Key, KeyTable, Kind};

use super::other_keys::{SILENT, UNUSED};

/// The keys of `server.properties` that klamm reads. Names, defaults and bounds are those of Apache
/// Kafka 4.4.0, where it has bounds that mean something.
pub(super) static KEYS: KeyTable = KeyTable {
    keys: &[
        without_default(
            "node.id",
            int(0),
            "The node's id, unlike that of any other node.",
        ),
        without_default("broker.id", int(0), "Older name of node.id."),
        without_default(
            "process.roles",
            Kind::List,
            "What the node is: controller, broker, or both.",
        ),
        // Listeners.
        key(
            "listeners",
            Kind::List,
            "PLAINTEXT://:9092",
            "Where the node listens, as NAME://host:port; no host is every address.",
        ),
        without_default(
            "advertised.listeners",
            Kind::List,
            "Where others reach the listeners, if that is elsewhere.",
        ),
        without_default(
            "controller.listener.names",
            Kind::List,
            "The listeners of controllers; controllers reach each other by the first.",
        ),
        key(
            "listener.security.protocol.map",
            Kind::List,
            "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "How each listener is secured, as NAME:PROTOCOL.",
        ),
        key(
            "connections.max.idle.ms",
            long(-1),
            "600000",
            "When idle connections are closed.",
        ),
        key(
            "max.connections",
            int(0),
            "2147483647",
            "The most connections of a listener.",
        ),
        key(
            "max.connections.per.ip",
            int(0),
            "2147483647",
            "The most from one address.",
        ),
        key(
            "max.connections.per.ip.overrides",
            Kind::List,
            "",
            "The most from these, host:n.",
        ),
        key(
            "socket.request.max.bytes",
            int(1),
            "104857600",
            "The largest request.",
        ),
        key(
            "socket.listen.backlog.size",
            int(1),
            "50",
            "Connections that wait to be accepted.",
        ),
        key(
            "klamm.http.listener",
            Kind::String,
            "",
            "Where health and metrics are told by HTTP, as host:port; empty is nowhere.",
        ),
        // Directories.
        key(
            "log.dir",
            Kind::List,
            "/tmp/kafka-logs",
            "Directories, where log.dirs names none.",
        ),
        without_default("log.dirs", Kind::List, "The directories that logs are in."),
        without_default(
            "metadata.log.dir",
            Kind::String,
            "The directory of the metadata log.",
        ),
        // The quorum.
        key(
            "controller.quorum.voters",
            Kind::List,
            "",
            "Static voters, as id@host:port.",
        ),
        key(
            "controller.quorum.bootstrap.servers",
            Kind::List,
            "",
            "Whom to ask for the leader.",
        ),
        key(
            "controller.quorum.auto.join.enable",
            Kind::Bool,
            "false",
            "Whether it adds itself.",
        ),
        key(
            "controller.quorum.election.timeout.ms",
            millis(0),
            "1000",
            "The wait for votes.",
        ),
        key(
            "controller.quorum.election.backoff.max.ms",
            millis(0),
            "1000",
            "After a lost one.",
        ),
        key(
            "controller.quorum.fetch.timeout.ms",
            millis(0),
            "2000",
            "The wait for a leader.",
        ),
        key(
            "controller.quorum.request.timeout.ms",
            millis(0),
            "2000",
            "The wait for an answer.",
        ),
        key(
            "controller.quorum.retry.backoff.ms",
            millis(0),
            "20",
            "The wait before a retry.",
        ),
        key(
            "controller.quorum.fetch.max.bytes",
            int(1),
            "1048576",
            "The most in a Fetch.",
        ),
        key(
            "controller.quorum.fetch.snapshot.max.bytes",
            int(1),
            "1048576",
            "The most of a snapshot in an answer.",
        ),
        // The metadata log.
        key(
            "metadata.log.segment.bytes",
            int(8 << 20),
            "1073741824",
            "The longest segment.",
        ),
        without_default(
            "internal.metadata.log.segment.bytes",
            int(1024),
            "The same, for tests.",
        ),
        key(
            "metadata.log.segment.ms",
            long(1),
            "604800000",
            "When a segment ends.",
        ),
        key(
            "metadata.max.retention.bytes",
            long(-1),
            "104857600",
            "What is kept of log and snapshots.",
        ),
        key(
            "metadata.max.retention.ms",
            long(-1),
            "604800000",
            "How long it is kept.",
        ),
        key(
            "metadata.max.idle.interval.ms",
            millis(0),
            "500",
            "How often NoOpRecords are written.",
        ),
        key(
            "metadata.log.max.record.bytes.between.snapshots",
            long(1),
            "20971520",
            "So many bytes of records make a new snapshot.",
        ),
        key(
            "metadata.log.max.snapshot.interval.ms",
            long(0),
            "3600000",
            "A change so old makes a new snapshot; 0 is never.",
        ),
        key(
            "internal.metadata.max.batch.size.in.bytes",
            int(1),
            "8388608",
            "The largest batch.",
        ),
        // Brokers.
        key(
            "broker.session.timeout.ms",
            millis(1),
            "9000",
            "A broker unheard of is fenced.",
        ),
        key(
            "broker.heartbeat.interval.ms",
            millis(1),
            "2000",
            "How often brokers are heard of.",
        ),
        key(
            "klamm.broker.connection.loss.grace.ms",
            millis(0),
            "300",
            "How long a broker without a connection stays unfenced; 0 turns it off.",
        ),
        // Elections and topics.
        key(
            "auto.leader.rebalance.enable",
            Kind::Bool,
            "true",
            "Preferred leaders come back.",
        ),
        key(
            "leader.imbalance.check.interval.seconds",
            long(1),
            "300",
            "How often.",
        ),
        key(
            "unclean.leader.election.enable",
            Kind::Bool,
            "false",
            "Leaders that lose records.",
        ),
        key(
            "unclean.leader.election.interval.ms",
            long(1),
            "300000",
            "How often.",
        ),
        key(
            "min.insync.replicas",
            int(1),
            "1",
            "Replicas in sync to be written to.",
        ),
        key(
            "num.partitions",
            int(1),
            "1",
            "Partitions of a topic that does not say.",
        ),
        key(
            "default.replication.factor",
            Kind::Int {
                min: 1,
                max: i16::MAX as i32,
            },
            "1",
            "Replicas of a topic that does not say.",
        ),
        key(
            "delete.topic.enable",
            Kind::Bool,
            "true",
            "Whether topics can be deleted.",
        ),
        // Who may do what.
        key(
            "authorizer.class.name",
            Kind::String,
            "",
            "What allows and denies; empty is nothing.",
        ),
        key(
            "super.users",
            Kind::String,
            "",
            "Principals that may do everything.",
        ),
        key(
            "allow.everyone.if.no.acl.found",
            Kind::Bool,
            "false",
            "What no ACL speaks of.",
        ),
        without_default(
            "delegation.token.secret.key",
            Kind::Password,
            "What tokens are signed with.",
        ),
        key(
            "delegation.token.max.lifetime.ms",
            long(1),
            "604800000",
            "The longest life.",
        ),
        key(
            "delegation.token.expiry.time.ms",
            long(1),
            "86400000",
            "Life between renewals.",
        ),
        key(
            "delegation.token.expiry.check.interval.ms",
            long(1),
            "3600000",
            "How often.",
        ),
        // What is refused where it asks for what klamm lacks.
        key(
            "create.topic.policy.class.name",
            Kind::String,
            "",
            "What refuses topics.",
        ),
        key(
            "alter.config.policy.class.name",
            Kind::String,
            "",
            "What refuses configs.",
        ),
        key(
            "config.providers",
            Kind::List,
            "",
            "Where parts of values come from.",
        ),
        key(
            "unstable.feature.versions.enable",
            Kind::Bool,
            "false",
            "Levels in the making.",
        ),
    ],
    unused: UNUSED,
    silent: SILENT,
};

/// The authorizer whose rules klamm has.
pub(super) const STANDARD_AUTHORIZER: &str =
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer";

pub(super) const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> Key {
    let default = Some(default);
    Key {
        name,
        kind,
        default,
        doc,
    }
}

pub(super) const fn without_default(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        default: None,
        doc,
    }
}

pub(super) const fn int(min: i32) -> Kind {
    let max = i32::MAX;
    Kind::Int { min, max }
}

pub(super) const fn long(min: i64) -> Kind {
    let max = i64::MAX;
    Kind::Long { min, max }
}

pub(super) const fn millis(min: u32) -> Kind {
    let max = i32::MAX as u32;
    Kind::Millis { min, max }
}

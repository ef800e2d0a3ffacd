//! Every metric that there is.

use super::text::{Head, Kind, Samples};
use super::{BrokerReading, BrokerState, Scrape};

/// A metric.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) head: Head,
    pub(super) write: fn(&Scrape, &mut Samples<'_>),
}

/// The metrics in the order in which they are told.
pub(super) const METRICS: &[Metric] = &[
    gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "1 while this node is the active controller, or else 0.",
        |scrape, out| out.value(i32::from(scrape.controller.is_active)),
    ),
    gauge(
        "kafka_controller_kafkacontroller_activebrokercount",
        "Brokers that are registered and not fenced.",
        |scrape, out| {
            out.value(brokers(scrape, |broker| {
                broker.state != BrokerState::Fenced
            }))
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_fencedbrokercount",
        "Brokers that are registered and fenced.",
        |scrape, out| {
            out.value(brokers(scrape, |broker| {
                broker.state == BrokerState::Fenced
            }))
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_controlledshutdownbrokercount",
        "Brokers that hand over their partitions before they stop, or have.",
        |scrape, out| out.value(brokers(scrape, |broker| broker.in_controlled_shutdown)),
    ),
    labelled(
        "kafka_controller_kafkacontroller_brokerregistrationstate",
        Kind::Gauge,
        "broker",
        "10 fenced, 20 in controlled shutdown, 30 active.",
        |scrape, out| {
            for broker in &scrape.controller.brokers {
                out.labelled(broker.id.0, broker.state as i32);
            }
        },
    ),
    labelled(
        "kafka_controller_kafkacontroller_timesincelastheartbeatreceivedms",
        Kind::Gauge,
        "broker",
        "How long a broker was not heard of. Only the active controller knows.",
        |scrape, out| {
            for broker in &scrape.controller.brokers {
                if let Some(unheard) = broker.unheard_ms {
                    out.labelled(broker.id.0, unheard);
                }
            }
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_globaltopiccount",
        "Topics.",
        |scrape, out| out.value(scrape.controller.topics),
    ),
    gauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "Partitions of all topics.",
        |scrape, out| out.value(scrape.controller.partitions),
    ),
    gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "Partitions without a leader.",
        |scrape, out| out.value(scrape.controller.leaderless),
    ),
    gauge(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
        "Partitions that are led by another than their preferred leader, or by nobody.",
        |scrape, out| out.value(scrape.controller.off_preferred),
    ),
    gauge(
        "kafka_controller_kafkacontroller_metadataerrorcount",
        "Decisions that did not fit the metadata, since the start: each is a bug.",
        |scrape, out| out.value(scrape.controller.metadata_errors),
    ),
    gauge(
        "kafka_controller_kafkacontroller_ignoredstaticvoters",
        "1 where controller.quorum.voters is set and the log has the voters, or else 0.",
        |scrape, out| out.value(i32::from(scrape.controller.ignores_static_voters)),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordoffset",
        "The offset of the last record that decisions go by, committed or not.",
        |scrape, out| out.value(scrape.controller.applied_end - 1),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastcommittedrecordoffset",
        "The offset of the last committed record.",
        |scrape, out| out.value(scrape.controller.high_watermark.unwrap_or(0) - 1),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordtimestamp",
        "When this node last appended records, in milliseconds since 1970; 0 before the first.",
        |scrape, out| out.value(scrape.controller.last_append_ms),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordlagms",
        "How long ago that was.",
        |scrape, out| out.value(scrape.controller.now_ms - scrape.controller.last_append_ms),
    ),
    gauge(
        "kafka_controller_kafkacontroller_newactivecontrollerscount",
        "How often this node saw a controller become active.",
        |scrape, out| out.value(scrape.controller.new_active_controllers),
    ),
    gauge(
        "kafka_controller_kafkacontroller_eventqueueoperationsstartedcount",
        "How much work the controller's task has begun: requests, and questions of this endpoint.",
        |scrape, out| out.value(scrape.controller.queue_time.count),
    ),
    labelled(
        "kafka_controller_controllereventmanager_eventqueuetimems",
        Kind::Summary,
        "quantile",
        "How long work waited for the controller's task, in the last 2.5 to 5 minutes.",
        |scrape, out| out.summary(&scrape.controller.queue_time),
    ),
    labelled(
        "kafka_controller_controllereventmanager_eventqueueprocessingtimems",
        Kind::Summary,
        "quantile",
        "How long the controller's task worked on it, in the last 2.5 to 5 minutes.",
        |scrape, out| out.summary(&scrape.controller.processing_time),
    ),
    gauge(
        "kafka_controller_controllereventmanager_avgidleratio",
        "The part of the last 2.5 to 5 minutes in which the controller's task had nothing to do.",
        |scrape, out| out.value(scrape.controller.idle_ratio),
    ),
    counter(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "Elections by this node that may have lost records.",
        |scrape, out| out.value(scrape.controller.unclean_elections),
    ),
    counter(
        "kafka_controller_controllerstats_electionfromeligibleleaderreplicas_total",
        "Elections by this node of eligible leader replicas.",
        |scrape, out| out.value(scrape.controller.eligible_elections),
    ),
    gauge(
        "kafka_server_metadataloader_currentmetadataversion",
        "The level of metadata.version; 0 before there is one.",
        |scrape, out| out.value(scrape.controller.metadata_version),
    ),
    gauge(
        "kafka_server_metadataloader_currentcontrollerid",
        "The active controller; -1 where it is not known.",
        |scrape, out| out.value(scrape.controller.leader.map_or(-1, |id| id.0)),
    ),
    labelled(
        "kafka_server_metadataloader_finalizedlevel",
        Kind::Gauge,
        "featureName",
        "The level of each feature.",
        |scrape, out| {
            for (name, level) in &scrape.controller.features {
                out.labelled(feature_name(name), level);
            }
        },
    ),
    gauge(
        "kafka_server_snapshotemitter_latestsnapshotgeneratedbytes",
        "The length of the last snapshot that this run of the node made; 0 before the first.",
        |scrape, out| out.value(scrape.controller.snapshot_bytes),
    ),
    gauge(
        "kafka_server_snapshotemitter_latestsnapshotgeneratedagems",
        "How long ago that was, or the node started.",
        |scrape, out| out.value(scrape.controller.snapshot_age_ms),
    ),
    labelled(
        "kafka_server_raftmetrics_current_state",
        Kind::Gauge,
        "current_state",
        "1 for what this node is in the quorum: leader, follower, observer, candidate, \
         prospective, prospective-voted, unattached or unattached-voted.",
        |scrape, out| out.labelled(scrape.controller.quorum_state, 1),
    ),
    gauge(
        "kafka_server_raftmetrics_current_leader",
        "The leader of the quorum; -1 where it is not known.",
        |scrape, out| out.value(scrape.controller.leader.map_or(-1, |id| id.0)),
    ),
    gauge(
        "kafka_server_raftmetrics_current_epoch",
        "The epoch of the quorum.",
        |scrape, out| out.value(scrape.controller.epoch),
    ),
    gauge(
        "kafka_server_raftmetrics_high_watermark",
        "The end of what is committed; -1 where it is not known.",
        |scrape, out| out.value(scrape.controller.high_watermark.unwrap_or(-1)),
    ),
    gauge(
        "kafka_server_raftmetrics_log_end_offset",
        "The end of the metadata log.",
        |scrape, out| out.value(scrape.controller.log_end),
    ),
    gauge(
        "kafka_server_raftmetrics_log_end_epoch",
        "The epoch of its last record.",
        |scrape, out| out.value(scrape.controller.log_end_epoch),
    ),
    gauge(
        "kafka_server_raftmetrics_number_of_voters",
        "Voters of the quorum.",
        |scrape, out| out.value(scrape.controller.voters),
    ),
    gauge(
        "kafka_server_raftmetrics_number_of_observers",
        "Brokers and others that follow the metadata log. Only the leader knows.",
        |scrape, out| out.value(scrape.controller.observers),
    ),
    gauge(
        "kafka_server_raftmetrics_commit_latency_avg",
        "How many milliseconds records took to be committed, in the last 2.5 to 5 minutes.",
        |scrape, out| out.value(scrape.controller.commit_latency.mean_ms),
    ),
    gauge(
        "kafka_server_raftmetrics_commit_latency_max",
        "The most that they took.",
        |scrape, out| out.value(scrape.controller.commit_latency.max_ms),
    ),
    labelled(
        "klamm_leader_changes_total",
        Kind::Counter,
        "why",
        "Changes of leaders by this node, by the reasons of the log.",
        |scrape, out| {
            for (why, count) in &scrape.controller.leader_changes {
                out.labelled(why, count);
            }
        },
    ),
    gauge(
        "klamm_reassigning_partitions",
        "Partitions that are being reassigned.",
        |scrape, out| out.value(scrape.controller.reassigning),
    ),
    gauge(
        "klamm_queued_work",
        "How much work waits for the controller's task at the moment; 1,000 at most.",
        |scrape, out| out.value(scrape.queued),
    ),
    gauge(
        "klamm_waiting_answers",
        "Answers that wait until what they depend on is committed.",
        |scrape, out| out.value(scrape.controller.waiting_answers),
    ),
    labelled(
        "klamm_connections",
        Kind::Gauge,
        "listener",
        "Connections that are open.",
        |scrape, out| {
            for (listener, tally) in &scrape.listeners {
                out.labelled(listener, tally.open);
            }
        },
    ),
    labelled(
        "klamm_connections_accepted_total",
        Kind::Counter,
        "listener",
        "Connections that were accepted.",
        |scrape, out| {
            for (listener, tally) in &scrape.listeners {
                out.labelled(listener, tally.accepted);
            }
        },
    ),
    labelled(
        "klamm_connections_refused_total",
        Kind::Counter,
        "listener",
        "Connections that were closed at once, since there were too many.",
        |scrape, out| {
            for (listener, tally) in &scrape.listeners {
                out.labelled(listener, tally.refused);
            }
        },
    ),
    labelled(
        "klamm_build_info",
        Kind::Gauge,
        "version",
        "1, with the version of klamm.",
        |_, out| out.labelled(env!("CARGO_PKG_VERSION"), 1),
    ),
    gauge(
        "process_start_time_seconds",
        "When the node started, in seconds since 1970.",
        |scrape, out| out.value(scrape.started_ms as f64 / 1e3),
    ),
];

const fn gauge(
    name: &'static str,
    help: &'static str,
    write: fn(&Scrape, &mut Samples<'_>),
) -> Metric {
    labelled(name, Kind::Gauge, "", help, write)
}

const fn counter(
    name: &'static str,
    help: &'static str,
    write: fn(&Scrape, &mut Samples<'_>),
) -> Metric {
    labelled(name, Kind::Counter, "", help, write)
}

const fn labelled(
    name: &'static str,
    kind: Kind,
    label: &'static str,
    help: &'static str,
    write: fn(&Scrape, &mut Samples<'_>),
) -> Metric {
    let head = Head {
        name,
        kind,
        label,
        help,
    };
    Metric { head, write }
}

fn brokers(scrape: &Scrape, is_meant: fn(&BrokerReading) -> bool) -> usize {
    let brokers = scrape.controller.brokers.iter();
    brokers.filter(|broker| is_meant(broker)).count()
}

/// A feature's name as Apache Kafka's metric has it: `metadata.version` is `metadataVersion`.
fn feature_name(name: &str) -> String {
    let mut words = name.split('.');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

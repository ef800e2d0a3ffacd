//! The topic of a drill on a cluster that is there for more.

use std::time::Duration;

use klamm_client::{
    Admin, ClientError, DeleteTopicsOptions, ErrorCode, ItemError, NewTopic, SmallString,
};

use crate::connect::client_problem;
use crate::errors::Problem;
use crate::table::plural;

/// As many replicas as Kafka's own topics have, where there are brokers for them.
const MOST_REPLICAS: usize = 3;
/// Without a second one nobody takes over.
const LEAST_REPLICAS: usize = 2;
/// How long its deletion may take.
const DELETION: Duration = Duration::from_secs(15);

/// A topic whose records may be read back while one replica is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrillTopic {
    pub(super) name: SmallString,
    partitions: u16,
    replicas: i16,
}

impl DrillTopic {
    /// The topic for so many brokers; without a name it has one that nobody else uses.
    pub(super) fn plan(
        name: Option<&str>,
        partitions: u16,
        brokers: usize,
    ) -> Result<Self, Problem> {
        if brokers < LEAST_REPLICAS {
            let there = plural(brokers, "broker");
            return Err(Problem::failure("the cluster has too few brokers")
                .because(format!(
                    "{there} in service; for a failover there have to be two"
                ))
                .next("start another one, or rehearse on a cluster in this process: klamm drill"));
        }
        let name = match name {
            Some(name) => name.into(),
            None => {
                let id = klamm_server::random_uuid().map_err(|error| {
                    Problem::failure("the system gives no random numbers")
                        .because(error.to_string())
                })?;
                format!("klamm-drill-{id}").into()
            }
        };
        Ok(Self {
            name,
            partitions,
            replicas: brokers.min(MOST_REPLICAS) as i16,
        })
    }

    /// How many replicas have to be in sync: one may be away.
    fn min_in_sync(&self) -> i16 {
        self.replicas - 1
    }

    /// What it is, in words.
    pub(super) fn shown(&self) -> String {
        format!(
            "{}, {} replicas each, of which {} {} to be in sync",
            plural(self.partitions.into(), "partition"),
            self.replicas,
            self.min_in_sync(),
            if self.min_in_sync() == 1 {
                "has"
            } else {
                "have"
            }
        )
    }

    pub(super) async fn make(&self, admin: &Admin) -> Result<(), Problem> {
        let mut topic = NewTopic::new(self.name.clone(), self.partitions.into(), self.replicas);
        let in_sync = self.min_in_sync().to_string();
        topic
            .configs
            .extend([("min.insync.replicas".into(), in_sync.into())]);
        let created = admin.create_topics(&[topic], Default::default()).await;
        let created = created.map_err(|error| client_problem(&self.not_made(), &error))?;
        for (_, result) in created {
            result.map_err(|error| self.refused(&error))?;
        }
        Ok(())
    }

    fn not_made(&self) -> String {
        format!("the topic {} was not made", self.name)
    }

    fn refused(&self, error: &ItemError) -> Problem {
        let problem = Problem::failure(self.not_made()).because(error.to_string());
        match error.code {
            ErrorCode::TOPIC_ALREADY_EXISTS => {
                problem.next("give --topic a name that is free, or leave it out for a new one")
            }
            ErrorCode::INVALID_TOPIC_EXCEPTION => {
                problem.next("give --topic another name, or leave it out for a new one")
            }
            ErrorCode::INVALID_REPLICATION_FACTOR => {
                problem.next("see with 'klamm leaders' which brokers are in service")
            }
            ErrorCode::TOPIC_AUTHORIZATION_FAILED | ErrorCode::CLUSTER_AUTHORIZATION_FAILED => {
                problem.next("the client has to be allowed to create, write, read and delete it")
            }
            _ => problem,
        }
    }

    /// Deletes it, or says why it is still there.
    pub(super) async fn delete(&self, admin: &Admin) -> Result<(), String> {
        let options = DeleteTopicsOptions {
            timeout: Some(DELETION),
        };
        let names = [self.name.clone()];
        let deleted = admin.delete_topics(&names, options).await;
        let deleted = deleted.map_err(|error: ClientError| error.to_string())?;
        let results = deleted.into_values();
        let refused = results
            .filter_map(Result::err)
            .map(|error| error.to_string());
        refused.map(Err).next().unwrap_or(Ok(()))
    }

    /// That it is still there, and what to do about it.
    pub(super) fn left(&self, why: &str) -> String {
        let name = &self.name;
        format!("the topic {name} is left: {why}; delete it with kafka-topics.sh --delete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_replica_may_be_away() {
        let plan = |brokers| DrillTopic::plan(Some("rehearsal"), 12, brokers);
        let shown = |brokers| plan(brokers).expect("enough brokers").shown();
        assert_eq!(
            shown(5),
            "12 partitions, 3 replicas each, of which 2 have to be in sync"
        );
        assert_eq!(
            shown(2),
            "12 partitions, 2 replicas each, of which 1 has to be in sync"
        );
        for brokers in [0, 1] {
            let problem = plan(brokers).expect_err("too few").to_string();
            assert!(problem.contains("in service"), "{problem}");
        }
    }

    #[test]
    fn names_are_new() {
        let name = || DrillTopic::plan(None, 1, 3).expect("a topic").name;
        assert!(name().starts_with("klamm-drill-"));
        assert_ne!(name(), name());
    }
}

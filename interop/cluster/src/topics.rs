use klamm_java_peer::{Value, json};

use crate::Cluster;

/// A partition as Apache Kafka's own Admin client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The topic's name.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// The leader, or -1.
    pub leader: i32,
    /// The assignment; the first is the preferred leader.
    pub replicas: Vec<i32>,
    /// The in-sync replicas.
    pub isr: Vec<i32>,
    /// The eligible leader replicas.
    pub elr: Vec<i32>,
}

impl Partition {
    /// Whether the preferred leader leads.
    pub fn is_preferred(&self) -> bool {
        self.replicas.first() == Some(&self.leader)
    }
}

impl Cluster {
    /// Creates a topic with the replicas of each partition, preferred leader first, and waits until
    /// all of them have leaders and full ISRs.
    ///
    /// # Panics
    /// If Apache Kafka refuses it, or takes too long.
    pub fn create_topic(&self, topic: &str, replicas: &[&[i32]], configs: &[(&str, &str)]) {
        let configs: Value = configs.iter().copied().collect();
        self.admin(
            "create_topic",
            json!({ "topic": topic, "replicas": replicas, "configs": configs }),
        );
        self.wait(&format!("{topic} to have leaders and full ISRs"), || {
            let partitions = self.partitions_now(topic);
            partitions.len() == replicas.len()
                && partitions
                    .iter()
                    .all(|p| p.is_preferred() && p.isr.len() == p.replicas.len())
        });
    }

    /// The partitions of a topic. A broker that has just started may not know it yet, so this waits
    /// until the one that is asked does.
    ///
    /// # Panics
    /// If none does in time.
    pub fn partitions(&self, topic: &str) -> Vec<Partition> {
        let mut known = Vec::new();
        self.wait(&format!("{topic} to be known"), || {
            known = self.partitions_now(topic);
            !known.is_empty()
        });
        known
    }

    /// The partitions of a topic; none where the broker that is asked does not know it.
    pub fn partitions_now(&self, topic: &str) -> Vec<Partition> {
        match self.try_admin("topics", json!({ "topics": [topic] })) {
            Ok(rows) => rows
                .as_array()
                .into_iter()
                .flatten()
                .map(partition)
                .collect(),
            Err(_) => Vec::new(),
        }
    }

    /// The partitions of every topic.
    ///
    /// # Panics
    /// If no broker answers.
    pub fn all_partitions(&self) -> Vec<Partition> {
        let rows = self.admin("topics", json!({}));
        rows.as_array()
            .into_iter()
            .flatten()
            .map(partition)
            .collect()
    }

    /// Waits until a topic is known and its partitions satisfy a condition.
    ///
    /// # Panics
    /// If they do not in time.
    pub fn wait_for_topic(&self, topic: &str, what: &str, ready: impl Fn(&[Partition]) -> bool) {
        self.wait(&format!("{topic}: {what}"), || {
            let partitions = self.partitions_now(topic);
            !partitions.is_empty() && ready(&partitions)
        });
    }
}

fn partition(row: &Value) -> Partition {
    let number = |value: &Value| {
        value
            .as_i64()
            .and_then(|n| i32::try_from(n).ok())
            .unwrap_or(-1)
    };
    let ids = |name: &str| {
        row[name]
            .as_array()
            .into_iter()
            .flatten()
            .map(number)
            .collect()
    };
    Partition {
        topic: row["topic"].as_str().unwrap_or_default().to_owned(),
        partition: number(&row["partition"]),
        leader: number(&row["leader"]),
        replicas: ids("replicas"),
        isr: ids("isr"),
        elr: ids("elr"),
    }
}

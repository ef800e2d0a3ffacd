//! Brokers register with the controller and follow the quorum.

use crate::klamm::klamm;
use crate::{CONTROLLER, Context};

/// Apache Kafka's client and `klamm leaders` see three brokers.
pub(crate) fn in_service(context: &mut Context) {
    let cluster = context.whole();
    let said = klamm(&["leaders", "--bootstrap-server", &cluster.bootstrap()]);
    for id in [1, 2, 3] {
        assert!(said.contains(&cluster.broker(id)), "{said}");
    }
}

/// Apache's tool sees one voter, which leads, and three observers without a lag.
pub(crate) fn quorum(context: &mut Context) {
    let cluster = context.whole();
    let describe = |what: &str| {
        let (status, said) = cluster.tool("MetadataQuorumCommand", &["describe", what]);
        assert_eq!(status, 0, "{said}");
        said
    };
    let status = describe("--status");
    assert!(
        said_of(&status, "ClusterId").contains(cluster.id()),
        "{status}"
    );
    assert_eq!(
        said_of(&status, "LeaderId"),
        CONTROLLER.to_string(),
        "{status}"
    );
    let voters = said_of(&status, "CurrentVoters");
    assert!(
        voters.contains(&format!("\"id\": {CONTROLLER}")),
        "{status}"
    );
    assert!(voters.contains("directoryId"), "{status}");
    let observers = said_of(&status, "CurrentObservers");
    for id in [1, 2, 3] {
        assert!(observers.contains(&format!("\"id\": {id}")), "{status}");
    }
    cluster.wait("observers without a lag", || {
        let rows = describe("--replication");
        let rows: Vec<Vec<&str>> = rows
            .lines()
            .skip(1)
            .map(|row| row.split_whitespace().collect())
            .filter(|row: &Vec<&str>| row.len() > 5)
            .collect();
        // NodeId, DirectoryId, LogEndOffset, Lag, ..., Status
        rows.len() == 4 && rows.iter().all(|row| row[3] == "0")
    });
}

/// The value after a name and a colon.
fn said_of(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':'));
    let (_, value) = value.unwrap_or_else(|| panic!("no {name} in {text}"));
    value.trim().to_owned()
}

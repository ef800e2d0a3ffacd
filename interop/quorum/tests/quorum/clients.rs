//! Clients that go on whatever happens.

use klamm_java_peer::json;

use crate::Context;

const PARTITIONS: usize = 3;

/// Transactions, and a group that reads what they commit, while a broker is killed and comes back. The
/// topics of their coordinators are placed by the controller, and move like any other.
pub(crate) fn transactions(context: &mut Context) {
    let name = context.topic("transactions");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]], &[]);
    let run = json!({ "topic": name, "partitions": PARTITIONS });
    cluster.admin("transactions_start", run);
    let wait_for_more = |when: &str| {
        let counts = || {
            let counts = cluster.admin("transactions_count", json!({}));
            ["committed", "aborted", "seen", "offsets_committed"]
                .map(|what| counts[what].as_u64().unwrap())
        };
        let before = counts();
        cluster.wait(&format!("transactions {when}"), || {
            let pairs = counts().into_iter().zip(before);
            pairs.into_iter().all(|(now, before)| now > before + 2)
        });
    };
    wait_for_more("with all brokers");
    for internal in ["__consumer_offsets", "__transaction_state"] {
        let partitions = cluster.partitions(internal);
        assert!(
            partitions.iter().all(|p| p.replicas.len() == 3),
            "{partitions:?}"
        );
        let led_by = |id| partitions.iter().any(|p| p.replicas[0] == id);
        assert!(
            [1, 2, 3].into_iter().all(led_by),
            "not spread: {partitions:?}"
        );
    }
    cluster.kill(2);
    cluster.wait_for_topic(&name, "other leaders", |partitions| {
        partitions.iter().all(|p| p.leader >= 0 && p.leader != 2)
    });
    wait_for_more("while a broker is dead");
    cluster.restart(2);
    context.in_sync(&[&name, "__consumer_offsets", "__transaction_state"]);
    wait_for_more("with all brokers again");
    let outcome = cluster.admin("transactions_stop", json!({}));
    for what in ["missing", "aborted_seen"] {
        assert_eq!(outcome[what], 0, "{outcome}");
    }
}

/// The client that has produced since the suite began has lost nothing.
pub(crate) fn all_along(context: &mut Context) {
    context.whole();
    context.assert_nothing_lost(crate::ALL_ALONG);
}

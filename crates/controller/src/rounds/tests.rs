use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::PartitionChangeRecord;

use super::*;
use crate::How;
use crate::testing::Fixture;

fn leader(fixture: &Fixture, index: i32) -> BrokerId {
    fixture.partition("t", index).leader()
}

#[test]
fn preferred_leaders_lead_again_round_by_round() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2], &[1, 2], &[1, 2], &[3, 2], &[2, 1]]);
    for index in 0..4 {
        fixture.change(
            "t",
            index,
            PartitionChangeRecord {
                leader: 2,
                ..Default::default()
            },
        );
    }
    fixture.fence(3, true);
    let first = rebalance(&fixture.view(), 2);
    assert!(first.response);
    assert!(
        first
            .leader_changes
            .iter()
            .all(|change| change.why == Why::Rebalance)
    );
    fixture.carry_out(&first);
    let second = rebalance(&fixture.view(), 2);
    assert!(!second.response);
    fixture.carry_out(&second);
    let leaders: Vec<_> = (0..5).map(|index| leader(&fixture, index).0).collect();
    // The preferred leader of one is fenced.
    assert_eq!(leaders, [1, 1, 1, 2, 2]);
    assert_eq!(rebalance(&fixture.view(), 2).records, []);
}

#[test]
fn unclean_elections_are_for_topics_that_allow_them() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2], &[1, 2], &[1, 2]]);
    for index in 0..2 {
        let change = PartitionChangeRecord {
            leader: -1,
            isr: Some(Default::default()),
            eligible_leader_replicas: Some([1][..].into()),
            ..Default::default()
        };
        fixture.change("t", index, change);
    }
    fixture.fence(1, true);
    assert_eq!(
        elect_uncleanly(&fixture.view(), MAX_ELECTIONS_PER_ROUND).records,
        []
    );
    fixture.config(2, "t", "unclean.leader.election.enable", "true");
    let decision = elect_uncleanly(&fixture.view(), 1);
    assert!(decision.response);
    assert_eq!(decision.leader_changes[0].how, How::Unclean);
    fixture.carry_out(&decision);
    let rest = elect_uncleanly(&fixture.view(), 1);
    assert!(!rest.response);
    fixture.carry_out(&rest);
    assert_eq!([leader(&fixture, 0), leader(&fixture, 1)], [BrokerId(2); 2]);
    // Who has a leader keeps it, also one that is fenced and not noticed yet.
    assert_eq!(leader(&fixture, 2), BrokerId(1));
}

use super::*;

fn told(id: u8, leaders: &[(i32, i32)]) -> TopicDescription {
    let partitions = (0..).zip(leaders).map(|(index, (leader, epoch))| {
        let Leadership { leader, epoch } = Leadership::told(*leader, *epoch);
        crate::PartitionDescription {
            index: PartitionIndex(index),
            leader,
            leader_epoch: epoch,
            replicas: Vec::new(),
            isr: Vec::new(),
            offline: Vec::new(),
            elr: None,
            last_known_elr: None,
            error: None,
        }
    });
    TopicDescription {
        name: "a".into(),
        id: Some(Uuid::from_bytes([id; 16])),
        internal: false,
        partitions: partitions.collect(),
    }
}

fn learn(leaders: &mut Leaders, topic: TopicDescription) {
    leaders.learn([(topic.name.clone(), Ok(topic))].into());
}

fn first(leaders: &Leaders) -> Leadership {
    leaders.of(&TopicPartition::new("a", 0))
}

#[test]
fn older_epochs_are_passed_over() {
    let mut leaders = Leaders::default();
    learn(&mut leaders, told(1, &[(1, 5)]));
    learn(&mut leaders, told(1, &[(2, 4), (2, 0)]));
    assert_eq!(first(&leaders), Leadership::told(1, 5));
    assert_eq!(leaders.partitions(&"a".into()), Some(Ok(2)));
    let partition = TopicPartition::new("a", 0);
    assert!(!leaders.moved(&partition, Leadership::told(3, 5)));
    assert!(!leaders.moved(&partition, Leadership::told(-1, 6)));
    assert!(leaders.moved(&partition, Leadership::told(3, 6)));
    assert_eq!(first(&leaders), Leadership::told(3, 6));
}

#[test]
fn a_topic_that_was_made_again_begins_again() {
    let mut leaders = Leaders::default();
    learn(&mut leaders, told(1, &[(1, 5), (1, 5)]));
    learn(&mut leaders, told(2, &[(2, 0)]));
    assert_eq!(first(&leaders), Leadership::told(2, 0));
    assert_eq!(leaders.partitions(&"a".into()), Some(Ok(1)));
    let [old, new] = [1, 2].map(|id| Uuid::from_bytes([id; 16]));
    assert_eq!(leaders.named(old), None);
    assert_eq!(leaders.named(new), Some(&"a".into()));
    leaders.forget(&"a".into());
    assert_eq!(leaders.named(new), None);
}

#[test]
fn a_topic_without_a_leader_is_asked_for_again() {
    let mut leaders = Leaders::default();
    leaders.distrust(&"a".into());
    learn(&mut leaders, told(1, &[(-1, 5)]));
    assert!(leaders.is_stale());
    learn(&mut leaders, told(1, &[(1, 6)]));
    assert!(!leaders.is_stale());
}

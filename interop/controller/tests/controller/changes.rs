//! Changes of partitions: elections, eligible leader replicas, epochs, ends of reassignments. Random
//! states, among them such as no cluster should ever be in.

use fastrand::Rng;
use klamm_controller::{ChangeRules, ElectionKind, How, WantedChange};
use klamm_java_peer::{Value, json};
use klamm_metadata::{LeaderRecoveryState, MetadataVersion, Partition, Place, directory};
use klamm_protocol::data::metadata::{PartitionChangeRecord, PartitionRecord};
use klamm_protocol::{BrokerId, PartitionIndex, Uuid};

use crate::Context;

const CASES: usize = 20_000;
const FULL_CASES: usize = 400_000;
const CASES_A_CALL: usize = 2_000;

/// A partition, and what is wanted of it.
#[derive(Clone, Debug)]
struct Case {
    replicas: Vec<i32>,
    isr: Vec<i32>,
    elr: Vec<i32>,
    last_known_elr: Vec<i32>,
    removing: Vec<i32>,
    adding: Vec<i32>,
    leader: i32,
    recovery: i8,
    live: Vec<i32>,
    level: i16,
    elr_enabled: bool,
    min_isr: usize,
    election: ElectionKind,
    target_isr: Vec<i32>,
    target_recovery: i8,
    unclean_shutdown: Option<i32>,
    target_replicas: Vec<i32>,
    target_removing: Vec<i32>,
    target_adding: Vec<i32>,
}

/// What a record says; lists that mean sets are sorted.
#[derive(Debug, PartialEq)]
struct Said {
    isr: Option<Vec<i32>>,
    leader: i32,
    replicas: Option<Vec<i32>>,
    removing: Option<Vec<i32>>,
    adding: Option<Vec<i32>>,
    recovery: i8,
    elr: Option<Vec<i32>>,
    last_known_elr: Option<Vec<i32>>,
    directories: Option<usize>,
}

pub(crate) fn decided_alike(context: &mut Context) {
    let mut rng = Rng::with_seed(context.seed);
    let count = if klamm_suite::is_full() {
        FULL_CASES
    } else {
        CASES
    };
    let mut changed = [0usize; 6];
    let mut compared = 0;
    while compared < count {
        let cases: Vec<Case> = (0..CASES_A_CALL).map(|_| case(&mut rng)).collect();
        let sent: Vec<Value> = cases.iter().map(to_json).collect();
        let answers = context
            .java
            .call("changes", json!({ "cases": sent }))
            .unwrap();
        for (case, answer) in cases.iter().zip(answers.as_array().unwrap()) {
            compared += 1;
            let Some((ours, how)) = decide(case) else {
                let theirs = of_apache(case, answer);
                assert!(
                    theirs.is_none(),
                    "{case:?}: Apache Kafka decides {theirs:?}"
                );
                continue;
            };
            changed[how as usize] += 1;
            // What klamm does otherwise, and says so in ARCHITECTURE.md: who is removed is not eligible.
            let left = ours.replicas.as_ref().unwrap_or(&case.replicas);
            let had_everything = case.isr.iter().chain(&case.elr);
            if case.elr_enabled && had_everything.into_iter().any(|b| !left.contains(b)) {
                continue;
            }
            assert_eq!(of_apache(case, answer).as_ref(), Some(&ours), "{case:?}");
        }
    }
    println!("controller: {compared} cases; by how the leader was elected: {changed:?}");
    assert!(changed.iter().all(|count| *count > 50), "{changed:?}");
}

fn subset(rng: &mut Rng, of: &[i32], quarters: u8) -> Vec<i32> {
    of.iter()
        .copied()
        .filter(|_| rng.u8(..4) < quarters)
        .collect()
}

fn without(list: &[i32], others: &[i32]) -> Vec<i32> {
    list.iter()
        .copied()
        .filter(|broker| !others.contains(broker))
        .collect()
}

fn case(rng: &mut Rng) -> Case {
    let mut brokers: Vec<i32> = (1..=6).collect();
    rng.shuffle(&mut brokers);
    let replicas = brokers[..rng.usize(1..6)].to_vec();
    let elr_enabled = rng.u8(..3) > 0;
    let level = if elr_enabled {
        rng.i16(23..=33)
    } else {
        rng.i16(7..=33)
    };
    // An empty ISR, and replicas that are eligible, are there with ELR only.
    let mut isr = subset(rng, &replicas, 2);
    if isr.is_empty() && !elr_enabled {
        isr.push(replicas[0]);
    }
    let mut elr = if elr_enabled {
        subset(rng, &without(&replicas, &isr), 2)
    } else {
        vec![]
    };
    elr.sort_unstable();
    let leader = match isr.is_empty() || rng.u8(..4) == 0 {
        true => -1,
        false => isr[rng.usize(..isr.len())],
    };
    let last_known_elr = match rng.u8(..4) {
        0 | 1 => vec![],
        2 => vec![replicas[rng.usize(..replicas.len())]],
        _ => subset(rng, &replicas, 2),
    };
    let mut live = subset(rng, &replicas, 2);
    let target_isr = match rng.u8(..4) {
        0 => isr.clone(),
        1 => subset(rng, &isr, 2),
        _ => subset(rng, &replicas, 2),
    };
    // A live leader never leaves the ISR.
    if !target_isr.contains(&leader) {
        live.retain(|broker| *broker != leader);
    }
    let recovery = rng.i8(0..2);
    let moves = |rng: &mut Rng, replicas: &[i32]| {
        let removing = subset(rng, replicas, 1);
        let adding = subset(rng, &without(replicas, &removing), 1);
        (removing, adding)
    };
    let (removing, adding) = if rng.u8(..3) == 0 {
        moves(rng, &replicas)
    } else {
        Default::default()
    };
    let mut case = Case {
        target_replicas: replicas.clone(),
        target_removing: removing.clone(),
        target_adding: adding.clone(),
        election: [
            ElectionKind::Online,
            ElectionKind::Preferred,
            ElectionKind::Unclean,
        ][rng.usize(..3)],
        unclean_shutdown: rng.bool().then(|| replicas[rng.usize(..replicas.len())]),
        min_isr: rng.usize(1..5),
        replicas,
        isr,
        elr,
        last_known_elr,
        removing,
        adding,
        leader,
        recovery,
        live,
        level,
        elr_enabled,
        target_isr,
        target_recovery: recovery,
    };
    if rng.u8(..4) == 0 {
        case.target_replicas = brokers[..rng.usize(1..=6)].to_vec();
        (case.target_removing, case.target_adding) = moves(rng, &case.target_replicas);
        // Who leads is not taken away without a reassignment that ends.
        if !case.target_replicas.contains(&leader) {
            case.live.retain(|broker| *broker != leader);
        }
    }
    // Only a leader that stays one says that it has recovered.
    let leads_on = case.live.contains(&leader) && !case.target_removing.contains(&leader);
    if leads_on && rng.bool() {
        case.target_recovery = 0;
    }
    case
}

fn to_json(case: &Case) -> Value {
    let mut value = json!({
        "replicas": case.replicas, "isr": case.isr, "elr": case.elr,
        "last_known_elr": case.last_known_elr, "removing": case.removing, "adding": case.adding,
        "leader": case.leader, "recovery": case.recovery, "live": case.live,
        "metadata_version": case.level, "elr_enabled": case.elr_enabled, "min_isr": case.min_isr,
        "election": format!("{:?}", case.election).to_uppercase(),
        "target_isr": case.target_isr, "target_recovery": case.target_recovery,
        "target_replicas": case.target_replicas, "target_removing": case.target_removing,
        "target_adding": case.target_adding,
    });
    if let Some(broker) = case.unclean_shutdown {
        value["unclean_shutdown"] = json!([broker]);
    }
    value
}

fn decide(case: &Case) -> Option<(Said, How)> {
    let partition = Partition::from_record(&PartitionRecord {
        partition_id: 0,
        replicas: case.replicas[..].into(),
        isr: case.isr[..].into(),
        removing_replicas: case.removing[..].into(),
        adding_replicas: case.adding[..].into(),
        leader: case.leader,
        leader_recovery_state: case.recovery,
        leader_epoch: 0,
        partition_epoch: 0,
        eligible_leader_replicas: Some(case.elr[..].into()),
        last_known_elr: Some(case.last_known_elr[..].into()),
        ..Default::default()
    });
    let partition = partition.unwrap();
    let rules = ChangeRules {
        metadata_version: MetadataVersion::from_level(case.level).unwrap(),
        elr_enabled: case.elr_enabled,
        min_isr: case.min_isr,
        election: case.election,
    };
    let place = Place {
        topic: Uuid::ZERO,
        index: PartitionIndex(0),
    };
    let lists = [
        &case.target_replicas,
        &case.target_removing,
        &case.target_adding,
    ];
    let [replicas, removing, adding] = lists.map(|list| list[..].into());
    let wanted = WantedChange::new(place, &partition, rules)
        .isr(case.target_isr[..].into())
        .recovery(LeaderRecoveryState::from_wire(case.target_recovery).unwrap())
        .assignment(replicas, removing, adding);
    let wanted = match case.unclean_shutdown {
        Some(broker) => wanted.unclean_shutdown(BrokerId(broker)),
        None => wanted,
    };
    let change = wanted.build(|b| case.live.contains(&b.0), |_| directory::UNASSIGNED)?;
    Some((of_record(&change.record), change.election.how))
}

fn of_record(record: &PartitionChangeRecord) -> Said {
    let list = |list: &Option<_>| list.as_deref().map(<[i32]>::to_vec);
    Said {
        isr: list(&record.isr),
        leader: record.leader,
        replicas: list(&record.replicas),
        removing: list(&record.removing_replicas),
        adding: list(&record.adding_replicas),
        recovery: record.leader_recovery_state,
        elr: list(&record.eligible_leader_replicas),
        last_known_elr: list(&record.last_known_elr),
        directories: record.directories.as_ref().map(Vec::len),
    }
}

/// What Apache Kafka's record says, without what means nothing.
fn of_apache(case: &Case, record: &Value) -> Option<Said> {
    if record.is_null() {
        return None;
    }
    let list = |name: &str| {
        let list = record.get(name)?.as_array()?;
        Some(
            list.iter()
                .map(|broker| broker.as_i64().unwrap() as i32)
                .collect::<Vec<_>>(),
        )
    };
    let number =
        |name: &str, default: i64| record.get(name).and_then(Value::as_i64).unwrap_or(default);
    let sorted = |mut list: Vec<i32>| {
        list.sort_unstable();
        list
    };
    Some(Said {
        // An unclean election writes the ISR also where it is that already.
        isr: list("isr").filter(|isr| *isr != case.isr),
        leader: number("leader", -2) as i32,
        replicas: list("replicas"),
        removing: list("removingReplicas"),
        adding: list("addingReplicas"),
        recovery: number("leaderRecoveryState", -1) as i8,
        elr: list("eligibleLeaderReplicas").map(sorted),
        // Nobody is known to have led last, which klamm does not write down.
        last_known_elr: list("lastKnownElr").filter(|last| last[..] != [-1]),
        directories: record
            .get("directories")
            .and_then(Value::as_array)
            .map(Vec::len),
    })
}

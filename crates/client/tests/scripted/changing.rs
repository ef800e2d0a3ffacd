//! Calls that change a cluster, with what is special about each.

use std::collections::BTreeMap;

use expect_test::expect;
use klamm_client::{
    AlterConfigsOptions, AlterReassignmentsOptions, ApiKey, BrokerId, ConfigChange,
    ConfigOperation, ConfigResource, CreatePartitionsOptions, CreateTopicsOptions,
    DeleteTopicsOptions, DescribeConfigsOptions, ErrorCode, ListReassignmentsOptions,
    NewPartitions, NewTopic, Placement, SmallString, VersionRange,
};
use klamm_net::testing::Reply;
use klamm_protocol::messages::alter_partition_reassignments::*;
use klamm_protocol::messages::create_partitions::*;
use klamm_protocol::messages::create_topics::*;
use klamm_protocol::messages::delete_topics::*;
use klamm_protocol::messages::describe_configs::*;
use klamm_protocol::messages::incremental_alter_configs::*;
use klamm_protocol::messages::list_partition_reassignments::*;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn topics_are_created_grown_and_deleted() {
    let cluster = Cluster::new(1);
    cluster.broker(1).on(|_, request: CreateTopicsRequest| {
        let [first, second] = &request.topics[..] else {
            panic!("{request:?}")
        };
        assert_eq!((first.num_partitions, first.replication_factor), (3, -1));
        assert_eq!(first.configs[0].value.as_deref(), Some("compact"));
        assert_eq!((second.num_partitions, second.replication_factor), (-1, -1));
        assert_eq!(second.assignments[1].broker_ids[..], [3, 2]);
        let result = |topic: &CreatableTopic, code: ErrorCode| CreatableTopicResult {
            name: topic.name.clone(),
            error_code: code.0,
            error_message: Some("Topic exists.".into()),
            num_partitions: 3,
            ..Default::default()
        };
        let topics = vec![
            result(first, ErrorCode::NONE),
            result(second, ErrorCode::TOPIC_ALREADY_EXISTS),
        ];
        Reply::Answer(CreateTopicsResponse {
            topics,
            ..Default::default()
        })
    });
    cluster.broker(1).on(|_, request: CreatePartitionsRequest| {
        assert_eq!(request.topics[0].count, 6);
        let name = request.topics[0].name.clone();
        let results = vec![CreatePartitionsTopicResult {
            name,
            ..Default::default()
        }];
        Reply::Answer(CreatePartitionsResponse {
            results,
            ..Default::default()
        })
    });
    let admin = cluster.admin().await;
    let first = NewTopic {
        name: "a".into(),
        placement: Placement::Automatic {
            partitions: Some(3),
            replication_factor: None,
        },
        configs: BTreeMap::from([("cleanup.policy".into(), "compact".into())]),
    };
    let second = NewTopic {
        name: "b".into(),
        placement: Placement::Assigned(vec![ids(&[1, 2]), ids(&[3, 2])]),
        configs: BTreeMap::new(),
    };
    let options = CreateTopicsOptions::default();
    let created = admin
        .create_topics(&[first, second], options)
        .await
        .unwrap();
    assert_eq!(created["a"].as_ref().unwrap().partitions, Some(3));
    expect!["TOPIC_ALREADY_EXISTS (36): Topic exists."]
        .assert_eq(&created["b"].as_ref().unwrap_err().to_string());

    let more = NewPartitions {
        total: 6,
        assignments: None,
    };
    let options = CreatePartitionsOptions::default();
    let grown = admin
        .create_partitions(&BTreeMap::from([("a".into(), more)]), options)
        .await
        .unwrap();
    assert!(grown["a"].is_ok());

    for version in [5, 6] {
        let range = VersionRange::new(version, version);
        let cluster = Cluster::offering(1, &modern_but(ApiKey::DELETE_TOPICS, range));
        cluster.broker(1).on(|_, request: DeleteTopicsRequest| {
            let names = request.topics.iter().filter_map(|topic| topic.name.clone());
            let responses = names
                .chain(request.topic_names)
                .map(|name| DeletableTopicResult {
                    name: Some(name),
                    ..Default::default()
                });
            let responses = responses.collect();
            Reply::Answer(DeleteTopicsResponse {
                responses,
                ..Default::default()
            })
        });
        let admin = cluster.admin().await;
        let names = [SmallString::from("a"), SmallString::from("b")];
        let deleted = admin
            .delete_topics(&names, DeleteTopicsOptions::default())
            .await
            .unwrap();
        assert_eq!(deleted.len(), 2);
        assert!(deleted.values().all(Result::is_ok));
    }
}

#[tokio::test(start_paused = true)]
async fn reassignments_are_started_cancelled_and_listed() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, request: AlterPartitionReassignmentsRequest| {
            assert_eq!(
                request.topics[0].partitions[0].replicas.as_deref(),
                Some(&[2, 3][..])
            );
            assert_eq!(request.topics[0].partitions[1].replicas, None);
            let partition = |partition_index, error_code| ReassignablePartitionResponse {
                partition_index,
                error_code,
                ..Default::default()
            };
            let responses = vec![ReassignableTopicResponse {
                name: "a".into(),
                partitions: vec![partition(0, 0), partition(1, 85)],
                ..Default::default()
            }];
            Reply::Answer(AlterPartitionReassignmentsResponse {
                responses,
                ..Default::default()
            })
        });
    cluster
        .broker(1)
        .on(|_, request: ListPartitionReassignmentsRequest| {
            assert_eq!(
                request.topics.as_ref().unwrap()[0].partition_indexes[..],
                [0, 1]
            );
            let partitions = vec![OngoingPartitionReassignment {
                replicas: [1, 2, 3].into_iter().collect(),
                adding_replicas: [3].into_iter().collect(),
                removing_replicas: [1].into_iter().collect(),
                ..Default::default()
            }];
            let topics = vec![OngoingTopicReassignment {
                name: "a".into(),
                partitions,
                ..Default::default()
            }];
            Reply::Answer(ListPartitionReassignmentsResponse {
                topics,
                ..Default::default()
            })
        });
    let admin = cluster.admin().await;
    let moves = BTreeMap::from([
        (partition("a", 0), Some(ids(&[2, 3]))),
        (partition("a", 1), None),
    ]);
    let options = AlterReassignmentsOptions::default();
    let results = admin
        .alter_partition_reassignments(&moves, options)
        .await
        .unwrap();
    assert!(results[&partition("a", 0)].is_ok());
    let error = results[&partition("a", 1)].as_ref().unwrap_err();
    assert_eq!(error.code, ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);

    let named = [partition("a", 1), partition("a", 0), partition("a", 1)];
    let options = ListReassignmentsOptions::default();
    let ongoing = admin
        .list_partition_reassignments(Some(&named), options)
        .await
        .unwrap();
    assert_eq!(ongoing[&partition("a", 0)].adding, ids(&[3]));
}

#[tokio::test(start_paused = true)]
async fn a_brokers_own_configuration_is_its_own() {
    let cluster = Cluster::new(2);
    for id in [1, 2] {
        cluster
            .broker(id)
            .on(move |_, request: DescribeConfigsRequest| {
                let results = request
                    .resources
                    .iter()
                    .map(|resource| DescribeConfigsResult {
                        resource_type: resource.resource_type,
                        resource_name: resource.resource_name.clone(),
                        configs: vec![DescribeConfigsResourceResult {
                            name: "who".into(),
                            value: Some(id.to_string().into()),
                            config_source: 4,
                            ..Default::default()
                        }],
                        ..Default::default()
                    });
                let results = results.collect();
                Reply::Answer(DescribeConfigsResponse {
                    results,
                    ..Default::default()
                })
            });
        cluster
            .broker(id)
            .on(move |_, request: IncrementalAlterConfigsRequest| {
                let responses = request.resources.iter().map(|resource| {
                    let config = &resource.configs[0];
                    assert_eq!(
                        (config.config_operation, config.value.as_deref()),
                        (2, Some("x"))
                    );
                    let is_own = *resource.resource_name == *id.to_string();
                    AlterConfigsResourceResponse {
                        resource_type: resource.resource_type,
                        resource_name: resource.resource_name.clone(),
                        error_message: Some(if is_own { "its own" } else { "another's" }.into()),
                        error_code: 40,
                        ..Default::default()
                    }
                });
                let responses = responses.collect();
                Reply::Answer(IncrementalAlterConfigsResponse {
                    responses,
                    ..Default::default()
                })
            });
    }
    let admin = cluster.admin().await;
    let resources = [
        ConfigResource::topic("a"),
        ConfigResource::broker(BrokerId(2)),
        ConfigResource::broker_default(),
    ];
    let described = admin
        .describe_configs(&resources, &DescribeConfigsOptions::default())
        .await
        .unwrap();
    let who = |resource| {
        described[resource].as_ref().unwrap()["who"]
            .value
            .clone()
            .unwrap()
    };
    assert_eq!(resources.each_ref().map(who), ["1", "2", "1"]);

    let change = ConfigChange {
        name: "k".into(),
        operation: ConfigOperation::Append("x".into()),
    };
    let changes = resources
        .iter()
        .map(|r| (r.clone(), vec![change.clone()]))
        .collect();
    let options = AlterConfigsOptions::default();
    let altered = admin
        .incremental_alter_configs(&changes, options)
        .await
        .unwrap();
    let lines: String = altered
        .iter()
        .map(|(resource, result)| format!("{resource}: {}\n", result.as_ref().unwrap_err()))
        .collect();
    expect![[r#"
        topic a: INVALID_CONFIG (40): another's
        broker default: INVALID_CONFIG (40): another's
        broker 2: INVALID_CONFIG (40): its own
    "#]]
    .assert_eq(&lines);

    let unknown = [ConfigResource::broker(BrokerId(9))];
    let options = DescribeConfigsOptions::default();
    let error = admin
        .describe_configs(&unknown, &options)
        .await
        .unwrap_err();
    expect!["broker-1:9092: the cluster has no live node 9; describe the cluster to see its nodes"]
        .assert_eq(&error.to_string());
}

//! Each of the other calls once, with what is special about it.

use std::collections::BTreeMap;

use expect_test::expect;
use klamm_client::{
    AlterConfigsOptions, AlterReassignmentsOptions, ApiKey, BrokerId, ByteString, ConfigChange,
    ConfigOperation, ConfigResource, CreatePartitionsOptions, CreateTopicsOptions,
    DeleteTopicsOptions, DescribeClusterOptions, DescribeConfigsOptions,
    DescribeTopicPartitionsOptions, DescribeTopicsOptions, ErrorCode, ListReassignmentsOptions,
    NewPartitions, NewTopic, Placement, TopicSelection, VersionRange,
};
use klamm_net::testing::Reply;
use klamm_protocol::messages::alter_partition_reassignments::*;
use klamm_protocol::messages::create_partitions::*;
use klamm_protocol::messages::create_topics::*;
use klamm_protocol::messages::delete_topics::*;
use klamm_protocol::messages::describe_cluster::*;
use klamm_protocol::messages::describe_configs::*;
use klamm_protocol::messages::describe_topic_partitions::*;
use klamm_protocol::messages::incremental_alter_configs::*;
use klamm_protocol::messages::list_partition_reassignments::*;
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseTopic,
};

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn topics_are_described_by_name_or_all() {
    let cluster = Cluster::new(2);
    cluster.add_topic("a", [1, 2, -1]);
    cluster.add_topic("__consumer_offsets", [1]);
    cluster.metadata().topics[1].is_internal = true;
    let admin = cluster.admin().await;
    let describe = async |topics: &TopicSelection, include_internal| {
        let options = DescribeTopicsOptions {
            include_internal,
            ..Default::default()
        };
        admin.describe_topics(topics, options).await.unwrap()
    };
    assert_eq!(describe(&TopicSelection::All, false).await.len(), 1);
    assert_eq!(describe(&TopicSelection::All, true).await.len(), 2);

    let named = TopicSelection::named(["a", "__consumer_offsets", "missing"]);
    let topics = describe(&named, false).await;
    assert!(topics["__consumer_offsets"].as_ref().unwrap().internal);
    assert!(topics["missing"].is_err());
    let topic = topics["a"].as_ref().unwrap();
    let leaders: Vec<_> = topic
        .partitions
        .iter()
        .map(|partition| partition.leader)
        .collect();
    assert_eq!(leaders, [Some(BrokerId(1)), Some(BrokerId(2)), None]);
    let preferred: Vec<_> = topic
        .partitions
        .iter()
        .map(|partition| partition.is_led_by_preferred())
        .collect();
    assert_eq!(preferred, [true, false, false]);
    assert_eq!(topic.partitions[0].replicas, ids(&[1, 2]));
    assert_eq!(
        topic.topic_partitions().last().unwrap().0,
        partition("a", 2)
    );
}

#[tokio::test(start_paused = true)]
async fn describing_a_topic_by_name_never_creates_it() {
    // Before version 4 a broker creates what it is asked for, so that it is asked for all.
    let cluster = Cluster::offering(1, &modern_but(ApiKey::METADATA, VersionRange::new(0, 3)));
    cluster.broker(1).on(|version, request: MetadataRequest| {
        assert_eq!(version, 3);
        let topic = MetadataResponseTopic {
            name: Some("a".into()),
            ..Default::default()
        };
        let topics = match request.topics {
            None => vec![topic],
            Some(topics) => {
                assert_eq!(topics, []);
                Vec::new()
            }
        };
        Reply::Answer(MetadataResponse {
            topics,
            ..Default::default()
        })
    });
    let admin = cluster.admin().await;
    let options = DescribeTopicsOptions::default();
    let topics = TopicSelection::named(["a", "b"]);
    let described = admin.describe_topics(&topics, options).await.unwrap();
    assert!(described["a"].is_ok());
    let error = described["b"].as_ref().unwrap_err();
    assert_eq!(error.code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);

    let cluster = Cluster::new(1);
    cluster.broker(1).on(|_, request: MetadataRequest| {
        assert!(!request.allow_auto_topic_creation);
        Reply::Answer(MetadataResponse::default())
    });
    let admin = cluster.admin().await;
    let options = DescribeTopicsOptions::default();
    let described = admin.describe_topics(&topics, options).await.unwrap();
    assert!(described["a"].is_err());
}

#[tokio::test(start_paused = true)]
async fn partitions_are_described_page_by_page() {
    let cluster = Cluster::new(1);
    let mut pages = Vec::new();
    cluster
        .broker(1)
        .on(move |_, request: DescribeTopicPartitionsRequest| {
            let names: Vec<_> = request
                .topics
                .iter()
                .map(|topic| topic.name.to_string())
                .collect();
            let cursor = request
                .cursor
                .map(|c| (c.topic_name.to_string(), c.partition_index));
            pages.push((names, cursor));
            assert_eq!(request.response_partition_limit, 2);
            let partition = |partition_index| DescribeTopicPartitionsResponsePartition {
                partition_index,
                leader_id: -1,
                eligible_leader_replicas: Some([2].into_iter().collect()),
                last_known_elr: Some([3].into_iter().collect()),
                ..Default::default()
            };
            let topic = |name: &str, indexes: &[i32]| DescribeTopicPartitionsResponseTopic {
                name: Some(name.into()),
                partitions: indexes.iter().copied().map(partition).collect(),
                ..Default::default()
            };
            let cursor = |name: &str, partition_index| {
                Some(ResponseCursor {
                    topic_name: name.into(),
                    partition_index,
                    ..Default::default()
                })
            };
            let (topics, next_cursor) = match pages.len() {
                1 => (vec![topic("a", &[0, 1])], cursor("a", 2)),
                2 => {
                    assert_eq!(pages[1].1, Some(("a".to_owned(), 2)));
                    (vec![topic("a", &[2]), topic("b", &[0])], cursor("b", 1))
                }
                3 => {
                    assert_eq!(pages[2].0, ["b", "c"]);
                    let unknown = DescribeTopicPartitionsResponseTopic {
                        error_code: 3,
                        ..topic("c", &[])
                    };
                    (vec![topic("b", &[1]), unknown], None)
                }
                _ => panic!("a page too many"),
            };
            Reply::Answer(DescribeTopicPartitionsResponse {
                topics,
                next_cursor,
                ..Default::default()
            })
        });
    let admin = cluster.admin().await;
    let options = DescribeTopicPartitionsOptions {
        partitions_per_page: 2,
        ..Default::default()
    };
    let topics = TopicSelection::named(["c", "a", "b"]);
    let described = admin
        .describe_topic_partitions(&topics, options.clone())
        .await
        .unwrap();
    let count = |name: &str| described[name].as_ref().unwrap().partitions.len();
    assert_eq!((count("a"), count("b")), (3, 2));
    assert!(described["c"].is_err());
    let partition = &described["a"].as_ref().unwrap().partitions[0];
    assert_eq!(
        (&partition.elr, &partition.last_known_elr),
        (&Some(ids(&[2])), &Some(ids(&[3])))
    );

    // No names are not all names.
    let none = TopicSelection::Named(Vec::new());
    assert!(
        admin
            .describe_topic_partitions(&none, options)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_stands_still_ends_the_pages() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: DescribeTopicPartitionsRequest| {
            let next_cursor = Some(ResponseCursor {
                topic_name: "a".into(),
                ..Default::default()
            });
            Reply::Answer(DescribeTopicPartitionsResponse {
                next_cursor,
                ..Default::default()
            })
        });
    let admin = cluster.admin().await;
    let options = DescribeTopicPartitionsOptions::default();
    admin
        .describe_topic_partitions(&TopicSelection::All, options)
        .await
        .unwrap();
    assert_eq!(
        cluster
            .broker(1)
            .versions_of(ApiKey::DESCRIBE_TOPIC_PARTITIONS)
            .len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_described_with_fenced_brokers_where_the_server_can() {
    let cluster = Cluster::new(1);
    let answer = |_, request: DescribeClusterRequest| {
        let broker = DescribeClusterBroker {
            broker_id: 4,
            host: "h".into(),
            port: 1,
            is_fenced: request.include_fenced_brokers,
            ..Default::default()
        };
        Reply::Answer(DescribeClusterResponse {
            cluster_id: "id".into(),
            brokers: vec![broker],
            ..Default::default()
        })
    };
    cluster.broker(1).on(answer);
    let options = DescribeClusterOptions {
        include_fenced: true,
        ..Default::default()
    };
    let described = cluster
        .admin()
        .await
        .describe_cluster(options.clone())
        .await
        .unwrap();
    assert_eq!(described.cluster_id.as_deref(), Some("id"));
    assert_eq!(described.brokers[0].fenced, Some(true));

    for (offered, versions) in [(VersionRange::new(0, 1), 1), (VersionRange::NONE, 0)] {
        let cluster = Cluster::offering(2, &modern_but(ApiKey::DESCRIBE_CLUSTER, offered));
        cluster.broker(1).on(answer);
        let described = cluster
            .admin()
            .await
            .describe_cluster(options.clone())
            .await
            .unwrap();
        assert_eq!(described.brokers[0].fenced, None);
        assert_eq!(described.brokers.len(), if versions == 0 { 2 } else { 1 });
    }
}

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
        let names = [ByteString::from("a"), ByteString::from("b")];
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
                    AlterConfigsResourceResponse {
                        resource_type: resource.resource_type,
                        resource_name: resource.resource_name.clone(),
                        error_message: Some(id.to_string().into()),
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
        topic a: INVALID_CONFIG (40): 1
        broker default: INVALID_CONFIG (40): 1
        broker 2: INVALID_CONFIG (40): 2
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

//! Calls that look at a cluster, with what is special about each.

use klamm_client::{
    ApiKey, BrokerId, DescribeClusterOptions, DescribeTopicPartitionsOptions,
    DescribeTopicsOptions, ErrorCode, TopicSelection, VersionRange,
};
use klamm_net::testing::Reply;
use klamm_protocol::messages::describe_cluster::*;
use klamm_protocol::messages::describe_topic_partitions::*;
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

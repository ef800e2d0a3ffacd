use expect_test::expect;
use klamm_client::{
    Admin, ApiKey, ApiVersionsOptions, DescribeTopicsOptions, ElectionType, ErrorCode,
    TopicSelection, VersionRange,
};
use klamm_net::testing::{FakeServer, Reply};
use klamm_protocol::Request;
use klamm_protocol::messages::api_versions::{ApiVersion, ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;

use crate::support::*;

const LATEST: i16 = ApiVersionsRequest::STABLE.max;

async fn look(admin: &Admin) {
    admin
        .metadata(&TopicSelection::All, DescribeTopicsOptions::default())
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_latest_common_version_is_used() {
    let cluster = Cluster::offering(1, &modern_but(ApiKey::METADATA, VersionRange::new(0, 9)));
    let admin = cluster.admin().await;
    look(&admin).await;
    let server = cluster.broker(1);
    assert_eq!(server.versions_of(ApiKey::API_VERSIONS), [LATEST]);
    assert_eq!(server.versions_of(ApiKey::METADATA), [9]);
    let offered = admin
        .api_versions(ApiVersionsOptions::default())
        .await
        .unwrap();
    assert_eq!(offered.offered(ApiKey::METADATA), VersionRange::new(0, 9));
    assert_eq!(offered.offered(ApiKey(999)), VersionRange::NONE);
}

#[tokio::test(start_paused = true)]
async fn a_later_server_is_asked_in_versions_known_here() {
    let mut offers = modern_but(ApiKey::METADATA, VersionRange::new(2, 99));
    offers.push((ApiKey(999), VersionRange::new(0, 5)));
    let cluster = Cluster::offering(1, &offers);
    let admin = cluster.admin().await;
    look(&admin).await;
    let stable = ApiKey::METADATA.stable_versions().max;
    assert_eq!(cluster.broker(1).versions_of(ApiKey::METADATA), [stable]);
    let offered = admin
        .api_versions(ApiVersionsOptions::default())
        .await
        .unwrap();
    assert_eq!(offered.offered(ApiKey(999)), VersionRange::new(0, 5));
}

#[tokio::test(start_paused = true)]
async fn an_older_server_says_which_version_it_knows() {
    let cluster = Cluster::new(1);
    cluster.broker(1).offer(&modern(), VersionRange::new(0, 3));
    cluster.admin().await;
    assert_eq!(
        cluster.broker(1).versions_of(ApiKey::API_VERSIONS),
        [LATEST, 3]
    );
    assert_eq!(cluster.broker(1).connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_without_a_list_is_asked_in_version_0() {
    let cluster = Cluster::new(1);
    let api_keys = [(ApiKey::METADATA, 0, 12), (ApiKey::API_VERSIONS, 0, 0)].map(
        |(key, min_version, max_version)| ApiVersion {
            api_key: key.0,
            min_version,
            max_version,
            ..Default::default()
        },
    );
    cluster
        .broker(1)
        .on(move |version, _request: ApiVersionsRequest| match version {
            0 => Reply::Answer(ApiVersionsResponse {
                api_keys: api_keys.to_vec(),
                ..Default::default()
            }),
            _ => Reply::AnswerIn(
                0,
                ApiVersionsResponse {
                    error_code: ErrorCode::UNSUPPORTED_VERSION.0,
                    ..Default::default()
                },
            ),
        });
    cluster.admin().await;
    assert_eq!(
        cluster.broker(1).versions_of(ApiKey::API_VERSIONS),
        [LATEST, 0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_on_a_later_version_is_asked_again_in_version_0() {
    let cluster = Cluster::new(1);
    let metadata = ApiVersion {
        api_key: 3,
        max_version: 12,
        ..Default::default()
    };
    cluster
        .broker(1)
        .on(move |version, _request: ApiVersionsRequest| match version {
            0 => Reply::Answer(ApiVersionsResponse {
                api_keys: vec![metadata.clone()],
                ..Default::default()
            }),
            _ => Reply::Close,
        });
    cluster.admin().await;
    assert_eq!(
        cluster.broker(1).versions_of(ApiKey::API_VERSIONS),
        [LATEST, 0]
    );
    assert_eq!(cluster.broker(1).connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_unclean_election_never_becomes_a_preferred_one() {
    let offers = modern_but(ApiKey::ELECT_LEADERS, VersionRange::new(0, 0));
    let cluster = Cluster::offering(1, &offers);
    cluster
        .broker(1)
        .on(|version, request: ElectLeadersRequest| {
            assert_eq!((version, request.election_type), (0, 0));
            Reply::Answer(elected([("a", 0, ErrorCode::NONE)]))
        });
    let admin = cluster.admin().await;

    let text = outcome(&elect_all(&admin, ElectionType::Unclean)).await;
    expect!["broker-1:9092: this server offers ElectLeaders (43) in version 0, but version 1 or later is needed for an unclean election; upgrade the server"].assert_eq(&text);
    assert_eq!(cluster.broker(1).versions_of(ApiKey::ELECT_LEADERS), []);

    let text = outcome(&elect_all(&admin, ElectionType::Preferred)).await;
    assert_eq!(text, "a-0: elected\n");
}

#[tokio::test(start_paused = true)]
async fn a_server_without_elections_is_told_plainly() {
    let offers = modern_but(ApiKey::ELECT_LEADERS, VersionRange::NONE);
    let cluster = Cluster::offering(1, &offers);
    let admin = cluster.admin().await;
    let text = outcome(&elect_all(&admin, ElectionType::Preferred)).await;
    expect!["broker-1:9092: this server does not offer ElectLeaders (43): it is too old for it, or no Kafka broker or controller"].assert_eq(&text);
}

#[tokio::test(start_paused = true)]
async fn a_controller_taken_for_a_broker_and_a_broker_for_a_controller() {
    let cluster = Cluster::new(1);
    let controller = modern_but(ApiKey::METADATA, VersionRange::NONE);
    cluster
        .network
        .add(&broker(2), &FakeServer::offering(&controller));
    let error = connect(&cluster.network, "broker-2:9092")
        .await
        .unwrap_err();
    expect!["broker-2:9092: this server does not offer Metadata (3): only brokers do, and this may be a controller; connect to a broker"].assert_eq(&error.to_string());

    let old = modern_but(ApiKey::DESCRIBE_CLUSTER, VersionRange::new(0, 0));
    cluster.network.add(&broker(3), &FakeServer::offering(&old));
    let error = connect_to_controllers(&cluster.network, "broker-3:9092")
        .await
        .unwrap_err();
    expect!["broker-3:9092: this server offers DescribeCluster (60) in version 0, but version 1 or later is needed for finding the active controller; upgrade the server"].assert_eq(&error.to_string());
}

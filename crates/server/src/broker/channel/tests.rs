use super::*;
use klamm_net::testing::{FakeNetwork, FakeServer, Reply};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatResponse;

const LONG: Duration = Duration::from_secs(30);

/// Controllers of a quorum, in memory.
struct Quorum {
    network: FakeNetwork,
    active: watch::Sender<Option<ActiveController>>,
}

impl Quorum {
    fn new() -> Self {
        Self {
            network: FakeNetwork::new(),
            active: watch::Sender::new(None),
        }
    }

    /// A controller that can be asked for heartbeats.
    fn add(&self, id: i32) -> FakeServer {
        let versions = BrokerHeartbeatRequest::STABLE;
        let server = FakeServer::offering(&[(BrokerHeartbeatRequest::KEY, versions)]);
        self.network.add(&address(id), &server);
        server
    }

    fn elect(&self, id: i32, epoch: i32) {
        self.active.send_replace(Some(ActiveController {
            id: BrokerId(id),
            epoch: LeaderEpoch(epoch),
            address: address(id),
        }));
    }

    fn channel(&self) -> ControllerChannel {
        let connector = Arc::new(self.network.clone());
        let options = ConnectionOptions::default();
        let timeout = Duration::from_secs(5);
        Controllers::new(self.active.subscribe(), connector, options, timeout).channel()
    }
}

fn address(id: i32) -> ServerAddress {
    ServerAddress::new(format!("controller-{id}"), 9093)
}

fn well() -> Reply<BrokerHeartbeatResponse> {
    Reply::Answer(BrokerHeartbeatResponse {
        is_caught_up: true,
        ..BrokerHeartbeatResponse::default()
    })
}

fn not_controller() -> Reply<BrokerHeartbeatResponse> {
    Reply::Answer(BrokerHeartbeatResponse {
        error_code: ErrorCode::NOT_CONTROLLER.0,
        ..BrokerHeartbeatResponse::default()
    })
}

async fn heartbeat(channel: &ControllerChannel) -> Result<bool, String> {
    let request = BrokerHeartbeatRequest::default();
    let response = channel.ask(&request, Instant::now() + LONG).await;
    response
        .map(|response| response.is_caught_up)
        .map_err(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn requests_share_a_connection() {
    let quorum = Quorum::new();
    let server = quorum.add(1);
    server.on(|_, _: BrokerHeartbeatRequest| well());
    quorum.elect(1, 1);
    let channel = quorum.channel();
    for _ in 0..3 {
        assert_eq!(heartbeat(&channel.clone()).await, Ok(true));
    }
    assert_eq!(server.connections(), 1);
    assert_eq!(server.versions_of(BrokerHeartbeatRequest::KEY).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_leader_is_waited_for() {
    let quorum = Quorum::new();
    let server = quorum.add(1);
    server.on(|_, _: BrokerHeartbeatRequest| well());
    let channel = quorum.channel();
    let elected = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        quorum.elect(1, 1);
    };
    let (answer, ()) = tokio::join!(heartbeat(&channel), elected);
    assert_eq!(answer, Ok(true));
}

#[tokio::test(start_paused = true)]
async fn without_a_leader_time_runs_out() {
    let error = heartbeat(&Quorum::new().channel()).await.unwrap_err();
    assert!(error.contains("no controller is known to lead"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn one_that_leads_no_more_is_left_for_the_next() {
    let quorum = Quorum::new();
    let [old, new] = [1, 2].map(|id| quorum.add(id));
    old.on(|_, _: BrokerHeartbeatRequest| not_controller());
    new.on(|_, _: BrokerHeartbeatRequest| well());
    quorum.elect(1, 1);
    let channel = quorum.channel();
    let elected = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        quorum.elect(2, 2);
    };
    let (answer, ()) = tokio::join!(heartbeat(&channel), elected);
    assert_eq!(answer, Ok(true));
    // It was asked with pauses that grow.
    let asked = old.versions_of(BrokerHeartbeatRequest::KEY).len();
    assert!((3..30).contains(&asked), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn one_that_never_answers_holds_up_nothing_when_another_leads() {
    let quorum = Quorum::new();
    let [old, new] = [1, 2].map(|id| quorum.add(id));
    old.on(|_, _: BrokerHeartbeatRequest| Reply::Silence);
    new.on(|_, _: BrokerHeartbeatRequest| well());
    quorum.elect(1, 1);
    let channel = quorum.channel();
    let begun = Instant::now();
    let elected = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        quorum.elect(2, 2);
    };
    let (answer, ()) = tokio::join!(heartbeat(&channel), elected);
    assert_eq!(answer, Ok(true));
    // On the paused clock this is no matter of how fast the machine is.
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn lost_connections_and_silence_are_tried_again() {
    let quorum = Quorum::new();
    let server = quorum.add(1);
    let mut replies = [Reply::Close, Reply::Silence, well()].into_iter();
    server.on(move |_, _: BrokerHeartbeatRequest| replies.next().unwrap_or_else(well));
    quorum.elect(1, 1);
    assert_eq!(heartbeat(&quorum.channel()).await, Ok(true));
    assert_eq!(server.connections(), 3);
}

#[tokio::test(start_paused = true)]
async fn nobody_at_the_address_is_said_with_the_address() {
    let quorum = Quorum::new();
    quorum.elect(3, 1);
    let error = heartbeat(&quorum.channel()).await.unwrap_err();
    assert!(error.contains("controller-3:9093"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_no_version_can_do_is_not_tried_again() {
    let quorum = Quorum::new();
    let server = FakeServer::offering(&[]);
    quorum.network.add(&address(1), &server);
    quorum.elect(1, 1);
    let begun = Instant::now();
    let error = heartbeat(&quorum.channel()).await.unwrap_err();
    assert!(
        error.contains("offers BrokerHeartbeat (63) in the versions none"),
        "{error}"
    );
    assert!(begun.elapsed() < LONG);
}

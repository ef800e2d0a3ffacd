//! The task that fetches from a leader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use klamm_metadata::Place;
use klamm_net::{Connection, ConnectionOptions, ServerAddress, ServerVersions, VersionsError};
use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse, ReplicaState};
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use klamm_protocol::{ApiKey, ErrorCode, Offset, Request, VersionRange};
use klamm_replica::LeaderOffsets;
use thiserror::Error;
use tokio::time::{Instant, sleep, sleep_until};

use super::super::Shared;
use super::Fetcher;
use super::apply::{Asked, News};
use super::session::Session;

/// The versions of Fetch that name topics by id and tell the epoch of the broker that asks.
const FETCH_VERSIONS: VersionRange = VersionRange::new(15, i16::MAX);
/// The versions of ListOffsets that check the leader epoch.
const LIST_OFFSETS_VERSIONS: VersionRange = VersionRange::new(4, i16::MAX);
/// How long a leader may be away before it is worth a line in the log.
const QUIET: Duration = Duration::from_secs(2);
/// The timestamps that stand for the ends of a log.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// What is to be fetched.
#[derive(Default)]
struct Wishes {
    asked: BTreeMap<Place, Asked>,
    /// Those of which the leader is to be told in the next request.
    untold: BTreeSet<Place>,
}

/// A connection to the leader.
struct Link {
    connection: Connection,
    fetch_version: i16,
    list_offsets_version: i16,
    session: Session,
}

/// The leader cannot be fetched from.
#[derive(Debug, Error)]
enum FetchError {
    /// This broker has not registered.
    #[error("this broker has no epoch yet")]
    NoEpoch,
    /// The metadata does not say where the leader listens.
    #[error("broker {leader} has no listener {listener}")]
    NoAddress { leader: i32, listener: String },
    /// The connection.
    #[error(transparent)]
    Net(#[from] VersionsError),
    /// The leader has no version that will do.
    #[error("{server} offers no version of {api} that a follower of klamm can use")]
    Version { server: ServerAddress, api: ApiKey },
    /// The whole request was refused.
    #[error("{server} answered a Fetch with {code}")]
    Refused {
        server: ServerAddress,
        code: ErrorCode,
    },
}

/// Fetches until it is ended, or the replicas are gone.
pub(super) async fn run(shared: Weak<Shared>, fetcher: Arc<Fetcher>) {
    let mut link = None;
    let mut down: Option<Down> = None;
    let mut wishes = Wishes::default();
    loop {
        let Some(current) = shared.upgrade() else {
            return;
        };
        let News { places, due } = fetcher.refresh(&current, &mut wishes.asked);
        wishes.untold.extend(places);
        if wishes.asked.is_empty() {
            drop(current);
            if fetcher.is_idle() {
                link = None;
            }
            tokio::select! {
                () = fetcher.changed.notified() => {}
                () = until(due) => {}
            }
            continue;
        }
        match round(&current, &fetcher, &mut link, &mut wishes).await {
            Ok(()) => {
                if down.take().is_some_and(|down| down.is_told) {
                    tracing::info!(leader = %fetcher.leader, "fetching goes on");
                }
            }
            Err(error) => {
                link = None;
                let down = down.get_or_insert_with(Down::now);
                if down.is_to_be_told() && !matches!(error, FetchError::NoEpoch) {
                    tracing::warn!(leader = %fetcher.leader, %error, "cannot fetch");
                    down.is_told = true;
                }
                let wait = current.settings.fetch.backoff.min(super::FIRST_BACKOFF * 5);
                drop(current);
                sleep(wait).await;
            }
        }
    }
}

/// A leader that cannot be fetched from.
struct Down {
    since: Instant,
    is_told: bool,
}

impl Down {
    fn now() -> Self {
        Self {
            since: Instant::now(),
            is_told: false,
        }
    }

    /// Once is enough while it lasts, and what is over at once is a leader that stops or moves.
    fn is_to_be_told(&self) -> bool {
        !self.is_told && self.since.elapsed() >= QUIET
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// One request and its answer.
async fn round(
    shared: &Arc<Shared>,
    fetcher: &Arc<Fetcher>,
    link: &mut Option<Link>,
    Wishes { asked, untold }: &mut Wishes,
) -> Result<(), FetchError> {
    let link = match link {
        Some(link) if !link.connection.is_closed() => link,
        link => link.insert(connect(shared, fetcher).await?),
    };
    let settings = &shared.settings.fetch;
    if link.session.is_new() {
        untold.extend(asked.keys());
    }
    let wish = |place| {
        let asked: Option<&Asked> = asked.get(&place);
        (place, asked.map(|asked| asked.to_wire(settings.max_bytes)))
    };
    let draft = link
        .session
        .draft(std::mem::take(untold).into_iter().map(wish));
    let request = FetchRequest {
        replica_state: ReplicaState {
            replica_id: shared.broker.0,
            replica_epoch: shared.broker_epoch().0,
            ..ReplicaState::default()
        },
        max_wait_ms: i32::try_from(settings.wait_max.as_millis()).unwrap_or(i32::MAX),
        min_bytes: settings.min_bytes,
        max_bytes: settings.response_max_bytes,
        session_id: draft.session_id,
        session_epoch: draft.session_epoch,
        topics: draft.topics,
        forgotten_topics_data: draft.forgotten,
        ..FetchRequest::default()
    };
    let deadline = Instant::now() + settings.wait_max + settings.timeout;
    let answer = link
        .connection
        .call(link.fetch_version, &request, deadline, |_| Duration::ZERO);
    let response: FetchResponse = answer.await.map_err(VersionsError::from)?;
    match ErrorCode(response.error_code) {
        ErrorCode::NONE => link.session.answered(response.session_id),
        ErrorCode::FETCH_SESSION_ID_NOT_FOUND | ErrorCode::INVALID_FETCH_SESSION_EPOCH => {
            link.session.lost();
            return Ok(());
        }
        code => {
            let server = link.connection.server().clone();
            return Err(FetchError::Refused { server, code });
        }
    }
    for place in fetcher.apply(shared, asked, response) {
        let asked = asked.get(&place).expect("it was answered");
        let offsets = ends(link, shared, asked).await?;
        fetcher.offsets(shared, asked, offsets);
    }
    Ok(())
}

async fn connect(shared: &Shared, fetcher: &Fetcher) -> Result<Link, FetchError> {
    if shared.broker_epoch().0 < 0 {
        return Err(FetchError::NoEpoch);
    }
    let fetchers = &shared.fetchers;
    let image = shared.image();
    let leader = image.cluster().broker(fetcher.leader);
    let listener = leader.and_then(|leader| leader.listeners.get(&*fetchers.listener));
    let listener = listener.ok_or_else(|| FetchError::NoAddress {
        leader: fetcher.leader.0,
        listener: fetchers.listener.clone(),
    })?;
    let server = ServerAddress::new(&*listener.host, listener.port);
    let options = ConnectionOptions {
        client_id: Some(format!("broker-{}-fetcher", shared.broker).into()),
        ..ConnectionOptions::default()
    };
    let deadline = Instant::now() + shared.settings.fetch.timeout;
    let (connection, versions) =
        Connection::open_negotiated(&*fetchers.connector, &server, &options, deadline).await?;
    Ok(Link {
        fetch_version: version::<FetchRequest>(&versions, FETCH_VERSIONS)?,
        list_offsets_version: version::<ListOffsetsRequest>(&versions, LIST_OFFSETS_VERSIONS)?,
        connection,
        session: Session::default(),
    })
}

fn version<R: Request>(versions: &ServerVersions, needed: VersionRange) -> Result<i16, FetchError> {
    versions
        .latest::<R>(needed)
        .ok_or_else(|| FetchError::Version {
            server: versions.server.clone(),
            api: R::KEY,
        })
}

/// Where the leader's log begins and ends.
async fn ends(
    link: &Link,
    shared: &Shared,
    asked: &Asked,
) -> Result<Result<LeaderOffsets, ErrorCode>, FetchError> {
    let start = match offset(link, shared, asked, EARLIEST).await? {
        Ok(start) => start,
        Err(code) => return Ok(Err(code)),
    };
    let end = offset(link, shared, asked, LATEST).await?;
    Ok(end.map(|end| LeaderOffsets { start, end }))
}

async fn offset(
    link: &Link,
    shared: &Shared,
    asked: &Asked,
    timestamp: i64,
) -> Result<Result<Offset, ErrorCode>, FetchError> {
    let partition = ListOffsetsPartition {
        partition_index: asked.hosted.place.index.0,
        current_leader_epoch: asked.fetch.leader_epoch.0,
        timestamp,
        ..ListOffsetsPartition::default()
    };
    let request = ListOffsetsRequest {
        replica_id: shared.broker.0,
        topics: vec![ListOffsetsTopic {
            name: asked.hosted.name.topic.as_str().into(),
            partitions: vec![partition],
            ..ListOffsetsTopic::default()
        }],
        ..ListOffsetsRequest::default()
    };
    let deadline = Instant::now() + shared.settings.fetch.timeout;
    let answer = link
        .connection
        .call(link.list_offsets_version, &request, deadline, |_| {
            Duration::ZERO
        });
    let response: ListOffsetsResponse = answer.await.map_err(VersionsError::from)?;
    let mut partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
    Ok(match partitions.next() {
        Some(answer) if answer.error_code == ErrorCode::NONE.0 => Ok(Offset(answer.offset)),
        Some(answer) => Err(ErrorCode(answer.error_code)),
        None => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    })
}

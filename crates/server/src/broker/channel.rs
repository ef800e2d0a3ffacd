//! Requests of a broker to the active controller.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use klamm_net::{
    Connection, ConnectionOptions, Connector, ServerAddress, ServerVersions, VersionsError,
};
use klamm_protocol::messages::allocate_producer_ids::AllocateProducerIdsRequest;
use klamm_protocol::messages::alter_partition::AlterPartitionRequest;
use klamm_protocol::messages::assign_replicas_to_dirs::AssignReplicasToDirsRequest;
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::broker_registration::BrokerRegistrationRequest;
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::{ApiKey, BrokerId, ErrorCode, LeaderEpoch, Request, VersionRange};
use thiserror::Error;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// The least and the longest pause before a request is sent again.
const BACKOFF_MIN: Duration = Duration::from_millis(20);
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// The controller that leads, as the metadata quorum says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActiveController {
    /// Its node.
    pub(crate) id: BrokerId,
    /// Its epoch.
    pub(crate) epoch: LeaderEpoch,
    /// Where it listens for controllers and brokers.
    pub(crate) address: ServerAddress,
}

/// A request that brokers send to the active controller. It does no harm when it is sent twice.
pub(crate) trait ToController: Request {
    /// The code for the request as a whole.
    fn code(response: &Self::Response) -> ErrorCode;
}

macro_rules! to_controller {
    ($($request:ty,)*) => {
        $(impl ToController for $request {
            fn code(response: &Self::Response) -> ErrorCode {
                ErrorCode(response.error_code)
            }
        })*
    };
}

to_controller! {
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    EnvelopeRequest,
}

/// The active controller gave no answer that counts.
#[derive(Debug, Error)]
pub(crate) enum ChannelError {
    /// Nobody is known to lead.
    #[error(
        "no controller is known to lead; check that the nodes of \
         controller.quorum.bootstrap.servers run and can be reached"
    )]
    NoController,
    /// It has no version of the API that can carry the request.
    #[error(
        "{server}: the controller offers {api} in the versions {offered}, and klamm needs one of \
         {needed}"
    )]
    Unsupported {
        /// The controller.
        server: ServerAddress,
        /// What was to be asked.
        api: ApiKey,
        /// The versions that it offers.
        offered: VersionRange,
        /// Those that klamm has.
        needed: VersionRange,
    },
    /// It was asked until the deadline, or trying again would not help.
    #[error(transparent)]
    Net(#[from] VersionsError),
    /// Every controller that was asked said that another one leads.
    #[error("{0}: the controller does not lead any more, and no other is known to")]
    NotController(ServerAddress),
}

impl ChannelError {
    /// Whether the same request may succeed a moment later.
    fn is_passing(&self) -> bool {
        match self {
            Self::NoController | Self::NotController(_) => true,
            Self::Unsupported { .. } => false,
            Self::Net(VersionsError::Net(error)) => error.cause.is_retriable(),
            Self::Net(VersionsError::Refused { .. }) => true,
        }
    }
}

/// How a broker reaches the active controller: what all of its channels have in common.
#[derive(Clone)]
pub(crate) struct Controllers {
    active: watch::Receiver<Option<ActiveController>>,
    connector: Arc<dyn Connector>,
    options: ConnectionOptions,
    timeout: Duration,
    /// What the one that was connected to last offers.
    offered: Arc<watch::Sender<Option<ServerVersions>>>,
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controllers")
            .field("active", &*self.active.borrow())
            .finish_non_exhaustive()
    }
}

impl Controllers {
    /// `timeout` is the longest wait for one answer, `controller.socket.timeout.ms`.
    pub(crate) fn new(
        active: watch::Receiver<Option<ActiveController>>,
        connector: Arc<dyn Connector>,
        options: ConnectionOptions,
        timeout: Duration,
    ) -> Self {
        Self {
            active,
            connector,
            options,
            timeout,
            offered: Arc::new(watch::Sender::new(None)),
        }
    }

    /// A channel with a connection of its own.
    pub(crate) fn channel(&self) -> ControllerChannel {
        ControllerChannel {
            controllers: self.clone(),
            link: Arc::default(),
        }
    }
}

/// A lasting connection to the active controller, whichever that is. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct ControllerChannel {
    controllers: Controllers,
    link: Arc<Mutex<Option<Arc<Link>>>>,
}

/// A connection to one controller.
#[derive(Debug)]
struct Link {
    to: ActiveController,
    connection: Connection,
    versions: ServerVersions,
}

impl ControllerChannel {
    /// The versions of an API that the controller offers, as far as it is known.
    pub(crate) fn offered(&self, api: ApiKey) -> Option<VersionRange> {
        let offered = self.controllers.offered.borrow();
        offered.as_ref().map(|versions| versions.offered(api))
    }

    /// Asks the active controller until it answers, in the latest version that both have. A
    /// request whose answer is lost, or that reached a controller that leads no more, is sent again.
    pub(crate) async fn ask<R: ToController>(
        &self,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, ChannelError> {
        let mut backoff = BACKOFF_MIN;
        loop {
            let (asked, error) = match self.try_once(request, deadline).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let again = Instant::now() + backoff / 2 + backoff.mul_f64(fastrand::f64() / 2.0);
            if !error.is_passing() || again >= deadline {
                return Err(error);
            }
            tracing::debug!(api = %R::KEY, %error, "asking the controller again");
            self.leave(asked.as_ref()).await;
            let mut active = self.controllers.active.clone();
            tokio::select! {
                () = sleep_until(again) => backoff = (backoff * 2).min(BACKOFF_MAX),
                // Another leads: it need not be left alone.
                Ok(_) = active.wait_for(|active| asked.is_some() && *active != asked) => {
                    backoff = BACKOFF_MIN;
                }
            }
        }
    }

    /// Says whom it has asked when it fails.
    async fn try_once<R: ToController>(
        &self,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, (Option<ActiveController>, ChannelError)> {
        let mut active = self.controllers.active.clone();
        let to = match timeout_at(deadline, active.wait_for(Option::is_some)).await {
            Ok(Ok(to)) => to.clone(),
            // Time is up, or the node stops.
            _ => None,
        };
        let Some(to) = to else {
            return Err((None, ChannelError::NoController));
        };
        let failed = |error| (Some(to.clone()), error);
        let link = self.link(&to, deadline).await;
        let link = link.map_err(|error| failed(error.into()))?;
        let all = R::STABLE;
        let Some(version) = link.versions.latest::<R>(all) else {
            return Err(failed(ChannelError::Unsupported {
                server: to.address.clone(),
                api: R::KEY,
                offered: link.versions.offered(R::KEY),
                needed: all,
            }));
        };
        let at = deadline.min(Instant::now() + self.controllers.timeout);
        let answer = link
            .connection
            .call(version, request, at, |_| Duration::ZERO);
        let response = tokio::select! {
            answer = answer => answer.map_err(|error| {
                failed(VersionsError::from(error).into())
            })?,
            // What one that was replaced has to say does not come, or does not count.
            _ = active.wait_for(|active| active.as_ref() != Some(&to)) => {
                return Err(failed(ChannelError::NotController(to.address.clone())));
            }
        };
        match R::code(&response) {
            ErrorCode::NOT_CONTROLLER => {
                Err(failed(ChannelError::NotController(to.address.clone())))
            }
            _ => Ok(response),
        }
    }

    /// The connection to a controller, made now if there is none.
    async fn link(
        &self,
        to: &ActiveController,
        deadline: Instant,
    ) -> Result<Arc<Link>, VersionsError> {
        let mut link = self.link.lock().await;
        if let Some(link) = &*link
            && link.to == *to
            && !link.connection.is_closed()
        {
            return Ok(Arc::clone(link));
        }
        *link = None;
        let Controllers {
            connector,
            options,
            timeout,
            ..
        } = &self.controllers;
        let at = deadline.min(Instant::now() + *timeout);
        let opened = Connection::open_negotiated(&**connector, &to.address, options, at).await;
        let (connection, versions) = opened?;
        let made = Arc::new(Link {
            to: to.clone(),
            connection,
            versions,
        });
        let versions = Some(made.versions.clone());
        self.controllers.offered.send_replace(versions);
        *link = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Closes the connection to a controller that gave no good answer.
    async fn leave(&self, asked: Option<&ActiveController>) {
        let mut link = self.link.lock().await;
        if link.as_ref().map(|link| &link.to) == asked {
            *link = None;
        }
    }
}

#[cfg(test)]
mod tests;

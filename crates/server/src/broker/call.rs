use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use klamm_protocol::{ApiKey, BrokerId, Request, Segments, frame};
use tokio::sync::watch;

use super::{ControllerChannel, Published, table};
use crate::apis::{Answering, Unserved, decode, encode, unsupported};
use crate::listener::{Order, Origin, Service};
use crate::replicas::Replicas;
use crate::settings::BrokerSettings;

/// What the APIs of a broker have.
#[derive(Debug)]
pub(crate) struct Serving {
    /// This broker.
    pub(super) id: BrokerId,
    /// The cluster's id.
    pub(super) cluster_id: String,
    /// The configuration.
    pub(super) settings: BrokerSettings,
    /// What the broker knows of the cluster.
    pub(super) published: watch::Receiver<Published>,
    /// Its replicas.
    pub(super) replicas: Replicas,
    /// The way to the controller for what clients ask of it.
    pub(super) forwarding: ControllerChannel,
}

impl Serving {
    /// The cluster as it is known now.
    pub(super) fn published(&self) -> Published {
        self.published.borrow().clone()
    }
}

/// A request's circumstances, as handlers see them.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The version of the request, and so of its answer.
    pub(super) version: i16,
    /// Where it came from.
    pub(super) origin: Origin,
    /// What serves it.
    pub(super) broker: Arc<Serving>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Reply<R> {
    /// It is answered.
    Answer(R),
    /// It wants no answer.
    Silence,
    /// The connection is closed, for its client would hear of the failure by nothing else.
    Close,
}

/// An API that a broker serves by itself.
pub(super) trait Serve: Request {
    /// Serves a request.
    fn serve(self, call: Call) -> impl Future<Output = Reply<Self::Response>> + Send;
}

/// A broker, as its listeners reach it.
#[derive(Clone, Debug)]
pub(super) struct BrokerService(pub(super) Arc<Serving>);

impl Service for BrokerService {
    async fn serve(&self, origin: Origin, frame: Bytes) -> Result<Option<Segments>, Unserved> {
        let api = frame::peek_request(&frame).map_err(Unserved::NoHeader)?;
        let Some(row) = table::row(api.key) else {
            return Err(Unserved::Unknown(api));
        };
        if !row.versions.contains(api.version) {
            return match api.key {
                ApiKey::API_VERSIONS => unsupported(&frame, row.versions).map(Some),
                _ => Err(Unserved::Unknown(api)),
            };
        }
        let call = Call {
            version: api.version,
            origin,
            broker: Arc::clone(&self.0),
        };
        (row.serve)(call, frame).answered().await
    }

    /// A producer that has sent several batches has them written one after the other, and then waits
    /// for all of them: the brokers that follow get them with one Fetch.
    fn order(&self, frame: &Bytes) -> Order {
        match frame::peek_request(frame) {
            Ok(api) if api.key == ApiKey::PRODUCE => Order::Begun,
            _ => Order::Whole,
        }
    }

    fn closed(&self, _: &Origin) {}
}

/// Serves a request of an API that the broker answers by itself.
pub(super) fn served<R: Serve>(call: Call, frame: Bytes) -> Answering<Option<Segments>> {
    Answering::new(async move {
        let (header, request) = decode::<R>(&frame)?;
        // What is still needed of it is in the request.
        drop(frame);
        match request.serve(call).await {
            Reply::Answer(response) => encode::<R>(&header, &response).map(Some),
            Reply::Silence => Ok(None),
            Reply::Close => Err(Unserved::Stopped),
        }
    })
}

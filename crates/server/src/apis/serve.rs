//! From a frame to its answer: decoded on the connection's task, decided on the controller's,
//! encoded on the connection's again.

use std::sync::Arc;

use bytes::Bytes;
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::{ApiKey, BrokerId, ErrorCode, Request, Segments, frame};
use klamm_raft::Response;
use tokio::sync::oneshot;

use super::exchange::{Answering, Api, Unserved, decode, encode};
use super::{api_versions, envelope, table};
use crate::client::Client;
use crate::controller::{Active, CommitError, Controller, Handle, Peer, Pending, Stopped};
use crate::listener::{Origin, Service};
use crate::quorum::{QuorumAnswer, Records};

/// Who sent a frame, and what serves it.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// Where it came from.
    pub(crate) origin: Origin,
    /// Whether a broker forwards it for its client.
    pub(crate) is_forwarded: bool,
    /// The controller.
    pub(crate) handle: Handle,
}

/// An answer as it goes out.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) frame: Segments,
    /// Whether it says no more than that another node is the active controller.
    pub(super) not_controller: bool,
}

impl Answered {
    fn of<R: Request>(header: &RequestHeader, response: &R::Response) -> Result<Self, Unserved> {
        Ok(encode::<R>(header, response)?.into())
    }
}

impl From<Segments> for Answered {
    fn from(frame: Segments) -> Self {
        Self {
            frame,
            not_controller: false,
        }
    }
}

/// A request's circumstances, as handlers see them.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The version of the request, and so of its answer.
    pub(crate) version: i16,
    /// Who asks.
    pub(crate) client: Client,
    /// The listener that it came in by.
    pub(crate) listener: Arc<str>,
    /// The connection that it came by.
    pub(crate) peer: Peer,
    /// Whether a broker has checked it and forwards it for its client.
    pub(crate) is_forwarded: bool,
    /// When it arrived.
    pub(crate) arrived: klamm_controller::Now,
}

impl From<Stopped> for Unserved {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<oneshot::error::RecvError> for Unserved {
    fn from(_: oneshot::error::RecvError) -> Self {
        Self::Stopped
    }
}

/// An API that the active controller decides.
pub(super) trait Decide: Api {
    /// Decides and commits, and says when the answer may go out.
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<Self::Response>, CommitError>;
}

/// An API that every controller answers by what it knows.
pub(super) trait Ask: Api {
    /// The answer.
    fn answer(&self, call: &Call, controller: &mut Controller) -> Self::Response;
}

/// An API of KRaft.
pub(super) trait Quorate: Api {
    /// The request in the words of KRaft.
    fn into_quorum(self) -> klamm_raft::Request;
    /// Its answer; `None` for that to another request.
    fn from_quorum(response: Response) -> Option<Self::Response>;
    /// Puts records into the answer.
    fn put_records(_response: &mut Self::Response, _records: Bytes) {}
    /// The broker that asks, where the request says so.
    fn broker(&self) -> Option<BrokerId> {
        None
    }
}

/// The controller, as its listeners reach it.
#[derive(Clone, Debug)]
pub(crate) struct ControllerService(pub(crate) Handle);

impl Service for ControllerService {
    async fn serve(&self, origin: Origin, frame: Bytes) -> Result<Option<Segments>, Unserved> {
        let caller = Caller {
            origin,
            is_forwarded: false,
            handle: self.0.clone(),
        };
        let answered = dispatch(caller, frame)?.answered().await?;
        Ok(Some(answered.frame))
    }

    fn closed(&self, origin: &Origin) {
        self.0.closed(&origin.peer);
    }
}

/// Finds who serves a frame. What was forwarded may be for fewer APIs.
pub(super) fn dispatch(caller: Caller, frame: Bytes) -> Result<Answering<Answered>, Unserved> {
    let api = frame::peek_request(&frame).map_err(Unserved::NoHeader)?;
    let Some(row) = table::row(api.key) else {
        return Err(Unserved::Unknown(api));
    };
    if !row.versions.contains(api.version) && api.key == ApiKey::API_VERSIONS {
        let refused = api_versions::unsupported(&frame, row.versions)?;
        return Ok(Answering::new(async { Ok(refused.into()) }));
    }
    if !row.versions.contains(api.version) || caller.is_forwarded && !row.is_forwardable {
        return Err(Unserved::Unknown(api));
    }
    Ok((row.serve)(caller, frame))
}

impl Caller {
    fn call(&self, version: i16) -> Call {
        Call {
            version,
            client: self.origin.client.clone(),
            listener: Arc::clone(&self.origin.listener),
            peer: self.origin.peer.clone(),
            is_forwarded: self.is_forwarded,
            arrived: self.handle.now().into(),
        }
    }
}

/// A response, or that another node is the active controller.
struct Reply<R> {
    response: R,
    not_controller: bool,
}

pub(super) fn decided<R: Decide>(caller: Caller, frame: Bytes) -> Answering<Answered> {
    Answering::new(async move {
        let (header, request) = decode::<R>(&frame)?;
        let call = caller.call(header.request_api_version);
        let (reply, replied) = oneshot::channel();
        let work = move |controller: &mut Controller| decide(controller, request, call, reply);
        caller.handle.run(work).await?;
        let Reply {
            response,
            not_controller,
        } = replied.await?;
        Ok(Answered {
            frame: encode::<R>(&header, &response)?,
            not_controller,
        })
    })
}

fn decide<R: Decide>(
    controller: &mut Controller,
    request: R,
    call: Call,
    reply: oneshot::Sender<Reply<R::Response>>,
) {
    let version = call.version;
    let refused = move |request: &R, error: ErrorCode, text: Option<&str>| Reply {
        response: request.refused(version, error, text),
        not_controller: error == ErrorCode::NOT_CONTROLLER,
    };
    // Who asked may be gone: then nobody wants the reply.
    if let Some(error) = unauthorized::<R>(controller, &call) {
        let _ = reply.send(refused(&request, error, None));
        return;
    }
    let decided = match controller.active() {
        Some(mut active) => {
            active.by = Some(&call.client);
            request.decide(&call, &mut active)
        }
        None => {
            let _ = reply.send(refused(&request, ErrorCode::NOT_CONTROLLER, None));
            return;
        }
    };
    match decided {
        Ok(Pending { response, at }) => controller.park(at, move |is_committed| {
            let _ = reply.send(match is_committed {
                true => Reply {
                    response,
                    not_controller: false,
                },
                false => refused(&request, ErrorCode::NOT_CONTROLLER, None),
            });
        }),
        Err(error) => {
            tracing::error!(api = %R::api_version(version), %error, "request failed");
            let code = ErrorCode::from(&error);
            let _ = reply.send(refused(&request, code, Some(&error.to_string())));
        }
    }
}

fn unauthorized<R: Api>(controller: &Controller, call: &Call) -> Option<ErrorCode> {
    let needed = R::NEEDS?;
    let allowed = controller.allows_on_cluster(&call.client, needed);
    (!allowed).then_some(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
}

pub(super) fn asked<R: Ask>(caller: Caller, frame: Bytes) -> Answering<Answered> {
    Answering::new(async move {
        let (header, request) = decode::<R>(&frame)?;
        let call = caller.call(header.request_api_version);
        let (reply, replied) = oneshot::channel();
        let work = move |controller: &mut Controller| {
            let response = match unauthorized::<R>(controller, &call) {
                Some(error) => request.refused(call.version, error, None),
                None => request.answer(&call, controller),
            };
            // What it was made of is committed when the answer goes out, or the answer is not the
            // leader's any more and as good as any.
            controller.park(controller.end(), move |_| {
                let _ = reply.send(response);
            });
        };
        caller.handle.run(work).await?;
        Answered::of::<R>(&header, &replied.await?)
    })
}

pub(super) fn quorate<R: Quorate>(caller: Caller, frame: Bytes) -> Answering<Answered> {
    Answering::new(async move {
        let (header, request) = decode::<R>(&frame)?;
        let call = caller.call(header.request_api_version);
        let (refusal, is_refused) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let work = move |controller: &mut Controller| {
            if let Some(error) = unauthorized::<R>(controller, &call) {
                let _ = refusal.send(request.refused(call.version, error, None));
                return;
            }
            if let Some(broker) = request.broker() {
                controller.presence().claim(&call.peer, broker, None);
            }
            let request = request.into_quorum();
            controller.ask_quorum(&call.listener, call.version, request, answer);
        };
        caller.handle.run(work).await?;
        if let Ok(refused) = is_refused.await {
            return Answered::of::<R>(&header, &refused);
        }
        let QuorumAnswer { response, records } = answered.await?;
        let mut response = R::from_quorum(response).expect("KRaft answers what it was asked");
        R::put_records(&mut response, read(records).await);
        Answered::of::<R>(&header, &response)
    })
}

/// Reads records. Where they are gone meanwhile there are none, and who wants them asks again.
async fn read(records: Records) -> Bytes {
    match records {
        Records::Memory(records) => records,
        Records::Files(store, read) => {
            let read = tokio::task::spawn_blocking(move || store.read(read));
            match read.await {
                Ok(Ok(records)) => records,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "records cannot be read for a follower");
                    Bytes::new()
                }
                Err(_) => Bytes::new(),
            }
        }
    }
}

pub(super) fn forwarded(caller: Caller, frame: Bytes) -> Answering<Answered> {
    Answering::new(envelope::serve(caller, frame))
}

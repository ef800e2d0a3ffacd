use klamm_net::{NetError, ServerAddress};
use klamm_protocol::{ErrorCode, VersionRange};
use tokio::time::{Instant, sleep_until};

use crate::ClientError;
use crate::api::ClientRequest;
use crate::client::{Client, Route};
use crate::retry::{Backoff, Deadline, server_timeout_ms};

/// What a request does to the cluster, and so what a lost answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing: it may be sent again.
    Read,
    /// The same when it is done twice: it may be sent again.
    Repeatable,
    /// Something else when it is done twice: it is not sent again once it may have arrived.
    Once,
}

/// A request to be made: where to, in which versions, and what may be done when it fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) route: Route,
    pub(crate) effect: Effect,
    pub(crate) deadline: Deadline,
    pub(crate) needed: VersionRange,
    pub(crate) reason: Option<&'static str>,
}

/// What an answer means for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It ends the call.
    Take,
    /// The request is to be sent again, if there is time.
    Retry(ErrorCode),
}

impl Verdict {
    /// Sends a request again that met no controller, or could not be decided for a passing reason.
    pub(crate) fn of(code: i16) -> Self {
        let code = ErrorCode(code);
        if code.is_retriable() {
            Self::Retry(code)
        } else {
            Self::Take
        }
    }

    /// Sends a request again that met no controller; every other error is for the caller.
    pub(crate) fn of_items(codes: impl IntoIterator<Item = i16>) -> Self {
        let moved = codes
            .into_iter()
            .any(|code| ErrorCode(code) == ErrorCode::NOT_CONTROLLER);
        if moved {
            Self::Retry(ErrorCode::NOT_CONTROLLER)
        } else {
            Self::Take
        }
    }
}

/// An answer, and who gave it in which version.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    pub(crate) response: T,
    pub(crate) version: i16,
    pub(crate) server: ServerAddress,
}

impl Call {
    pub(crate) fn new(route: Route, effect: Effect, deadline: Deadline) -> Self {
        let needed = VersionRange::new(0, i16::MAX);
        Self {
            route,
            effect,
            deadline,
            needed,
            reason: None,
        }
    }

    /// Needs a version from this one on, and says for what.
    pub(crate) fn needing(mut self, version: i16, reason: &'static str) -> Self {
        if version > self.needed.min {
            self.needed.min = version;
            self.reason = Some(reason);
        }
        self
    }

    /// Makes the call. `build` gets the version and the `timeout_ms` for the server each time;
    /// `judge` says whether an answer ends the call. When the time is over, the last answer ends
    /// it, whatever it says.
    pub(crate) async fn make<R: ClientRequest>(
        &self,
        client: &Client,
        build: impl Fn(i16, i32) -> R,
        mut judge: impl FnMut(i16, &R::Response) -> Verdict,
    ) -> Result<Answer<R::Response>, ClientError> {
        let backoff = Backoff::between_retries(client.config());
        let mut attempts = 0;
        let mut outcome_unknown = false;
        let mut failed = Vec::new();
        if self.deadline.is_over() {
            return Err(ClientError::GaveUp {
                api: R::KEY,
                after: self.deadline.total(),
                attempts,
                out_of_retries: false,
                last: None,
                outcome_unknown,
            });
        }
        loop {
            let result = self.once(client, &mut failed, &build).await;
            let mut verdict = Verdict::Take;
            if let Ok(answer) = &result {
                verdict = judge(answer.version, &answer.response);
                if verdict == Verdict::Retry(ErrorCode::NOT_CONTROLLER)
                    && client.not_controller(&answer.server)
                {
                    continue;
                }
            }
            attempts += 1;
            let out_of_retries = attempts > client.config().retries;
            let next = self
                .deadline
                .at
                .min(Instant::now() + backoff.after(attempts));
            let ends = out_of_retries || next >= self.deadline.at;
            match result {
                Ok(answer) => match verdict {
                    Verdict::Retry(code) if !ends => {
                        if code.is_invalid_metadata() {
                            client.distrust_cluster();
                        }
                    }
                    _ => return Ok(answer),
                },
                Err(error) => {
                    let sent = matches!(&error, ClientError::Net(NetError { sent: true, .. }));
                    let is_final = !error.is_retriable();
                    match error {
                        // An answer that cannot be read is a lost one as well.
                        ClientError::Net(cause)
                            if sent
                                && (self.effect == Effect::Once
                                    || is_final && self.effect == Effect::Repeatable) =>
                        {
                            return Err(ClientError::OutcomeUnknown { api: R::KEY, cause });
                        }
                        error if is_final && !outcome_unknown => return Err(error),
                        _ => outcome_unknown |= sent && self.effect != Effect::Read,
                    }
                    if ends || is_final {
                        return Err(ClientError::GaveUp {
                            api: R::KEY,
                            after: self.deadline.elapsed(),
                            attempts,
                            out_of_retries,
                            last: Some(Box::new(error)),
                            outcome_unknown,
                        });
                    }
                }
            }
            sleep_until(next).await;
        }
    }

    /// Sends the request once, whatever its answer says. `failed` is as for [`Client::peer`].
    pub(crate) async fn once<R: ClientRequest>(
        &self,
        client: &Client,
        failed: &mut Vec<ServerAddress>,
        build: impl FnOnce(i16, i32) -> R,
    ) -> Result<Answer<R::Response>, ClientError> {
        let peer = client.peer(self.route, failed, &self.deadline).await;
        let peer = peer.map_err(before_sending)?;
        let version = peer.choose::<R>(self.needed, self.reason)?;
        let at = self.deadline.within(client.config().request_timeout);
        let request = build(version, server_timeout_ms(at));
        let pause = move |response: &_| R::pause(version, response);
        let server = peer.connection.server().clone();
        match peer.connection.call(version, &request, at, pause).await {
            Ok(response) => Ok(Answer {
                response,
                version,
                server,
            }),
            Err(error) => {
                // A server that does not answer one request holds back the answers behind it. One
                // that asked for a pause gets it: a new connection would go around it.
                if error.sent || peer.connection.is_closed() {
                    client.pool().retire(&peer);
                    client.distrust_cluster();
                    failed.push(server);
                }
                Err(self.deadline.in_full(error).into())
            }
        }
    }
}

/// What a lost answer to a handshake means: the call's own request was not sent yet.
fn before_sending(error: ClientError) -> ClientError {
    match error {
        ClientError::Net(error) => ClientError::Net(NetError {
            sent: false,
            ..error
        }),
        error => error,
    }
}

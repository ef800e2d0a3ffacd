//! Where a node tells of itself: whether it is well, whether it is ready, and its metrics.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::controller::{Controller, Handle, Readiness};
use crate::http::{self, HttpLimits, HttpServer};
use crate::listener::{Bound, Limits};
use crate::metrics::Scrape;
use crate::node::StartError;
use crate::settings::ControllerSettings;

/// How long the controller has to answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// What whoever asks may take of the node: a few connections, and none of the controller's.
const LIMITS: HttpLimits = HttpLimits {
    connections: 32,
    head_time: Duration::from_secs(10),
    connection_time: Duration::from_secs(300),
    buffered_bytes: 16 << 10,
};

const PLAIN: &str = "text/plain; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    handle: Handle,
    listeners: Vec<(Arc<str>, Arc<Limits>)>,
    started_ms: i64,
}

/// The controller did not answer in time, or has stopped.
#[derive(Clone, Copy, Debug)]
struct Silent;

impl Endpoint {
    /// Takes the port, if one is configured.
    pub(crate) async fn bind(settings: &ControllerSettings) -> Result<Option<Bound>, StartError> {
        let Some(address) = settings.http_listener.clone() else {
            return Ok(None);
        };
        let backlog = settings.connections.listen_backlog;
        let bound = Bound::bind("HTTP", Some(address.host()), address.port(), backlog).await;
        match bound {
            Ok(bound) => Ok(Some(bound)),
            Err(source) => Err(StartError::BindHttp { address, source }),
        }
    }

    pub(crate) fn new(handle: Handle, listeners: Vec<(Arc<str>, Arc<Limits>)>) -> Self {
        Self {
            started_ms: handle.now().timestamp_ms,
            handle,
            listeners,
        }
    }

    /// Answers until the node closes.
    pub(crate) async fn serve(self, bound: Bound, closing: watch::Receiver<bool>) {
        let listener = bound.into_inner();
        let mut closed = closing.clone();
        tokio::select! {
            never = http::accept(listener, Arc::new(self), LIMITS, closing) => match never {},
            _ = closed.wait_for(|closed| *closed) => {}
        }
    }

    /// Asks the controller's task.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Controller) -> T + Send + 'static,
    ) -> Result<T, Silent> {
        let (reply, replied) = oneshot::channel();
        let asked = async {
            let work = move |controller: &mut Controller| {
                // Who asked may have given up.
                let _ = reply.send(question(controller));
            };
            self.handle.run(work).await.map_err(|_| Silent)?;
            replied.await.map_err(|_| Silent)
        };
        timeout(ANSWER_TIME, asked).await.map_err(|_| Silent)?
    }

    async fn healthz(&self) -> Response<Full<Bytes>> {
        match self.ask(|_| ()).await {
            Ok(()) => text(StatusCode::OK, PLAIN, "ok\n"),
            Err(Silent) => silent(),
        }
    }

    async fn readyz(&self) -> Response<Full<Bytes>> {
        let Ok(readiness) = self.ask(|controller| controller.readiness()).await else {
            return silent();
        };
        let (status, what) = match readiness {
            Readiness::Active => (StatusCode::OK, "active\n"),
            Readiness::Following => (StatusCode::OK, "following\n"),
            Readiness::NoLeader => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the quorum has no leader that this node knows of\n",
            ),
            Readiness::Beginning => (
                StatusCode::SERVICE_UNAVAILABLE,
                "elected, and nothing is committed yet\n",
            ),
            Readiness::Behind => (
                StatusCode::SERVICE_UNAVAILABLE,
                "still to fetch what is committed\n",
            ),
        };
        text(status, PLAIN, what)
    }

    async fn metrics(&self) -> Response<Full<Bytes>> {
        // What waits besides this question.
        let queued = self.handle.queued();
        let Ok(reading) = self.ask(Controller::reading).await else {
            return silent();
        };
        let listeners = self.listeners.iter();
        let scrape = Scrape {
            controller: reading,
            listeners: listeners
                .map(|(name, limits)| (Arc::clone(name), limits.tally()))
                .collect(),
            queued,
            started_ms: self.started_ms,
        };
        text(StatusCode::OK, PROMETHEUS, scrape.text())
    }
}

impl HttpServer for Endpoint {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut response = text(
                StatusCode::METHOD_NOT_ALLOWED,
                PLAIN,
                "GET and HEAD are all that there is.\n",
            );
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            return response;
        }
        match request.uri().path() {
            "/healthz" => self.healthz().await,
            "/readyz" => self.readyz().await,
            "/metrics" => self.metrics().await,
            _ => text(
                StatusCode::NOT_FOUND,
                PLAIN,
                "There are /healthz, /readyz and /metrics.\n",
            ),
        }
    }
}

fn silent() -> Response<Full<Bytes>> {
    let what = "the controller does not answer: it stops, or is stuck\n";
    text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, what)
}

fn text(
    status: StatusCode,
    media_type: &'static str,
    content: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content.into()));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

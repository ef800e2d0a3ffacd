use std::collections::BTreeMap;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Body;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use klamm_explain::html::{MOST_INPUT_BYTES, Page, Site, decoded, problem};
use klamm_protocol::Bytes;
use tokio::sync::Semaphore;

use super::asked::{Asked, Pairs};

/// How many inputs are read and decoded at a time; each may take a gigabyte for a moment.
const MOST_DECODED: usize = 2;
/// How long an input may take to come, and to wait for those before it.
const INPUT_TIME: Duration = Duration::from_secs(30);

const SITE: Site = Site { served: true };
const HTML: &str = "text/html; charset=utf-8";
const FORM: &str = "application/x-www-form-urlencoded";

/// Scripts, styles and answers come from here alone; nobody frames the pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// What is served.
pub(super) struct Server {
    /// What browsers may call it.
    hosts: [String; 2],
    pages: BTreeMap<String, Page>,
    /// Media type and content by path.
    assets: BTreeMap<&'static str, (&'static str, Bytes)>,
    decoding: Semaphore,
    show_secrets: bool,
}

impl Server {
    pub(super) fn new(port: u16, show_secrets: bool) -> Self {
        Self {
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            pages: SITE.pages().map(|page| (page.path(), page)).collect(),
            assets: SITE
                .assets()
                .into_iter()
                .map(|asset| (asset.path, (asset.media_type, asset.content.into())))
                .collect(),
            decoding: Semaphore::new(MOST_DECODED),
            show_secrets,
        }
    }

    /// Answers a request.
    pub(super) async fn answer<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut response = if !self.is_for_us(&request) {
            let text = "This server answers to 127.0.0.1 and to localhost only.\n";
            plain(StatusCode::MISDIRECTED_REQUEST, text)
        } else if request.method() == Method::POST {
            self.post(request).await
        } else if request.method() == Method::GET || request.method() == Method::HEAD {
            self.page(request.uri().path())
        } else {
            let text = "Pages are asked for with GET, bytes sent with POST.\n";
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
            let allowed = HeaderValue::from_static("GET, HEAD, POST");
            response.headers_mut().insert(header::ALLOW, allowed);
            response
        };
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            // Without a referrer, a form of ours would say that it comes from nowhere.
            (header::REFERRER_POLICY, "same-origin"),
            (header::CACHE_CONTROL, "no-store"),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
        ] {
            let headers = response.headers_mut();
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// Whether a request names this server. A name of an attacker's that leads to 127.0.0.1 would
    /// make the pages, and what they decoded, the attacker's own.
    fn is_for_us<B>(&self, request: &Request<B>) -> bool {
        let is_ours = |name: &str| self.hosts.iter().any(|host| host == name);
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        host.is_some_and(is_ours)
            && hosts.next().is_none()
            && request
                .uri()
                .authority()
                .is_none_or(|name| is_ours(name.as_str()))
    }

    fn page(&self, path: &str) -> Response<Full<Bytes>> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = if path.is_empty() { "index.html" } else { path };
        if let Some(page) = self.pages.get(path) {
            return html(StatusCode::OK, SITE.render(*page));
        }
        match self.assets.get(path) {
            Some((media_type, content)) => content_of(StatusCode::OK, media_type, content.clone()),
            None => plain(StatusCode::NOT_FOUND, "There is no such page.\n"),
        }
    }

    async fn post<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if request.uri().path() != "/decode.html" {
            return plain(StatusCode::NOT_FOUND, "There is no such page.\n");
        }
        if !self.is_from_us(&request) {
            let text = "Bytes are taken from pages of this server only.\n";
            return plain(StatusCode::FORBIDDEN, text);
        }
        let (head, body) = request.into_parts();
        let query = Pairs::parse(head.uri.query().unwrap_or_default());
        let is_part = query.value("part") == Some("result");
        let reply = |status, result: String| {
            if is_part {
                html(status, result)
            } else {
                html(status, SITE.decode_page(&result))
            }
        };
        // What says that it is too much is not waited for.
        if body.size_hint().lower() > MOST_INPUT_BYTES as u64 {
            return close(reply(StatusCode::PAYLOAD_TOO_LARGE, too_much()));
        }
        // One that waits holds no bytes.
        let permit = tokio::time::timeout(INPUT_TIME, self.decoding.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            let result = problem(
                "The server is busy",
                "Others are being decoded",
                "Try again.",
            );
            return reply(StatusCode::SERVICE_UNAVAILABLE, result);
        };
        let bytes = match read(body).await {
            Ok(bytes) => bytes,
            Err((status, result)) => return close(reply(status, result)),
        };
        let is_form = head
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with(FORM));
        let show_secrets = self.show_secrets;
        let work = tokio::task::spawn_blocking(move || decode(bytes, query, is_form, show_secrets));
        match work.await {
            Ok(result) => reply(StatusCode::OK, result),
            Err(_) => {
                let result = problem("These bytes broke the decoder", "", "Please report them.");
                reply(StatusCode::INTERNAL_SERVER_ERROR, result)
            }
        }
    }

    /// Whether a page of this server sent the request, as far as browsers say.
    fn is_from_us<B>(&self, request: &Request<B>) -> bool {
        let header = |name: HeaderName| request.headers().get(name);
        let origin = header(header::ORIGIN).is_none_or(|origin| {
            let mut ours = self.hosts.iter();
            ours.any(|host| origin.as_bytes() == format!("http://{host}").as_bytes())
        });
        let site = header(HeaderName::from_static("sec-fetch-site"));
        origin && site.is_none_or(|site| site == "same-origin" || site == "none")
    }
}

async fn read<B>(body: B) -> Result<Bytes, (StatusCode, String)>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let body = Limited::new(body, MOST_INPUT_BYTES);
    let Ok(read) = tokio::time::timeout(INPUT_TIME, body.collect()).await else {
        let result = problem("The bytes did not come in time", "", "Try again.");
        return Err((StatusCode::REQUEST_TIMEOUT, result));
    };
    read.map(|body| body.to_bytes()).map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            (StatusCode::PAYLOAD_TOO_LARGE, too_much())
        } else {
            let result = problem(
                "The bytes did not all come",
                &error.to_string(),
                "Try again.",
            );
            (StatusCode::BAD_REQUEST, result)
        }
    })
}

fn too_much() -> String {
    problem(
        "That is more than this page takes",
        &format!("It takes {} MiB", MOST_INPUT_BYTES >> 20),
        "Decode it with klamm explain --file, which takes more.",
    )
}

/// What a page shows of what was sent.
fn decode(bytes: Bytes, query: Pairs, is_form: bool, show_secrets: bool) -> String {
    let asked = if is_form {
        Asked::of_form(&bytes, query)
    } else {
        Asked::of_file(bytes, query)
    };
    match asked {
        Ok(asked) => {
            let mut ask = asked.ask;
            ask.options.show_secrets |= show_secrets;
            decoded(asked.bytes, &ask).html
        }
        Err(result) => result,
    }
}

fn html(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    content_of(status, HTML, text.into())
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let text = Bytes::from_static(text.as_bytes());
    content_of(status, "text/plain; charset=utf-8", text)
}

fn content_of(
    status: StatusCode,
    media_type: &'static str,
    content: Bytes,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

/// What was not read of the request is not waited for.
fn close(mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

#[cfg(test)]
mod tests;

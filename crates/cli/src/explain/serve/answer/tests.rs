use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Frame, SizeHint};

use super::*;

const REQUEST: &str = "00000019002b0002000000000000000002010200000000000000000000";

fn asked(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
    let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    asked_with(method, path, headers, body)
}

fn asked_with<B>(method: &str, path: &str, headers: &[(&str, &str)], body: B) -> Answered
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let response = Server::new(4711, false).answer(request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answered {
            status: head.status.as_u16(),
            policy: head.headers[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .unwrap()
                .to_owned(),
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    })
}

struct Answered {
    status: u16,
    policy: String,
    body: String,
}

const HOST: (&str, &str) = ("host", "127.0.0.1:4711");
const TEXT: (&str, &str) = ("content-type", FORM);

fn decoded_text(text: &str) -> Answered {
    let path = "/decode.html?part=result";
    asked("POST", path, &[HOST, TEXT], &format!("text={text}"))
}

#[test]
fn pages_and_assets_are_served_with_a_policy() {
    for path in [
        "/",
        "/apis/ElectLeaders.html",
        "/decode.html",
        "/assets/klamm.js",
        "/assets/klamm.css",
    ] {
        let answered = asked("GET", path, &[HOST], "");
        assert_eq!(answered.status, 200, "{path}");
        assert!(!answered.policy.contains("unsafe"));
    }
    let localhost = asked("GET", "/", &[("host", "localhost:4711")], "");
    assert_eq!(localhost.status, 200);
}

#[test]
fn other_names_of_this_machine_are_refused() {
    let evil = ("host", "not:4711");
    for headers in [
        &[][..],
        &[evil],
        &[("host", "127.0.0.1")],
        &[("host", "127.0.0.1:80")],
        &[HOST, evil],
    ] {
        assert_eq!(asked("GET", "/", headers, "").status, 421, "{headers:?}");
    }
    let absolute = asked("GET", "http://not/", &[HOST], "");
    assert_eq!(absolute.status, 421);
}

#[test]
fn no_path_leads_elsewhere() {
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "//index.html",
        "/apis/",
        "/apis/../index.html",
        "/apis/LeaderAndIsr.html",
        "/assets/klamm.css/",
        "/index.html%00",
    ] {
        assert_eq!(asked("GET", path, &[HOST], "").status, 404, "{path}");
    }
    assert_eq!(asked("DELETE", "/", &[HOST], "").status, 405);
    assert_eq!(asked("POST", "/", &[HOST], "").status, 404);
}

#[test]
fn other_sites_cannot_send_bytes() {
    let body = format!("text={REQUEST}");
    for header in [
        ("origin", "http://not"),
        ("origin", "null"),
        ("origin", "https://127.0.0.1:4711"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let answered = asked("POST", "/decode.html", &[HOST, TEXT, header], &body);
        assert_eq!(answered.status, 403, "{header:?}");
    }
    let own = ("origin", "http://127.0.0.1:4711");
    let answered = asked("POST", "/decode.html", &[HOST, TEXT, own], &body);
    assert_eq!(answered.status, 200);
    // Without a script it is a whole page.
    assert!(answered.body.starts_with("<!DOCTYPE html>"));
    assert!(answered.body.contains("ElectLeadersRequest v2"));
}

#[test]
fn bytes_are_decoded_and_broken_ones_said_to_be() {
    let answered = decoded_text(REQUEST);
    assert!(
        answered
            .body
            .contains("ElectLeadersRequest v2, correlation id 0: 29 bytes")
    );
    let cut = decoded_text(&REQUEST[..30]);
    assert_eq!(cut.status, 200);
    assert!(cut.body.contains("class=\"stopped\""), "{}", cut.body);
    let capture = asked(
        "POST",
        "/decode.html?part=result",
        &[HOST],
        "\u{a}\u{d}\u{d}\u{a}x",
    );
    assert!(
        capture.body.contains("class=\"problem\""),
        "{}",
        capture.body
    );
    let empty = asked("POST", "/decode.html?part=result", &[HOST], "");
    assert!(empty.body.contains("There are no bytes"));
}

#[test]
fn what_was_sent_is_never_markup() {
    let hostile = "<img src=x onerror=alert(1)>\"'";
    let hex: String = hostile.bytes().map(|byte| format!("{byte:02x}")).collect();
    // ApiVersions v3 with a hostile client id and a hostile name of its software.
    let len = hostile.len();
    let head = format!("0012000300000007{len:04x}{hex}00{:02x}{hex}", len + 1);
    let frame = format!("{:08x}{head}0100", head.len() / 2 + 2);
    for text in [frame.as_str(), hostile, &hex] {
        let answered = decoded_text(text);
        assert!(!answered.body.contains("<img"), "{}", answered.body);
        assert!(
            !answered.body.contains("onerror=alert(1)>"),
            "{}",
            answered.body
        );
    }
    assert!(
        decoded_text(&frame)
            .body
            .contains("&lt;img src=x onerror=alert(1)&gt;")
    );
    let path = "/decode.html?part=%3Cimg%3E&name=%3Cimg%3E&kind=response&api=%3Cimg%3E";
    let answered = asked("POST", path, &[HOST, TEXT], "text=00");
    assert!(!answered.body.contains("<img"), "{}", answered.body);
}

#[test]
fn secrets_are_left_out_unless_asked_for() {
    // SaslAuthenticate v0 with the bytes of `secret`.
    let frame = "0000001400240000000000070000000000067365637265740a";
    let frame = &frame[..frame.len() - 2];
    let hidden = decoded_text(frame);
    assert!(!hidden.body.contains("secret"), "{}", hidden.body);
    assert!(!hidden.body.contains(">73<"), "{}", hidden.body);
    let shown = decoded_text(&format!("{frame}&secrets=show"));
    assert!(shown.body.contains("&quot;secret&quot;"), "{}", shown.body);
}

/// A body that says how much it is at least, and comes without an end if it may be read.
struct Endless {
    says: u64,
    may_be_read: bool,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        assert!(self.may_be_read, "it was read");
        let chunk = Bytes::from_static(&[b'0'; 1 << 16]);
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(self.says);
        hint
    }
}

#[test]
fn too_many_bytes_are_refused() {
    let said = Endless {
        says: MOST_INPUT_BYTES as u64 + 1,
        may_be_read: false,
    };
    let unsaid = Endless {
        says: 0,
        may_be_read: true,
    };
    for body in [said, unsaid] {
        let answered = asked_with("POST", "/decode.html?part=result", &[HOST], body);
        assert_eq!(answered.status, 413);
        assert!(answered.body.contains("64 MiB"));
    }
}

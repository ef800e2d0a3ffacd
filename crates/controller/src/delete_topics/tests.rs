use klamm_protocol::messages::delete_topics::DeleteTopicState;

use super::*;
use crate::testing::{Fixture, topic_id};

fn state(name: Option<&str>, topic_id: Uuid) -> DeleteTopicState {
    DeleteTopicState {
        name: name.map(Into::into),
        topic_id,
        ..Default::default()
    }
}

fn named(name: &str) -> DeleteTopicState {
    state(Some(name), Uuid::ZERO)
}

fn decide(fixture: &Fixture, topics: Vec<DeleteTopicState>) -> Decision<DeleteTopicsResponse> {
    let request = DeleteTopicsRequest {
        topics,
        ..Default::default()
    };
    decide_request(fixture, &request)
}

/// Topics whose names begin with `hidden` may not be seen, those with `kept` not be deleted.
fn decide_request(
    fixture: &Fixture,
    request: &DeleteTopicsRequest,
) -> Decision<DeleteTopicsResponse> {
    let asked = DeleteTopics {
        request,
        may_describe: &|name| !name.starts_with("hidden"),
        may_delete: &|name| !name.starts_with("hidden") && !name.starts_with("kept"),
    };
    asked.decide(&fixture.view())
}

/// Name, id and code of the only answer.
fn only(decision: &Decision<DeleteTopicsResponse>) -> (Option<&str>, Uuid, ErrorCode) {
    let [result] = &decision.response.responses[..] else {
        panic!("{:?}", decision.response);
    };
    (
        result.name.as_deref(),
        result.topic_id,
        ErrorCode(result.error_code),
    )
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(1);
    for name in ["t", "u", "kept", "hidden"] {
        fixture.topic(name, &[&[1]]);
    }
    fixture
}

#[test]
fn a_topic_is_deleted_by_name_or_id() {
    let by_name = DeleteTopicsRequest {
        topic_names: vec!["t".into()],
        ..Default::default()
    };
    let by_state = |state| DeleteTopicsRequest {
        topics: vec![state],
        ..Default::default()
    };
    for request in [
        by_name,
        by_state(named("t")),
        by_state(state(None, topic_id("t"))),
    ] {
        let mut fixture = cluster();
        let decision = decide_request(&fixture, &request);
        assert_eq!(only(&decision), (Some("t"), topic_id("t"), ErrorCode::NONE));
        for record in &decision.records {
            fixture.apply(record.clone());
        }
        assert!(fixture.image.topics().by_name("t").is_none());
        assert_eq!(fixture.image.topics().len(), 3);
    }
}

#[test]
fn what_is_unknown_or_unclear_is_refused() {
    let fixture = cluster();
    let other = Uuid::from_bytes([1; 16]);
    let invalid = ErrorCode::INVALID_REQUEST;
    let cases = [
        (
            vec![named("no")],
            (
                Some("no"),
                Uuid::ZERO,
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ),
        ),
        (
            vec![state(None, other)],
            (None, other, ErrorCode::UNKNOWN_TOPIC_ID),
        ),
        (vec![state(None, Uuid::ZERO)], (None, Uuid::ZERO, invalid)),
        (vec![state(Some("t"), other)], (Some("t"), other, invalid)),
        (
            vec![named("t"), named("t")],
            (Some("t"), Uuid::ZERO, invalid),
        ),
    ];
    for (topics, expected) in cases {
        let decision = decide(&fixture, topics);
        assert_eq!(only(&decision), expected);
        assert_eq!(decision.records, []);
    }
}

#[test]
fn a_topic_given_by_name_and_id_is_not_deleted() {
    let fixture = cluster();
    let decision = decide(
        &fixture,
        vec![named("t"), named("u"), state(None, topic_id("t"))],
    );
    let results = decision.response.responses.iter();
    let results =
        results.map(|result| (result.name.as_deref(), result.topic_id, result.error_code));
    let invalid = ErrorCode::INVALID_REQUEST.0;
    let expected = [
        (Some("t"), topic_id("t"), invalid),
        (Some("u"), topic_id("u"), 0),
    ];
    assert_eq!(results.collect::<Vec<_>>(), expected);
    assert_eq!(decision.records.len(), 1);
    // A mention that is refused by itself leaves the other one as it is.
    let t = || state(None, topic_id("t"));
    let twice_by_name = decide(&fixture, vec![named("t"), named("t"), t()]);
    assert_eq!(twice_by_name.records.len(), 1);
    let twice_by_id = decide(&fixture, vec![named("t"), t(), t()]);
    assert_eq!(twice_by_id.records, []);
    assert_eq!(twice_by_id.response.responses.len(), 2);
}

#[test]
fn nothing_tells_of_a_topic_that_may_not_be_seen() {
    let fixture = cluster();
    let refused = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    let answer = |state| only_owned(&decide(&fixture, vec![state]));
    let of = |name: Option<&str>, id, code| (name.map(str::to_owned), id, code);
    // By name it makes no difference whether there is one.
    assert_eq!(
        answer(named("hidden")),
        of(Some("hidden"), Uuid::ZERO, refused)
    );
    assert_eq!(
        answer(named("hidden-no")),
        of(Some("hidden-no"), Uuid::ZERO, refused)
    );
    // By id, its name is not told.
    let hidden = topic_id("hidden");
    assert_eq!(answer(state(None, hidden)), of(None, hidden, refused));
    let kept = topic_id("kept");
    assert_eq!(answer(state(None, kept)), of(Some("kept"), kept, refused));
    assert_eq!(answer(named("kept")), of(Some("kept"), Uuid::ZERO, refused));
    // An id beside a hidden name does not tell that the two belong together.
    let both = decide(&fixture, vec![named("hidden"), state(None, hidden)]);
    let codes = both
        .response
        .responses
        .iter()
        .map(|result| result.error_code);
    assert_eq!(codes.collect::<Vec<_>>(), [refused.0, refused.0]);
    assert_eq!(both.records, []);
}

fn only_owned(decision: &Decision<DeleteTopicsResponse>) -> (Option<String>, Uuid, ErrorCode) {
    assert_eq!(decision.records, []);
    let (name, id, code) = only(decision);
    (name.map(str::to_owned), id, code)
}

use expect_test::{expect, expect_file};
use klamm_explain::text::{self, Look};
use klamm_explain::{Direction, Options, decode, json, smallest_frame};
use klamm_protocol::{ApiKey, ApiVersion};

const ELECT_LEADERS: ApiVersion = ApiVersion {
    key: ApiKey::ELECT_LEADERS,
    version: 2,
};

fn request() -> klamm_explain::Tree {
    let frame = smallest_frame(ELECT_LEADERS, Direction::Request).unwrap();
    decode::request(frame, &Options::default())
}

#[test]
fn the_page_of_elect_leaders() {
    let page = text::page(ELECT_LEADERS, &Direction::BOTH, Look::default()).unwrap();
    expect_file!["../snapshots/elect-leaders.txt"].assert_eq(&page);
}

#[test]
fn the_json_of_elect_leaders() {
    let lines: Vec<String> = Direction::BOTH
        .iter()
        .map(|direction| json::smallest(ELECT_LEADERS, *direction).unwrap())
        .collect();
    expect_file!["../snapshots/elect-leaders.json"].assert_eq(&(lines.join("\n") + "\n"));
    let value: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(value["api_key"], 43);
    assert_eq!(
        (&value["name"], &value["kind"]),
        (&"ElectLeaders".into(), &"request".into())
    );
    assert_eq!(
        (&value["version"], &value["header_version"], &value["size"]),
        (&2.into(), &2.into(), &29.into())
    );
    assert_eq!(value["hex"].as_str().unwrap().len(), 58);
}

#[test]
fn records_are_opened_on_the_page() {
    let api = ApiVersion {
        key: ApiKey::PRODUCE,
        version: 13,
    };
    let page = text::page(api, &[Direction::Request], Look::default()).unwrap();
    expect_file!["../snapshots/produce.txt"].assert_eq(&page);
}

#[test]
fn versions_are_compared() {
    let text = text::changes(
        ApiKey::ELECT_LEADERS,
        (0, 2),
        &Direction::BOTH,
        Look::default(),
    )
    .unwrap();
    expect![[r#"
        ElectLeaders (43): version 0 to 2

        ElectLeadersRequest
        ~ header version 1 becomes 2
        ~ lengths become compact, structs end with tagged fields
        + ElectionType: int8
        ~ the smallest has 29 bytes instead of 32

        ElectLeadersResponse
        ~ header version 0 becomes 1
        ~ lengths become compact, structs end with tagged fields
        + ErrorCode: int16
        ~ the smallest has 28 bytes instead of 30
    "#]]
    .assert_eq(&text);
    let error = text::changes(
        ApiKey::ELECT_LEADERS,
        (0, 9),
        &Direction::BOTH,
        Look::default(),
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "there is no ElectLeaders (43) version 9");
}

#[test]
fn colours_follow_the_parts() {
    let look = Look {
        colour: true,
        width: None,
    };
    let text = text::layout(&request(), look).replace('\x1b', "^");
    expect![[r#"
        ^[33mframe 0-3^[0m, ^[36mheader 4-13^[0m, ^[93mtagged fields 14^[0m, ^[32mbody 15-22^[0m, ^[93mtagged fields 23^[0m, ^[32mbody 24-27^[0m, ^[93mtagged fields 28^[0m
        ^[2m0000^[0m  ^[33m00^[0m ^[33m00^[0m ^[33m00^[0m ^[33m19^[0m ^[36m00^[0m ^[36m2b^[0m ^[36m00^[0m ^[36m02^[0m  ^[36m00^[0m ^[36m00^[0m ^[36m00^[0m ^[36m00^[0m ^[36m00^[0m ^[36m00^[0m ^[93m00^[0m ^[32m00^[0m  ^[33m.^[0m^[33m.^[0m^[33m.^[0m^[33m.^[0m^[36m.^[0m^[36m+^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[36m.^[0m^[93m.^[0m^[32m.^[0m
        ^[2m0010^[0m  ^[32m02^[0m ^[32m01^[0m ^[32m02^[0m ^[32m00^[0m ^[32m00^[0m ^[32m00^[0m ^[32m00^[0m ^[93m00^[0m  ^[32m00^[0m ^[32m00^[0m ^[32m00^[0m ^[32m00^[0m ^[93m00^[0m           ^[32m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[93m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[32m.^[0m^[93m.^[0m
    "#]].assert_eq(&text);
}

#[test]
fn narrow_terminals_wrap_meanings() {
    let text = [120, 80].map(|width| {
        let look = Look {
            colour: false,
            width: Some(width),
        };
        text::tree(&request(), look)
    });
    let text = text.join("\n");
    expect_file!["../snapshots/narrow.txt"].assert_eq(&text);
}

#[test]
fn broken_frames_show_where_they_stop() {
    let frame = smallest_frame(ELECT_LEADERS, Direction::Request).unwrap();
    let tree = decode::request(frame.slice(..20), &Options::default());
    let text = text::decoded(&tree, Look::default());
    expect_file!["../snapshots/cut.txt"].assert_eq(&text);
}

#[test]
fn errors_have_a_page() {
    expect![[r#"
        ELECTION_NOT_NEEDED (84)
        The wanted leader leads already.
        Nothing: do not try again, although Kafka counts it as retriable.

        retriable         yes
        refresh metadata  yes
    "#]]
    .assert_eq(&text::error("84", Look::default()).unwrap());
    let by_name = text::error("election_not_needed", Look::default());
    assert_eq!(by_name, text::error("84", Look::default()));
    assert!(text::error("999", Look::default()).is_err());
    assert_eq!(text::errors(Look::default()).lines().count(), 139);
    assert_eq!(text::list(Look::default()).lines().count(), 96);
}

/// No text says `1 bytes`, or of one byte that it `are`.
fn assert_singular(text: &str) {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    const MANY: [&str; 9] = [
        "bytes", "records", "batches", "entries", "messages", "packets", "nodes", "fields", "are",
    ];
    for pair in words.windows(2) {
        assert!(!(pair[0] == "1" && MANY.contains(&pair[1])), "{text}");
    }
    for three in words.windows(3) {
        let is_one = three[0] == "1" && three[1] == "byte";
        assert!(!(is_one && matches!(three[2], "are" | "follow")), "{text}");
    }
}

#[test]
fn one_of_something_is_no_plural() {
    let limits = klamm_explain::Limits {
        nodes: 1,
        problems: 10,
        decompressed_bytes: 0,
    };
    let narrow = klamm_explain::Options {
        limits,
        ..Default::default()
    };
    let frame = klamm_explain::smallest_frame(ELECT_LEADERS, Direction::Request).unwrap();
    for size in [0u32, 1, 25] {
        for len in 0..frame.len() {
            let mut bytes = frame[..len].to_vec();
            bytes.splice(..4.min(len), size.to_be_bytes()[..4.min(len)].to_vec());
            for options in [Default::default(), narrow] {
                let tree = decode::request(bytes.clone().into(), &options);
                assert_singular(&text::decoded(&tree, Look::default()));
                assert_singular(&json::decoded(&tree, None).to_string());
            }
            let page = klamm_explain::html::decoded(bytes.into(), &Default::default());
            assert_singular(&page.html.replace('<', " <").replace('>', "> "));
        }
    }
    // Segments of one batch that says that it has one byte or one record, cut, and with one more byte.
    let mut batch = klamm_explain::EMPTY_BATCH.to_vec();
    batch[60] = 1;
    let mut short = batch.clone();
    short[11] = 1;
    for bytes in [batch.clone(), short, [&batch[..], &[0]].concat()] {
        for len in 0..=bytes.len() {
            let ask = klamm_explain::html::Ask {
                form: Some(klamm_explain::input::Form::Log),
                ..Default::default()
            };
            let bytes = klamm_protocol::Bytes::copy_from_slice(&bytes[..len]);
            let mut cutter = klamm_explain::log::Cutter::default();
            cutter.feed(&bytes);
            while cutter.next_batch().is_some() {}
            if let Some(tail) = cutter.finish() {
                assert_singular(&text::log_tail(&tail, Look::default()));
            }
            let page = klamm_explain::html::decoded(bytes, &ask);
            assert_singular(&page.html.replace('<', " <").replace('>', "> "));
        }
    }
    for count in [0, 1, 2] {
        for rest in [&[][..], &[0], &[1]] {
            assert_singular(&text::index_end(count, rest, Look::default()));
        }
        assert_singular(&text::log_total(
            count as u64,
            count as u64,
            1,
            1,
            Look::default(),
        ));
    }
}

use crate::explain::CAPTURE;
use crate::support::{file, klamm};

#[tokio::test]
async fn flags_that_would_change_nothing_are_refused() {
    let empty = file("00000000000000000000.log", "");
    let log = empty.display();
    let folder = std::env::temp_dir();
    let folder = folder.display();
    for (words, text) in [
        ("--list --request".to_owned(), "cannot be used with"),
        ("--errors --response".to_owned(), "cannot be used with"),
        ("--error 84 --request".to_owned(), "cannot be used with"),
        (
            format!("--file {CAPTURE} --summary --errors-only"),
            "cannot be used with",
        ),
        (
            format!("--file {CAPTURE} --summary --api Fetch"),
            "cannot be used with",
        ),
        (
            format!("--file {CAPTURE} --from-offset 3"),
            "error: --from-offset is for logs\n",
        ),
        (
            "--hex 00 --type TopicRecord".to_owned(),
            "error: --type is for logs\n  cause: --hex is taken for frames\n",
        ),
        (
            format!("--file {log} --errors-only"),
            "error: --errors-only is for captures\n",
        ),
        (
            format!("--file {folder} --connection 3"),
            "error: --connection does not go with a directory\n",
        ),
        (
            format!("--file {folder} --as log"),
            "error: --as does not go with a directory\n",
        ),
        (
            format!("--file {folder} --output html"),
            "error: --output html is for a single file\n",
        ),
        (
            format!("--file {CAPTURE} --output html --errors-only"),
            "error: --errors-only does not go with --output html\n",
        ),
        (
            format!("--file {CAPTURE} --output html --api Fetch"),
            "error: --api does not go with --output html\n",
        ),
        (
            format!("--file {log} --output html --to-offset 3"),
            "error: --to-offset does not go with --output html\n",
        ),
        (
            "ElectLeaders --tree".to_owned(),
            "error: --tree is for bytes\n  cause: none are given\n",
        ),
        (
            "--list --api Fetch".to_owned(),
            "error: --api is for bytes\n",
        ),
        (
            "--serve --topic orders".to_owned(),
            "error: --topic is for bytes\n",
        ),
        (
            "--errors --port 3".to_owned(),
            "error: --port is for bytes\n",
        ),
        (
            "--hex 00000000 --as pcap".to_owned(),
            "error: --hex is no capture\n",
        ),
        (
            "TopicRecord --output html".to_owned(),
            "cause: TopicRecord is a type of record\n",
        ),
    ] {
        let finished = klamm(&format!("explain {words}")).await;
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (Some(2), ""),
            "{words}: {finished}"
        );
        assert!(finished.stderr.contains(text), "{words}: {finished}");
    }
}

#[tokio::test]
async fn what_comes_after_the_last_wanted_offset_is_no_fault() {
    let log = log_of(4);
    for to in 0..4 {
        for form in ["--tree", "--output text", "--output json"] {
            let words = format!("explain --as log --hex {log} --to-offset {to} {form}");
            let finished = klamm(&words).await;
            assert_eq!(finished.code, Some(0), "{finished}");
            let end = finished.stdout.lines().last().unwrap_or_default();
            let said = match form {
                "--output json" => format!("{{\"batches\":{},", to + 1),
                _ => format!("0 records in {} batch", to + 1),
            };
            assert!(end.starts_with(&said), "{finished}");
            assert!(end.contains(&format!("{}", 61 * (to + 1))), "{finished}");
        }
    }
    let words = format!("explain --as log --hex {log} --from-offset 3 --to-offset 2");
    let finished = klamm(&words).await;
    assert_eq!(finished.code, Some(2), "{finished}");
}

/// A segment of empty batches, as hexadecimal digits.
pub(crate) fn log_of(batches: u64) -> String {
    let batch = format!(
        "00000031ffffffff023830a8fa000000000000{}00000000",
        "f".repeat(2 * (8 + 8 + 8 + 2 + 4))
    );
    let offsets = 0..batches;
    offsets.map(|base| format!("{base:016x}{batch}")).collect()
}

/// A batch of a group coordinator, as hexadecimal digits.
const OF_A_GROUP: &str = concat!(
    "00000000000000000000005b0000000002039d1ea0000000000000000001a22a06a407000001",
    "a22a06a407ffffffffffffffffffff000000000000000152000000160002000762696c6c696e",
    "67300003000000000000ffffffff000001a22a06a3900000000000",
);

#[tokio::test]
async fn records_are_opened_by_the_topic_in_every_form() {
    for form in ["--output text", "--output json", "--output html", "--tree"] {
        let words = format!("explain --as log --hex {OF_A_GROUP} {form}");
        let opaque = klamm(&words).await;
        let opened = klamm(&format!("{words} --topic __consumer_offsets")).await;
        assert_eq!((opaque.code, opened.code), (Some(0), Some(0)), "{opened}");
        assert!(!opaque.stdout.contains("GroupMetadata"), "{opaque}");
        assert!(opened.stdout.contains("GroupMetadata"), "{opened}");
    }
}

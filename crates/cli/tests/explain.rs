use expect_test::expect;

use crate::support::{file, klamm, klamm_with_input};

#[tokio::test]
async fn a_page_shows_sizes_and_bytes() {
    let finished = klamm("explain ElectLeaders").await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    for text in [
        "ElectLeadersRequest v2: 29 bytes\n",
        "0000  00 00 00 19 00 2b 00 02  00 00 00 00 00 00 00 00  .....+..........\n",
        "ElectLeadersResponse v2: 28 bytes\n",
    ] {
        assert!(finished.stdout.contains(text), "{text}{finished}");
    }
    let by_key = klamm("explain 43 --version 2").await;
    assert_eq!(by_key.stdout, finished.stdout);
    let request = klamm("explain ElectLeaders --request").await;
    assert!(
        !request.stdout.contains("ElectLeadersResponse"),
        "{request}"
    );
}

#[tokio::test]
async fn every_message_is_a_line_of_json() {
    let finished = klamm("explain --all --output json").await;
    assert_eq!(finished.code, Some(0));
    let lines: Vec<serde_json::Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 618);
    for line in lines {
        let size = line["size"].as_u64().expect("a number");
        assert_eq!(line["hex"].as_str().expect("digits").len() as u64, size * 2);
        assert_eq!(line["tree"]["length"], size);
    }
}

#[tokio::test]
async fn bytes_are_decoded_from_everywhere() {
    let hex = "00000019002b0002000000000000000002010200000000000000000000";
    let shown = klamm(&format!("explain --hex {hex}")).await;
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(
        shown
            .stdout
            .starts_with("ElectLeadersRequest v2, correlation id 0: 29 bytes\n")
    );
    let from_input = klamm_with_input("explain --hex -", hex).await;
    assert_eq!(from_input.stdout, shown.stdout);
    let base64 = klamm("explain --base64 AAAAGQArAAIAAAAAAAAAAAIBAgAAAAAAAAAAAAA=").await;
    assert_eq!(base64.stdout, shown.stdout);
    let path = file(
        "request.bin",
        "\0\0\0\x0a\0\x12\0\0\0\0\0\x01\0\0\0\0\0\x0a\0\x12\0\0\0\0\0\x02\0\0",
    );
    let stream = klamm(&format!("explain --file {} --output json", path.display())).await;
    assert_eq!(stream.code, Some(0), "{stream}");
    let places: Vec<_> = stream
        .stdout
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            (
                line["stream_offset"].as_u64(),
                line["correlation_id"].as_i64(),
            )
        })
        .collect();
    assert_eq!(places, [(Some(0), Some(1)), (Some(14), Some(2))]);
    let response = "explain --response --api ElectLeaders --version 2 --hex";
    let response = klamm(&format!(
        "{response} 00000018000000000000000000000002010200000000000001000000"
    ))
    .await;
    assert_eq!(response.code, Some(0), "{response}");
}

#[tokio::test]
async fn broken_bytes_are_shown_and_fail() {
    let finished = klamm("explain --hex 00000019002b000200000007000000000201").await;
    assert_eq!(finished.code, Some(1));
    let problems: Vec<_> = finished.stdout.lines().rev().take(2).collect();
    assert_eq!(
        problems,
        [
            "stopped: byte 18, TopicPartitions[0].Partitions: varint has no end",
            "broken: byte 0: says that 25 bytes follow, 14 are here",
        ]
    );
}

#[tokio::test]
async fn pages_are_written_to_a_folder_of_their_own() {
    let folder = std::env::temp_dir().join(format!("klamm-site-{}", std::process::id()));
    let site = folder.join("site");
    let command = format!("explain --site {}", site.display());
    let first = klamm(&command).await;
    assert_eq!(first.code, Some(0), "{first}");
    let path = site.join("apis/ElectLeaders.html");
    let page = std::fs::read_to_string(&path).expect("a page");
    assert!(page.contains("ElectLeadersRequest v2"));
    std::fs::write(&path, "changed").expect("a file");
    let second = klamm(&command).await;
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(std::fs::read_to_string(&path).expect("a page"), page);
    // The folder above has something that is not klamm's.
    let taken = klamm(&format!("explain --site {}", folder.display())).await;
    assert_eq!(taken.code, Some(2), "{taken}");
    assert!(taken.stderr.contains("no pages of klamm"), "{taken}");
    std::fs::remove_dir_all(&folder).expect("it goes away");
}

#[tokio::test]
async fn misuse_has_a_next_step() {
    let mut shown = String::new();
    for words in [
        "ElectLeader",
        "tests/explain.rs",
        "ElectLeaders --version 9",
        "ElectLeaders --diff 0 9",
        "LeaderAndIsr",
        "--error FROBNICATED",
        "--hex 0g",
        "--hex 00 --response",
        "--hex 00 --version 2",
        "--hex 00 --api ElectLeaders",
        "--file /nonexistent",
        "--list --errors",
    ] {
        let finished = klamm(&format!("explain {words}")).await;
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (Some(2), ""),
            "{words}"
        );
        shown.push_str(&format!("$ klamm explain {words}\n{}\n", finished.stderr));
    }
    expect![[r#"
        $ klamm explain ElectLeader
        error: there is no API "ElectLeader"
          next step: perhaps it is ElectLeaders

        $ klamm explain tests/explain.rs
        error: there is no API "tests/explain.rs"
          next step: to read what is there, --file tests/explain.rs

        $ klamm explain ElectLeaders --version 9
        error: ElectLeaders (43) has no version 9
          next step: its versions are 0-2

        $ klamm explain ElectLeaders --diff 0 9
        error: ElectLeaders (43) has no version 9
          next step: its versions are 0-2

        $ klamm explain LeaderAndIsr
        error: LeaderAndIsr (4) has no version any more
          cause: Apache Kafka removed it from the protocol in 4.0
          next step: klamm explain --list lists the APIs

        $ klamm explain --error FROBNICATED
        error: there is no error "FROBNICATED"
          next step: klamm explain --errors lists them

        $ klamm explain --hex 0g
        error: --hex is not hexadecimal
          cause: 'g' at character 2 is no hexadecimal digit
          next step: give two digits a byte; for the bytes themselves there is --file

        $ klamm explain --hex 00 --response
        error: --response needs --api
          cause: a response does not say which request it answers
          next step: give the API, and with --version its version

        $ klamm explain --hex 00 --version 2
        error: --version needs --api
          cause: a request says its version itself
          next step: leave it out, or give --api and --response or --body-only

        $ klamm explain --hex 00 --api ElectLeaders
        error: --api needs --response or --body-only
          cause: a request with its header says its API itself
          next step: leave it out, or say what the bytes are

        $ klamm explain --file /nonexistent
        error: /nonexistent cannot be read
          cause: No such file or directory (os error 2)
          next step: check the path given with --file

        $ klamm explain --list --errors
        error: the argument '--list' cannot be used with '--errors'

        Usage: klamm explain <NAME|--all|--list|--errors|--error <ERROR>|--hex <HEX>|--base64 <BASE64>|--file <FILE>|--site <DIR>|--serve>

        For more information, try '--help'.

    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn a_page_of_its_own_is_html() {
    let page = klamm("explain ElectLeaders --version 1 --output html").await;
    assert_eq!(page.code, Some(0), "{page}");
    assert!(page.stdout.starts_with("<!DOCTYPE html>"));
    assert!(page.stdout.contains("ElectLeadersRequest v1"));
    let hex = "00000019002b000200000007000000000201";
    let broken = klamm(&format!("explain --hex {hex} --output html")).await;
    assert_eq!(broken.code, Some(1));
    assert!(broken.stdout.contains("varint has no end"));
    let list = klamm("explain --list --output html").await;
    assert_eq!(list.code, Some(2), "{list}");
}

/// A capture of a real client.
pub(crate) const CAPTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../explain/tests/captures/java.pcap"
);

#[tokio::test]
async fn captures_are_summed_up_and_listed() {
    let summary = klamm(&format!("explain --file {CAPTURE}")).await;
    assert_eq!((summary.code, summary.stderr.as_str()), (Some(0), ""));
    assert!(
        summary.stdout.contains("10 connections, 85 messages\n"),
        "{summary}"
    );
    let errors = klamm(&format!("explain --file {CAPTURE} --errors-only")).await;
    assert_eq!(errors.code, Some(0), "{errors}");
    assert!(
        errors.stdout.contains("ELECTION_NOT_NEEDED (84)"),
        "{errors}"
    );
    let chosen = klamm(&format!(
        "explain --file {CAPTURE} --api ElectLeaders --request --tree"
    ))
    .await;
    assert!(chosen.stdout.contains("ElectLeadersRequest v2"), "{chosen}");
    assert!(
        chosen
            .stdout
            .ends_with("1 of 85 messages, 10 connections\n"),
        "{chosen}"
    );
    let numbered = klamm(&format!(
        "explain --file {CAPTURE} --numbers 3..4 --output json"
    ))
    .await;
    let kinds: Vec<_> = numbered
        .stdout
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            line["kind"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    assert_eq!(kinds[..2], ["request", "response"]);
    assert_eq!(kinds.last().map(String::as_str), Some("capture"));
}

#[tokio::test]
async fn broken_captures_and_misuse_have_a_next_step() {
    let bytes = std::fs::read(CAPTURE).expect("it is in the repository");
    let path = std::env::temp_dir().join(format!("klamm-cut-{}.pcap", std::process::id()));
    std::fs::write(&path, &bytes[..20_000]).expect("the temporary directory is writable");
    let cut = klamm(&format!("explain --file {}", path.display())).await;
    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(cut.code, Some(1), "{cut}");
    assert!(cut.stdout.contains("6 connections, 36 messages\n"), "{cut}");
    for (words, text) in [
        (
            "--hex 00 --port 3",
            "error: --port is for captures\n  cause: --hex is taken for frames\n",
        ),
        (
            &*format!("--file {CAPTURE} --version 3 --api Fetch"),
            "error: --version is not for captures\n",
        ),
        ("--hex 0001020304 --as pcap", "error: --hex is no capture\n"),
        ("--hex 00 --numbers 3..1", "it ends before it begins"),
    ] {
        let finished = klamm(&format!("explain {words}")).await;
        assert_eq!(finished.code, Some(2), "{finished}");
        assert!(finished.stderr.contains(text), "{words}: {finished}");
    }
}

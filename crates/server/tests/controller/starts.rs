//! Starts that cannot be, and what they say.

use std::net::TcpListener;

use expect_test::expect;

use crate::support::Home;

async fn problem(home: &Home) -> String {
    let Err(error) = home.try_start().await else {
        panic!("it started");
    };
    error
        .to_string()
        .replace(&home.data().display().to_string(), "DIR")
}

#[tokio::test]
async fn a_directory_that_is_not_formatted() {
    let home = Home::unformatted();
    expect!["DIR is not formatted: run klamm format first"].assert_eq(&problem(&home).await);
}

#[tokio::test]
async fn a_directory_that_is_not_there() {
    let mut home = Home::unformatted();
    home.set("metadata.log.dir", "/nowhere/at/all");
    expect!["/nowhere/at/all is not formatted: run klamm format first"]
        .assert_eq(&problem(&home).await);
}

#[tokio::test]
async fn a_directory_that_is_a_file() {
    let mut home = Home::unformatted();
    let file = home.data().join("file");
    std::fs::write(&file, "").expect("written");
    home.set("metadata.log.dir", &file.display().to_string());
    expect!["DIR/file: not a directory; check metadata.log.dir and log.dirs"]
        .assert_eq(&problem(&home).await);
}

#[tokio::test]
async fn a_directory_of_another_node() {
    let home = Home::new();
    let file = home.data().join("meta.properties");
    let text = std::fs::read_to_string(&file).expect("the file");
    std::fs::write(&file, text.replace("node.id=100", "node.id=7")).expect("written");
    expect!["DIR was formatted for node 7, and node.id is 100; use the directory's own node.id, or another directory"]
        .assert_eq(&problem(&home).await);
}

#[tokio::test]
async fn a_directory_in_use() {
    let home = Home::new();
    let controller = home.start().await;
    expect!["DIR is in use: another process, or another node in this one, holds .lock; stop it first, or give this node a directory of its own (log.dirs)"]
        .assert_eq(&problem(&home).await);
    controller.stop().await;
    home.start().await.stop().await;
}

#[tokio::test]
async fn a_port_in_use() {
    let mut home = Home::new();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("bound").to_string();
    home.set("listeners", &format!("CONTROLLER://{address}"));
    let problem = problem(&home).await.replace(&address, "ADDRESS");
    expect!["listener CONTROLLER cannot listen on ADDRESS: Address already in use (os error 98); check listeners"]
        .assert_eq(&problem);
}

#[tokio::test]
async fn a_port_for_http_in_use() {
    let mut home = Home::new();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("bound").to_string();
    home.set("klamm.http.listener", &address);
    let problem = problem(&home).await.replace(&address, "ADDRESS");
    expect!["klamm.http.listener cannot listen on ADDRESS: Address already in use (os error 98); give another port"].assert_eq(&problem);
}

#[tokio::test]
async fn a_quorum_of_several() {
    let mut home = Home::unformatted();
    home.set(
        "controller.quorum.voters",
        "100@127.0.0.1:1,101@127.0.0.1:2",
    );
    home.format_as_configured();
    expect!["the metadata quorum has the voters [100, 101], and node 100 is to be one of them; this release of klamm runs as the only voter"]
        .assert_eq(&problem(&home).await);
}

#[tokio::test]
async fn a_torn_end_is_cut_and_damage_before_it_is_not() {
    let home = Home::new();
    home.start().await.stop().await;
    let file = home.log_dir().join("00000000000000000000.log");
    let whole = std::fs::read(&file).expect("the log");
    std::fs::write(&file, &whole[..whole.len() - 1]).expect("written");
    home.start().await.stop().await;

    let mut damaged = std::fs::read(&file).expect("the log");
    damaged[70] ^= 1;
    std::fs::write(&file, damaged).expect("written");
    let problem = problem(&home).await;
    assert!(problem.contains("00000000000000000000.log"), "{problem}");
    assert!(problem.contains("offset 0"), "{problem}");
}

#[tokio::test]
async fn static_voters_and_a_restart() {
    let mut home = Home::unformatted();
    home.set("controller.quorum.voters", "100@127.0.0.1:1");
    home.format_as_configured();
    for _ in 0..2 {
        home.start().await.stop().await;
    }
    assert!(home.files().contains(&"quorum-state".to_owned()));
    let state = std::fs::read_to_string(home.log_dir().join("quorum-state")).expect("the file");
    assert!(state.contains("\"data_version\":0"), "{state}");
    assert!(
        state.contains("\"currentVoters\":[{\"voterId\":100}]"),
        "{state}"
    );
}

/// Tools of older releases leave the records that a cluster begins with beside the log.
#[tokio::test]
async fn an_older_bootstrap_file() {
    let mut home = Home::unformatted();
    home.set("controller.quorum.voters", "100@127.0.0.1:1");
    home.format_as_configured();
    let checkpoint = home
        .log_dir()
        .join("00000000000000000000-0000000000.checkpoint");
    let old = home.data().join("bootstrap.checkpoint");
    std::fs::rename(checkpoint, &old).expect("moved");
    let whole = std::fs::read(&old).expect("the file");
    let mut damaged = whole.clone();
    let name = b"metadata.version";
    let at = whole.windows(name.len()).position(|window| window == name);
    damaged[at.expect("the first record")] ^= 1;
    for broken in [&damaged[..], &whole[..whole.len() - 1]] {
        std::fs::write(&old, broken).expect("written");
        let controller = home.start().await;
        let problem = controller.failed().await;
        assert!(problem.contains("bootstrap.checkpoint"), "{problem}");
    }
    std::fs::write(&old, &whole).expect("written");
    home.start().await.stop().await;
    let log = std::fs::read(home.log_dir().join("00000000000000000000.log")).expect("the log");
    assert!(log.windows(name.len()).any(|window| window == name));
}

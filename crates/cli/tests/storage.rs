use std::fs;

use expect_test::expect;
use tempfile::TempDir;

use crate::support::klamm;

const CLUSTER: &str = "MkU3OEVBNTcwNTJENDM2Qg";

/// Where a node's directories are, and its file.
struct Node {
    dir: TempDir,
}

impl Node {
    fn new(more: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().display();
        let text = format!(
            "node.id=1\nprocess.roles=controller\ncontroller.listener.names=CONTROLLER\n\
             listeners=CONTROLLER://localhost:9093\nlog.dirs={root}/a,{root}/b\n\
             controller.quorum.bootstrap.servers=localhost:9093\n{more}\n"
        );
        fs::write(dir.path().join("server.properties"), text).expect("written");
        Self { dir }
    }

    /// What a command says of the node; what is random or the machine's own is replaced.
    async fn klamm(&self, words: &str) -> String {
        let root = self.dir.path().display().to_string();
        let config = self.dir.path().join("server.properties");
        let words = words.replace("CONFIG", &format!("--config {}", config.display()));
        let mut said = klamm(&words).await.to_string().replace(&root, "DIR");
        for name in ["a", "b"] {
            let path = self.dir.path().join(name).join("meta.properties");
            let text = fs::read_to_string(path).unwrap_or_default();
            let id = text
                .lines()
                .find_map(|line| line.strip_prefix("directory.id="));
            if let Some(id) = id {
                said = said.replace(id, &format!("DIRECTORY-ID-OF-{}-XXXX", name.to_uppercase()));
            }
        }
        // How wide columns are depends on where temporary files are.
        let squeezed = |line: &str| {
            let cells = line.trim_end().split("  ").filter(|cell| !cell.is_empty());
            cells.map(str::trim).collect::<Vec<_>>().join("  ") + "\n"
        };
        said.lines().map(squeezed).collect()
    }
}

#[tokio::test]
async fn a_node_is_formatted_and_shown() {
    let node = Node::new("log.retention.hours=1\nlog.retention.hour=1");
    let words = format!("format CONFIG --cluster-id {CLUSTER} --standalone");
    expect![[r#"
        DIRECTORY  RESULT  KIND  DIRECTORY ID
        DIR/a  formatted  dynamic metadata voter directory  DIRECTORY-ID-OF-A-XXXX
        DIR/b  formatted  data directory  DIRECTORY-ID-OF-B-XXXX

        Features: eligible.leader.replicas.version=1 group.version=1 share.version=2 streams.version=1 transaction.version=2
        Voter 1 at CONTROLLER://localhost:9093
        Cluster MkU3OEVBNTcwNTJENDM2Qg, node 1: formatted with metadata.version 4.4-IV2
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm(&words).await);
    expect![[r#"
        DIRECTORY  STATE  CLUSTER  NODE  DIRECTORY ID
        DIR/a  formatted  MkU3OEVBNTcwNTJENDM2Qg  1  DIRECTORY-ID-OF-A-XXXX
        DIR/b  formatted  MkU3OEVBNTcwNTJENDM2Qg  1  DIRECTORY-ID-OF-B-XXXX

        No problems
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm("info CONFIG").await);
    expect![[r#"
        {"directories":[{"cluster_id":"MkU3OEVBNTcwNTJENDM2Qg","directory_id":"DIRECTORY-ID-OF-A-XXXX","node_id":1,"path":"DIR/a","state":"formatted"},{"cluster_id":"MkU3OEVBNTcwNTJENDM2Qg","directory_id":"DIRECTORY-ID-OF-B-XXXX","node_id":1,"path":"DIR/b","state":"formatted"}],"problems":[]}
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm("info CONFIG --output json").await);
    expect![[r#"
        directory=DIR/a state=formatted cluster=MkU3OEVBNTcwNTJENDM2Qg node=1 directory_id=DIRECTORY-ID-OF-A-XXXX
        directory=DIR/b state=formatted cluster=MkU3OEVBNTcwNTJENDM2Qg node=1 directory_id=DIRECTORY-ID-OF-B-XXXX
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm("info CONFIG --output plain").await);
    expect![[r#"
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        error: the directories are not formatted
        cause: DIR/a is formatted already, for node 1 of cluster MkU3OEVBNTcwNTJENDM2Qg; --ignore-formatted passes over such directories and formats the others
        --- exit 1
    "#]].assert_eq(&node.klamm(&words).await);
    let again = format!("{words} --ignore-formatted");
    expect![[r#"
        DIRECTORY  RESULT  KIND  DIRECTORY ID
        DIR/a  formatted already  dynamic metadata voter directory  DIRECTORY-ID-OF-A-XXXX
        DIR/b  formatted already  data directory  DIRECTORY-ID-OF-B-XXXX

        All directories are formatted already
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm(&again).await);
    expect![[r#"
        {"cluster_id":"MkU3OEVBNTcwNTJENDM2Qg","node_id":1,"directories":[{"path":"DIR/a","kind":"dynamic_metadata_voter","directory_id":"DIRECTORY-ID-OF-A-XXXX","result":"formatted_already"},{"path":"DIR/b","kind":"data","directory_id":"DIRECTORY-ID-OF-B-XXXX","result":"formatted_already"}],"beginning":null}
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm(&format!("{again} --output json")).await);
    fs::remove_dir_all(node.dir.path().join("b")).expect("removed");
    expect![[r#"
        directory=DIR/a kind=dynamic_metadata_voter directory_id=DIRECTORY-ID-OF-A-XXXX result=formatted_already cluster=MkU3OEVBNTcwNTJENDM2Qg node=1 metadata_version=-
        directory=DIR/b kind=data directory_id=DIRECTORY-ID-OF-B-XXXX result=formatted cluster=MkU3OEVBNTcwNTJENDM2Qg node=1 metadata_version=-
        --- stderr
        warning: DIR/server.properties:8: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
        --- exit 0
    "#]].assert_eq(&node.klamm(&format!("{again} --output plain")).await);
}

#[tokio::test]
async fn directories_that_are_not_as_they_should_be() {
    let node = Node::new("");
    let root = node.dir.path();
    fs::create_dir(root.join("a")).expect("made");
    expect![[r#"
        DIRECTORY  STATE  CLUSTER  NODE  DIRECTORY ID
        DIR/a  not formatted  -  -  -
        DIR/b  missing  -  -  -

        DIR/a is not formatted
        DIR/b does not exist
        2 problems
        --- stderr
        --- exit 1
    "#]]
    .assert_eq(&node.klamm("info CONFIG").await);
    fs::write(root.join("b"), "").expect("written");
    let text = "version=1\ncluster.id=x\nnode.id=7\n";
    fs::write(root.join("a/meta.properties"), text).expect("written");
    expect![[r#"
        DIRECTORY  STATE  CLUSTER  NODE  DIRECTORY ID
        DIR/a  formatted  x  7  -
        DIR/b  unusable  -  -  -

        DIR/a is of node 7, and node.id is 1
        DIR/b: not a directory
        2 problems
        --- stderr
        --- exit 1
    "#]]
    .assert_eq(&node.klamm("info CONFIG").await);
    let words = format!("format CONFIG --cluster-id {CLUSTER} --standalone");
    expect![[r#"
        --- stderr
        error: the directories are not formatted
        cause: DIR/a is of cluster x, not of MkU3OEVBNTcwNTJENDM2Qg; format with that cluster id, or give the node other directories
        --- exit 1
    "#]].assert_eq(&node.klamm(&words).await);
}

#[tokio::test]
async fn a_cluster_id_can_be_made() {
    let id = klamm("random-uuid").await;
    assert_eq!((id.code, id.stdout.trim_end().len()), (Some(0), 22));
    let node = Node::new("");
    let words = "format CONFIG --random-cluster-id --standalone --output json";
    let said = node.klamm(words).await;
    let text = fs::read_to_string(node.dir.path().join("a/meta.properties"));
    let text = text.expect("formatted");
    let id = text
        .lines()
        .find_map(|line| line.strip_prefix("cluster.id="));
    let id = id.expect("a cluster id");
    assert!(said.contains(&format!("\"cluster_id\":\"{id}\"")), "{said}");
}

#[tokio::test]
async fn misuse_of_format() {
    let node = Node::new("num.partitions=0\nmin.insync.replicas=0");
    let format = format!("format CONFIG --cluster-id {CLUSTER}");
    expect![[r#"
        --- stderr
        error: DIR/server.properties cannot be used
        cause: DIR/server.properties:7: num.partitions=0: the value must be a whole number from 1 to 2147483647
        DIR/server.properties:8: min.insync.replicas=0: the value must be a whole number from 1 to 2147483647
        --- exit 2
    "#]].assert_eq(&node.klamm(&format!("{format} --standalone")).await);
    let node = Node::new("");
    expect![[r#"
        --- stderr
        error: the directories are not formatted
        cause: the file has no controller.quorum.voters, so this controller must be told who the first voters are: --standalone for itself alone, --initial-controllers for several, or --no-initial-controllers where it joins a quorum that is there already
        --- exit 2
    "#]].assert_eq(&node.klamm(&format).await);
    let words = format!("{format} --standalone --add-scram SCRAM-SHA-1=[name=a,password=hunter2]");
    expect![[r#"
        --- stderr
        error: --add-scram: the mechanism must be SCRAM-SHA-256 or SCRAM-SHA-512; write SCRAM-SHA-256=[name=alice,password=...] or SCRAM-SHA-512=[name=alice,iterations=8192,salt="BASE64",saltedpassword="BASE64"]
        --- exit 2
    "#]].assert_eq(&node.klamm(&words).await);
    for words in [
        "format CONFIG --standalone",
        &format!("{format} --standalone --no-initial-controllers"),
        &format!("{format} --random-cluster-id --standalone"),
        &format!("{format} --standalone --feature foo"),
        &format!("{format} --standalone --release-version 9.9"),
        &format!("{format} --initial-controllers 1@localhost:9093"),
        "info",
    ] {
        let said = node.klamm(words).await;
        assert!(said.ends_with("--- exit 2\n"), "{words}: {said}");
    }
    expect![[r#"
        --- stderr
        error: /nowhere cannot be read
          cause: No such file or directory (os error 2)
          next step: check the path given with --config
        --- exit 2
    "#]]
    .assert_eq(&klamm("format --config /nowhere -t x -s").await.to_string());
    assert!(!node.dir.path().join("a").exists());
}

use std::fs;

use expect_test::expect;
use klamm_log::DirLock;

use super::*;

#[test]
fn what_is_formatted_stays() {
    let fixture = Fixture::new();
    let node = fixture.node("");
    fixture.format(&node, &standalone()).expect("formatted");
    refused(
        &node,
        &standalone(),
        &fixture,
        &expect![
            "DIR/a is formatted already, for node 1 of cluster MkU3OEVBNTcwNTJENDM2Qg; --ignore-formatted passes over such directories and formats the others"
        ],
    );
    let before = fixture.properties("a");
    fs::remove_dir_all(fixture.path("b")).expect("removed");
    let ignoring = Request {
        ignore_formatted: true,
        ..standalone()
    };
    let plan = fixture.format(&node, &ignoring).expect("formatted");
    assert!(plan.directories[0].is_formatted && !plan.directories[1].is_formatted);
    assert_eq!(plan.directories[0].id, before.directory_id);
    assert!(plan.beginning.is_none());
    assert_eq!(fixture.properties("a"), before);
    assert_eq!(fixture.properties("b").cluster_id, CLUSTER);
    assert!(Plan::new(&node, &ignoring).expect("fine").is_done());

    let other = Request {
        cluster_id: OTHER_CLUSTER.to_owned(),
        ..ignoring.clone()
    };
    refused(
        &node,
        &other,
        &fixture,
        &expect![
            "DIR/a is of cluster MkU3OEVBNTcwNTJENDM2Qg, not of W2X7vRaMSHauCfKw7b_Z8Q; format with that cluster id, or give the node other directories"
        ],
    );
    let moved = fixture.node("node.id=2");
    refused(
        &moved,
        &ignoring,
        &fixture,
        &expect![
            "DIR/a is of node 1, not of 2; correct node.id, or give the node other directories"
        ],
    );
}

#[test]
fn nothing_is_written_where_one_directory_is_wrong() {
    let other_cluster = format!("version=1\ncluster.id={OTHER_CLUSTER}\nnode.id=1\n");
    let formatted = format!("version=1\ncluster.id={CLUSTER}\nnode.id=1\n");
    let wrong = [
        ("b", ""),
        ("b/meta.properties", "node.id=1\n"),
        ("b/meta.properties", &other_cluster),
        ("b/meta.properties", &formatted),
        ("a/__cluster_metadata-0/00000000000000000000.log", "x"),
        ("a/__cluster_metadata-0", "x"),
    ];
    for (file, text) in wrong {
        let fixture = Fixture::new();
        fixture.write(file, text);
        let error = fixture.format(&fixture.node(""), &standalone());
        let error = error.expect_err(file);
        assert!(!error.is_misuse(), "{file}: {error}");
        let written = fixture.path("a/meta.properties").exists();
        assert!(!written, "{file}: {error}");
    }
}

#[test]
fn a_link_to_nowhere_is_no_directory() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("/nowhere/at/all", fixture.path("b")).expect("linked");
    let error = fixture.format(&fixture.node(""), &standalone());
    assert!(matches!(error, Err(FormatError::Dir { .. })), "{error:?}");
    assert!(!fixture.path("a/meta.properties").exists());
}

#[test]
fn a_directory_in_use_is_left_alone() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("b")).expect("made");
    let lock = DirLock::acquire(&fixture.path("b")).expect("free");
    let error = fixture.format(&fixture.node(""), &standalone());
    assert!(matches!(error, Err(FormatError::Lock(_))), "{error:?}");
    assert!(!fixture.path("a/meta.properties").exists());
    drop(lock);
    fixture
        .format(&fixture.node(""), &standalone())
        .expect("free now");
}

#[test]
fn one_directory_under_two_names_is_found_out() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.path("x"), fixture.path("y/../x"));
    let node = fixture.node(&format!("log.dirs={},{}", one.display(), other.display()));
    let error = fixture.format(&node, &standalone()).expect_err("refused");
    assert!(matches!(error, FormatError::Lock(_)), "{error}");
    assert!(!one.join("meta.properties").exists());
}

#[test]
fn a_format_that_did_not_end_can_be_done_again() {
    let fixture = Fixture::new();
    let name = "a/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint";
    fixture.write(name, "half");
    fixture.write(&format!("{name}.part"), "half");
    fixture
        .format(&fixture.node(""), &standalone())
        .expect("formatted");
    assert_eq!(fixture.checkpoint("a").len(), 10);
    let dir = fixture.path("a/__cluster_metadata-0");
    let names = fs::read_dir(dir).expect("there").count();
    assert_eq!(names, 1);
}

#[test]
fn directories_are_made_with_those_above_them() {
    let fixture = Fixture::new();
    let metadata = fixture.path("far/down/meta");
    let node = fixture.node(&format!("metadata.log.dir={}", metadata.display()));
    let plan = fixture.format(&node, &standalone()).expect("formatted");
    let kinds: Vec<DirectoryKind> = plan.directories.iter().map(|dir| dir.kind).collect();
    let (data, voter) = (DirectoryKind::Data, DirectoryKind::DynamicMetadataVoter);
    assert_eq!(kinds, [data, data, voter]);
    assert_eq!(fixture.checkpoint("far/down/meta").len(), 10);
}

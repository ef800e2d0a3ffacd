use expect_test::expect;

use super::*;

#[test]
fn levels_follow_the_release() {
    let levels = |release: Option<&str>, features: &[&str]| {
        let request = Request {
            release: release.map(|release| release.parse().expect("a release")),
            features: features.iter().map(|text| feature(text)).collect(),
            ..standalone()
        };
        let fixture = Fixture::new();
        let plan = Plan::new(&fixture.node(""), &request).map_err(|error| error.to_string())?;
        let beginning = beginning(plan);
        let mut said = vec![beginning.metadata_version.to_string()];
        said.extend(
            beginning
                .features
                .iter()
                .map(|(name, level)| format!("{name}={level}")),
        );
        Ok::<_, String>(said.join(" "))
    };
    let all = [
        levels(None, &[]),
        levels(Some("4.0"), &["group.version=0", "transaction.version=1"]),
        levels(Some("3.9"), &["transaction.version=2"]),
        levels(Some("3.3-IV3"), &[]),
        levels(None, &["metadata.version=20"]),
        levels(None, &["kraft.version=1"]),
        levels(None, &["kraft.version=0"]),
        levels(None, &["group.version=2"]),
        levels(None, &["group.version=-1"]),
        levels(None, &["foo=1"]),
        levels(None, &["group.version=1", "group.version=1"]),
        levels(Some("4.0"), &["metadata.version=20"]),
        levels(Some("3.9"), &["eligible.leader.replicas.version=1"]),
        levels(Some("4.5-IV0"), &[]),
        levels(None, &["metadata.version=99"]),
    ];
    let said: String = all
        .into_iter()
        .map(|levels| levels.unwrap_or_else(|error| format!("error: {error}")) + "\n")
        .collect();
    expect![[r#"
        4.4-IV2 eligible.leader.replicas.version=1 group.version=1 share.version=2 streams.version=1 transaction.version=2
        4.0-IV3 transaction.version=1
        3.9-IV0 transaction.version=2
        3.3-IV3
        3.8-IV0
        4.4-IV2 eligible.leader.replicas.version=1 group.version=1 share.version=2 streams.version=1 transaction.version=2
        error: kraft.version is 1, as the voters are not those of controller.quorum.voters: leave it out, or change how the voters are given
        error: group.version has no level 2; it has levels 0 to 1
        error: group.version has no level -1; it has levels 0 to 1
        error: there is no feature foo; there are eligible.leader.replicas.version, group.version, kraft.version, metadata.version, share.version, streams.version, transaction.version
        error: the level of group.version is given twice
        error: the level of metadata.version is given twice
        error: eligible.leader.replicas.version 1 needs metadata.version 4.0-IV1 or later, and it is 3.9-IV0
        error: metadata.version 4.5-IV0 is not for production; the latest that is is 4.4-IV2
        error: metadata.version has no level 99; it has levels 7 to 33
    "#]].assert_eq(&said);
}

#[test]
fn levels_that_are_not_for_production_have_to_be_allowed() {
    let fixture = Fixture::new();
    let node = fixture.node("unstable.feature.versions.enable=true");
    let plan = Plan::new(&node, &standalone()).expect("fine");
    assert_eq!(beginning(plan).metadata_version.to_string(), "4.5-IV0");
}

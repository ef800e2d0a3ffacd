//! Who may not elect, and which node cannot.

use expect_test::expect;
use klamm_cluster::Spec;
use klamm_java_peer::json;
use klamm_protocol::ErrorCode;

use crate::Context;
use crate::klamm::klamm_on;
use crate::wire::{PREFERRED, Wire, elect, same, show};

/// A standby controller does not pass requests on, as brokers do.
pub(crate) fn standby(_: &mut Context) {
    let cluster = Spec::separate(2, 0).start();
    let request = elect(PREFERRED, Some(&[("anything", &[0, 1])]));
    let standby = 101 + 102 - cluster.active_controller();
    let mut wire = Wire::connect(&cluster.controller(standby));
    let mut answer = |version, request| {
        let answer = show(version, &wire.call(version, request));
        answer
            .replace("node 101.", "node N.")
            .replace("node 102.", "node N.")
    };
    expect![[r#"
        no top-level error
        anything-0: NOT_CONTROLLER (41) "The active controller appears to be node N."
        anything-1: NOT_CONTROLLER (41) "The active controller appears to be node N."
    "#]]
    .assert_eq(&answer(0, &request));
    expect![[r#"
        NOT_CONTROLLER (41)
        anything-0: NOT_CONTROLLER (41) "The active controller appears to be node N."
        anything-1: NOT_CONTROLLER (41) "The active controller appears to be node N."
    "#]]
    .assert_eq(&same([answer(1, &request), answer(2, &request)]));
    expect![[r#"
        NOT_CONTROLLER (41)
    "#]]
    .assert_eq(&answer(2, &elect(PREFERRED, None)));
}

/// One controller: with more, they need each other before they know any ACL.
pub(crate) fn refused(context: &mut Context) {
    let spec = Spec::separate(1, 1).controllers(context.program.clone());
    let cluster = spec.authorizer().start();
    cluster.create_topic("settled", &[&[1]], &[]);

    // Brokers are the same principal as everyone else here, and need the rest.
    cluster.admin(
        "acls",
        json!({ "permissions": { "all": "allow", "alter": "deny" } }),
    );
    let listed: Option<&[(&str, &[i32])]> = Some(&[("settled", &[0, 5]), ("nowhere", &[1])]);
    cluster.wait("the ACLs to hold", || {
        let answer = Wire::connect(&cluster.broker(1)).call(2, &elect(PREFERRED, None));
        ErrorCode(answer.error_code) == ErrorCode::CLUSTER_AUTHORIZATION_FAILED
    });
    let answers = [cluster.broker(1), cluster.controller(101)].map(|address| {
        let mut wire = Wire::connect(&address);
        let mut answer = |version, topics, election_type, timeout_ms| {
            let mut request = elect(election_type, topics);
            request.timeout_ms = timeout_ms;
            show(version, &wire.call(version, &request))
        };
        // It is checked before type and timeout.
        let unknown_type = 9;
        let version_0 = [30_000, 0].map(|timeout| answer(0, listed, PREFERRED, timeout));
        let later = [
            answer(1, listed, PREFERRED, 30_000),
            answer(2, listed, PREFERRED, 30_000),
            answer(1, listed, unknown_type, 30_000),
            answer(2, listed, PREFERRED, 0),
        ];
        assert_eq!(answer(0, None, PREFERRED, 30_000), "no top-level error\n");
        for version in [1, 2] {
            let answer = answer(version, None, PREFERRED, 30_000);
            assert_eq!(answer, "CLUSTER_AUTHORIZATION_FAILED (31)\n");
        }
        same(version_0) + &same(later)
    });
    let expected = expect![[r#"
        no top-level error
        settled-0: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
        settled-5: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
        nowhere-1: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
        CLUSTER_AUTHORIZATION_FAILED (31)
        settled-0: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
        settled-5: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
        nowhere-1: CLUSTER_AUTHORIZATION_FAILED (31) "Request ... needs ALTER permission."
    "#]];
    context.agree(&expected, &same(answers));

    let elect = "elect --election-type preferred";
    let one = klamm_on(&cluster, &format!("{elect} --topic settled --partition 0"));
    expect![[r#"
        --- errors
        error: no leader was elected
          cause: 127.0.0.1:PORT: not authorized to elect leaders (CLUSTER_AUTHORIZATION_FAILED (31)); it takes the ALTER permission on the cluster
          next step: This user may not elect leaders. Run as a user with ALTER on the cluster, or have an administrator grant that.
        --- exit status 1
    "#]].assert_eq(&one.shown());
    let all = klamm_on(&cluster, &format!("{elect} --all-topic-partitions"));
    expect![[r#"
        --- errors
        error: no leader was elected
          cause: 127.0.0.1:PORT: not authorized to elect leaders (CLUSTER_AUTHORIZATION_FAILED (31)); it takes the ALTER permission on the cluster
          next step: This user may not elect leaders. Run as a user with ALTER on the cluster, or have an administrator grant that.
        --- exit status 1
    "#]].assert_eq(&all.shown());
}

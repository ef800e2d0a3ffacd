//! `klamm` connected to a controller instead of a broker.

use expect_test::expect;

use crate::Context;
use crate::klamm::klamm;
use crate::seen;

/// Controllers elect, and serve no metadata.
pub(crate) fn at_the_controller(context: &mut Context) {
    let cluster = context.with_down(&[]);
    context.topic("turned", &[&[1, 2]]);
    let controller = cluster.controller(101);
    let elect = |flags: &str| {
        let elect = "elect --election-type preferred --bootstrap-controller";
        klamm(&format!("{elect} {controller} {flags}")).shown()
    };
    seen::unbalance(cluster, "turned");
    expect![[r#"
        --- output
        PARTITION  RESULT   LEADER BEFORE  LEADER AFTER
        turned-0   elected              -             -

        preferred election: 1 elected, 0 not needed, 0 failed
        --- errors
        Controllers serve no metadata: leaders before and after are not known.
        --- exit status 0
    "#]]
    .assert_eq(&elect("--topic turned --partition 0"));
    seen::unbalance(cluster, "turned");
    expect![[r#"
        --- output
        PARTITION  RESULT   LEADER BEFORE  LEADER AFTER
        turned-0   elected              -             -

        preferred election: 1 elected, 0 not needed, 0 failed
        --- errors
        Controllers serve no metadata: leaders before and after are not known.
        --- exit status 0
    "#]]
    .assert_eq(&elect("--all-topic-partitions"));
    expect![[r#"
        --- errors
        error: --dry-run does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker
        --- exit status 2
    "#]]
    .assert_eq(&elect("--all-topic-partitions --dry-run"));
    expect![[r#"
        --- errors
        error: a topic pattern, or --topic without partition numbers, does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker, or name topics and partitions
        --- exit status 2
    "#]]
    .assert_eq(&elect("--topic turn*"));
    expect![[r#"
        --- errors
        error: --batch-size with --all-topic-partitions does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker, or leave --batch-size out
        --- exit status 2
    "#]]
    .assert_eq(&elect("--all-topic-partitions --batch-size 10"));
    let leaders = klamm(&format!("leaders --bootstrap-controller {controller}"));
    expect![[r#"
        --- errors
        error: klamm leaders does not work with controllers
          cause: controllers serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker
        --- exit status 2
    "#]]
    .assert_eq(&leaders.shown());
}

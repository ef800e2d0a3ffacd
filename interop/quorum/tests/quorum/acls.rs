//! Who may do what: the brokers ask the controller for their clients.

use klamm_cluster::Cluster;

use crate::Context;
use crate::tools::tool;

/// The SCRAM credential that Apache Kafka's tool sets lets a client in at a broker. What the client
/// asks for is the controller's to allow or refuse, to which the broker forwards it in an Envelope.
pub(crate) fn through_brokers(context: &mut Context) {
    let name = context.topic("acls");
    let cluster = context.whole();
    let password = "SCRAM-SHA-256=[iterations=4096,password=secret]";
    let user = ["--entity-type", "users", "--entity-name", "alice"];
    let add = ["--alter", "--add-config", password];
    tool(cluster, "ConfigCommand", &[&add[..], &user[..]].concat());
    let create = ["--create", "--topic", &name, "--partitions", "1"];
    let alice = Alice::of(cluster);
    // Until the broker knows of the credential, she is not let in.
    alice.wait_for("TopicCommand", &create, is_refused);
    cluster.wait("her credential to be described", || {
        let described = tool(
            cluster,
            "ConfigCommand",
            &[&["--describe"], &user[..]].concat(),
        );
        described.contains("SCRAM-SHA-256=iterations=4096")
    });

    let acls = |args: &[&str]| tool(cluster, "AclCommand", args);
    let of_topic = ["--topic", &name];
    let allow = ["--allow-principal", "User:alice"];
    let allow_all = ["--add", "--operation", "Create", "--operation", "Delete"];
    acls(&[&allow_all[..], &allow, &of_topic].concat());
    alice.wait_for("TopicCommand", &create, |status, _| status == 0);

    let deny = ["--deny-principal", "User:alice"];
    acls(&[&["--add", "--operation", "Delete"], &deny[..], &of_topic].concat());
    cluster.wait("the ACLs to be listed", || {
        let listed = acls(&[&["--list"], &of_topic[..]].concat());
        let mut parts = ["operation=CREATE", "permissionType=DENY"].iter();
        parts.all(|part| listed.contains(part))
    });
    let elect = ["--election-type", "preferred", "--all-topic-partitions"];
    alice.wait_for("LeaderElectionCommand", &elect, is_refused);
    // What is denied is denied although it is allowed. The broker shows her the topic when it knows that
    // she may delete it.
    let delete = ["--delete", "--topic", &name];
    alice.wait_for("TopicCommand", &delete, is_refused);

    acls(
        &[
            &["--remove", "--force", "--operation", "Delete"],
            &deny[..],
            &of_topic,
        ]
        .concat(),
    );
    alice.wait_for("TopicCommand", &delete, |status, _| status == 0);
    acls(&[&["--remove", "--force"], &of_topic[..]].concat());
    cluster.wait("the ACLs to be gone", || {
        let listed = acls(&[&["--list"], &of_topic[..]].concat());
        !listed.contains("alice")
    });
    let remove = ["--alter", "--delete-config", "SCRAM-SHA-256"];
    tool(cluster, "ConfigCommand", &[&remove[..], &user].concat());
}

/// Refused for who asks, in the words of Apache Kafka's controller or of klamm's.
fn is_refused(status: i64, said: &str) -> bool {
    status == 1
        && ["uthoriz", "may not"]
            .iter()
            .any(|words| said.contains(words))
}

/// A client that says who it is.
struct Alice<'a> {
    cluster: &'a Cluster,
    config: String,
}

impl<'a> Alice<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let config = cluster.dir().join("alice.properties");
        let text = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n\
                    sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
                    username=\"alice\" password=\"secret\";\n";
        std::fs::write(&config, text).unwrap();
        let config = config.display().to_string();
        Self { cluster, config }
    }

    /// Asks until a tool ends with a status and output as wanted.
    fn wait_for(&self, name: &str, args: &[&str], is_wanted: impl Fn(i64, &str) -> bool) {
        let mut last = (0, String::new());
        self.cluster.wait("alice to be answered as she should", || {
            let answer = self.tool(name, args);
            if answer != last {
                // Where she waits in vain, this is why.
                eprintln!("{name} {args:?}: {answer:?}");
                last = answer;
            }
            is_wanted(last.0, &last.1)
        });
    }

    fn tool(&self, name: &str, args: &[&str]) -> (i64, String) {
        let config = match name {
            "LeaderElectionCommand" => "--admin.config",
            _ => "--command-config",
        };
        let at = self.cluster.sasl(1);
        let server = ["--bootstrap-server", &at, config, &self.config];
        self.cluster
            .offline_tool(name, &[&server[..], args].concat())
    }
}

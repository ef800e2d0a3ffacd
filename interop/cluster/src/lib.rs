//! Real clusters for tests and the demo, of Apache Kafka's nodes and klamm's.
//!
//! ```no_run
//! use klamm_cluster::Spec;
//!
//! let cluster = Spec::combined(3).property("broker.session.timeout.ms", "6000").start();
//! println!("{}", cluster.bootstrap());
//! cluster.kill(2);
//! cluster.wait_for_brokers(&[1, 3]);
//! cluster.restart(2);
//! cluster.wait_for_brokers(&[1, 2, 3]);
//! ```
//!
//! A cluster is asked by Apache Kafka's Admin client; [`Nodes`] are the processes without it.
//!
//! Everything lives in a temporary directory and listens on 127.0.0.1. Dropping the cluster, also by
//! a panic, kills its processes; if this process itself is killed they notice and halt.
//! Test support: what goes wrong is a panic that says what was waited for and ends with the tail of
//! the servers' logs.

mod addresses;
mod cluster;
mod levels;
mod links;
mod logs;
mod node;
mod nodes;
mod ports;
mod proxy;
mod spec;
mod topics;
mod wait;

pub use cluster::Cluster;
pub use klamm_java_peer::Release;
pub use levels::KLAMM_LEVELS;
pub use logs::unlike;
pub use nodes::Nodes;
pub use ports::free_ports;
pub use proxy::Proxy;
pub use spec::{Program, Role, Spec};
pub use topics::Partition;
pub use wait::wait_until;

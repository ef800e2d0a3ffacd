mod cluster;
mod process;

pub(crate) use cluster::{FakeCluster, OFFERS, Part, part};
pub(crate) use process::{file, finish, interrupt, klamm, klamm_with_input, signal, start};

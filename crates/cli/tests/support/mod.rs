mod cluster;
mod process;
#[cfg(unix)]
mod terminal;

pub(crate) use cluster::{FakeCluster, OFFERS, Part, part};
pub(crate) use process::{file, finish, interrupt, klamm, klamm_with_input, signal, start};
#[cfg(unix)]
pub(crate) use terminal::{CTRL_C, ENTER, Terminal, shell_status};

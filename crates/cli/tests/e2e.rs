//! The klamm command as a process, against a fake cluster: what people see, and how it ends.

mod elect;
mod explain;
mod leaders;
mod misuse;
mod support;
mod trouble;

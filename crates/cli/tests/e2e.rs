//! The klamm command as a process, against a fake cluster: what people see, and how it ends.

mod controller;
mod drill;
mod elect;
mod explain;
mod explain_documented;
mod explain_flags;
mod explain_logs;
mod explain_serve;
mod interrupts;
mod leaders;
mod misuse;
mod storage;
mod support;
#[cfg(unix)]
mod terminal;
mod trouble;
mod up;

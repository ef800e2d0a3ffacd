//! `klamm leaders`: metadata becomes a [`snapshot`] of who leads what, which [`report`] gives a
//! form; [`run()`] does the talking.

mod args;
mod frame;
mod report;
mod run;
mod snapshot;

pub(crate) use args::LeadersArgs;
pub(crate) use run::run;

//! `klamm elect`: a command line becomes a [`request`], metadata a [`plan`], answers a [`report`],
//! which [`render`] gives a form. [`run()`] does the talking in between.

mod advice;
mod args;
mod election;
mod file;
mod outcome;
mod plan;
mod progress;
mod render;
mod report;
mod request;
mod run;

pub(crate) use args::ElectArgs;
pub(crate) use run::run;

//! `klamm explain`: messages of Kafka's protocol, byte by byte. What they are is
//! [`klamm_explain`]'s to say; here, flags become a question to it, and [`input`] reads what people
//! have.

mod args;
mod captures;
mod fit;
mod frames;
mod input;
mod logs;
mod run;
mod serve;
mod site;

pub(crate) use args::ExplainArgs;
pub(crate) use run::run;

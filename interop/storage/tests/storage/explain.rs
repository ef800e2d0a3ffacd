//! `klamm explain` on the directories of the partitions, beside Apache Kafka's own tool.

pub(crate) mod compare;
mod dump;
mod klamm;
pub(crate) mod whole;

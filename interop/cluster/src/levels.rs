/// What `format` takes for a cluster with klamm's brokers, which lack these features.
pub const KLAMM_LEVELS: &[&str] = &[
    "--feature",
    "group.version=0",
    "--feature",
    "transaction.version=0",
    "--feature",
    "share.version=0",
    "--feature",
    "streams.version=0",
];

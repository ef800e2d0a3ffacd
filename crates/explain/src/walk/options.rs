/// What may be spent on one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most nodes; each takes about 300 bytes. Bytes beyond are one node that was not read.
    pub nodes: usize,
    /// The most problems that are kept.
    pub problems: usize,
    /// The most bytes that all compressed batches together may decompress to.
    pub decompressed_bytes: usize,
}

impl Default for Limits {
    /// 200,000 nodes, 1,000 problems, 64 MiB.
    fn default() -> Self {
        Self {
            nodes: 200_000,
            problems: 1_000,
            decompressed_bytes: 64 << 20,
        }
    }
}

/// How bytes are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether passwords, tokens and keys are shown as they are.
    pub show_secrets: bool,
    /// What may be spent.
    pub limits: Limits,
}

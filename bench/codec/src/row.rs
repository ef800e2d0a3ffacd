use bench_alloc::Allocated;

/// One way of doing what a row measures.
pub(crate) struct Side {
    /// How it is done, where a library has more than one way.
    pub(crate) how: &'static str,
    /// Does it, as often as asked.
    pub(crate) run: Box<dyn Fn(u64)>,
}

/// One operation on one message, by both libraries.
pub(crate) struct Row {
    /// The message's name.
    pub(crate) message: &'static str,
    /// `encode` or `decode`.
    pub(crate) operation: &'static str,
    /// The version that both know.
    pub(crate) version: i16,
    /// Length of the encoded body, in bytes.
    pub(crate) len: usize,
    /// klamm's way.
    pub(crate) ours: Side,
    /// The peer's ways; the fastest of them counts.
    pub(crate) peer: Vec<Side>,
}

impl Row {
    pub(crate) fn name(&self) -> String {
        let Self {
            message,
            operation,
            version,
            ..
        } = self;
        format!("{message} v{version} {operation} {}", self.ours.how)
            .trim_end()
            .to_owned()
    }
}

/// What came out for one side of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// How it was done.
    pub(crate) how: &'static str,
    /// Median time of one operation.
    pub(crate) nanoseconds: f64,
    /// What one operation allocates.
    pub(crate) allocated: Allocated,
}

/// What came out for a row.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) message: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) version: i16,
    pub(crate) len: usize,
    pub(crate) ours: Figures,
    pub(crate) peer: Figures,
    /// How many times as fast as the peer klamm is: the median over pairs of neighbouring samples.
    pub(crate) ratio: f64,
}

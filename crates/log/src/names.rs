use klamm_protocol::Offset;

/// The digits of an offset in a file name.
pub(crate) const OFFSET_DIGITS: usize = 20;

/// What a file of a segment holds; its name is the base offset and this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// Record batches.
    Log,
    /// Offsets and their positions.
    OffsetIndex,
    /// Timestamps and their offsets.
    TimeIndex,
    /// Aborted transactions. klamm writes none, but removes what it finds with the segment.
    TransactionIndex,
    /// The state of producers before this offset.
    ProducerSnapshot,
}

impl Kind {
    /// Every kind; the batches first, so that a crash while a segment is removed leaves files that
    /// belong to no segment, and not a segment without indexes.
    pub(crate) const ALL: [Self; 5] = [
        Self::Log,
        Self::OffsetIndex,
        Self::TimeIndex,
        Self::TransactionIndex,
        Self::ProducerSnapshot,
    ];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Log => ".log",
            Self::OffsetIndex => ".index",
            Self::TimeIndex => ".timeindex",
            Self::TransactionIndex => ".txnindex",
            Self::ProducerSnapshot => ".snapshot",
        }
    }

    /// The name of a segment's file.
    pub(crate) fn name(self, base: Offset) -> String {
        format!("{:0OFFSET_DIGITS$}{}", base.0, self.suffix())
    }

    /// What a file's name says, if it is a segment's.
    pub(crate) fn parse(name: &str) -> Option<(Offset, Self)> {
        let (digits, suffix) = name.split_at_checked(OFFSET_DIGITS)?;
        let kind = Self::ALL.into_iter().find(|kind| kind.suffix() == suffix)?;
        Some((Offset(number(digits)?), kind))
    }
}

/// Digits and nothing else.
pub(crate) fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    let all_digits = digits.bytes().all(|b| b.is_ascii_digit());
    if all_digits {
        digits.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kafkas() {
        assert_eq!(Kind::Log.name(Offset(7)), "00000000000000000007.log");
        for kind in Kind::ALL {
            let name = kind.name(Offset(i64::MAX));
            assert_eq!(Kind::parse(&name), Some((Offset(i64::MAX), kind)));
        }
        for name in [
            "7.log",
            "00000000000000000007",
            "00000000000000000007.log.deleted",
            "+0000000000000000007.log",
            "99999999999999999999.log",
            "é0000000000000000007.log",
            "leader-epoch-checkpoint",
        ] {
            assert_eq!(Kind::parse(name), None, "{name}");
        }
    }
}

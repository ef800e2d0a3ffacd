use std::fmt;
use std::str::FromStr;

/// The versions that something holds in: one range, open at the end or not, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Versions {
    /// The first version.
    pub min: i16,
    /// The last version; [`i16::MAX`] where the range is open.
    pub max: i16,
}

impl Versions {
    /// No version.
    pub const NONE: Self = Self { min: 0, max: -1 };

    /// The range from `min` to `max`, both included.
    pub fn new(min: i16, max: i16) -> Self {
        if min <= max {
            Self { min, max }
        } else {
            Self::NONE
        }
    }

    /// Whether it is no version.
    pub fn is_empty(self) -> bool {
        self.max < self.min
    }

    /// Whether `version` is in the range.
    pub fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// The versions in both ranges.
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.min.max(other.min), self.max.min(other.max))
    }

    /// Whether every version of `other` is in the range.
    pub fn covers(self, other: Self) -> bool {
        other.is_empty() || (self.min <= other.min && other.max <= self.max)
    }

    /// The versions in order. The range must have an end.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = i16> {
        self.min..=self.max
    }
}

impl fmt::Display for Versions {
    /// In the schemas' own form: `none`, `3`, `3+` or `3-5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            versions if versions.is_empty() => f.write_str("none"),
            Self { min, max } if min == max => write!(f, "{min}"),
            Self { min, max: i16::MAX } => write!(f, "{min}+"),
            Self { min, max } => write!(f, "{min}-{max}"),
        }
    }
}

impl FromStr for Versions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            text.trim()
                .parse::<i16>()
                .ok()
                .filter(|number| *number >= 0)
                .ok_or_else(|| format!("{text:?} is not a version"))
        };
        let text = text.trim();
        if text == "none" {
            Ok(Self::NONE)
        } else if let Some(min) = text.strip_suffix('+') {
            Ok(Self {
                min: number(min)?,
                max: i16::MAX,
            })
        } else if let Some((min, max)) = text.split_once('-') {
            let versions = Self {
                min: number(min)?,
                max: number(max)?,
            };
            if versions.is_empty() {
                return Err(format!("{text:?} ends before it begins"));
            }
            Ok(versions)
        } else {
            let version = number(text)?;
            Ok(Self {
                min: version,
                max: version,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back() {
        for text in ["none", "0", "3+", "0-2"] {
            assert_eq!(
                text.parse::<Versions>().map(|v| v.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["", "+", "-1", "2-1", "a", "1-", "99999"] {
            assert!(text.parse::<Versions>().is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_intersect_and_cover() {
        let versions = |text: &str| text.parse::<Versions>().unwrap();
        assert_eq!(versions("0-4").intersect(versions("2+")), versions("2-4"));
        assert!(versions("0-1").intersect(versions("2+")).is_empty());
        assert!(versions("0+").covers(versions("2-4")));
        assert!(!versions("0-3").covers(versions("2-4")));
        assert!(versions("none").covers(Versions::NONE));
    }
}

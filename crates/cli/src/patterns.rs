use std::fmt;
use std::str::FromStr;

/// One `--topic`: a name, or a pattern that stands for many.
///
/// In a pattern `*` stands for any characters, also none, and `?` for one. Neither can be in a
/// topic's name, so that names and patterns cannot be mistaken for each other; dots, which names
/// are full of, stand for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TopicArg {
    /// Exactly this topic.
    Name(String),
    /// Every topic whose whole name matches.
    Glob(String),
}

/// Kafka's limit on the length of a topic's name.
const MAX_NAME: usize = 249;

impl FromStr for TopicArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        check(text, "._-*?").map_err(|problem| match problem {
            NoName::Odd(_) => format!(
                "{problem}; a pattern is made of names, * (any characters) and ? (one), not a regular expression"
            ),
            _ => problem.to_string(),
        })?;
        let text = text.to_owned();
        Ok(if text.contains(['*', '?']) {
            Self::Glob(text)
        } else {
            Self::Name(text)
        })
    }
}

/// Why a text is no topic's name on any cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoName {
    Empty,
    TooLong,
    /// It has this character.
    Odd(char),
}

impl fmt::Display for NoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a topic's name is not empty"),
            Self::TooLong => write!(f, "a topic's name has at most {MAX_NAME} characters"),
            Self::Odd(odd) => write!(f, "'{}' is in no topic's name", odd.escape_debug()),
        }
    }
}

/// Whether a cluster can have a topic of this name.
pub(crate) fn check_name(text: &str) -> Result<(), NoName> {
    check(text, "._-")
}

fn check(text: &str, marks: &str) -> Result<(), NoName> {
    let legal = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    match text.chars().find(|&c| !legal(c)) {
        _ if text.is_empty() => Err(NoName::Empty),
        _ if text.len() > MAX_NAME => Err(NoName::TooLong),
        Some(odd) => Err(NoName::Odd(odd)),
        None => Ok(()),
    }
}

impl fmt::Display for TopicArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Glob(text) => f.write_str(text),
        }
    }
}

impl TopicArg {
    /// Whether a topic is meant.
    pub(crate) fn matches(&self, topic: &str) -> bool {
        match self {
            Self::Name(name) => name == topic,
            Self::Glob(pattern) => glob(pattern.as_bytes(), topic.as_bytes()),
        }
    }

    /// The name, where it is one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Glob(_) => None,
        }
    }
}

/// Whether a topic is meant by a list of them; an empty list means every topic.
pub(crate) fn any_matches(topics: &[TopicArg], topic: &str) -> bool {
    topics.is_empty() || topics.iter().any(|arg| arg.matches(topic))
}

/// Matches in time of at most pattern x text: only the last `*` is ever widened.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, covered)) => {
                    star = Some((at, covered + 1));
                    p = at + 1;
                    t = covered + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(text: &str) -> TopicArg {
        text.parse().expect("a topic")
    }

    #[test]
    fn names_match_themselves_only() {
        assert_eq!(arg("orders.eu"), TopicArg::Name("orders.eu".to_owned()));
        assert!(arg("orders.eu").matches("orders.eu"));
        assert!(!arg("orders.eu").matches("ordersxeu"));
        assert!(!arg("orders").matches("orders2"));
    }

    #[test]
    fn globs_match_whole_names() {
        for (pattern, topic) in [
            ("*", "a"),
            ("orders.*", "orders.eu"),
            ("orders.*", "orders."),
            ("*.eu", "orders.v1.eu"),
            ("o*s.?u", "orders.eu"),
            ("**a**", "bab"),
            ("*ab*ab", "abxabab"),
        ] {
            assert!(arg(pattern).matches(topic), "{pattern} {topic}");
        }
        for (pattern, topic) in [
            ("orders.*", "orders"),
            ("orders.*", "ordersxeu"),
            ("?", "ab"),
            ("*b", "ba"),
            ("a*a", "a"),
            ("*ab*ab", "abab2"),
        ] {
            assert!(!arg(pattern).matches(topic), "{pattern} {topic}");
        }
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let text = "a".repeat(249);
        assert!(!glob(
            format!("{}b", "*a".repeat(100)).as_bytes(),
            text.as_bytes()
        ));
    }

    #[test]
    fn what_is_no_topic_is_refused() {
        let error = |text: &str| text.parse::<TopicArg>().expect_err("refused");
        assert_eq!(error(""), "a topic's name is not empty");
        assert_eq!(
            error(&"a".repeat(250)),
            "a topic's name has at most 249 characters"
        );
        assert_eq!(
            error("orders[0-9]+"),
            "'[' is in no topic's name; a pattern is made of names, * (any characters) and ? (one), \
             not a regular expression"
        );
    }

    #[test]
    fn no_topics_mean_all() {
        assert!(any_matches(&[], "a"));
        assert!(any_matches(&[arg("b"), arg("a*")], "a"));
        assert!(!any_matches(&[arg("b")], "a"));
    }
}

use std::fmt;
use std::time::Duration;

/// Units, smallest first.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// What Kafka's protocol can carry as a timeout: milliseconds in an int32.
const MAX_MILLIS: u64 = i32::MAX as u64;

/// Reads `500ms`, `30s`, `5m` or `1h`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let form = "write a number and a unit: 500ms, 30s, 5m or 1h";
    if number.is_empty() {
        return Err(form.to_owned());
    }
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        let say = format!("say the unit: {number}ms or {number}s");
        return Err(if unit.is_empty() {
            say
        } else {
            form.to_owned()
        });
    };
    match number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
    {
        Some(millis) if millis <= MAX_MILLIS => Ok(Duration::from_millis(millis)),
        _ => Err("too long: at most 24 days, such as 596h".to_owned()),
    }
}

/// As [`parse`], and longer than nothing.
pub(crate) fn parse_positive(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err("must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

/// The shortest interval: asking a cluster more often is load, and tells nobody more.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// As [`parse_positive`], and not too short; a bare number is seconds.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let interval = parse_positive(&if is_bare {
        format!("{text}s")
    } else {
        text.to_owned()
    })?;
    if interval < SHORTEST_INTERVAL {
        return Err(format!("must be at least {}", Shown(SHORTEST_INTERVAL)));
    }
    Ok(interval)
}

/// Shows a duration as [`parse`] reads it, in its largest whole unit.
pub(crate) struct Shown(pub(crate) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let whole = |factor: u64| millis.is_multiple_of(u128::from(factor)) && millis > 0;
        let (unit, factor) = UNITS
            .iter()
            .rev()
            .find(|(_, f)| whole(*f))
            .unwrap_or(&UNITS[0]);
        write!(f, "{}{unit}", millis / u128::from(*factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, millis) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)));
        }
        for text in ["500ms", "30s", "5m", "1h", "1500ms", "0ms"] {
            assert_eq!(Shown(parse(text).expect("a duration")).to_string(), text);
        }
        assert_eq!(parse_interval("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_interval("500ms"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn refusals() {
        assert_eq!(parse("30"), Err("say the unit: 30ms or 30s".to_owned()));
        for text in ["", "s", "-1s", "1.5s", "1d", "1 s", "30S"] {
            let write = "write a number and a unit: 500ms, 30s, 5m or 1h";
            assert_eq!(parse(text), Err(write.to_owned()), "{text:?}");
        }
        let long = Err("too long: at most 24 days, such as 596h".to_owned());
        assert_eq!(parse("2147483648ms"), long);
        assert_eq!(parse("99999999999999999999h"), long);
        assert_eq!(
            parse_positive("0s"),
            Err("must be longer than 0".to_owned())
        );
        assert_eq!(parse_interval("0"), Err("must be longer than 0".to_owned()));
        assert_eq!(
            parse_interval("99ms"),
            Err("must be at least 100ms".to_owned())
        );
    }
}

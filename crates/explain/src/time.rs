/// A time in milliseconds since 1970 as `2026-11-29T20:15:00.000Z`; none outside of the years 1 to
/// 9999.
pub(crate) fn utc(millis: i64) -> Option<String> {
    const DAY: i64 = 86_400_000;
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    // Years that begin in March, so that a leap day is the last day of its year.
    let shifted = days.checked_add(719_468)?;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    if !(1..=9999).contains(&year) {
        return None;
    }
    let seconds = rest / 1000;
    Some(format!(
        "{year:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        rest % 1000
    ))
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        for (millis, text) in [
            (0, Some("1970-01-01T00:00:00.000Z")),
            (-1, Some("1969-12-31T23:59:59.999Z")),
            (951_782_400_000, Some("2000-02-29T00:00:00.000Z")),
            (1_700_000_000_123, Some("2023-11-14T22:13:20.123Z")),
            (i64::MAX, None),
            (i64::MIN, None),
        ] {
            assert_eq!(utc(millis).as_deref(), text);
        }
    }
}

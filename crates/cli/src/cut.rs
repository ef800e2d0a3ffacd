/// What of a line fits the width, with an ellipsis where something does not; colours take no room.
pub(crate) fn cut(line: &str, width: usize) -> String {
    let mut out = String::new();
    let too_long = visible_chars(line) > width;
    let mut room = if too_long {
        width.saturating_sub(1)
    } else {
        width
    };
    let mut ellipsis = too_long && width > 0;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            out.push(c);
            for c in chars.by_ref() {
                out.push(c);
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else if room > 0 {
            out.push(c);
            room -= 1;
        } else if std::mem::take(&mut ellipsis) {
            out.push('\u{2026}');
        }
    }
    out
}

fn visible_chars(line: &str) -> usize {
    let mut in_colour = false;
    let visible = |c: &char| {
        let was_in_colour = in_colour;
        in_colour = *c == '\x1b' || in_colour && !c.is_ascii_alphabetic();
        !in_colour && !was_in_colour
    };
    line.chars().filter(visible).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_colours_are_kept() {
        for (line, width, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 3, "ab\u{2026}"),
            ("abcdef", 1, "\u{2026}"),
            ("abcdef", 0, ""),
            ("\x1b[31mabc\x1b[0m", 3, "\x1b[31mabc\x1b[0m"),
            ("\x1b[31mabcdef\x1b[0m", 3, "\x1b[31mab\u{2026}\x1b[0m"),
        ] {
            assert_eq!(cut(line, width), expected, "{line:?} in {width}");
        }
    }
}

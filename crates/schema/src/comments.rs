/// Blanks out comments outside of strings, which Apache Kafka's own schema files have: `// …` to the
/// end of the line, and `/* … */`. Lines and columns stay as they are, so that JSON errors name the
/// right place.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut state = State::Json;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let (kept, then) = match (state, c) {
            (State::Json, '"') => (c, State::Text),
            (State::Json, '/') if next == Some('/') => (' ', State::Line),
            (State::Json, '/') if next == Some('*') => (' ', State::Block),
            (State::Text, '"') => (c, State::Json),
            (State::Text, '\\') => (c, State::Escape),
            (State::Escape, _) => (c, State::Text),
            (State::Line, '\n') => (c, State::Json),
            (State::Block, '*') if next == Some('/') => {
                chars.next();
                out.push(' ');
                (' ', State::Json)
            }
            (State::Block, '\n') | (State::Json | State::Text, _) => (c, state),
            (State::Line | State::Block, _) => (' ', state),
        };
        // The star that begins a block comment cannot end it, too.
        if then == State::Block && state == State::Json {
            chars.next();
            out.push(' ');
        }
        out.push(kept);
        state = then;
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Json,
    Text,
    Escape,
    Line,
    Block,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_spaces() {
        for (text, without) in [
            ("{} // a \"b\n{}", "{}        \n{}"),
            ("{ /* a\n \" b */ }", "{     \n        }"),
            ("\"// /* \\\" // */\" //", "\"// /* \\\" // */\"   "),
            ("/*/ a */ b", "         b"),
            ("/** a **/ b", "          b"),
            ("1 / 2", "1 / 2"),
        ] {
            assert_eq!(without_comments(text), without, "{text}");
        }
    }
}

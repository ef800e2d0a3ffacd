use super::*;

fn entries(text: &str) -> Vec<(String, String, u32)> {
    let properties = Properties::parse("f", text).expect("readable");
    properties
        .iter()
        .map(|p| (p.key.clone(), p.value.clone(), p.line))
        .collect()
}

#[track_caller]
fn one(text: &str, key: &str, value: &str) {
    assert_eq!(
        entries(text),
        [(key.to_owned(), value.to_owned(), 1)],
        "{text:?}"
    );
}

#[test]
fn separators_are_equals_colon_and_blanks() {
    for text in [
        "a=b",
        "a:b",
        "a b",
        "a = b",
        "a : b",
        "a\tb",
        "a \t=\t b",
        "  a=b",
        "\x0Ca=b",
    ] {
        one(text, "a", "b");
    }
    one("a==b", "a", "=b");
    one("a = = b", "a", "= b");
    one("a  :=b", "a", "=b");
    one("a", "a", "");
    one("a=", "a", "");
    one("=b", "", "b");
    one("a=b c", "a", "b c");
    one("a=b  ", "a", "b  ");
}

#[test]
fn escapes() {
    one(r"a\=b=c", "a=b", "c");
    one(r"a\:b\ c:d", "a:b c", "d");
    one(r"a\\=b", r"a\", "b");
    one(r"a=\t\n\r\f\q\\", "a", "\t\n\r\x0Cq\\");
    one(r"a=\u0041\u00e9", "a", "A\u{e9}");
    one(r"a=\uD83D\uDE00!", "a", "\u{1F600}!");
    one(r"a=x\", "a", "x");
}

#[test]
fn broken_escapes_name_the_line() {
    let error = |text| {
        Properties::parse("c.properties", text)
            .expect_err("broken")
            .to_string()
    };
    let digits =
        "\\u must be followed by four hexadecimal digits (a backslash itself is written \\\\)";
    assert_eq!(error("# c\na=\\u12"), format!("c.properties:2: {digits}"));
    assert_eq!(error(r"\uwxyz=1"), format!("c.properties:1: {digits}"));
    assert_eq!(error(r"a=C:\users"), format!("c.properties:1: {digits}"));
    assert_eq!(
        error(r"a=\uD83Dx"),
        "c.properties:1: \\uD83D is half of a surrogate pair: write both halves, or the character itself"
    );
}

#[test]
fn comments_and_blank_lines_are_skipped_and_lines_counted() {
    let text = "# c\n! d\n\n  \t\n  # e \\\na=1\r\nb=2\rc=3";
    let expected = [("a", "1", 6), ("b", "2", 7), ("c", "3", 8)];
    assert_eq!(
        entries(text),
        expected.map(|(k, v, l)| (k.to_owned(), v.to_owned(), l))
    );
}

#[test]
fn continuation_lines_join_without_their_indent() {
    let text = "a=1,\\\n   2,\\\r\n\t#3\nb=x\\\\\nc=y\\\n\nd=z\\";
    let expected = [
        ("a", "1,2,#3", 1),
        ("b", "x\\", 4),
        ("c", "y", 5),
        ("d", "z", 7),
    ];
    assert_eq!(
        entries(text),
        expected.map(|(k, v, l)| (k.to_owned(), v.to_owned(), l))
    );
    assert_eq!(entries("\\\n"), []);
    assert_eq!(entries("\\\n#k=v"), []);
    assert_eq!(entries("\\\nk=v").len(), 1);
}

#[test]
fn the_last_of_a_repeated_key_counts() {
    let properties = Properties::parse("f", "a=1\na=2").expect("readable");
    assert_eq!(
        properties.get("a").map(|p| (p.value.as_str(), p.line)),
        Some(("2", 2))
    );
    assert_eq!(properties.iter().count(), 2);
}

#[test]
fn text_is_utf8_or_else_latin1() {
    assert_eq!(decode("a=\u{e9}".as_bytes()), "a=\u{e9}");
    assert_eq!(decode(b"a=\xE9"), "a=\u{e9}");
    assert_eq!(decode(b"\xEF\xBB\xBFa=1"), "a=1");
}

#[test]
fn debug_hides_secrets() {
    let properties = Properties::parse("f", "ssl.key.password=hunter2\na=1").expect("readable");
    let debug = format!("{properties:?}");
    assert!(
        !debug.contains("hunter2") && debug.contains("[hidden]"),
        "{debug}"
    );
}

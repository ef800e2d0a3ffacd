use super::*;

fn parse(kind: Kind, text: &str) -> Result<Value, String> {
    kind.parse(text)
}

#[test]
fn numbers_keep_their_bounds() {
    let int = Kind::Int { min: -1, max: 9 };
    assert_eq!(parse(int, " 9 "), Ok(Value::Int(9)));
    for text in ["10", "-2", "", "1.0", "0x1", "99999999999"] {
        assert_eq!(
            parse(int, text),
            Err("a whole number from -1 to 9".to_owned()),
            "{text}"
        );
    }
    let long = Kind::Long {
        min: 0,
        max: i64::MAX,
    };
    assert_eq!(
        parse(long, "9223372036854775807"),
        Ok(Value::Long(i64::MAX))
    );
    let millis = Kind::Millis { min: 0, max: 10 };
    assert_eq!(
        parse(millis, "7"),
        Ok(Value::Duration(Duration::from_millis(7)))
    );
    assert_eq!(
        parse(millis, "7s"),
        Err("a whole number from 0 to 10 (milliseconds)".to_owned())
    );
}

#[test]
fn words_lists_and_switches() {
    assert_eq!(
        parse(Kind::String, " a b "),
        Ok(Value::String("a b".to_owned()))
    );
    let list = Value::List(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(parse(Kind::List, "a, b,,"), Ok(list));
    assert_eq!(parse(Kind::Bool, "TRUE"), Ok(Value::Bool(true)));
    assert_eq!(parse(Kind::Bool, "False"), Ok(Value::Bool(false)));
    assert_eq!(parse(Kind::Bool, "yes"), Err("true or false".to_owned()));
    assert_eq!(parse(Kind::Enum(&["A", "B"]), "b"), Ok(Value::Word("B")));
    assert_eq!(
        parse(Kind::Enum(&["A", "B"]), "c"),
        Err("one of A, B".to_owned())
    );
}

#[test]
fn secrets_are_known_by_name() {
    for key in [
        "ssl.key.password",
        "sasl.jaas.config",
        "ssl.keystore.key",
        "my.api.TOKEN",
    ] {
        assert!(is_secret(key), "{key}");
    }
    for key in ["ssl.keystore.location", "client.id"] {
        assert!(!is_secret(key), "{key}");
    }
}

#[test]
fn a_wrong_secret_is_not_shown() {
    static TABLE: KeyTable = KeyTable {
        keys: &[Key {
            name: "my.secret",
            kind: Kind::Int { min: 0, max: 1 },
            default: None,
            doc: "A number that nobody may see.",
        }],
        unused: &[],
        silent: &[],
    };
    let properties = Properties::parse("f", "my.secret=hunter2").expect("readable");
    let error = TABLE.read(&properties).expect_err("refused").to_string();
    assert_eq!(
        error,
        "f:1: my.secret: the value must be a whole number from 0 to 1"
    );
}

#[test]
fn distances() {
    assert_eq!(edits("", "abc"), 3);
    assert_eq!(edits("kitten", "sitting"), 3);
    assert_eq!(edits("same", "same"), 0);
}

#[test]
fn rules_of_several_keys_are_said_with_those_of_one() {
    static TABLE: KeyTable = KeyTable {
        keys: &[
            Key {
                name: "a.number",
                kind: Kind::Int { min: 0, max: 1 },
                default: Some("0"),
                doc: "A number.",
            },
            Key {
                name: "my.secret",
                kind: Kind::Password,
                default: None,
                doc: "What nobody may see.",
            },
        ],
        unused: &["idle."],
        silent: &["other", "others."],
    };
    let text = "my.secret=hunter2\nother=1\nothers.x=2\nidle.x=3\nothre=4\na.number=1\na.number=7";
    let properties = Properties::parse("f", text).expect("readable");
    let mut reading = TABLE.begin(&properties);
    assert!(reading.has("a.number") && !reading.values().is_given("a.number"));
    assert_eq!(reading.values().int("a.number"), Some(0));
    reading.wrong("my.secret", "is short");
    reading.wrong("b.number", "is missing");
    let warnings: Vec<String> = reading
        .values()
        .warnings()
        .iter()
        .map(|w| w.to_string())
        .collect();
    let error = reading.finish().expect_err("refused").to_string();
    expect_test::expect![[r#"
        f:7: a.number=7: the value must be a whole number from 0 to 1
        f:1: my.secret: is short
        f: b.number: is missing"#]]
    .assert_eq(&error);
    expect_test::expect![[r#"
        f:4: idle.x has no effect here: ignored
        f:5: othre is not a known key: ignored"#]]
    .assert_eq(&warnings.join("\n"));
}

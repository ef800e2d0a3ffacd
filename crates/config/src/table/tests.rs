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

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::errors::Problem;
use crate::patterns::check_name;
use klamm_client::TopicPartition;

/// The form of the file; what else is in it has no meaning.
#[derive(Deserialize)]
struct Document {
    partitions: Vec<Object<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    topic: String,
    partition: i32,
}

/// What is an object in JSON; derived code would take an array, too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Map<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Map(PhantomData))
    }
}

const FORM: &str = r#"the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#;

/// Reads the file of `--path-to-json-file`; `name` is what messages call it.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<TopicPartition>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Problem::misuse(format!("{name} is empty")).next(FORM));
    }
    let Object(document): Object<Document> = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column().max(1));
        // serde_json ends its message with the place, which stands in front here.
        let message = error.to_string();
        let cause = message.split(" at line ").next().unwrap_or(&message);
        let cause = cause.replace("expected i32", "expected a partition number");
        Problem::misuse(format!("{name}:{line}:{column}: {cause}")).next(FORM)
    })?;
    let mut counts: BTreeMap<TopicPartition, usize> = BTreeMap::new();
    for Object(Entry { topic, partition }) in document.partitions {
        let cause = match check_name(&topic) {
            Err(problem) => Some(problem.to_string()),
            Ok(()) => (partition < 0).then(|| "partitions count from 0".to_owned()),
        };
        if let Some(cause) = cause {
            let what = format!("{name}: topic \"{topic}\", partition {partition} cannot exist");
            return Err(Problem::misuse(what)
                .because(cause)
                .next("correct the list; nothing was elected"));
        }
        *counts
            .entry(TopicPartition::new(topic, partition))
            .or_default() += 1;
    }
    let repeated: Vec<_> = counts
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(tp, _)| tp.to_string())
        .collect();
    if repeated.is_empty() {
        Ok(counts.into_keys().collect())
    } else {
        let what = format!(
            "{name} lists partitions more than once: {}",
            repeated.join(", ")
        );
        Err(Problem::misuse(what).next("list each partition once"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let shown = match parse("list.json", text) {
            Ok(partitions) => partitions
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn apaches_form_is_read() {
        let text = r#"{"version": 1, "partitions": [
            {"topic": "b", "partition": 1, "x": []}, {"partition": 0, "topic": "a.b"}]}
        "#;
        check(text, &expect!["a.b-0 b-1"]);
        check(r#"{"partitions": []}"#, &expect![[r#""#]]);
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        check(
            "",
            &expect![[r#"
            error: list.json is empty
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            " \n",
            &expect![[r#"
            error: list.json is empty
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            "{",
            &expect![[r#"
            error: list.json:1:1: EOF while parsing an object
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            "{\"partitions\": [\n  {\"topic\": \"a\" \"partition\": 0}]}",
            &expect![[r#"
                error: list.json:2:17: expected `,` or `}`
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": []} more"#,
            &expect![[r#"
            error: list.json:1:20: trailing characters
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
    }

    #[test]
    fn what_is_another_form_is_refused_with_its_place() {
        check(
            "[]",
            &expect![[r#"
                error: list.json:1:1: invalid type: sequence, expected an object
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [["a", 0]]}"#,
            &expect![[r#"
            error: list.json:1:16: invalid type: sequence, expected an object
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            "{}",
            &expect![[r#"
            error: list.json:1:2: missing field `partitions`
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": {}}"#,
            &expect![[r#"
            error: list.json:1:15: invalid type: map, expected a sequence
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": "a"}]}"#,
            &expect![[r#"
            error: list.json:1:30: missing field `partition`
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"partition": 1}]}"#,
            &expect![[r#"
            error: list.json:1:32: missing field `topic`
              next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": "a", "partition": "0"}]}"#,
            &expect![[r#"
                error: list.json:1:47: invalid type: string "0", expected a partition number
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": "a", "partition": 0.5}]}"#,
            &expect![[r#"
                error: list.json:1:47: invalid type: floating point `0.5`, expected a partition number
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": "a", "partition": 2147483648}]}"#,
            &expect![[r#"
                error: list.json:1:54: invalid value: integer `2147483648`, expected a partition number
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": 5, "partition": 0}]}"#,
            &expect![[r#"
                error: list.json:1:27: invalid type: integer `5`, expected a string
                  next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}"#]],
        );
        check(
            r#"{"partitions": [{"topic": "", "partition": 0}]}"#,
            &expect![[r#"
                error: list.json: topic "", partition 0 cannot exist
                  cause: a topic's name is not empty
                  next step: correct the list; nothing was elected"#]],
        );
        check(
            r#"{"partitions": [{"topic": "a", "partition": -1}]}"#,
            &expect![[r#"
                error: list.json: topic "a", partition -1 cannot exist
                  cause: partitions count from 0
                  next step: correct the list; nothing was elected"#]],
        );
    }

    #[test]
    fn names_that_no_topic_can_have_are_refused() {
        for (topic, cause) in [
            ("a b", "' ' is in no topic's name"),
            (r"a\u001b[2J", r"'\u{1b}' is in no topic's name"),
            ("a*", "'*' is in no topic's name"),
            (
                &"a".repeat(250),
                "a topic's name has at most 249 characters",
            ),
        ] {
            let text = format!(r#"{{"partitions": [{{"topic": "{topic}", "partition": 0}}]}}"#);
            let problem = parse("list.json", &text).expect_err("refused").to_string();
            assert!(problem.contains(cause), "{problem}");
            assert!(!problem.contains('\x1b'), "{problem}");
        }
    }

    #[test]
    fn repeated_partitions_are_named_once() {
        let text = r#"{"partitions": [{"topic": "a", "partition": 0}, {"topic": "a", "partition": 0},
            {"topic": "b", "partition": 0}, {"topic": "a", "partition": 0}]}"#;
        check(
            text,
            &expect![[r#"
            error: list.json lists partitions more than once: a-0
              next step: list each partition once"#]],
        );
    }
}

use super::*;

fn parse(fields: &str) -> Result<Schema, SchemaError> {
    Schema::parse(&format!(
        r#"{{"apiKey": 1, "type": "request", "name": "TestRequest", "validVersions": "0-3",
            "flexibleVersions": "2+", "fields": [{fields}]}}"#
    ))
}

fn error(fields: &str) -> String {
    parse(fields).unwrap_err().to_string()
}

#[test]
fn comments_are_allowed_outside_of_texts() {
    let schema = Schema::parse(
        "// licence\n{\"type\": \"data\", \"name\": \"A\", // the name\n \"validVersions\": \"0\",\
         \"fields\": [{\"name\": \"Url\", \"type\": \"string\", \"versions\": \"0+\",\
         \"about\": \"http://not a comment\"}]}\n",
    )
    .unwrap();
    assert_eq!(schema.root.fields[0].about, "http://not a comment");
}

#[test]
fn defaults_are_read_in_every_form_that_occurs() {
    let schema = parse(
        r#"{"name": "A", "type": "int32", "versions": "0+", "default": "-1"},
           {"name": "B", "type": "int32", "versions": "0+", "default": 7},
           {"name": "C", "type": "int32", "versions": "0+", "default": "0x7fffffff"},
           {"name": "D", "type": "bool", "versions": "0+", "default": "true"},
           {"name": "E", "type": "bool", "versions": "0+", "default": false},
           {"name": "F", "type": "string", "versions": "0+", "nullableVersions": "0+", "default": "null"},
           {"name": "G", "type": "[]int32", "versions": "0+", "nullableVersions": "0+", "default": null},
           {"name": "H", "type": "int64", "versions": "0+"},
           {"name": "I", "type": "string", "versions": "0+", "default": ""}"#,
    )
    .unwrap();
    let defaults: Vec<_> = schema
        .root
        .fields
        .iter()
        .map(|field| field.default.clone())
        .collect();
    assert_eq!(
        defaults,
        [
            Default::Int(-1),
            Default::Int(7),
            Default::Int(i64::from(i32::MAX)),
            Default::True,
            Default::Zero,
            Default::Null,
            // Apache Kafka reads JSON's null, unlike the text "null", as no default at all.
            Default::Zero,
            Default::Zero,
            Default::Zero,
        ]
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    assert_eq!(
        error(r#"{"name": "A", "type": "int31", "versions": "0+"}"#),
        r#"TestRequest.A: type "int31" is not known"#
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "[][]int32", "versions": "0+"}"#),
        "TestRequest.A: [][]int32 is not supported"
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "Missing", "versions": "0+"}"#),
        "TestRequest.A: no struct is called Missing"
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "int32", "versions": "0+", "default": "x"}"#),
        r#"TestRequest.A: default "x" is no int32"#
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "string", "versions": "0+", "default": "null"}"#),
        "TestRequest.A: is null by default, but not nullable"
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "int32", "versions": "0+", "tag": 0}"#),
        "TestRequest.A: tag and taggedVersions go together"
    );
    assert_eq!(
        error(
            r#"{"name": "A", "type": "int32", "versions": "0+", "tag": 0, "taggedVersions": "0+"}"#
        ),
        "TestRequest.A: is tagged where nothing is flexible"
    );
    assert_eq!(
        error(r#"{"name": "A", "type": "int32"}"#),
        "TestRequest.A: has no versions"
    );
    assert!(matches!(Schema::parse("{"), Err(SchemaError::Json(_))));
    assert!(matches!(
        Schema::parse("[]"),
        Err(SchemaError::Invalid { .. })
    ));
}

#[test]
fn a_struct_that_contains_itself_is_refused() {
    assert_eq!(
        error(
            r#"{"name": "A", "type": "Loop", "versions": "0+", "fields": [
                {"name": "B", "type": "Loop", "versions": "0+"}]}"#
        ),
        "TestRequest.A: leads to a struct that contains itself"
    );
}

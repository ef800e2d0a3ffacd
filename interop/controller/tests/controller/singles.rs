//! Single requests that change ACLs, quotas and SCRAM credentials, against the parts of Apache Kafka's
//! controller that keep them.

mod acls;
mod quotas;
mod scram;

use fastrand::Rng;
use klamm_controller::ControllerConfig;
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::FeatureLevelRecord;

use crate::Context;

const CASES: usize = 1_000;
const FULL_CASES: usize = 20_000;
const CASES_A_CALL: usize = 500;

/// What is asked of a cluster with some records, and what klamm decides.
struct Asked {
    what: &'static str,
    stored: Vec<Value>,
    request: Value,
    results: Value,
    records: Value,
}

/// What is sent to Apache Kafka, and what is expected of it.
struct Case {
    asked: Value,
    results: Vec<String>,
    records: Vec<String>,
}

pub(crate) fn decided_alike(context: &mut Context) {
    let mut rng = Rng::with_seed(context.seed);
    let count = match klamm_suite::is_full() {
        true => FULL_CASES,
        false => CASES,
    };
    let (mut compared, mut changing) = (0, 0);
    while compared < count {
        let cases: Vec<Case> = (0..CASES_A_CALL).map(|_| case(&mut rng)).collect();
        let asked: Vec<&Value> = cases.iter().map(|case| &case.asked).collect();
        let answers = context
            .java
            .call("singles", json!({ "cases": asked }))
            .unwrap();
        for (case, answer) in cases.iter().zip(answers.as_array().unwrap()) {
            compared += 1;
            changing += usize::from(!case.records.is_empty());
            assert_eq!(case.results, sorted(&answer["results"]), "{}", case.asked);
            assert_eq!(case.records, sorted(&answer["records"]), "{}", case.asked);
        }
    }
    println!("controller: {compared} requests; {changing} of them change something");
    assert!(changing > count / 10);
}

fn sorted(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap().iter().map(|item| {
        let mut item = item.clone();
        // Each side gives a new ACL an id of its own, and says in its own order what it is about.
        if let Some(fields) = item.as_object_mut() {
            fields.remove("id");
            if let Some(entity) = fields.get_mut("entity").and_then(Value::as_array_mut) {
                entity.sort_by_key(Value::to_string);
            }
        }
        item.to_string()
    });
    let mut list: Vec<String> = list.collect();
    list.sort_unstable();
    list
}

fn choice<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())]
}

fn case(rng: &mut Rng) -> Case {
    let level = choice(rng, &[10, 31, 32, 33, 33]);
    let mut image = Image::new();
    image
        .apply(&Record::from(FeatureLevelRecord {
            name: "metadata.version".into(),
            feature_level: level,
            ..Default::default()
        }))
        .unwrap();
    let config = ControllerConfig::new(BrokerId(100));
    let asked = match rng.u8(..4) {
        0 => quotas::altered_quotas(rng, &mut image, &config),
        1 => scram::altered_scram(rng, &mut image, &config),
        2 => acls::created_acls(rng, &mut image, &config),
        _ => acls::deleted_acls(rng, &mut image, &config),
    };
    Case {
        asked: json!({
            "what": asked.what, "metadata_version": level, "records": asked.stored,
            "request": asked.request,
        }),
        results: sorted(&asked.results),
        records: sorted(&asked.records),
    }
}

fn apply(image: &mut Image, record: impl Into<Record>) {
    image.apply(&record.into()).unwrap();
}

fn text(text: &Option<klamm_protocol::SmallString>) -> Option<String> {
    text.as_ref().map(ToString::to_string)
}

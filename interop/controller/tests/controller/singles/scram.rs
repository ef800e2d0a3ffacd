//! SCRAM credentials.

use fastrand::Rng;
use klamm_controller::{ControllerConfig, View, alter_user_scram_credentials};
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::data::metadata::UserScramCredentialRecord;
use klamm_protocol::messages::alter_user_scram_credentials as scram;

use super::{Asked, apply, choice, text};

pub(super) fn altered_scram(rng: &mut Rng, image: &mut Image, config: &ControllerConfig) -> Asked {
    const USERS: &[&str] = &["alice", "bob", "carol", ""];
    let mut stored = Vec::new();
    for (name, mechanism) in [("alice", 1), ("alice", 2), ("bob", 1)] {
        if rng.bool() {
            let record = UserScramCredentialRecord {
                name: name.into(),
                mechanism,
                iterations: 4096,
                ..Default::default()
            };
            stored.push(json!([11, said_scram(&record)]));
            apply(image, record);
        }
    }
    let deletions = (0..rng.usize(..3)).map(|_| scram::ScramCredentialDeletion {
        name: choice(rng, USERS).into(),
        mechanism: rng.i8(0..4),
        ..Default::default()
    });
    let deletions: Vec<_> = deletions.collect();
    let upsertions = (0..rng.usize(..3)).map(|_| scram::ScramCredentialUpsertion {
        name: choice(rng, USERS).into(),
        mechanism: rng.i8(0..4),
        iterations: choice(rng, &[0, 4095, 4096, 16_384, 16_385]),
        salt: vec![1, rng.u8(..)].into(),
        salted_password: vec![rng.u8(..); 32].into(),
        ..Default::default()
    });
    let request = scram::AlterUserScramCredentialsRequest {
        upsertions: upsertions.collect(),
        deletions,
        ..Default::default()
    };
    let decision = alter_user_scram_credentials(&View::new(image, config).unwrap(), &request);
    let results = decision.response.results.iter().map(|result| {
        json!({
            "user": result.user.to_string(), "errorCode": result.error_code,
            "errorMessage": text(&result.error_message),
        })
    });
    let records = decision.records.iter().map(|record| match record {
        Record::UserScramCredential(record) => said_scram(record),
        Record::RemoveUserScramCredential(record) => {
            json!({ "name": record.name.to_string(), "mechanism": record.mechanism })
        }
        other => panic!("{other:?}"),
    });
    let deletions = request.deletions.iter().map(
        |deletion| json!({ "name": deletion.name.to_string(), "mechanism": deletion.mechanism }),
    );
    let upsertions = request.upsertions.iter().map(|upsertion| {
        json!({
            "name": upsertion.name.to_string(), "mechanism": upsertion.mechanism,
            "iterations": upsertion.iterations, "salt": base64(&upsertion.salt),
            "saltedPassword": base64(&upsertion.salted_password),
        })
    });
    let asked = json!({
        "deletions": deletions.collect::<Vec<_>>(), "upsertions": upsertions.collect::<Vec<_>>(),
    });
    Asked {
        what: "scram",
        stored,
        request: asked,
        results: results.collect(),
        records: records.collect(),
    }
}

fn said_scram(record: &UserScramCredentialRecord) -> Value {
    json!({
        "name": record.name.to_string(), "mechanism": record.mechanism,
        "salt": base64(&record.salt), "storedKey": base64(&record.stored_key),
        "serverKey": base64(&record.server_key), "iterations": record.iterations,
    })
}

/// Bytes as JSON of Kafka has them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let mut bits = [0u8; 4];
        bits[1..=three.len()].copy_from_slice(three);
        let bits = u32::from_be_bytes(bits);
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at)) & 63;
            let is_there = at <= three.len();
            out.push(if is_there {
                char::from(DIGITS[digit as usize])
            } else {
                '='
            });
        }
    }
    out
}

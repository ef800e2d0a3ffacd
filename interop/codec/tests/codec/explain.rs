use bytes::Bytes;
use klamm_explain::{Direction, apis, message_schema, smallest_frame};
use klamm_java_peer::{hex, json, unhex};
use klamm_protocol::ApiVersion;
use klamm_schema::{Schema, Type};

use crate::Context;

/// The smallest frames that klamm explains are those that Java writes: the size, the header and the
/// body of every API in every version.
pub(crate) fn smallest_frames(context: &mut Context) {
    let mut count = 0;
    for key in apis() {
        for version in key.coded_versions().iter() {
            let api = ApiVersion { key, version };
            for direction in Direction::BOTH {
                let at = format!("{api} {}", direction.name());
                let ours = smallest_frame(api, direction).unwrap();
                let header = smallest_header(context, api, direction);
                let schema = message_schema(key, direction).unwrap();
                let body = smallest_body(context, schema, version, &ours[4 + header.len()..]);
                let size = u32::try_from(header.len() + body.len()).unwrap();
                let java = [&size.to_be_bytes()[..], &header, &body].concat();
                assert_eq!(Bytes::from(java), ours, "{at}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 618);
    println!("  {count} frames");
}

/// Java's smallest header names API 0, version 0.
fn smallest_header(context: &mut Context, api: ApiVersion, direction: Direction) -> Vec<u8> {
    let message = &direction.header_schema().name;
    let version = direction.header_version(api.key, api.version);
    let mut header = smallest(context, message, version);
    if direction == Direction::Request {
        header[..2].copy_from_slice(&api.key.0.to_be_bytes());
        header[2..4].copy_from_slice(&api.version.to_be_bytes());
    }
    header
}

/// Java's smallest body. Where it would have empty records, klamm has an empty batch, so there Java
/// reads klamm's body and writes it again.
fn smallest_body(context: &mut Context, schema: &Schema, version: i16, ours: &[u8]) -> Vec<u8> {
    let structs = [&schema.root].into_iter().chain(&schema.structs);
    let mut fields = structs.flat_map(|owner| &owner.fields);
    if !fields.any(|field| field.ty == Type::Records) {
        return smallest(context, &schema.name, version);
    }
    let args = json!({ "message": schema.name, "version": version, "bytes": [hex(ours)] });
    let answer = &context.java.call("decode", args).unwrap()[0];
    assert_eq!(answer["left"], 0, "{} v{version}", schema.name);
    unhex(answer["bytes"].as_str().unwrap())
}

fn smallest(context: &mut Context, message: &str, version: i16) -> Vec<u8> {
    let args = json!({ "message": message, "version": version });
    let answer = context.java.call("smallest", args).unwrap();
    unhex(answer.as_str().unwrap())
}

mod everywhere;

use klamm_explain::{Node, Options, Value, decode};
use klamm_protocol::ApiKey;
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use klamm_protocol::messages::sasl_authenticate::SaslAuthenticateRequest;
use klamm_protocol::{Bytes, frame};

const SHOW: Options = Options {
    show_secrets: true,
    limits: klamm_explain::Limits {
        nodes: 1_000,
        problems: 10,
        decompressed_bytes: 0,
    },
};

fn text_of(node: &Node) -> String {
    let mut text = String::new();
    node.visit(0, &mut |_, node| {
        text.push_str(&format!("{:?}\n", node.value))
    });
    text
}

fn sasl() -> Bytes {
    let request = SaslAuthenticateRequest {
        auth_bytes: Bytes::from_static(b"\0user\0hunter2"),
        ..Default::default()
    };
    frame::encode_request(1, None, 2, &request)
        .unwrap()
        .into_bytes()
}

#[test]
fn tokens_of_sasl_are_left_out_unless_asked_for() {
    let tree = decode::request(sasl(), &Options::default());
    assert_eq!(tree.subject.api.unwrap().key, ApiKey::SASL_AUTHENTICATE);
    assert!(!text_of(&tree.root).contains("hunter2"));
    assert_eq!(tree.hidden(), vec![16..29; 1]);
    assert_eq!(&tree.bytes[16..29], b"\0user\0hunter2");
    let tree = decode::request(sasl(), &SHOW);
    assert!(text_of(&tree.root).contains("hunter2"));
    assert!(tree.hidden().is_empty());
}

#[test]
fn what_cannot_be_read_of_a_secret_is_left_out_too() {
    let whole = sasl();
    for len in 0..whole.len() {
        for size in [len, whole.len(), whole.len() + 3] {
            let mut bytes = whole[..len].to_vec();
            if len >= 4 {
                bytes[..4].copy_from_slice(&(size as u32).wrapping_sub(4).to_be_bytes());
            }
            let tree = decode::request(bytes.into(), &Options::default());
            assert!(!text_of(&tree.root).contains("hunt"), "cut at {len}");
        }
    }
}

#[test]
fn values_of_password_configs_are_left_out() {
    let config = |name: &'static str, value: &'static str| AlterableConfig {
        name: name.into(),
        value: Some(value.into()),
        ..Default::default()
    };
    let request = IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: 4,
            resource_name: "1".into(),
            configs: vec![
                config("ssl.key.password", "hunter2"),
                config("log.retention.ms", "60000"),
            ],
            ..Default::default()
        }],
        ..Default::default()
    };
    let frame = frame::encode_request(1, None, 1, &request)
        .unwrap()
        .into_bytes();
    let tree = decode::request(frame.clone(), &Options::default());
    let text = text_of(&tree.root);
    assert!(
        !text.contains("hunter2") && text.contains("60000"),
        "{text}"
    );
    // The same inside of an Envelope, as brokers forward it.
    let envelope = klamm_protocol::messages::envelope::EnvelopeRequest {
        request_data: frame.slice(4..),
        ..Default::default()
    };
    let frame = frame::encode_request(1, None, 0, &envelope)
        .unwrap()
        .into_bytes();
    let tree = decode::request(frame, &Options::default());
    let text = text_of(&tree.root);
    assert!(text.contains("log.retention.ms"), "{text}");
    let mut hidden = 0;
    tree.root
        .leaves(&mut |node| hidden += usize::from(matches!(node.value, Value::Hidden(7))));
    assert_eq!(hidden, 1);
}

use klamm_protocol::messages::controller_registration::{Feature, Listener};
use klamm_protocol::{BrokerId, Uuid, VersionRange};

use super::*;
use crate::testing::Fixture;

fn listener(name: &str, security_protocol: i16) -> Listener {
    Listener {
        name: name.into(),
        host: "here".into(),
        port: 9093,
        security_protocol,
        ..Default::default()
    }
}

fn request(listeners: Vec<Listener>) -> ControllerRegistrationRequest {
    ControllerRegistrationRequest {
        controller_id: 101,
        incarnation_id: Uuid::from_bytes([7; 16]),
        zk_migration_ready: true,
        listeners,
        features: vec![Feature {
            name: "metadata.version".into(),
            min_supported_version: 7,
            max_supported_version: 33,
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[test]
fn the_last_registration_counts() {
    let mut fixture = Fixture::new(0);
    for name in ["OLD", "NEW"] {
        let decision = register_controller(&fixture.view(), &request(vec![listener(name, 0)]));
        assert_eq!(decision.response.error_code, 0);
        fixture.carry_out(&decision);
    }
    let controller = fixture.image.cluster().controller(BrokerId(101)).unwrap();
    assert_eq!(controller.incarnation, Uuid::from_bytes([7; 16]));
    assert!(!controller.zk_migration_ready);
    assert_eq!(
        controller
            .listeners
            .keys()
            .map(|name| &**name)
            .collect::<Vec<_>>(),
        ["NEW"]
    );
    let supported = VersionRange { min: 7, max: 33 };
    assert_eq!(controller.features["metadata.version"], supported);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut fixture = Fixture::new(0);
    let code = |fixture: &Fixture, listeners| {
        let decision = register_controller(&fixture.view(), &request(listeners));
        assert_eq!(decision.records, []);
        ErrorCode(decision.response.error_code)
    };
    let invalid = ErrorCode::INVALID_REGISTRATION;
    assert_eq!(code(&fixture, vec![listener("C", 4)]), invalid);
    assert_eq!(code(&fixture, vec![listener("C", -1)]), invalid);
    assert_eq!(
        code(&fixture, vec![listener("C", 0), listener("C", 1)]),
        invalid
    );
    fixture.feature("metadata.version", 14);
    let unsupported = ErrorCode::UNSUPPORTED_VERSION;
    assert_eq!(code(&fixture, vec![listener("C", 0)]), unsupported);
}

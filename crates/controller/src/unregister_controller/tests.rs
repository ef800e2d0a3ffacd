use klamm_protocol::data::metadata::RegisterControllerRecord;

use super::*;
use crate::testing::Fixture;

#[test]
fn who_is_registered_is_forgotten_once() {
    let mut fixture = Fixture::new(1);
    for controller_id in [100, 101] {
        fixture.apply(RegisterControllerRecord {
            controller_id,
            ..Default::default()
        });
    }
    let request = UnregisterControllerRequest {
        controller_id: 101,
        ..Default::default()
    };
    let ask = |fixture: &Fixture| unregister_controller(&fixture.view(), &request);
    let old = {
        let mut old = fixture.clone();
        old.feature("metadata.version", 32);
        ask(&old)
    };
    assert_eq!(old.response.error_code, ErrorCode::UNSUPPORTED_VERSION.0);
    assert_eq!(old.records, []);
    let decision = ask(&fixture);
    assert_eq!(decision.response.error_code, 0);
    fixture.carry_out(&decision);
    let left: Vec<_> = fixture
        .image
        .cluster()
        .controllers()
        .map(|c| c.id.0)
        .collect();
    assert_eq!(left, [100]);
    let again = ask(&fixture);
    let unknown = ErrorCode::CONTROLLER_ID_NOT_REGISTERED;
    assert_eq!(ErrorCode(again.response.error_code), unknown);
    assert_eq!(again.records, []);
}

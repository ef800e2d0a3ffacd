use super::*;
use crate::testing::Fixture;

fn ask(
    fixture: &Fixture,
    broker_id: i32,
    broker_epoch: i64,
) -> Decision<AllocateProducerIdsResponse> {
    let request = AllocateProducerIdsRequest {
        broker_id,
        broker_epoch,
        ..Default::default()
    };
    allocate_producer_ids(&fixture.view(), &request)
}

#[test]
fn blocks_follow_one_another_whoever_asks() {
    let mut fixture = Fixture::new(2);
    fixture.fence(2, true);
    for (broker, start) in [(1, 0), (2, 1000), (1, 2000)] {
        let decision = ask(&fixture, broker, broker.into());
        let response = &decision.response;
        assert_eq!(response.error_code, 0);
        let block = (response.producer_id_start, response.producer_id_len);
        assert_eq!(block, (start, 1000));
        fixture.carry_out(&decision);
        assert_eq!(fixture.image.next_producer_id(), start + 1000);
    }
}

#[test]
fn another_registration_gets_none() {
    let fixture = Fixture::new(1);
    for (broker, epoch) in [(1, 0), (1, 2), (2, 2), (-1, -1)] {
        let decision = ask(&fixture, broker, epoch);
        assert_eq!(
            ErrorCode(decision.response.error_code),
            ErrorCode::STALE_BROKER_EPOCH
        );
        assert_eq!(decision.records, []);
    }
}

#[test]
fn the_last_block_ends_where_numbers_do() {
    let mut fixture = Fixture::new(1);
    for (next, code) in [
        (i64::MAX - 1000, ErrorCode::NONE),
        (i64::MAX - 999, ErrorCode::UNKNOWN_SERVER_ERROR),
        (i64::MAX, ErrorCode::UNKNOWN_SERVER_ERROR),
    ] {
        fixture.apply(ProducerIdsRecord {
            next_producer_id: next,
            ..Default::default()
        });
        let decision = ask(&fixture, 1, 1);
        assert_eq!(ErrorCode(decision.response.error_code), code, "{next}");
        assert_eq!(decision.records.is_empty(), code != ErrorCode::NONE);
    }
}

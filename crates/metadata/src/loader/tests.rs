use klamm_protocol::data::metadata::*;

use super::*;

fn producer_ids(next_producer_id: i64) -> Record {
    ProducerIdsRecord {
        next_producer_id,
        ..Default::default()
    }
    .into()
}

#[test]
fn a_transaction_is_seen_at_once_or_never() {
    let mut loader = Loader::default();
    loader.apply(producer_ids(1)).unwrap();
    loader
        .apply(BeginTransactionRecord::default().into())
        .unwrap();
    loader.apply(producer_ids(2)).unwrap();
    assert!(loader.in_transaction());
    assert_eq!(loader.image().next_producer_id(), 1);
    loader
        .apply(EndTransactionRecord::default().into())
        .unwrap();
    assert_eq!(loader.image().next_producer_id(), 2);
    loader
        .apply(BeginTransactionRecord::default().into())
        .unwrap();
    loader.apply(producer_ids(3)).unwrap();
    loader
        .apply(AbortTransactionRecord::default().into())
        .unwrap();
    assert!(!loader.in_transaction());
    assert_eq!(loader.into_image().next_producer_id(), 2);
}

#[test]
fn transactions_neither_nest_nor_end_unbegun() {
    let mut loader = Loader::default();
    let end = Record::from(EndTransactionRecord::default());
    let abort = Record::from(AbortTransactionRecord::default());
    let begin = Record::from(BeginTransactionRecord::default());
    let out_of_place = |name| Err(ApplyError::Transaction(name));
    assert_eq!(loader.apply(end), out_of_place("EndTransactionRecord"));
    assert_eq!(loader.apply(abort), out_of_place("AbortTransactionRecord"));
    loader.apply(begin.clone()).unwrap();
    assert_eq!(loader.apply(begin), out_of_place("BeginTransactionRecord"));
    assert!(loader.in_transaction());
}

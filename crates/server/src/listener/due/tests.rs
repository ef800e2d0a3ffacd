use std::cell::RefCell;

use tokio::sync::oneshot;

use super::*;

/// Requests that write down when they begin, and are answered when they are told to.
#[derive(Default)]
struct Requests {
    begun: RefCell<Vec<usize>>,
}

impl Requests {
    async fn answer(&self, number: usize, told: oneshot::Receiver<()>) -> usize {
        self.begun.borrow_mut().push(number);
        told.await.unwrap();
        number
    }
}

#[tokio::test]
async fn answers_are_in_the_order_of_the_requests() {
    let requests = Requests::default();
    let mut due = Due::new();
    let mut tell = Vec::new();
    for number in 0..MOST {
        assert!(due.admits(Order::Begun));
        let (sender, told) = oneshot::channel();
        tell.push(sender);
        due.begin(Order::Begun, requests.answer(number, told)).await;
    }
    assert!(!due.admits(Order::Begun), "there is a limit");
    assert_eq!(*requests.begun.borrow(), [0, 1, 2, 3, 4]);
    for told in tell.drain(1..) {
        told.send(()).unwrap();
    }
    let early = poll_fn(|context| {
        let oldest = std::pin::pin!(due.oldest());
        Poll::Ready(oldest.poll(context).is_ready())
    });
    assert!(!early.await, "the first has no answer yet");
    tell.remove(0).send(()).unwrap();
    for number in 0..MOST {
        assert_eq!(due.oldest().await, number);
    }
    assert!(due.is_empty());
}

#[tokio::test]
async fn others_wait_until_all_before_them_are_answered() {
    let requests = Requests::default();
    for (first, second) in [
        (Order::Begun, Order::Whole),
        (Order::Whole, Order::Begun),
        (Order::Whole, Order::Whole),
    ] {
        let mut due = Due::new();
        let (sender, told) = oneshot::channel();
        assert!(due.admits(first));
        due.begin(first, requests.answer(0, told)).await;
        assert!(!due.admits(second));
        sender.send(()).unwrap();
        due.oldest().await;
        assert!(due.admits(second));
    }
}

#[tokio::test]
async fn one_that_is_answered_at_once_waits_for_its_turn() {
    let requests = Requests::default();
    let mut due = Due::new();
    let (sender, told) = oneshot::channel();
    due.begin(Order::Begun, requests.answer(0, told)).await;
    let (now, at_once) = oneshot::channel();
    now.send(()).unwrap();
    due.begin(Order::Begun, requests.answer(1, at_once)).await;
    assert!(due.admits(Order::Begun));
    sender.send(()).unwrap();
    assert_eq!([due.oldest().await, due.oldest().await], [0, 1]);
}

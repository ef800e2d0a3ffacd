use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use super::Order;

/// How many requests of a connection wait for their answers at a time: as many as an idempotent
/// producer sends without one.
const MOST: usize = 5;

/// The answers of a connection that are still to be written, in the order of their requests.
pub(super) struct Due<F: Future> {
    waiting: VecDeque<Waiting<F>>,
    /// The order of the request that was begun last.
    last: Order,
}

enum Waiting<F: Future> {
    Unanswered(Pin<Box<F>>),
    Answered(F::Output),
}

impl<F: Future> Due<F> {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            last: Order::Whole,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a request may begin now.
    pub(super) fn admits(&self, next: Order) -> bool {
        let overlaps = self.last == Order::Begun && next == Order::Begun;
        self.is_empty() || overlaps && self.waiting.len() < MOST
    }

    /// Begins with a request.
    pub(super) async fn begin(&mut self, order: Order, answer: F) {
        let mut answer = Box::pin(answer);
        self.last = order;
        let begun = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
        self.waiting.push_back(match begun {
            Poll::Ready(answered) => Waiting::Answered(answered),
            Poll::Pending => Waiting::Unanswered(answer),
        });
    }

    /// Waits for the oldest answer. Nothing is lost where this is given up.
    ///
    /// Others are not asked until it is their turn: what they wait for happens anyway.
    pub(super) async fn oldest(&mut self) -> F::Output {
        if let Some(Waiting::Unanswered(answer)) = self.waiting.front_mut() {
            let answered = answer.as_mut().await;
            self.waiting.pop_front();
            return answered;
        }
        match self.waiting.pop_front() {
            Some(Waiting::Answered(answered)) => answered,
            // Nothing is due, so there is nothing to wait for.
            _ => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests;

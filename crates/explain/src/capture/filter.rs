use std::ops::RangeInclusive;

use klamm_protocol::ApiKey;

use super::Time;
use super::message::Message;
use crate::Direction;

/// Which messages of a capture are wanted; what is `None` or empty does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one of these APIs.
    pub apis: Vec<ApiKey>,
    /// Only requests, or only responses.
    pub direction: Option<Direction>,
    /// Of this connection.
    pub connection: Option<usize>,
    /// With this client id.
    pub client_id: Option<String>,
    /// With this correlation id.
    pub correlation_id: Option<i32>,
    /// Responses with an error code other than 0, and messages that are not as they should be.
    pub errors_only: bool,
    /// With a number in this range.
    pub numbers: Option<RangeInclusive<u64>>,
    /// So many nanoseconds after the first packet.
    pub nanos: Option<RangeInclusive<u64>>,
}

impl Filter {
    /// Whether a message that has begun may pass. `last` is the number of the last complete one.
    pub(super) fn may_pass(&self, message: &Message, last: u64) -> bool {
        let is_numbered = self
            .numbers
            .as_ref()
            .is_none_or(|range| last < *range.end());
        self.passes_head(message) && is_numbered
    }

    /// Whether a complete message passes, in a capture that starts at `start`.
    pub(super) fn passes(&self, message: &Message, start: Time) -> bool {
        let after = message.time.since(start);
        let is_wrong = !message.errors.is_empty() || message.fault.is_some() || message.missing > 0;
        self.passes_head(message)
            && contains(self.numbers.as_ref(), message.number)
            && contains(self.nanos.as_ref(), after)
            && (!self.errors_only || is_wrong)
            && self
                .client_id
                .as_ref()
                .is_none_or(|id| message.client_id.as_deref() == Some(id))
    }

    fn passes_head(&self, message: &Message) -> bool {
        let is_of_api = message.api.is_some_and(|api| self.apis.contains(&api.key));
        (self.apis.is_empty() || is_of_api)
            && self
                .direction
                .is_none_or(|direction| direction == message.direction())
            && self
                .connection
                .is_none_or(|connection| connection == message.connection)
            && self
                .correlation_id
                .is_none_or(|id| message.correlation_id == Some(id))
    }
}

fn contains(range: Option<&RangeInclusive<u64>>, value: u64) -> bool {
    range.is_none_or(|range| range.contains(&value))
}

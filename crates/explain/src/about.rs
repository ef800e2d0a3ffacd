//! What fields, messages and error codes mean.

use crate::node::Place;

/// What a field means; `None` where nothing is known.
pub fn field(place: Place) -> Option<&'static str> {
    let _ = place;
    None
}

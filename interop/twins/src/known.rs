//! The differences that are wanted: what "The controller" in ARCHITECTURE.md lists, as far as
//! histories meet it. What would make the two go different ways is not asked at all; the operations
//! say so.

use serde_json::Value;

use crate::history::Outcome;

/// A row of the table.
pub(crate) const FENCED_STOPS: &str = "a fenced broker asks to stop: fenced once more in the log";

/// Takes the differences that are wanted out of both outcomes, and says which there were.
pub(crate) fn excuse(apache: &mut Outcome, klamm: &Outcome) -> Vec<&'static str> {
    let mut met = Vec::new();
    if stops_fenced(apache, klamm) {
        apache.records.clear();
        met.push(FENCED_STOPS);
    }
    met
}

fn stops_fenced(apache: &Outcome, klamm: &Outcome) -> bool {
    let [record] = apache.records.as_slice() else {
        return false;
    };
    let change = &record["BrokerRegistrationChangeRecord v0"];
    let is_fence =
        change.as_object().is_some_and(|fields| fields.len() == 3) && change["fenced"] == 1;
    let request = &apache.said.request;
    request["wantShutDown"] == Value::Bool(true) && is_fence && klamm.records.is_empty()
}

//! The schemas that the messages are generated from, as texts for `klamm_schema::Schema::parse`.

/// A schema's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The folder it is in, such as `clients` or `metadata`.
    pub folder: &'static str,
    /// The schema's name, such as `ElectLeadersRequest`.
    pub name: &'static str,
    /// The JSON.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// The schema with this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    let index = ALL.binary_search_by_key(&name, |schema| schema.name).ok()?;
    Some(&ALL[index])
}

//! The klamm command.
fn main() {}

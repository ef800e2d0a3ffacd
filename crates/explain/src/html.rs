//! Pages for a browser: of every API, of records and errors, and of bytes that were decoded.
//!
//! [`Site`] has them all, with links that work from the file system; [`api_page`] and
//! [`decoded_page`] are whole in one file. All text is escaped by construction: by [`Html`], which
//! other pages of klamm are made with as well.

mod api;
mod assets;
mod batches;
mod bytes;
mod decode;
mod decoded;
mod element;
mod errors;
mod features;
mod index;
mod message;
mod names;
mod packed;
mod records;
mod shell;
mod site;
mod table;
mod tree;
mod versions;

pub use api::api_page;
pub use assets::BASE_STYLE;
pub use decode::{MOST_INPUT_BYTES, problem};
pub use decoded::{Ask, Decoded, decoded, decoded_page};
pub use element::Html;
pub use site::{Asset, Page, Site};
pub use table::table;

use crate::Part;

/// The class of what belongs to a part.
fn part_class(part: Part) -> &'static str {
    match part {
        Part::Frame => "f",
        Part::Header => "h",
        Part::Body => "b",
        Part::Batch => "k",
        Part::Record => "r",
        Part::Tagged => "t",
        Part::Unread => "u",
    }
}

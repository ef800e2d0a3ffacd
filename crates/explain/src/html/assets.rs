//! What all pages share: a style and a script, written by hand and small.

pub(super) const STYLE_PATH: &str = "assets/klamm.css";
pub(super) const SCRIPT_PATH: &str = "assets/klamm.js";
pub(super) const NAMES_PATH: &str = "assets/names.js";
pub(super) const ICON_PATH: &str = "assets/klamm.svg";

/// A field among bytes.
pub(super) const ICON: &str = include_str!("assets/klamm.svg");

/// Colours, fonts and tables, in light and in dark, for any page.
pub const BASE_STYLE: &str = include_str!("assets/base.css");

pub(super) const STYLE: &str = concat!(
    include_str!("assets/base.css"),
    include_str!("assets/message.css"),
    include_str!("assets/pages.css"),
);

pub(super) const SCRIPT: &str = concat!(
    include_str!("assets/theme.js"),
    include_str!("assets/link.js"),
    include_str!("assets/tabs.js"),
    include_str!("assets/versions.js"),
    include_str!("assets/search.js"),
    include_str!("assets/decode.js"),
    include_str!("assets/start.js"),
);

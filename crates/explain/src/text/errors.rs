use klamm_protocol::ErrorCode;
use thiserror::Error;

use super::table::Table;
use super::{Look, wrap};
use crate::about;

/// Widest text of a paragraph.
const WIDEST: usize = 100;

/// No error has the code or name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no error {0:?}")]
pub struct UnknownError(pub String);

/// Every error code, a line each.
pub fn errors(look: Look) -> String {
    let mut table = Table::new(&["CODE", "NAME", "RETRIABLE", "MEANING"], &[0]);
    for code in ErrorCode::all() {
        table.row(vec![
            (code.0.to_string(), ""),
            (code.name().unwrap_or_default().to_owned(), "1"),
            (
                if code.is_retriable() { "yes" } else { "no" }.to_owned(),
                "2",
            ),
            (
                about::error(code)
                    .map_or("", |text| text.meaning)
                    .to_owned(),
                "",
            ),
        ]);
    }
    table.render(look)
}

/// One error, by code or by name in any case.
pub fn error(text: &str, look: Look) -> Result<String, UnknownError> {
    let code = find_error(text).ok_or_else(|| UnknownError(text.to_owned()))?;
    let mut out = format!("{}\n", look.bold(&code.to_string()));
    if let Some(text) = about::error(code) {
        for text in [text.meaning, text.next_step] {
            for line in wrap(text, look.width.unwrap_or(WIDEST).min(WIDEST)) {
                out.push_str(&format!("{line}\n"));
            }
        }
    }
    let yes = |is: bool| if is { "yes" } else { "no" };
    out.push_str(&format!(
        "\nretriable         {}\n",
        yes(code.is_retriable())
    ));
    out.push_str(&format!(
        "refresh metadata  {}\n",
        yes(code.is_invalid_metadata())
    ));
    Ok(out)
}

/// The error with a code or a name.
pub(crate) fn find_error(text: &str) -> Option<ErrorCode> {
    let number = text.parse::<i16>().ok();
    ErrorCode::all().find(|code| {
        Some(code.0) == number
            || code
                .name()
                .is_some_and(|name| name.eq_ignore_ascii_case(text))
    })
}

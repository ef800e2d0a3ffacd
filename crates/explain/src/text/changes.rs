use klamm_protocol::ApiKey;

use super::Look;
use crate::changes::{Sign, between};
use crate::{Direction, NoSuchVersion, message_schema};

/// What differs between two versions of an API.
pub fn changes(
    key: ApiKey,
    (from, to): (i16, i16),
    directions: &[Direction],
    look: Look,
) -> Result<String, NoSuchVersion> {
    let title = format!("{key}: version {from} to {to}");
    let mut out = format!("{}\n", look.bold(&title));
    for direction in directions {
        let changes = between(key, *direction, (from, to))?;
        let name = message_schema(key, *direction).map_or("", |schema| &schema.name);
        out.push_str(&format!("\n{}\n", look.bold(name)));
        for change in changes {
            let code = match change.sign {
                Sign::Added => "32",
                Sign::Removed => "31",
                Sign::Changed => "33",
                Sign::Same => "2",
            };
            let line = format!("{} {}", change.sign.symbol(), change.text);
            out.push_str(&look.paint(code, &line));
            out.push('\n');
        }
    }
    Ok(out)
}

use std::sync::OnceLock;

use klamm_protocol::{ApiKey, ApiVersion, schemas};
use klamm_schema::Schema;
use thiserror::Error;

use crate::RecordType;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From a client, or from a broker that acts as one.
    Request,
    /// The answer.
    Response,
}

impl Direction {
    /// Both, in the order of a conversation.
    pub const BOTH: [Self; 2] = [Self::Request, Self::Response];

    /// `request` or `response`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }

    /// The schema of the header that goes with it.
    pub fn header_schema(self) -> &'static Schema {
        let name = match self {
            Self::Request => "RequestHeader",
            Self::Response => "ResponseHeader",
        };
        schema(name).expect("headers have schemas")
    }

    /// The version of the header that goes with a version of a message.
    ///
    /// A version beyond the latest one counts as flexible, as it does in Apache Kafka, if the latest is.
    pub fn header_version(self, key: ApiKey, version: i16) -> i16 {
        let version = match key.coded_versions() {
            coded if coded.is_empty() => version,
            coded => version.clamp(coded.min, coded.max),
        };
        match self {
            Self::Request => key.request_header_version(version),
            Self::Response => key.response_header_version(version),
        }
    }
}

/// Whether a message of this API and version may be read. Servers answer ApiVersions in version 0
/// where they do not know the request's (KIP-511), so that its responses may have any.
pub fn is_readable(api: ApiVersion, direction: Direction) -> bool {
    let answers_any = direction == Direction::Response && api.key == ApiKey::API_VERSIONS;
    api.key.coded_versions().contains(api.version) || (answers_any && api.version >= 0)
}

/// No API is called that.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no API {name:?}")]
pub struct UnknownApi {
    /// What was asked for.
    pub name: String,
    /// Names that are close to it, the closest first.
    pub similar: Vec<&'static str>,
}

/// The schema with this name, such as `ElectLeadersRequest`. It is parsed when it is first asked for.
pub fn schema(name: &str) -> Option<&'static Schema> {
    static PARSED: OnceLock<Box<[OnceLock<Schema>]>> = OnceLock::new();
    let index = schemas::ALL
        .binary_search_by_key(&name, |schema| schema.name)
        .ok()?;
    let parsed = PARSED.get_or_init(|| schemas::ALL.iter().map(|_| OnceLock::new()).collect());
    Some(parsed[index].get_or_init(|| {
        Schema::parse(schemas::ALL[index].text).expect("the protocol is built from this text")
    }))
}

/// The schema of a request or response.
pub fn message_schema(key: ApiKey, direction: Direction) -> Option<&'static Schema> {
    let suffix = match direction {
        Direction::Request => "Request",
        Direction::Response => "Response",
    };
    schema(&format!("{}{suffix}", key.name()?))
}

/// Every API that has a valid version, in the order of the keys.
pub fn apis() -> impl Iterator<Item = ApiKey> {
    ApiKey::all().filter(|key| !key.coded_versions().is_empty())
}

/// The API with a name such as `ElectLeaders`, in any case, with `Request` or `Response` at its end or
/// not, or with a key such as `43`.
pub fn find_api(text: &str) -> Result<ApiKey, UnknownApi> {
    if let Ok(key) = text.parse::<i16>()
        && ApiKey(key).name().is_some()
    {
        return Ok(ApiKey(key));
    }
    let lower = text.to_ascii_lowercase();
    let stem = ["request", "response"]
        .iter()
        .find_map(|suffix| lower.strip_suffix(suffix))
        .unwrap_or(&lower);
    ApiKey::from_name(&lower)
        .or_else(|| ApiKey::from_name(stem))
        .ok_or_else(|| UnknownApi {
            name: text.to_owned(),
            similar: similar(stem),
        })
}

/// How many names an error suggests.
const SUGGESTIONS: usize = 5;

fn similar(text: &str) -> Vec<&'static str> {
    let records = RecordType::all().map(|kind| kind.name);
    let mut found: Vec<(usize, &'static str)> = ApiKey::all()
        .filter_map(ApiKey::name)
        .chain(records)
        .filter_map(|name| {
            let lower = name.to_ascii_lowercase();
            let distance = if !text.is_empty() && lower.contains(text) {
                0
            } else {
                distance(text, &lower)
            };
            (distance <= 1 + text.len() / 4).then_some((distance, name))
        })
        .collect();
    found.sort();
    found.truncate(SUGGESTIONS);
    found.into_iter().map(|(_, name)| name).collect()
}

/// How many letters differ: inserted, left out or replaced.
fn distance(a: &str, b: &str) -> usize {
    // Names are short; a longer text is close to none of them.
    const LONGEST: usize = 64;
    if a.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_parses_and_has_its_name() {
        for text in schemas::ALL {
            assert_eq!(
                schema(text.name).map(|schema| schema.name.as_str()),
                Some(text.name)
            );
        }
        assert_eq!(schema("Nothing").map(|schema| &schema.name), None);
        assert_eq!(apis().count(), 91);
        for key in apis() {
            for direction in Direction::BOTH {
                let schema = message_schema(key, direction).unwrap();
                assert_eq!(schema.api_key, Some(key.0));
            }
        }
    }

    #[test]
    fn apis_are_found_by_name_and_key() {
        for text in [
            "ElectLeaders",
            "electleaders",
            "43",
            "ElectLeadersRequest",
            "ELECTLEADERSRESPONSE",
        ] {
            assert_eq!(find_api(text), Ok(ApiKey::ELECT_LEADERS), "{text}");
        }
        let similar = |text: &str| find_api(text).unwrap_err().similar;
        assert_eq!(similar("ElectLeader"), ["ElectLeaders"]);
        assert_eq!(similar("ElctLeaders"), ["ElectLeaders"]);
        assert_eq!(
            similar("quorum"),
            ["BeginQuorumEpoch", "DescribeQuorum", "EndQuorumEpoch"]
        );
        assert!(similar("xyzzy").is_empty());
        assert!(find_api("99").is_err());
    }

    #[test]
    fn header_versions_of_versions_that_do_not_exist() {
        let header = Direction::Request.header_version(ApiKey::API_VERSIONS, 99);
        assert_eq!(header, 2);
        assert_eq!(
            Direction::Response.header_version(ApiKey::API_VERSIONS, 99),
            0
        );
        assert_eq!(Direction::Request.header_version(ApiKey(999), 3), 1);
    }
}

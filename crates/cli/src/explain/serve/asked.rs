use klamm_explain::html::{Ask, problem};
use klamm_explain::input::{self, Form, InputError};
use klamm_explain::{Contents, Direction, Options, find_api, is_readable};
use klamm_protocol::{ApiVersion, Bytes};

/// The most names and values that a form may have.
const MOST_PAIRS: usize = 32;

/// Names and values of a form.
#[derive(Debug, Default)]
pub(super) struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Reads `name=value&…`, with `+` for blanks and `%41` for bytes.
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.split('&').take(MOST_PAIRS).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescaped(name), unescaped(value))
        });
        Self(pairs.collect())
    }

    /// The value of a name; none where it is blank.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        let value = found.map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        rest = after;
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = &after[2..];
            }
            (b'+', ..) => bytes.push(b' '),
            (byte, ..) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Bytes, and what was said of them.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) bytes: Bytes,
    pub(super) ask: Ask,
}

impl Asked {
    /// What a form has, whose text is in the body and whose other values are there or in the query.
    /// An error is a part of a page.
    pub(super) fn of_form(body: &[u8], query: Pairs) -> Result<Self, String> {
        let mut pairs = Pairs::parse(&String::from_utf8_lossy(body));
        pairs.0.extend(query.0);
        let text = pairs.value("text").unwrap_or_default();
        if text.is_empty() {
            return Err(nothing());
        }
        let bytes = match pairs.value("digits") {
            Some("hex") => input::hex(text).map_err(|error| no_digits("hexadecimal", error)),
            Some("base64") => input::base64(text).map_err(|error| no_digits("base64", error)),
            _ => input::hex(text).or_else(|error| {
                input::base64(text).map_err(|_| no_digits("hexadecimal, nor base64", error))
            }),
        };
        Self::new(bytes?.into(), &pairs)
    }

    /// What a file is, according to the query.
    pub(super) fn of_file(bytes: Bytes, query: Pairs) -> Result<Self, String> {
        Self::new(bytes, &query)
    }

    fn new(bytes: Bytes, pairs: &Pairs) -> Result<Self, String> {
        let name = pairs.value("name");
        if bytes.is_empty() && Form::tell(&bytes, name) == Form::Frames {
            return Err(nothing());
        }
        let kind = pairs.value("kind").unwrap_or("request");
        let body = match kind {
            "request-body" => Some(Direction::Request),
            "response-body" => Some(Direction::Response),
            _ => None,
        };
        let api = match kind {
            "request" => None,
            "request-body" => Some(api(pairs, Direction::Request)?),
            _ => Some(api(pairs, Direction::Response)?),
        };
        Ok(Self {
            bytes,
            ask: Ask {
                form: None,
                contents: pairs.value("topic").map(Contents::of_topic),
                name: name.map(str::to_owned),
                api,
                body,
                options: Options {
                    show_secrets: pairs.value("secrets") == Some("show"),
                    ..Options::default()
                },
            },
        })
    }
}

fn api(pairs: &Pairs, direction: Direction) -> Result<ApiVersion, String> {
    let name = pairs.value("api").ok_or_else(|| {
        problem(
            "The API is missing",
            "A response or a body does not say which API it belongs to",
            "Choose it, and the version if it is not the latest.",
        )
    })?;
    let key = find_api(name)
        .map_err(|error| problem("The API is unknown", &error.to_string(), "Choose one."))?;
    let coded = key.coded_versions();
    let version = match pairs.value("version") {
        None => Some(key.stable_versions().max),
        Some(text) => text.parse().ok(),
    };
    let api = version.map(|version| ApiVersion { key, version });
    match api.filter(|api| is_readable(*api, direction)) {
        Some(api) => Ok(api),
        None => Err(problem(
            &format!("{key} has no such version"),
            "",
            &format!("Its versions are {coded}."),
        )),
    }
}

fn nothing() -> String {
    problem("There are no bytes", "", "Paste some, or choose a file.")
}

fn no_digits(form: &str, error: InputError) -> String {
    problem(
        &format!("The text is not {form}"),
        &error.to_string(),
        "Give the digits alone, without what is around them; a file may be dropped as it is.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let pairs = Pairs::parse("text=00+0a%0D%0a&api=%20&name=%e2%82%ac%zz&part");
        assert_eq!(pairs.value("text"), Some("00 0a"));
        assert_eq!(pairs.value("api"), None);
        assert_eq!(pairs.value("name"), Some("€%zz"));
        assert_eq!(pairs.value("part"), None);
        assert_eq!(Pairs::parse(&"a=b&".repeat(1_000)).0.len(), MOST_PAIRS);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let of = |text: &str| Asked::of_form(text.as_bytes(), Pairs::default());
        for (text, said) in [
            ("text=", "There are no bytes"),
            ("text=0g&digits=hex", "not hexadecimal"),
            ("text=0g!", "not hexadecimal, nor base64"),
            ("text=<b>&digits=base64", "&#39;&lt;&#39; at character 1"),
            ("text=00&kind=response", "The API is missing"),
            ("text=00&kind=response&api=<i>", "&quot;&lt;i&gt;&quot;"),
            ("text=00&kind=response&api=43&version=9", "versions are 0-2"),
        ] {
            let result = of(text).unwrap_err();
            assert!(result.contains(said), "{text}: {result}");
            assert!(
                !result.contains("<b>") && !result.contains("<i>"),
                "{result}"
            );
        }
        let asked = of("text=00&kind=response-body&api=43").unwrap();
        assert_eq!(asked.ask.body, Some(Direction::Response));
        assert_eq!(asked.ask.api.map(|api| api.version), Some(2));
    }
}

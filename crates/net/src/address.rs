use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use thiserror::Error;

/// A server's host and port, written `host:port`, with an IPv6 address in brackets: `[::1]:9092`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerAddress {
    host: String,
    port: u16,
}

impl ServerAddress {
    /// The address of a host name or IP address, without brackets, and a port.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// The host name or IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Parses a list separated by commas. Empty entries and repeated ones are left out.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ParseAddressError> {
        let mut list = Vec::new();
        for entry in text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let address = entry.parse()?;
            if !list.contains(&address) {
                list.push(address);
            }
        }
        if list.is_empty() {
            return Err(ParseAddressError::new(text, "it names no server"));
        }
        Ok(list)
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A text is not a server's address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a server address: {problem}; write host:port, such as localhost:9092 or [::1]:9092"
)]
pub struct ParseAddressError {
    text: String,
    problem: &'static str,
}

impl ParseAddressError {
    fn new(text: &str, problem: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            problem,
        }
    }
}

impl FromStr for ServerAddress {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem| ParseAddressError::new(text, problem);
        // Apache's clients take the address with a listener's protocol before it, too.
        let rest = text
            .trim()
            .split_once("://")
            .map_or(text.trim(), |(_, rest)| rest);
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest
                    .split_once(']')
                    .ok_or(fail("the bracket is not closed"))?;
                let address = host
                    .split_once('%')
                    .map_or(host, |(address, _zone)| address);
                if address.parse::<Ipv6Addr>().is_err() {
                    return Err(fail("there is no IPv6 address in the brackets"));
                }
                (
                    host,
                    port.strip_prefix(':').ok_or(fail("the port is missing"))?,
                )
            }
            None => rest.rsplit_once(':').ok_or(fail("the port is missing"))?,
        };
        if host.is_empty() {
            return Err(fail("the host is missing"));
        }
        if !rest.starts_with('[') {
            if host.contains(':') {
                return Err(fail("an IPv6 address goes in brackets"));
            }
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if !host.chars().all(allowed) {
                return Err(fail(
                    "a host name has letters, digits, '-', '.' and '_' only",
                ));
            }
        }
        // `parse` would take a sign.
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        match port.parse() {
            Ok(port) if digits && port > 0 => Ok(Self::new(host, port)),
            _ => Err(fail("the port is not a number from 1 to 65535")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn addresses_come_back_as_they_were_written() {
        for text in [
            "localhost:9092",
            "10.0.0.1:1",
            "[::1]:9092",
            "[fe80::1%eth0]:65535",
            "a_b-c.d:7",
        ] {
            assert_eq!(
                text.parse::<ServerAddress>().map(|a| a.to_string()),
                Ok(text.to_owned())
            );
        }
        let prefixed: ServerAddress = "PLAINTEXT://kafka-1:9092".parse().unwrap();
        assert_eq!(prefixed, ServerAddress::new("kafka-1", 9092));
    }

    #[test]
    fn lists_skip_what_is_empty_or_named_twice() {
        let list = ServerAddress::parse_list(" a:1, b:2,,a:1 ,").unwrap();
        assert_eq!(
            list,
            [ServerAddress::new("a", 1), ServerAddress::new("b", 2)]
        );
        assert!(ServerAddress::parse_list(" , ").is_err());
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        let texts = [
            "",
            "localhost",
            ":9092",
            "::1:9092",
            "[::1]",
            "[::1:9092",
            "[host]:1",
            "a b:1",
            "h:0",
            "h:65536",
            "h:",
            "h:+1",
        ];
        let problems: String = texts
            .iter()
            .map(|text| format!("{}\n", text.parse::<ServerAddress>().unwrap_err()))
            .collect();
        expect![[r#"
            "" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092
            "localhost" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092
            ":9092" is not a server address: the host is missing; write host:port, such as localhost:9092 or [::1]:9092
            "::1:9092" is not a server address: an IPv6 address goes in brackets; write host:port, such as localhost:9092 or [::1]:9092
            "[::1]" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092
            "[::1:9092" is not a server address: the bracket is not closed; write host:port, such as localhost:9092 or [::1]:9092
            "[host]:1" is not a server address: there is no IPv6 address in the brackets; write host:port, such as localhost:9092 or [::1]:9092
            "a b:1" is not a server address: a host name has letters, digits, '-', '.' and '_' only; write host:port, such as localhost:9092 or [::1]:9092
            "h:0" is not a server address: the port is not a number from 1 to 65535; write host:port, such as localhost:9092 or [::1]:9092
            "h:65536" is not a server address: the port is not a number from 1 to 65535; write host:port, such as localhost:9092 or [::1]:9092
            "h:" is not a server address: the port is not a number from 1 to 65535; write host:port, such as localhost:9092 or [::1]:9092
            "h:+1" is not a server address: the port is not a number from 1 to 65535; write host:port, such as localhost:9092 or [::1]:9092
        "#]].assert_eq(&problems);
    }
}

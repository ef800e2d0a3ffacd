//! Words that are not to be written, each with what to write instead.

use super::Finding;
use super::source::{Source, code};

/// Where a ban holds.
enum Where {
    /// In all Rust code.
    Everywhere,
    /// In Rust code that is not for tests.
    OutsideTests,
    /// In what ships, without tests: the crates.
    Shipped,
    /// Where nothing may be printed: the crates without a binary.
    Libraries,
    /// In the crates that have no clock, socket, file, thread or randomness.
    Pure,
}

struct Ban {
    rule: &'static str,
    /// What is found in code. An identifier at either end is matched as a whole.
    word: &'static str,
    instead: &'static str,
    holds: Where,
}

const fn ban(rule: &'static str, word: &'static str, instead: &'static str, holds: Where) -> Ban {
    Ban {
        rule,
        word,
        instead,
        holds,
    }
}

const BANS: &[Ban] = &[
    ban(
        "unwrap",
        ".unwrap()",
        "`?`, or `expect` with the invariant",
        Where::OutsideTests,
    ),
    ban("unfinished", "dbg!", "nothing", Where::Everywhere),
    ban("unfinished", "todo!", "the code", Where::Everywhere),
    ban(
        "unfinished",
        "unimplemented!",
        "the code",
        Where::Everywhere,
    ),
    ban(
        "print",
        "println!",
        "a value for the binary to print",
        Where::Libraries,
    ),
    ban(
        "print",
        "print!",
        "a value for the binary to print",
        Where::Libraries,
    ),
    ban(
        "print",
        "eprintln!",
        "a value for the binary to print",
        Where::Libraries,
    ),
    ban(
        "print",
        "eprint!",
        "a value for the binary to print",
        Where::Libraries,
    ),
    ban("unsafe", "unsafe", "safe code", Where::Everywhere),
    ban(
        "static-mut",
        "static mut",
        "a value that is passed",
        Where::Everywhere,
    ),
    ban(
        "get-prefix",
        "fn get_",
        "the name without `get_`",
        Where::Shipped,
    ),
    ban("pure", "SystemTime", "a `now` argument", Where::Pure),
    ban("pure", "Instant::now", "a `now` argument", Where::Pure),
    ban(
        "pure",
        "std::fs",
        "bytes that the caller has read",
        Where::Pure,
    ),
    ban("pure", "std::net", "bytes in, bytes out", Where::Pure),
    ban(
        "pure",
        "std::thread",
        "a value that the caller drives",
        Where::Pure,
    ),
    ban(
        "pure",
        "std::process",
        "a value that the caller drives",
        Where::Pure,
    ),
    ban("pure", "std::env", "an argument", Where::Pure),
    ban(
        "pure",
        "rand",
        "a random number as an argument",
        Where::Pure,
    ),
    ban(
        "pure",
        "fastrand",
        "a random number as an argument",
        Where::Pure,
    ),
    ban(
        "pure",
        "HashMap",
        "BTreeMap: its order is the same in every run",
        Where::Pure,
    ),
    ban(
        "pure",
        "HashSet",
        "BTreeSet: its order is the same in every run",
        Where::Pure,
    ),
];

/// Words that are not to be in any file.
const TEXTS: &[(&str, &str, &str)] = &[
    ("unfinished", "TODO", "an issue"),
    ("unfinished", "FIXME", "an issue"),
    ("unfinished", "XXX", "an issue"),
    (
        "machine-path",
        "/root/",
        "a path from the root of the repository",
    ),
    (
        "machine-path",
        "/home/",
        "a path from the root of the repository",
    ),
];

/// Hosts that a URL may name: what a licence, an XML file or a made-up example has to. What is
/// installed comes from the ordinary clients' settings, and papers are cited by their number.
const HOSTS: &[&str] = &[
    "www.apache.org",
    "maven.apache.org",
    "www.w3.org",
    "kafka",
    "not",
];

/// The crates without clock, socket, file, thread or randomness.
const PURE: &[&str] = &[
    "schema",
    "protocol",
    "config",
    "metadata",
    "controller",
    "raft",
    "replica",
    "explain",
    "plan",
];

/// The crates with a binary, which prints. `sim` is for developers and ships nothing.
const PRINTING: &[&str] = &["cli", "sim"];

/// Files of pure crates that are not: each is said to be so in the crate's documentation.
const IMPURE: &[&str] = &["crates/schema/src/load.rs", "crates/protocol/build.rs"];

/// This list, which has all the words.
const SELF: &str = "xtask/src/tidy/bans.rs";

pub(super) fn check(source: &Source, findings: &mut Vec<Finding>) {
    if source.path == SELF || source.name() == "Cargo.lock" {
        return;
    }
    let mut find = |line, rule, text| {
        findings.push(Finding {
            path: source.path.clone(),
            line,
            rule,
            text,
        });
    };
    for (number, line) in source.lines() {
        for (rule, word, instead) in TEXTS {
            if contains(line, word) {
                find(number, *rule, format!("{word}; write {instead} instead"));
            }
        }
        for host in hosts(line).filter(|host| !HOSTS.contains(host)) {
            find(
                number,
                "host",
                format!("a URL of {host}; name the thing instead"),
            );
        }
        if !source.is_rust() {
            continue;
        }
        let code = code(line);
        for ban in BANS.iter().filter(|ban| holds(ban, source, number)) {
            if contains(&code, ban.word) {
                let text = format!("`{}`; write {} instead", ban.word, ban.instead);
                find(number, ban.rule, text);
            }
        }
        if is_alias(&code) {
            find(
                number,
                "alias",
                "type alias; write the type, or a newtype".into(),
            );
        }
    }
    for (number, attribute) in attributes(source) {
        if !attribute.contains("reason =") {
            find(
                number,
                "reason",
                "a lint is set aside without `reason = \"…\"`; add it".into(),
            );
        }
    }
}

fn holds(ban: &Ban, source: &Source, line: usize) -> bool {
    let shipped = |name: &str| source.crate_name().is_some_and(|is| is == name);
    let is_shipped = source.crate_name().is_some() && !source.is_test(line);
    match ban.holds {
        Where::Everywhere => true,
        Where::OutsideTests => !source.is_test(line),
        Where::Shipped => is_shipped,
        Where::Libraries => {
            let prints = PRINTING.iter().any(|name| shipped(name));
            is_shipped && !prints && source.name() != "build.rs"
        }
        Where::Pure => {
            is_shipped
                && PURE.iter().any(|name| shipped(name))
                && !IMPURE.contains(&source.path.as_str())
        }
    }
}

/// Whether `text` has `word`, and not as a part of a longer identifier.
fn contains(text: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let starts = word.starts_with(is_name);
    let ends = word.ends_with(is_name) && !word.ends_with('_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let within = starts && before.is_some_and(is_name) || ends && after.is_some_and(is_name);
        !within
    })
}

/// The public hosts of the URLs in a line: names with a dot, no addresses.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    let hosts = line.split("://").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-".contains(c)));
        &rest[..end.unwrap_or(rest.len())]
    });
    hosts.filter(|host| host.contains('.') && host.contains(|c: char| c.is_ascii_alphabetic()))
}

/// Whether a line declares a type alias that is no associated type.
fn is_alias(code: &str) -> bool {
    let rest = code.strip_prefix("pub ").unwrap_or(code);
    let rest = rest.strip_prefix("pub(crate) ").unwrap_or(rest);
    let rest = rest.strip_prefix("pub(super) ").unwrap_or(rest);
    rest.starts_with("type ")
}

/// Attributes that set lints or tests aside, with their lines.
fn attributes(source: &Source) -> Vec<(usize, String)> {
    let mut attributes = Vec::new();
    if !source.is_rust() {
        return attributes;
    }
    let mut open: Option<(usize, String)> = None;
    for (number, line) in source.lines() {
        let line = line.trim();
        let begins = ["#[allow(", "#![allow(", "#[expect(", "#![expect("]
            .iter()
            .any(|begin| line.starts_with(begin));
        if begins {
            open = Some((number, String::new()));
        }
        if let Some((_, text)) = &mut open {
            text.push_str(line);
        }
        if line.ends_with(']') || line.ends_with(")]") {
            attributes.extend(open.take());
        }
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check(&Source::new(path.into(), text.into()), &mut findings);
        findings.iter().map(|finding| finding.rule).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn words_are_banned_where_their_ban_holds() {
        let pure = "crates/raft/src/lib.rs";
        assert_eq!(rules(pure, "use std::collections::HashMap;"), ["pure"]);
        assert_eq!(rules(pure, "let now = Instant::now();"), ["pure"]);
        assert_eq!(
            rules("crates/net/src/lib.rs", "let now = Instant::now();"),
            NONE
        );
        assert_eq!(rules(pure, "let operand = 1; // HashMap"), NONE);
        assert_eq!(rules("crates/schema/src/load.rs", "use std::fs;"), NONE);
        assert_eq!(rules(pure, "x.unwrap();"), ["unwrap"]);
        assert_eq!(rules("crates/raft/src/tests.rs", "x.unwrap();"), NONE);
        assert_eq!(rules(pure, "println!();"), ["print"]);
        assert_eq!(rules("crates/cli/src/main.rs", "println!();"), NONE);
        assert_eq!(rules(pure, "std::thread_local! {}"), NONE);
        assert_eq!(rules(pure, "fn get_it() {}"), ["get-prefix"]);
        assert_eq!(rules("docs/a.md", "It is a TODO."), ["unfinished"]);
        assert_eq!(rules("docs/a.md", "It is in TODOS."), NONE);
        assert_eq!(
            rules("docs/a.md", "see https://registry.example/x"),
            ["host"]
        );
        assert_eq!(
            rules("docs/a.md", "PLAINTEXT://127.0.0.1:9092, x://host"),
            NONE
        );
    }

    #[test]
    fn aliases_and_lints_without_a_reason_are_found() {
        let path = "crates/net/src/lib.rs";
        assert_eq!(rules(path, "pub type Map = Vec<u8>;"), ["alias"]);
        assert_eq!(rules(path, "    type Item = u8;"), NONE);
        assert_eq!(rules(path, "#[allow(dead_code)]"), ["reason"]);
        assert_eq!(
            rules(path, "#[expect(\n    dead_code,\n    reason = \"x\"\n)]"),
            NONE
        );
    }
}

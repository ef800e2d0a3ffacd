use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::{Source, code};

/// Finds Rust files that no module includes, which therefore nothing compiles.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let files: BTreeMap<&str, &Source> = sources
        .iter()
        .filter(|source| source.is_rust())
        .map(|source| (source.path.as_str(), source))
        .collect();
    let explicit: BTreeSet<String> = sources.iter().flat_map(explicit_roots).collect();
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Source> = files
        .values()
        .copied()
        .filter(|source| is_root(&source.path) || explicit.contains(&source.path))
        .collect();
    while let Some(source) = open.pop() {
        if !reached.insert(source.path.as_str()) {
            continue;
        }
        let is_root = is_root(&source.path) || explicit.contains(&source.path);
        let children = children(source, is_root);
        open.extend(children.iter().filter_map(|path| files.get(path.as_str())));
    }
    let dead = files.keys().filter(|path| !reached.contains(*path));
    findings.extend(dead.map(|path| Finding {
        path: (*path).to_owned(),
        line: 0,
        rule: "dead-file",
        text: "no module includes it; declare it with `mod` or remove it".into(),
    }));
}

/// Whether cargo finds the file by its name.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] | [.., "src", "bin", _] | [.., "build.rs"] => true,
        [.., "tests", "main.rs"] | [.., "src", "bin", _, "main.rs"] => true,
        [.., "tests", _, "main.rs"] | [.., "examples" | "benches", _] => true,
        [.., parent, "tests", _] => *parent != "src" && !parts.contains(&"src"),
        _ => false,
    }
}

/// The files that a manifest names as targets.
fn explicit_roots(source: &Source) -> Vec<String> {
    let Some(folder) = source.path.strip_suffix("Cargo.toml") else {
        return Vec::new();
    };
    let paths = source.text.lines().filter_map(|line| {
        let path = line.strip_prefix("path = \"")?.strip_suffix('"')?;
        path.ends_with(".rs").then(|| format!("{folder}{path}"))
    });
    paths.collect()
}

/// The files that a file's modules may be in.
fn children(source: &Source, is_root: bool) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = name.trim_end_matches(".rs");
    let inner = if is_root || name == "mod.rs" {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    let mut children = Vec::new();
    let mut path = None;
    for line in source.text.lines() {
        let line = line.trim();
        if let Some(attribute) = line.strip_prefix("#[path = \"") {
            path = attribute.strip_suffix("\"]").map(str::to_owned);
            continue;
        }
        let code = code(line);
        let declaration = code.trim().trim_start_matches("pub").trim_start();
        let declaration = match declaration.strip_prefix('(') {
            Some(rest) => rest
                .split_once(')')
                .map_or("", |(_, rest)| rest.trim_start()),
            None => declaration,
        };
        let module = declaration
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'));
        if let Some(module) = module {
            match path.take() {
                Some(path) => children.push(format!("{folder}/{path}")),
                None => {
                    children.push(format!("{inner}/{module}.rs"));
                    children.push(format!("{inner}/{module}/mod.rs"));
                }
            }
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_nothing_includes_is_dead() {
        let source = |path: &str, text: &str| Source::new(path.into(), text.into());
        let sources = [
            source(
                "crates/a/src/lib.rs",
                "mod one;\npub(crate) mod two;\n// mod three;\n",
            ),
            source("crates/a/src/one.rs", "#[cfg(test)]\nmod tests;\n"),
            source("crates/a/src/one/tests.rs", ""),
            source(
                "crates/a/src/two/mod.rs",
                "#[path = \"other.rs\"]\nmod inner;\n",
            ),
            source("crates/a/src/two/other.rs", ""),
            source("crates/a/src/three.rs", ""),
            source("crates/a/tests/suite/main.rs", "mod topic;\n"),
            source("crates/a/tests/suite/topic.rs", ""),
            source("crates/a/tests/single.rs", ""),
            source("fuzz/Cargo.toml", "[[bin]]\npath = \"targets/x.rs\"\n"),
            source("fuzz/targets/x.rs", ""),
            source("fuzz/targets/y.rs", ""),
        ];
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        let dead: Vec<&str> = findings
            .iter()
            .map(|finding| finding.path.as_str())
            .collect();
        assert_eq!(dead, ["crates/a/src/three.rs", "fuzz/targets/y.rs"]);
    }
}

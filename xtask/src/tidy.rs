//! House rules that a machine can check, each finding with what to do instead.

mod allowed;
mod bans;
mod layers;
mod modules;
mod size;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use allowed::Allowed;
use source::Source;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, from the root.
    path: String,
    /// The line, counted from 1; 0 for the whole file.
    line: usize,
    /// The rule's name, as the list of exceptions has it.
    rule: &'static str,
    /// What is wrong, and what to do instead.
    text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            text,
        } = self;
        match line {
            0 => write!(f, "{path}: {text} [{rule}]"),
            _ => write!(f, "{path}:{line}: {text} [{rule}]"),
        }
    }
}

/// Checks everything. Prints what it finds and says whether that is nothing.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let paths = files(root)?;
    let mut sources = Vec::new();
    for path in paths {
        // Pictures and other bytes that are no text have no rules.
        if let Ok(text) = fs::read_to_string(root.join(&path)) {
            sources.push(Source::new(path, text));
        }
    }
    let allowed = fs::read_to_string(root.join(allowed::PATH)).unwrap_or_default();
    let allowed = Allowed::parse(&allowed)?;
    let mut findings = Vec::new();
    for source in &sources {
        bans::check(source, &mut findings);
        size::check(source, &mut findings);
    }
    modules::check(&sources, &mut findings);
    layers::check(&metadata(root)?, &sources, &mut findings);
    let mut findings = allowed.apply(findings, &sources);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: {} files keep the house rules", sources.len()),
        count => println!("tidy: {count} findings in {} files", sources.len()),
    }
    Ok(findings.is_empty())
}

/// Every file that git has or would add.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let list = output(
        Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root),
    )?;
    let mut paths: Vec<String> = list.split('\0').map(str::to_owned).collect();
    paths.retain(|path| root.join(path).is_file());
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// What cargo says of the workspace's crates.
fn metadata(root: &Path) -> Result<serde_json::Value, String> {
    let text = output(
        Command::new("cargo")
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--offline",
            ])
            .current_dir(root),
    )?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command
        .output()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} failed: {}", reason.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{name} does not print UTF-8"))
}

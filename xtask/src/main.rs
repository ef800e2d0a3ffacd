//! Project chores: `cargo xtask tidy` and `cargo xtask schemas`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers"
)]

mod schemas;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask tidy
       cargo xtask schemas [--check | --update] DIR…

tidy     checks the house rules over every file that git knows or could add
schemas  compares Apache Kafka's schema files below DIR with the ones in this project: a source
         tree, or folders of schema files, such as common/message of the clients' jar, unpacked
         --check   exit with 1 if they differ
         --update  take them over, without comments and descriptions";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((task, [])) if task == "tidy" => tidy::run(&root()),
        Some((task, rest)) if task == "schemas" => schemas::run(&root(), rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::from(2)
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is below the root").to_owned()
}

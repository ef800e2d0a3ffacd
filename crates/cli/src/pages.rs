use std::path::Path;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::{Output, WriteError};

/// Runs `klamm completions`.
pub(crate) fn completions(args: &CompletionsArgs, out: &Output) -> Result<Exit, Problem> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "klamm", &mut text);
    print(&String::from_utf8_lossy(&text), out)
}

/// Runs `klamm man`.
pub(crate) fn man(args: &ManArgs, out: &Output) -> Result<Exit, Problem> {
    let pages = pages();
    if let Some(dir) = &args.dir {
        write(dir, &pages)?;
        return Ok(Exit::Done);
    }
    let name = match args.page.as_deref() {
        None | Some("klamm") => "klamm".to_owned(),
        Some(page) => format!("klamm-{page}"),
    };
    match pages.iter().find(|page| page.name == name) {
        Some(page) => print(&page.text, out),
        None => {
            let known: Vec<_> = pages
                .iter()
                .filter_map(|page| page.name.strip_prefix("klamm-"))
                .collect();
            Err(Problem::misuse(format!(
                "there is no command {}",
                args.page.as_deref().unwrap_or("")
            ))
            .next(format!("the commands are {}", known.join(", "))))
        }
    }
}

fn print(text: &str, out: &Output) -> Result<Exit, Problem> {
    match out.results(text) {
        Ok(()) | Err(WriteError::Closed) => Ok(Exit::Done),
        Err(WriteError::Problem(problem)) => Err(problem),
    }
}

/// A man page of section 1.
struct Page {
    /// `klamm`, or `klamm-` and a command.
    name: String,
    text: String,
}

/// The pages of klamm and of each command.
fn pages() -> Vec<Page> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    [&root]
        .into_iter()
        .chain(root.get_subcommands())
        .cloned()
        .map(page)
        .collect()
}

fn page(command: clap::Command) -> Page {
    // What is built has a name of its own below klamm, such as klamm-elect.
    let name = command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let mut text = Vec::new();
    // The date stays out, so that the same sources give the same page.
    let man = clap_mangen::Man::new(command).date("");
    man.render(&mut text).expect("a vector takes all bytes");
    Page {
        name,
        text: String::from_utf8_lossy(&text).into_owned(),
    }
}

fn write(dir: &Path, pages: &[Page]) -> Result<(), Problem> {
    for Page { name, text } in pages {
        let path = dir.join(format!("{name}.1"));
        std::fs::write(&path, text).map_err(|error| {
            Problem::failure(format!("{} cannot be written", path.display()))
                .because(error.to_string())
                .next("give --dir a directory that exists and that you may write to")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

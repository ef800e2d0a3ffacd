use klamm_server::format::{inspect, problems};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::Output;

use super::args::InfoArgs;
use super::render;

/// Runs `klamm info`.
pub(crate) fn run(args: &InfoArgs, out: &Output) -> Result<Exit, Problem> {
    let node = super::settings(&args.config, out)?;
    let directories = inspect(&node);
    let problems = problems(&node, &directories);
    let text = render::info(&directories, &problems, args.output, out.look());
    super::show(&text, out)?;
    Ok(if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

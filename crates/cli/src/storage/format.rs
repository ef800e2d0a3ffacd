use std::time::{SystemTime, UNIX_EPOCH};

use klamm_server::format::{FormatError, NewScramCredential, Plan, Request};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::Output;

use super::args::FormatArgs;
use super::render;

/// Runs `klamm format`.
pub(crate) fn run(args: &FormatArgs, out: &Output) -> Result<Exit, Problem> {
    let request = request(args)?;
    let node = super::settings(&args.config, out)?;
    let plan = Plan::new(&node, &request).map_err(|error| refused(&error))?;
    plan.carry_out(now_ms()).map_err(|error| refused(&error))?;
    super::show(&render::formatted(&plan, args.output, out.look()), out)?;
    Ok(Exit::Done)
}

fn request(args: &FormatArgs) -> Result<Request, Problem> {
    let scram = args.add_scram.iter().map(|text| {
        let user = text.parse::<NewScramCredential>();
        user.map_err(|error| Problem::misuse(format!("--add-scram: {error}")))
    });
    Ok(Request {
        scram: scram.collect::<Result<_, _>>()?,
        cluster_id: match &args.cluster_id {
            Some(id) => id.clone(),
            None => super::new_id()?,
        },
        release: args.release_version,
        features: args.feature.clone(),
        quorum: args.quorum(),
        ignore_formatted: args.ignore_formatted,
    })
}

/// The error's own text names the directory or the flag, the cause and the next step.
fn refused(error: &FormatError) -> Problem {
    let what = "the directories are not formatted";
    let problem = if error.is_misuse() {
        Problem::misuse(what)
    } else {
        Problem::failure(what)
    };
    problem.because(error.to_string())
}

/// Milliseconds since 1970, which is what records carry. A clock before that is as good as none.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

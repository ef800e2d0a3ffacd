use std::path::PathBuf;
use std::process::ExitCode;

/// What a bench beside Apache Kafka's servers is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The klamm command.
    pub klamm: PathBuf,
    /// Whether klamm runs alone, and less is done.
    pub quick: bool,
    /// Whether the rows are printed as JSON.
    pub json: bool,
    /// Whether a missed target is a failure.
    check: bool,
}

/// Runs a bench with the options of the command line; `run` says whether every target is met.
pub fn main(
    name: &str,
    usage: &str,
    run: impl FnOnce(&Options) -> Result<bool, String>,
) -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{name}: {problem}\n\n{usage}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(is_met) if is_met || !options.check => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{name}: {problem}");
            ExitCode::FAILURE
        }
    }
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut klamm = None;
        let (mut quick, mut json, mut check) = (false, false, false);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--klamm" => klamm = arguments.next().map(PathBuf::from),
                "--quick" => quick = true,
                "--json" => json = true,
                "--check" => check = true,
                other => return Err(format!("unknown argument {other}")),
            }
        }
        let klamm = klamm.ok_or("--klamm FILE is missing")?;
        Ok(Self {
            klamm,
            quick,
            json,
            check,
        })
    }
}

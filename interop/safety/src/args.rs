//! The command line.

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// The seed of each run.
    pub(crate) seeds: Vec<u64>,
    /// How many runs there are at a time.
    pub(crate) jobs: usize,
    /// Whether every step is told.
    pub(crate) is_told: bool,
}

impl Args {
    /// Reads `--seeds N`, `--first-seed N`, `--seed N`, `--times N` and `--jobs N`.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut seeds, mut first, mut one, mut times, mut jobs) = (10, 1, None, 1, 2);
        while let Some(flag) = args.next() {
            let value = args.next().ok_or(format!("{flag} needs a number"))?;
            let number = value.parse();
            let number: u64 = number.map_err(|_| format!("{flag} {value}: not a number"))?;
            match flag.as_str() {
                "--seeds" => seeds = number,
                "--first-seed" => first = number,
                "--seed" => one = Some(number),
                "--times" => times = number,
                "--jobs" => jobs = number,
                _ => {
                    return Err(format!(
                        "{flag} is none of --seeds, --first-seed, --seed, --times, --jobs"
                    ));
                }
            }
        }
        let seeds: Vec<u64> = match one {
            Some(seed) => (0..times).map(|_| seed).collect(),
            None => (first..first.saturating_add(seeds)).collect(),
        };
        if seeds.is_empty() || jobs == 0 {
            return Err("there is nothing to run: numbers begin with 1".to_owned());
        }
        Ok(Self {
            is_told: seeds.len() == 1,
            jobs: usize::try_from(jobs).unwrap_or(usize::MAX).min(seeds.len()),
            seeds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &str) -> Result<Args, String> {
        Args::parse(args.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn seeds_are_counted() {
        let args = |seeds: &[u64], jobs, is_told| {
            Ok(Args {
                seeds: seeds.to_vec(),
                jobs,
                is_told,
            })
        };
        assert_eq!(parsed("--seeds 3"), args(&[1, 2, 3], 2, false));
        assert_eq!(
            parsed("--seeds 2 --first-seed 8 --jobs 1"),
            args(&[8, 9], 1, false)
        );
        assert_eq!(parsed("--seed 7"), args(&[7], 1, true));
        assert_eq!(parsed("--seed 7 --times 2"), args(&[7, 7], 2, false));
        for wrong in ["--seeds", "--seeds x", "--sedes 3", "--seeds 0", "--jobs 0"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}

//! The command line.

/// What to run.
pub(crate) struct Args {
    pub(crate) histories: u64,
    pub(crate) operations: usize,
    pub(crate) shrink: bool,
    first_seed: u64,
}

impl Args {
    /// Reads `--histories N`, `--operations M` and `--seed N`.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            histories: 5,
            operations: 200,
            shrink: false,
            first_seed: 1,
        };
        while let Some(flag) = args.next() {
            let value = args.next().ok_or(format!("{flag} needs a number"))?;
            let number = value.parse();
            let number: u64 = number.map_err(|_| format!("{flag} {value}: not a number"))?;
            match flag.as_str() {
                "--histories" => parsed.histories = number,
                "--operations" => parsed.operations = usize::try_from(number).unwrap_or(usize::MAX),
                "--first-seed" => parsed.first_seed = number,
                "--seed" => {
                    (parsed.first_seed, parsed.histories) = (number, 1);
                    parsed.shrink = true;
                }
                _ => {
                    return Err(format!(
                        "{flag} is none of --histories, --operations, --seed"
                    ));
                }
            }
        }
        Ok(parsed)
    }

    /// The seed of each history.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = u64> {
        self.first_seed..self.first_seed.saturating_add(self.histories)
    }
}

//! Files of log directories.

mod directory;
mod other;
mod segment;

use std::path::Path;

use klamm_explain::Contents;
use klamm_explain::input::Form;
use klamm_explain::log::Filter;
use klamm_explain::{json, text};

use crate::errors::Problem;
use crate::exit::Exit;

use super::args::Format;
use super::input::Source;
use super::run::{End, Explain};

impl Explain<'_> {
    /// Explains a log directory, file by file.
    pub(super) fn directory(&self, path: &Path) -> Result<Exit, End> {
        self.fits_directory(path)?;
        let filter = self.log_filter()?;
        let listing = directory::list(path)?;
        if listing.is_cut {
            let (name, most) = (path.display(), directory::MOST_FILES);
            self.out.warn(&format!(
                "{name} has more than {most} files, of which no more are looked at; give single files"
            ));
        }
        let mut exit = Exit::Done;
        for (index, file) in listing.files_for(&filter).enumerate() {
            let source = Source::file(&file.path)?;
            let head = match self.args.output {
                Format::Json => json::log_file(&file.name, file.form.name(), file.size),
                Format::Text | Format::Html => {
                    let gap = if index == 0 { "" } else { "\n" };
                    format!(
                        "{gap}{}",
                        text::log_file(&file.name, file.size, self.look())
                    )
                }
            };
            self.out.results(&head)?;
            let ended = match file.form {
                Form::Producers if !self.args.tree => self.producers_in_short(source),
                form if form.index_kind().is_some() => self.index(source, form, self.args.tree),
                form => self.file_of_log(source, form, &filter),
            };
            if ended? != Exit::Done {
                exit = Exit::Failed;
            }
        }
        if self.args.output != Format::Json {
            self.out.results(&listing.others())?;
        }
        Ok(exit)
    }

    /// Explains a file of a log directory.
    pub(super) fn log_file(&self, source: Source, form: Form) -> Result<Exit, End> {
        let filter = self.log_filter()?;
        self.file_of_log(source, form, &filter)
    }

    fn file_of_log(&self, source: Source, form: Form, filter: &Filter) -> Result<Exit, End> {
        match form {
            Form::Log | Form::Snapshot => {
                let contents = self.contents(&source, form);
                self.segment(source, contents, filter)
            }
            Form::OffsetIndex | Form::TimeIndex | Form::TransactionIndex => {
                self.index(source, form, true)
            }
            Form::Producers => self.producers(source),
            Form::Text => self.text(source),
            Form::Frames | Form::Pcap | Form::Pcapng => self.frames(source),
        }
    }

    /// What the records of a file hold: as the flags say, or the directory's name.
    pub(super) fn contents(&self, source: &Source, form: Form) -> Contents {
        match &self.args.topic {
            Some(topic) => Contents::of_topic(topic),
            None if form == Form::Snapshot => Contents::Metadata,
            None => {
                let directory = source.directory();
                directory.map_or(Contents::Opaque, |name| Contents::of_directory(&name))
            }
        }
    }

    /// Which records the flags ask for.
    fn log_filter(&self) -> Result<Filter, Problem> {
        let args = self.args;
        let for_frames = [
            ("--request", args.request),
            ("--response", args.response),
            ("--api", args.api.is_some()),
            ("--version", args.version.is_some()),
            ("--body-only", args.body_only),
        ];
        if let Some((flag, _)) = for_frames.iter().find(|(_, is_set)| *is_set) {
            return Err(Problem::misuse(format!("{flag} does not go with a log"))
                .because("a log has records, not requests and responses")
                .next("leave it out, or say with --as frames that the bytes are frames"));
        }
        if let Some((from, to)) = args.from_offset.zip(args.to_offset)
            && from > to
        {
            return Err(Problem::misuse(format!(
                "--to-offset {to} is before --from-offset {from}"
            ))
            .next("give the smaller one to --from-offset"));
        }
        let mut filter = Filter {
            from: args.from_offset,
            to: args.to_offset,
            kinds: Vec::new(),
        };
        for name in &args.types {
            filter.add_kind(name).map_err(|error| {
                Problem::misuse(error.to_string()).next("klamm explain --list --records lists them")
            })?;
        }
        Ok(filter)
    }
}

use super::Look;
use super::value::count;
use crate::Tree;
use crate::log::{Batch, Entry, IndexEntry, Tail, fields};
use crate::time::utc;

/// Columns of the offset, of the epoch and of the type.
const WIDTHS: [usize; 3] = [10, 5, 28];

/// The headings above records of a log.
pub fn log_headings(look: Look) -> String {
    let [offset, epoch, kind] = WIDTHS;
    let line = format!(
        "{:>offset$}  {:>epoch$}  {:<24}  {:<kind$}  SAYS",
        "OFFSET", "EPOCH", "TIME", "TYPE"
    );
    look.bold(&line) + "\n"
}

/// A record of a log on one line, and a line for each problem with it.
pub fn log_entry(batch: &Batch, entry: &Entry, look: Look) -> String {
    let [offset_width, epoch_width, kind_width] = WIDTHS;
    let epoch = batch
        .epoch()
        .map_or("-".to_owned(), |epoch| epoch.to_string());
    let time = match entry.timestamp {
        -1 => "-".to_owned(),
        time => utc(time).unwrap_or_else(|| time.to_string()),
    };
    let kind = match entry.version {
        Some(version) => format!("{} v{version}", entry.kind),
        None => entry.kind.clone(),
    };
    let before = format!(
        "{:>offset_width$}  {epoch:>epoch_width$}  {time:<24}  ",
        entry.offset
    );
    let kind = format!("{kind:<kind_width$}");
    let room = look.width.map(|width| {
        let taken = before.chars().count() + kind.chars().count() + 2;
        width.saturating_sub(taken)
    });
    let says = match room {
        Some(room) => cut(&entry.says(), room),
        None => entry.says(),
    };
    let mut line = format!("{}{}  {says}", look.dim(&before), look.bold(&kind));
    line.truncate(line.trim_end().len());
    line.push('\n');
    for problem in entry.problems() {
        line.push_str(&problem_line(
            &format!("offset {}: {problem}", entry.offset),
            look,
        ));
    }
    line
}

/// What is wrong with a batch.
pub fn log_problem(at: u64, what: &str, look: Look) -> String {
    problem_line(&format!("batch at byte {at}: {what}"), look)
}

fn problem_line(what: &str, look: Look) -> String {
    format!("{}: {what}\n", look.bad("broken"))
}

/// The end of a segment that is no batch.
pub fn log_tail(tail: &Tail, look: Look) -> String {
    match tail {
        Tail::Zeros { at, len } => format!(
            "{}: byte {at}: {} that are 0, room that was not written to yet\n",
            look.bold("notice"),
            bytes(*len)
        ),
        Tail::Cut { piece, needed } => {
            let there = piece.bytes.len();
            let there = match needed {
                Some(needed) => format!("{there} of {needed} bytes"),
                None => bytes(there as u64),
            };
            format!(
                "{}: byte {}: the start of a batch: {there} are here\n",
                look.bad("broken"),
                piece.at
            )
        }
        Tail::Broken { at, len, why } => format!(
            "{}: byte {at}: {why}; {} not read\n",
            look.bad("stopped"),
            match len {
                1 => "1 byte is".to_owned(),
                len => format!("{len} bytes are"),
            }
        ),
    }
}

/// What a segment had.
pub fn log_total(batches: u64, records: u64, shown: u64, size: u64, look: Look) -> String {
    let mut text = format!(
        "{} in {}, {}",
        count(records as usize, "record"),
        match batches {
            1 => "1 batch".to_owned(),
            batches => format!("{batches} batches"),
        },
        bytes(size)
    );
    if shown < records {
        text.push_str(&format!("; {shown} shown"));
    }
    look.dim(&text) + "\n"
}

/// An entry of an index on one line.
pub fn index_entry(entry: &IndexEntry) -> String {
    match entry {
        IndexEntry::Offset { offset, position } => {
            format!("offset {offset} is in the batch at byte {position}\n")
        }
        IndexEntry::Time { timestamp, offset } => {
            let time = utc(*timestamp).unwrap_or_else(|| timestamp.to_string());
            format!("{time} is the largest time up to offset {offset}\n")
        }
        IndexEntry::Aborted {
            version,
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
        } => format!(
            "offsets {first_offset} to {last_offset} of producer {producer_id} were aborted, \
             last stable offset {last_stable_offset} (version {version})\n"
        ),
    }
}

/// The end of an index.
pub fn index_end(entries: usize, rest: &[u8], look: Look) -> String {
    let mut text = String::new();
    let len = bytes(rest.len() as u64);
    if rest.iter().any(|byte| *byte != 0) {
        text = format!("{}: {len} at the end are no entry\n", look.bad("broken"));
    } else if !rest.is_empty() {
        let what = format!("{len} that are 0, room that was not written to yet");
        text = format!("{}: {what}\n", look.bold("notice"));
    }
    let total = match entries {
        1 => "1 entry".to_owned(),
        entries => format!("{entries} entries"),
    };
    text + &look.dim(&total) + "\n"
}

/// A file of a log directory, above what is in it.
pub fn log_file(name: &str, size: Option<u64>, look: Look) -> String {
    let size = size.map_or(String::new(), |size| format!(": {}", bytes(size)));
    format!("{}{size}\n", look.bold(name))
}

/// The fields of a message on one line, and a line for each problem with it.
pub fn in_short(tree: &Tree, look: Look) -> String {
    let mut text = fields(&tree.root.children) + "\n";
    for problem in &tree.problems {
        text.push_str(&problem_line(&problem.to_string(), look));
    }
    text
}

fn bytes(len: u64) -> String {
    match len {
        1 => "1 byte".to_owned(),
        len => format!("{len} bytes"),
    }
}

/// The text in so many columns.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

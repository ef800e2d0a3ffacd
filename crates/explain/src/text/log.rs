use super::Look;
use crate::log::{Batch, Entry, IndexEntry, Tail, fields};
use crate::time::utc;
use crate::words::{are, bytes, count};
use crate::{Severity, Tree};

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
    severity_line(Severity::Broken, what, look)
}

/// The end of a segment that is no batch.
pub fn log_tail(tail: &Tail, look: Look) -> String {
    let (severity, what) = tail_says(tail);
    severity_line(severity, &what, look)
}

/// How bad the end of a segment is that is no batch, and what it is.
pub(crate) fn tail_says(tail: &Tail) -> (Severity, String) {
    match tail {
        Tail::Zeros { at, len } => (Severity::Notice, format!("byte {at}: {}", room(*len))),
        Tail::Cut { piece, needed } => {
            let there = piece.bytes.len();
            let there = match needed {
                Some(needed) => format!("{there} of {}", count(*needed, "byte")),
                None => count(there, "byte"),
            };
            let verb = are(piece.bytes.len());
            let what = format!(
                "byte {}: the start of a batch: {there} {verb} here",
                piece.at
            );
            (Severity::Broken, what)
        }
        Tail::Broken { at, len, why } => {
            let verb = are(*len);
            let what = format!("byte {at}: {why}; {} {verb} not read", bytes(*len));
            (Severity::Stopped, what)
        }
    }
}

fn room(len: u64) -> String {
    let verb = are(len);
    format!(
        "{} that {verb} 0, room that was not written to yet",
        bytes(len)
    )
}

fn severity_line(severity: Severity, what: &str, look: Look) -> String {
    let word = match severity {
        Severity::Notice => look.bold(severity.name()),
        _ => look.bad(severity.name()),
    };
    format!("{word}: {what}\n")
}

/// What a segment had.
pub fn log_total(batches: u64, records: u64, shown: u64, size: u64, look: Look) -> String {
    let mut text = format!(
        "{} in {}, {}",
        count(records, "record"),
        count(batches, "batch"),
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
    let text = match rest_says(rest) {
        Some((severity, what)) => severity_line(severity, &what, look),
        None => String::new(),
    };
    text + &look.dim(&count(entries, "entry")) + "\n"
}

/// How bad it is what follows the entries of an index, and what it is.
pub(crate) fn rest_says(rest: &[u8]) -> Option<(Severity, String)> {
    let len = rest.len() as u64;
    if rest.iter().any(|byte| *byte != 0) {
        let verb = are(len);
        let what = format!("{} at the end {verb} no entry", bytes(len));
        return Some((Severity::Broken, what));
    }
    (len > 0).then(|| (Severity::Notice, room(len)))
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

/// The text in so many columns.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

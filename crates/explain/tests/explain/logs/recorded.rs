//! Log directories of a real broker, which `interop/storage/record` made: whole, cut and changed.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use klamm_explain::log::{Batch, Cutter, Entry, IndexEntries, producers};
use klamm_explain::text::{Look, log_entry};
use klamm_explain::{Contents, Options, decode, input::Form, json};
use klamm_protocol::Bytes;

use super::entries;
use crate::support::{assert_tiles, seed};

/// A file that was recorded.
struct File {
    /// Its directory and its name.
    place: String,
    form: Form,
    contents: Contents,
    bytes: Bytes,
}

fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
    let mut files = Vec::new();
    for directory in sorted(&root) {
        let topic = directory.file_name().unwrap().to_str().unwrap();
        for path in sorted(&directory) {
            let name = path.file_name().unwrap().to_str().unwrap();
            files.push(File {
                place: format!("{topic}/{name}"),
                form: Form::tell(&[], Some(name)),
                contents: Contents::of_directory(topic),
                bytes: std::fs::read(&path).unwrap().into(),
            });
        }
    }
    files
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Segments and snapshots.
fn segments() -> Vec<File> {
    let mut files = files();
    files.retain(|file| matches!(file.form, Form::Log | Form::Snapshot));
    assert!(files.len() > 8, "{} segments", files.len());
    files
}

fn batches(file: &File) -> Vec<Bytes> {
    let mut cutter = Cutter::default();
    cutter.feed(&file.bytes);
    let mut batches = Vec::new();
    while let Some(piece) = cutter.next_batch() {
        batches.push(piece.bytes);
    }
    assert_eq!(cutter.finish(), None, "{}", file.place);
    batches
}

fn records(bytes: Bytes, contents: Contents, is_cut: bool) -> Vec<Entry> {
    let mut found = Vec::new();
    if let Ok(batch) = Batch::new(bytes, contents, is_cut) {
        let ended = batch.entries(&Options::default(), &mut |entry| {
            found.push(entry);
            Ok::<(), ()>(())
        });
        assert!(!is_cut || ended == Ok(None));
    }
    found
}

#[test]
fn every_record_is_known() {
    let mut shown = String::new();
    for file in segments() {
        let (found, tail) = entries(&file.bytes, file.contents);
        assert_eq!(tail, None, "{}", file.place);
        writeln!(shown, "{}: {} records", file.place, found.len()).unwrap();
        for (batch, entry) in &found {
            assert_eq!(batch.problem(), None, "{}", file.place);
            assert!(entry.problems().is_empty(), "{}: {entry:?}", file.place);
        }
        for (batch, entry) in found.iter().take(12) {
            shown.push_str(&log_entry(batch, entry, Look::default()));
        }
        let tree = decode::records(file.bytes, file.contents, &Options::default());
        assert_tiles(&tree, &file.place);
        assert!(tree.problems.is_empty(), "{}", file.place);
    }
    expect_file!["../../snapshots/logs.txt"].assert_eq(&shown);
}

/// The records before the cut are those of the whole batch.
#[test]
fn batches_cut_at_every_byte_show_what_is_there() {
    for file in segments() {
        for whole in batches(&file) {
            let all = records(whole.clone(), file.contents, false);
            let is_compressed = decode::records(whole.clone(), file.contents, &Options::default())
                .root
                .children
                .iter()
                .any(|node| node.children.iter().any(|node| node.inside.is_some()));
            let mut before = 0;
            for len in 1..whole.len() {
                let place = format!("{}, {:?} cut at {len}", file.place, all[0].offset);
                let cut = whole.slice(..len);
                let tree = decode::records(cut.clone(), file.contents, &Options::default());
                assert_tiles(&tree, &place);
                assert!(!tree.problems.is_empty(), "{place}");
                let here = records(cut, file.contents, true);
                assert!(here.len() >= before && here.len() < all.len(), "{place}");
                before = here.len();
                for (here, whole) in here.iter().zip(&all) {
                    assert_eq!(
                        (here.offset, &here.kind),
                        (whole.offset, &whole.kind),
                        "{place}"
                    );
                    assert_eq!(here.says(), whole.says(), "{place}");
                }
            }
            assert!(is_compressed || before == all.len() - 1, "{}", file.place);
        }
    }
}

#[test]
fn changed_segments_never_panic() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for file in segments() {
        let place = format!("{}, KLAMM_SEED={seed}", file.place);
        for batch in batches(&file) {
            for _ in 0..20 {
                let mut bytes = batch.to_vec();
                for _ in 0..=rng.usize(..3) {
                    let at = rng.usize(..bytes.len());
                    bytes[at] ^= 1 << rng.u8(..8);
                }
                let (found, _) = entries(&bytes, file.contents);
                for (batch, entry) in &found {
                    log_entry(batch, entry, Look::default());
                    json::log_entry(batch, entry, 0).to_string();
                }
                let tree = decode::records(bytes.into(), file.contents, &Options::default());
                assert_tiles(&tree, &place);
            }
        }
    }
}

/// The state of producers and the indexes, whole, cut and changed.
#[test]
fn files_beside_segments() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut count = 0;
    for File {
        place, form, bytes, ..
    } in files()
    {
        if form == Form::Producers {
            let tree = producers(bytes.clone(), &Options::default());
            assert!(tree.problems.is_empty(), "{place}: {:?}", tree.problems);
            for len in 0..bytes.len() {
                let mut changed = bytes[..=len].to_vec();
                changed[rng.usize(..=len)] ^= 1 << rng.u8(..8);
                let trees = [bytes.slice(..len), changed.into()]
                    .map(|bytes| producers(bytes, &Options::default()));
                for tree in trees {
                    assert_tiles(&tree, &format!("{place}, {len}, KLAMM_SEED={seed}"));
                    assert!(!tree.is_sound(), "{place}, {len}, KLAMM_SEED={seed}");
                }
            }
        } else if let Some(kind) = form.index_kind() {
            for len in 0..=bytes.len() {
                let mut entries = IndexEntries::new(kind, 0, bytes.slice(..len));
                let read = entries.by_ref().count() * kind.entry_len();
                assert_eq!(read + entries.rest().len(), len, "{place}");
                // Zeros are room for entries; other bytes are not.
                let is_whole = entries.rest().is_empty();
                let has_room = entries.rest().iter().all(|byte| *byte == 0);
                assert_eq!(is_whole, len % kind.entry_len() == 0, "{place}: {len}");
                assert_eq!(entries.is_sound(), has_room, "{place}: {len}");
            }
        } else {
            continue;
        }
        count += 1;
    }
    assert!(count > 10, "{count} files");
}

/// Where nobody says which topic a segment is of, its records do.
#[test]
fn contents_are_told_from_the_records() {
    let mut told = 0;
    for file in segments() {
        let guess = Contents::guess(&file.bytes);
        // A segment of control records alone tells nothing.
        assert!(
            guess == file.contents || guess == Contents::Opaque,
            "{}: {guess:?}",
            file.place
        );
        told += usize::from(guess != Contents::Opaque);
    }
    assert!(told >= 5, "{told}");
    assert_eq!(Contents::guess(b""), Contents::Opaque);
    assert_eq!(
        Contents::guess(&klamm_explain::EMPTY_BATCH),
        Contents::Opaque
    );
}

/// Every file of a log directory has a page, whose notices and soundness are those of the text.
#[test]
fn every_file_has_a_page() {
    for file in files() {
        let name = file.place.rsplit_once('/').unwrap().1;
        let ask = klamm_explain::html::Ask {
            name: Some(name.to_owned()),
            ..Default::default()
        };
        for (len, is_sound) in [
            (file.bytes.len(), true),
            (0, file.form != Form::Producers),
            (file.bytes.len() - 1, file.form == Form::Text),
        ] {
            let page = klamm_explain::html::decoded(file.bytes.slice(..len), &ask);
            assert_eq!(page.is_sound, is_sound, "{}: {}", file.place, page.html);
        }
    }
}

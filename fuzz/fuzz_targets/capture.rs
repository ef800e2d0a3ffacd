//! A capture: files, packets, connections and messages of any form, in pieces of any size.
#![no_main]

use klamm_explain::capture::{Capture, Event, Options};
use klamm_explain::{json, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((step, file)) = data.split_first() else {
        return;
    };
    let mut capture = Capture::new(Options {
        keeps_bytes: true,
        ..Options::default()
    });
    let mut bytes = 0;
    let mut sink = |event| match event {
        Event::Message(message) => {
            let len = message.bytes.as_ref().map_or(0, |bytes| bytes.len());
            bytes += len;
            assert!(len as u64 + message.missing <= message.size);
            let tree = message.explain(&Default::default());
            assert!(tree.is_some_and(|tree| tree.root.len == len));
        }
        Event::Finding(finding) => assert!(!finding.to_string().is_empty()),
        Event::Start(_) => {}
    };
    let mut is_whole = true;
    for piece in file.chunks(usize::from(*step) + 1) {
        is_whole = capture.push(piece, &mut sink).is_ok();
        if !is_whole {
            break;
        }
    }
    let (summary, _) = capture.finish(is_whole, &mut sink);
    // Each byte of the file belongs to one message at most.
    assert!(bytes <= file.len());
    assert!(!text::summary(&summary, Default::default()).is_empty());
    assert!(!json::summary(&summary).is_empty());
});

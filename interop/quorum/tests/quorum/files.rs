//! The controller's metadata log, read while it is written.

use crate::klamm::klamm;
use crate::{CONTROLLER, Context};

/// Apache Kafka's tool and `klamm explain` read all of it, and see the topics.
pub(crate) fn read_by_tools(context: &mut Context) {
    let name = context.topic("files");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2, 3]], &[]);
    let dir = cluster.data_dir(CONTROLLER).join("__cluster_metadata-0");
    let mut segments: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.ends_with(".log"))
        .collect();
    segments.sort_unstable();
    assert!(!segments.is_empty(), "{}", dir.display());
    let args = ["--cluster-metadata-decoder", "--files", &segments.join(",")];
    let (status, said) = cluster.offline_tool("DumpLogSegments", &args);
    assert_eq!(status, 0, "{said}");
    for what in ["REGISTER_BROKER_RECORD", "PARTITION_RECORD", &name] {
        assert!(said.contains(what), "no {what} in the dump");
    }
    for wrong in ["Found", "isvalid: false", "Failed", "Error"] {
        assert!(!said.contains(wrong), "{wrong} in the dump: {said}");
    }
    let explained = klamm(&["explain", "--file", segments.last().unwrap()]);
    assert!(explained.contains(&name), "{explained}");
}

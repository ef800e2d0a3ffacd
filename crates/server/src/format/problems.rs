use klamm_log::MetaProperties;

use super::{DirectoryState, Inspected};
use crate::settings::NodeSettings;

/// What is wrong with a node's directories, a sentence each.
pub fn problems(node: &NodeSettings, directories: &[Inspected]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut formatted: Vec<(&Inspected, &MetaProperties)> = Vec::new();
    for dir in directories {
        let path = dir.path.display();
        match &dir.state {
            DirectoryState::Missing => problems.push(format!("{path} does not exist")),
            DirectoryState::Unformatted => problems.push(format!("{path} is not formatted")),
            DirectoryState::Unusable(error) => problems.push(format!("{path}: {error}")),
            DirectoryState::Unreadable(error) => problems.push(error.to_string()),
            DirectoryState::Formatted(properties) => {
                if properties.node_id != node.id {
                    let found = properties.node_id;
                    let is = node.id;
                    problems.push(format!("{path} is of node {found}, and node.id is {is}"));
                }
                let twin = formatted.iter().find(|(_, other)| {
                    other.directory_id.is_some() && other.directory_id == properties.directory_id
                });
                if let Some((twin, _)) = twin {
                    let twin = twin.path.display();
                    problems.push(format!("{path} and {twin} have the same directory.id"));
                }
                if let Some((first, other)) = formatted.first()
                    && other.cluster_id != properties.cluster_id
                {
                    let first = first.path.display();
                    problems.push(format!("{path} and {first} are of different clusters"));
                }
                formatted.push((dir, properties));
            }
        }
    }
    problems
}

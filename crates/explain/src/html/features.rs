use klamm_metadata::{Feature, MetadataVersion};

use super::element::Html;
use super::shell::{Section, Shell};
use super::table::{named, table};

pub(super) const PATH: &str = "features.html";

/// Feature levels: of `metadata.version`, and of the features beside it.
pub(super) fn page(shell: Shell) -> String {
    let mut content = Html::new();
    let html = &mut content;
    html.leaf("h1", &[], "Feature levels");
    html.element("p", &[("class", "lead")], |html| {
        html.prose(
            "What a cluster may do is decided by levels that it has finalized, in \
             FeatureLevelRecord, and not by the version of its software. ApiVersions tells them; \
             UpdateFeatures, `kafka-features.sh` behind it, changes them.",
        );
    });
    html.leaf(
        "h2",
        &[("id", "metadata.version")],
        MetadataVersion::FEATURE,
    );
    let headings = ["Level", "Name", "Records changed", "New clusters also have"];
    table("list", MetadataVersion::FEATURE, &headings, html, |html| {
        for version in MetadataVersion::all().rev() {
            level(version, html);
        }
    });
    html.leaf("h2", &[("id", "features")], "Other features");
    let headings = ["Levels", "Feature", "Default"];
    table("list", "Other features", &headings, html, |html| {
        for feature in Feature::ALL {
            other(*feature, html);
        }
    });
    shell.page(
        Section::Features,
        "Feature levels — Kafka protocol",
        &content,
    )
}

fn level(version: MetadataVersion, html: &mut Html) {
    let name = version.to_string();
    let before = MetadataVersion::from_level(version.level() - 1);
    html.element("tr", &[("id", &name)], |html| {
        html.leaf("td", &[], &version.level().to_string());
        named(&name, None, &news(version, before).join(" "), html);
        let changed = before.is_none_or(|before| version.metadata_changed_since(before));
        html.leaf("td", &[], if changed { "yes" } else { "no" });
        let defaults: Vec<String> = Feature::ALL
            .iter()
            .map(|feature| (feature, feature.default_level(version)))
            .filter(|(feature, level)| {
                *level > before.map_or(0, |before| feature.default_level(before))
            })
            .map(|(feature, level)| format!("{} {level}", feature.name))
            .collect();
        html.leaf("td", &[], &defaults.join(", "));
    });
}

/// Something that a level allows, or does.
struct Rule {
    holds: fn(MetadataVersion) -> bool,
    text: &'static str,
}

const fn rule(holds: fn(MetadataVersion) -> bool, text: &'static str) -> Rule {
    Rule { holds, text }
}

const RULES: [Rule; 11] = [
    rule(
        MetadataVersion::allows_zk_migration,
        "Brokers say whether they migrate from ZooKeeper (KIP-866).",
    ),
    rule(
        MetadataVersion::allows_scram,
        "SCRAM credentials are in the metadata log (KIP-900).",
    ),
    rule(
        |version| !version.isr_shrink_bumps_leader_epoch(),
        "A shrunk ISR keeps its leader epoch.",
    ),
    rule(
        MetadataVersion::allows_transactions,
        "Changes that need many records are transactions of the metadata log (KIP-868).",
    ),
    rule(
        MetadataVersion::allows_delegation_tokens,
        "Delegation tokens are in the metadata log.",
    ),
    rule(
        MetadataVersion::allows_controller_registration,
        "Controllers register themselves (KIP-919).",
    ),
    rule(
        MetadataVersion::allows_directory_assignment,
        "Replicas are assigned to log directories (KIP-858).",
    ),
    rule(
        MetadataVersion::allows_elr,
        "Partitions may have eligible leader replicas (KIP-966).",
    ),
    rule(
        MetadataVersion::allows_cordoned_log_dirs,
        "Log directories may be cordoned: they take no new replicas.",
    ),
    rule(
        MetadataVersion::allows_cidr_acls,
        "The host of an ACL may be a range of addresses.",
    ),
    rule(
        MetadataVersion::allows_controller_unregistration,
        "Controllers may be unregistered.",
    ),
];

/// What a level allows that the one before did not.
fn news(version: MetadataVersion, before: Option<MetadataVersion>) -> Vec<&'static str> {
    let is_new = |rule: &&Rule| (rule.holds)(version) && !before.is_some_and(rule.holds);
    let mut news: Vec<&str> = RULES.iter().filter(is_new).map(|rule| rule.text).collect();
    if version == MetadataVersion::MINIMUM {
        news.push("The least that a cluster of Apache Kafka 4 may have.");
    }
    if version == MetadataVersion::LATEST_PRODUCTION {
        news.push("What new clusters of 4.4.0 have.");
    }
    if !version.is_production() {
        news.push("Not for production yet.");
    }
    news
}

fn other(feature: Feature, html: &mut Html) {
    html.element("tr", &[("id", feature.name)], |html| {
        html.leaf("td", &[], &format!("0-{}", feature.max_level()));
        named(feature.name, None, meaning(feature), html);
        let defaults: Vec<String> = (1..=feature.max_level())
            .filter_map(|level| {
                let mut versions = MetadataVersion::all();
                let first = versions.find(|each| feature.default_level(*each) >= level)?;
                Some(format!("{level} from {first} on"))
            })
            .collect();
        html.leaf("td", &[("class", "long")], &defaults.join(", "));
    });
}

fn meaning(feature: Feature) -> &'static str {
    match feature {
        Feature::KRAFT_VERSION => {
            "The quorum's own protocol: from 1 on voters can be added and removed (KIP-853). Its \
             level is in the log's control records."
        }
        Feature::TRANSACTION_VERSION => {
            "Transactions: from 1 on their records have tagged fields, from 2 on each transaction \
             has a producer epoch of its own (KIP-890)."
        }
        Feature::GROUP_VERSION => "From 1 on there are consumer groups of KIP-848.",
        Feature::ELIGIBLE_LEADER_REPLICAS_VERSION => {
            "From 1 on partitions keep eligible leader replicas (KIP-966)."
        }
        Feature::SHARE_VERSION => "From 1 on there are share groups (KIP-932).",
        Feature::STREAMS_VERSION => "From 1 on there are streams groups (KIP-1071).",
        _ => "",
    }
}

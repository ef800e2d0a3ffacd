mod alone;
mod following;
mod leading;
mod snapshots;
mod support;
mod voter_changes;
mod voting;

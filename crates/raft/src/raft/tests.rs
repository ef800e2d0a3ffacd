mod alone;
mod following;
mod leading;
mod snapshots;
mod support;
mod voting;

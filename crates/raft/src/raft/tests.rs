mod alone;
mod following;
mod leading;
mod support;
mod voting;

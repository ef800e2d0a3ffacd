//! Brokers' replicas with real files and sockets, and a controller that is a function.

mod clients;
mod cluster;
mod controller;
mod directories;
mod following;
mod leading;
mod offsets;
mod restarts;

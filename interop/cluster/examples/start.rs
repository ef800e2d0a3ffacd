//! Starts three brokers, prints their addresses and how long it took, stops when Enter is pressed.

use std::time::Instant;

fn main() {
    let start = Instant::now();
    let cluster = klamm_cluster::Spec::combined(3).start();
    println!("{} ready in {:.1?}", cluster.bootstrap(), start.elapsed());
    let _ = std::io::stdin().read_line(&mut String::new());
}

//! Starts three brokers, prints their addresses and how long it took, stops when Enter is pressed.
//! Arguments are properties of the brokers: `controller.quorum.append.linger.ms=0`.

use std::time::Instant;

fn main() {
    let start = Instant::now();
    let mut spec = klamm_cluster::Spec::combined(3);
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').expect("arguments are KEY=VALUE");
        spec = spec.property(key, value);
    }
    let cluster = spec.start();
    println!("{} ready in {:.1?}", cluster.bootstrap(), start.elapsed());
    let _ = std::io::stdin().read_line(&mut String::new());
}

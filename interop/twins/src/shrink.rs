//! Fewer operations with a difference.

use crate::history::{self, Difference};
use crate::operations::Step;
use crate::pair::Pair;

/// Leaves operations out as long as there is still a difference of this kind, and prints what is left.
pub(crate) fn shrink(pair: &mut Pair, steps: &[Step], found: &Difference) {
    let mut kept: Vec<&Step> = steps.iter().collect();
    let mut text = found.text.clone();
    let mut size = kept.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + size).min(kept.len()));
            pair.clean();
            match history::replay(pair, &fewer) {
                Some(difference) if difference.kind == found.kind => {
                    fewer.truncate(difference.at + 1);
                    (kept, text) = (fewer, difference.text);
                }
                _ => at += size,
            }
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    println!("\n{} operations are enough:", kept.len());
    for step in kept {
        println!("  {step:?}");
    }
    println!("{text}");
}

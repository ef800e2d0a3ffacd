use bytes::{Buf, Bytes, BytesMut};
use klamm_protocol::records::BatchHeader;

use crate::words::{self, does};

/// The largest batch that is read, in bytes. Brokers take 1 MiB by default.
pub const MAX_BATCH_BYTES: usize = 256 << 20;

/// Bytes from the start of a batch that its length field does not count.
pub(super) const BEFORE_LENGTH: usize = 12;
/// Bytes up to the magic, which is at the same place in every format.
const MAGIC_END: usize = 17;
/// The least that may follow the length, by magic.
const LEAST: [usize; 3] = [14, 22, BatchHeader::LEN - BEFORE_LENGTH];

/// Cuts a segment into batches.
///
/// Call [`Cutter::feed`] with the next bytes, then [`Cutter::next_batch`] until there is none; at the
/// end of the segment, [`Cutter::finish`].
#[derive(Debug, Default)]
pub struct Cutter {
    bytes: BytesMut,
    /// Where `bytes` start in the segment.
    at: u64,
    stopped: Option<Stopped>,
}

/// A batch and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts in the segment, in bytes.
    pub at: u64,
    /// All of its bytes.
    pub bytes: Bytes,
}

/// The end of a segment that is no batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing but zero bytes: room that was allocated and not written yet.
    Zeros {
        /// Where they start.
        at: u64,
        /// How many there are.
        len: u64,
    },
    /// The start of a batch whose rest is missing.
    Cut {
        /// What is there of it.
        piece: Piece,
        /// How many bytes it would have; `None` if too few are there to tell.
        needed: Option<usize>,
    },
    /// Bytes that no batch starts with.
    Broken {
        /// Where they start.
        at: u64,
        /// How many follow to the end.
        len: u64,
        /// Why they are no batch.
        why: String,
    },
}

#[derive(Debug)]
struct Stopped {
    why: String,
    at: u64,
    len: u64,
    only_zeros: bool,
}

impl Cutter {
    /// Takes the next bytes of the segment.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.stopped {
            Some(stopped) => {
                stopped.len += bytes.len() as u64;
                stopped.only_zeros &= bytes.iter().all(|byte| *byte == 0);
            }
            None => self.bytes.extend_from_slice(bytes),
        }
    }

    /// The next batch, if all of it is there.
    pub fn next_batch(&mut self) -> Option<Piece> {
        if self.stopped.is_some() {
            return None;
        }
        match batch_len(&self.bytes) {
            Ok(Some(len)) if len <= self.bytes.len() => {
                let at = self.at;
                self.at += len as u64;
                let bytes = self.bytes.split_to(len).freeze();
                Some(Piece { at, bytes })
            }
            Ok(_) => None,
            Err(why) => {
                let rest = std::mem::take(&mut self.bytes);
                self.stopped = Some(Stopped {
                    why,
                    at: self.at,
                    len: rest.len() as u64,
                    only_zeros: rest.iter().all(|byte| *byte == 0),
                });
                None
            }
        }
    }

    /// Whether what is left is no batch, so that only its length matters.
    pub fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// What is left at the end of the segment.
    pub fn finish(mut self) -> Option<Tail> {
        if let Some(Stopped {
            why,
            at,
            len,
            only_zeros,
        }) = self.stopped
        {
            return Some(if only_zeros {
                Tail::Zeros { at, len }
            } else {
                Tail::Broken { at, len, why }
            });
        }
        let left = self.bytes.remaining();
        if left == 0 {
            return None;
        }
        let (at, len) = (self.at, left as u64);
        if self.bytes.iter().all(|byte| *byte == 0) {
            return Some(Tail::Zeros { at, len });
        }
        let needed = batch_len(&self.bytes).ok().flatten();
        let bytes = self.bytes.split().freeze();
        let piece = Piece { at, bytes };
        Some(Tail::Cut { piece, needed })
    }
}

/// How long the batch is that starts here; `None` if more bytes are needed to tell.
fn batch_len(bytes: &[u8]) -> Result<Option<usize>, String> {
    let Some((before, [magic])) = bytes.get(..MAGIC_END).and_then(|b| b.split_last_chunk()) else {
        return Ok(None);
    };
    let said = before[BEFORE_LENGTH - 4..].first_chunk();
    let said = said.copied().map_or(0, i32::from_be_bytes);
    let Some(&least) = LEAST.get(usize::from(*magic)) else {
        let magic = *magic as i8;
        return Err(format!("magic {magic}, which is none of 0, 1 and 2"));
    };
    let len = match usize::try_from(said) {
        Ok(len) if len >= least => BEFORE_LENGTH + len,
        _ => {
            return Err(format!(
                "a batch that says that {} follow{} its length, at least {least} must",
                words::bytes(said),
                does(said)
            ));
        }
    };
    if len > MAX_BATCH_BYTES {
        return Err(format!(
            "a batch that says that it has {len} bytes, the limit is {MAX_BATCH_BYTES}"
        ));
    }
    Ok(Some(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EMPTY_BATCH;

    fn cut(segment: &[u8], step: usize) -> (Vec<Piece>, Option<Tail>) {
        let mut cutter = Cutter::default();
        let mut pieces = Vec::new();
        for chunk in segment.chunks(step) {
            cutter.feed(chunk);
            while let Some(piece) = cutter.next_batch() {
                pieces.push(piece);
            }
        }
        (pieces, cutter.finish())
    }

    #[test]
    fn pieces_of_any_size_give_the_same_batches() {
        let segment = EMPTY_BATCH.repeat(3);
        for step in [1, 7, 61, 62, 1000] {
            let (pieces, tail) = cut(&segment, step);
            let places: Vec<u64> = pieces.iter().map(|piece| piece.at).collect();
            assert_eq!(places, [0, 61, 122], "{step}");
            assert!(pieces.iter().all(|piece| piece.bytes[..] == EMPTY_BATCH));
            assert_eq!(tail, None);
        }
    }

    #[test]
    fn every_end_is_told() {
        for step in [1, 1000] {
            for len in 1..EMPTY_BATCH.len() {
                let segment = [&EMPTY_BATCH[..], &EMPTY_BATCH[..len]].concat();
                let (pieces, tail) = cut(&segment, step);
                assert_eq!(pieces.len(), 1);
                // The offset is 0.
                let expected = if len <= 8 + 3 {
                    Tail::Zeros {
                        at: 61,
                        len: len as u64,
                    }
                } else {
                    Tail::Cut {
                        piece: Piece {
                            at: 61,
                            bytes: segment[61..].to_vec().into(),
                        },
                        needed: (len >= MAGIC_END).then_some(61),
                    }
                };
                assert_eq!(tail, Some(expected), "{len}");
            }
            let zeros = [&EMPTY_BATCH[..], &[0; 100]].concat();
            assert_eq!(cut(&zeros, step).1, Some(Tail::Zeros { at: 61, len: 100 }));
            let mut broken = EMPTY_BATCH.repeat(2);
            broken[61 + 16] = 9;
            let why = "magic 9, which is none of 0, 1 and 2".to_owned();
            let expected = Tail::Broken {
                at: 61,
                len: 61,
                why,
            };
            assert_eq!(cut(&broken, step).1, Some(expected));
            broken[61 + 16] = 2;
            broken[61 + 8] = 0x7f;
            let Some(Tail::Broken { why, .. }) = cut(&broken, step).1 else {
                panic!("a batch of 2 GB")
            };
            assert!(why.ends_with("the limit is 268435456"), "{why}");
        }
    }
}

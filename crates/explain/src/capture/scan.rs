//! A pass over a message as its bytes come, which keeps only what a summary says: error codes, the
//! client's id and software, whether a Produce request wants a response, and what is inside of an
//! Envelope.
//!
//! A [`Plan`] is made of a message's schema once. Texts, bytes and records are passed over without
//! a look at them, so that a message costs what its fields cost, not what its records do.

mod plan;

use klamm_protocol::{ApiKey, ApiVersion, SmallString};

pub(super) use plan::Plan;
use plan::{Form, Op};

/// How much of a text is kept.
const MAX_TEXT_BYTES: usize = 255;
/// How many different error codes of a message are kept.
const MAX_CODES: usize = 32;

/// A field that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    ErrorCode,
    Acks,
    ClientId,
    SoftwareName,
    SoftwareVersion,
    /// The beginning of the request inside of an Envelope.
    Inner,
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Error codes other than 0, and how often each occurs.
    pub(super) errors: Vec<(i16, u32)>,
    pub(super) acks: Option<i16>,
    pub(super) client_id: Option<SmallString>,
    pub(super) software_name: Option<SmallString>,
    pub(super) software_version: Option<SmallString>,
    /// The request inside of an Envelope.
    pub(super) inner: Option<ApiVersion>,
}

/// How far a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Progress {
    #[default]
    Within,
    /// The message has ended. Bytes may follow that do not belong to it.
    Done { left_over: u64 },
    /// Bytes that it needs are missing: nothing more can be said.
    Lost,
    /// A length or number cannot be.
    Broken,
}

/// A scan of one message.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    at: usize,
    /// Loops over arrays that are under way: the first operation of an element, and how many more
    /// elements there are.
    loops: Vec<(usize, u64)>,
    /// Tagged fields that are left in the section.
    tags: u64,
    /// Bytes to pass over.
    skip: u64,
    /// Bytes of a text to keep, and which it is.
    text: Option<(Kept, u64)>,
    kept_text: Vec<u8>,
    /// The beginning of a number whose end has not come yet.
    carry: [u8; 10],
    carried: usize,
    pub(super) progress: Progress,
    pub(super) findings: Findings,
}

impl Scan {
    /// Begins a message.
    pub(super) fn reset(&mut self) {
        let (loops, kept_text) = (
            std::mem::take(&mut self.loops),
            std::mem::take(&mut self.kept_text),
        );
        *self = Self {
            loops,
            kept_text,
            ..Self::default()
        };
        self.loops.clear();
        self.kept_text.clear();
    }

    /// Takes the next bytes of the message.
    pub(super) fn push(&mut self, plan: &Plan, mut input: &[u8]) {
        while self.progress == Progress::Within {
            if self.skip > 0 {
                let taken = self.skip.min(input.len() as u64);
                self.skip -= taken;
                input = &input[taken as usize..];
                if self.skip > 0 {
                    return;
                }
            }
            if let Some((kept, left)) = self.text {
                let taken = left.min(input.len() as u64) as usize;
                let room = MAX_TEXT_BYTES - self.kept_text.len();
                self.kept_text.extend_from_slice(&input[..taken.min(room)]);
                input = &input[taken..];
                self.text = Some((kept, left - taken as u64));
                if left > taken as u64 {
                    return;
                }
                self.text = None;
                self.keep_text(kept);
            }
            if !self.step(plan, &mut input) {
                break;
            }
        }
        if let Progress::Done { left_over } = &mut self.progress {
            *left_over += input.len() as u64;
        }
    }

    /// The next `len` bytes are not there.
    pub(super) fn missing(&mut self, len: u64) {
        match &mut self.progress {
            // Within what is passed over, nothing is lost.
            Progress::Within if self.skip >= len => self.skip -= len,
            Progress::Done { left_over } => *left_over += len,
            progress => *progress = Progress::Lost,
        }
    }

    /// Carries out operations; `false` if it needs more bytes for that.
    fn step(&mut self, plan: &Plan, input: &mut &[u8]) -> bool {
        if self.tags > 0 {
            return self.tag(input);
        }
        let Some(op) = plan.ops.get(self.at) else {
            self.progress = Progress::Done { left_over: 0 };
            return true;
        };
        match *op {
            Op::Skip(len) => self.skip = len.into(),
            Op::Number(kept) => match self.fixed::<2>(input) {
                Some(bytes) => self.keep_number(kept, i16::from_be_bytes(bytes)),
                None => return false,
            },
            Op::Sized(form) => match self.length(form, input) {
                Some(len) => self.skip = len,
                None => return false,
            },
            Op::Text(form, kept) => match self.length(form, input) {
                Some(len) => self.text = Some((kept, len)),
                None => return false,
            },
            Op::FixedArray(form, size) => match self.length(form, input) {
                Some(count) => self.skip = count.saturating_mul(size.into()),
                None => return false,
            },
            Op::Array(form, end) => match self.length(form, input) {
                Some(0) => self.at = end,
                Some(count) => self.loops.push((self.at + 1, count - 1)),
                None => return false,
            },
            Op::End => match self.loops.last_mut() {
                Some((start, left)) if *left > 0 => {
                    *left -= 1;
                    self.at = *start;
                    return true;
                }
                _ => {
                    self.loops.pop();
                }
            },
            Op::Nullable(end) => match self.fixed::<1>(input) {
                Some([marker]) if marker.cast_signed() < 0 => self.at = end,
                Some(_) => {}
                None => return false,
            },
            Op::Tags => match self.varint(input) {
                Some(count) => self.tags = count,
                None => return false,
            },
            Op::Unknown => self.progress = Progress::Lost,
            Op::UnlessUnsupported => match self.fixed::<2>(input) {
                Some(bytes) => {
                    const UNSUPPORTED_VERSION: i16 = 35;
                    let code = i16::from_be_bytes(bytes);
                    self.keep_number(Kept::ErrorCode, code);
                    if code == UNSUPPORTED_VERSION {
                        // The rest has the form of version 0.
                        self.progress = Progress::Lost;
                    }
                }
                None => return false,
            },
        }
        self.at += 1;
        true
    }

    /// Passes over one tagged field: its tag, its size, its bytes.
    fn tag(&mut self, input: &mut &[u8]) -> bool {
        // Both varints are read as one number, so that nothing of the tag has to be kept.
        let Some((taken, size)) = self.peek(input, |bytes| {
            let (tag_len, _) = varint(bytes)?;
            let (len, size) = varint(&bytes[tag_len..])?;
            Some((tag_len + len, size))
        }) else {
            return false;
        };
        self.consume(taken, input);
        self.tags -= 1;
        self.skip = size;
        true
    }

    fn fixed<const N: usize>(&mut self, input: &mut &[u8]) -> Option<[u8; N]> {
        let value = self.peek(input, |bytes| bytes.first_chunk().copied())?;
        self.consume(N, input);
        Some(value)
    }

    fn varint(&mut self, input: &mut &[u8]) -> Option<u64> {
        let (taken, value) = self.peek(input, varint)?;
        self.consume(taken, input);
        Some(value)
    }

    /// A length or a count; null counts as 0.
    fn length(&mut self, form: Form, input: &mut &[u8]) -> Option<u64> {
        let len = match form {
            Form::Compact => self.varint(input)?.cast_signed() - 1,
            Form::Int16 => i16::from_be_bytes(self.fixed(input)?).into(),
            Form::Int32 => i32::from_be_bytes(self.fixed(input)?).into(),
        };
        if len < -1 {
            self.progress = Progress::Broken;
        }
        Some(u64::try_from(len).unwrap_or(0))
    }

    /// Reads from what was carried over and the input. Where that is too little, the input is
    /// carried over.
    fn peek<T>(&mut self, input: &mut &[u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        if self.carried == 0 {
            if let Some(value) = read(input) {
                return Some(value);
            }
        } else {
            let mut joined = self.carry;
            let room = &mut joined[self.carried..];
            let taken = room.len().min(input.len());
            room[..taken].copy_from_slice(&input[..taken]);
            if let Some(value) = read(&joined[..self.carried + taken]) {
                return Some(value);
            }
        }
        let room = &mut self.carry[self.carried..];
        if input.len() >= room.len() {
            // No number is as long as that.
            self.progress = Progress::Broken;
            return None;
        }
        room[..input.len()].copy_from_slice(input);
        self.carried += input.len();
        *input = &[];
        None
    }

    /// Takes what [`Scan::peek`] read.
    fn consume(&mut self, len: usize, input: &mut &[u8]) {
        let from_carry = std::mem::take(&mut self.carried).min(len);
        *input = &input[len - from_carry..];
    }

    fn keep_number(&mut self, kept: Kept, value: i16) {
        match kept {
            Kept::Acks => self.findings.acks = Some(value),
            _ if value == 0 => {}
            _ => {
                let errors = &mut self.findings.errors;
                match errors.iter().position(|(code, _)| *code == value) {
                    Some(index) => errors[index].1 = errors[index].1.saturating_add(1),
                    None if errors.len() < MAX_CODES => errors.push((value, 1)),
                    None => {}
                }
            }
        }
    }

    fn keep_text(&mut self, kept: Kept) {
        if kept == Kept::Inner {
            self.findings.inner = self
                .kept_text
                .first_chunk()
                .map(|[k0, k1, v0, v1]| ApiVersion {
                    key: ApiKey(i16::from_be_bytes([*k0, *k1])),
                    version: i16::from_be_bytes([*v0, *v1]),
                });
            self.kept_text.clear();
            return;
        }
        let text = SmallString::from(&*String::from_utf8_lossy(&self.kept_text));
        self.kept_text.clear();
        let place = match kept {
            Kept::ClientId => &mut self.findings.client_id,
            Kept::SoftwareName => &mut self.findings.software_name,
            _ => &mut self.findings.software_version,
        };
        *place = Some(text);
    }
}

/// An unsigned varint of at most 5 bytes: how many it takes, and its value.
fn varint(bytes: &[u8]) -> Option<(usize, u64)> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((index + 1, value));
        }
    }
    None
}

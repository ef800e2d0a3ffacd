//! One message: the first two bytes pick it (which is API and direction for most), the third its
//! version, the rest is its bytes.
#![no_main]

use klamm_fuzz::bounded;
use klamm_protocol::{Bytes, TranscodeError, codecs};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    let [high, low, version, body @ ..] = data else {
        return Corpus::Reject;
    };
    let index = usize::from(u16::from_be_bytes([*high, *low]));
    let Some(codec) = codecs().nth(index) else {
        return Corpus::Reject;
    };
    let version = codec.versions.min + i16::from(*version);
    if !codec.versions.contains(version) {
        return Corpus::Reject;
    }
    let body = Bytes::copy_from_slice(body);
    match bounded(body.len(), || codec.transcode(&body, version)) {
        Ok(once) => {
            // Bytes may say the same in more than one way; what klamm writes says it in one.
            let again = codec.transcode(&once.bytes, version);
            let again = again.expect("klamm reads what it wrote");
            assert_eq!(again.left, 0, "{} leaves bytes", codec.name);
            assert_eq!(again.bytes, once.bytes, "{} changes", codec.name);
        }
        Err(TranscodeError::Decode(_)) => {}
        Err(TranscodeError::Encode(error)) => {
            panic!("{} decodes to what cannot be encoded: {error}", codec.name)
        }
    }
    Corpus::Keep
});

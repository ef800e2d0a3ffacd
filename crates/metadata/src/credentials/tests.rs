use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The example of RFC 7677: user "user", password "pencil", 4096 iterations.
#[test]
fn keys_are_those_of_the_standard() {
    let salted = [
        0xc4, 0xa4, 0x95, 0x10, 0x32, 0x3a, 0xb4, 0xf9, 0x52, 0xca, 0xc1, 0xfa, 0x99, 0x44, 0x19,
        0x39, 0xe7, 0x8e, 0xa7, 0x4d, 0x6b, 0xe8, 0x1d, 0xdf, 0x70, 0x96, 0xe8, 0x75, 0x13, 0xdc,
        0x61, 0x5d,
    ];
    let (stored, server) = ScramMechanism::Sha256.keys(&salted);
    assert_eq!(
        hex(&stored),
        "586e5df283e6dceb5c3e791d8b8528ec191e664045ce971792e2e6b5bb13e2a6"
    );
    assert_eq!(
        hex(&server),
        "c1f3cbc1c13a9d35a14c0990eed97629ea225863e566a4314ab99f3f00e5d9d5"
    );
    let (stored, server) = ScramMechanism::Sha512.keys(&salted);
    assert_eq!((stored.len(), server.len()), (64, 64));
}

use crate::support::{instances, seed, subjects};

#[test]
fn random_values_decode_and_encode_to_the_same_bytes() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut checked = 0;
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            for _ in 0..instances() {
                let bytes = subject.random_bytes(version, &mut rng);
                let place = format!(
                    "{} version {version}, KLAMM_SEED={seed}",
                    subject.codec.name
                );
                let transcoded = subject
                    .codec
                    .transcode(&bytes, version)
                    .unwrap_or_else(|error| panic!("{place}: {error}\n{bytes:?}"));
                assert_eq!(transcoded.left, 0, "{place}");
                assert_eq!(transcoded.bytes, bytes, "{place}");
                checked += 1;
            }
        }
    }
    assert!(
        checked >= 618 * instances(),
        "only {checked} values were checked"
    );
}

#[test]
fn bytes_after_a_message_are_counted() {
    let mut rng = fastrand::Rng::with_seed(1);
    for subject in subjects() {
        let version = subject.codec.versions.max;
        let bytes = subject.random_bytes(version, &mut rng);
        let longer = [&bytes[..], b"more"].concat().into();
        let transcoded = subject.codec.transcode(&longer, version).unwrap();
        assert_eq!(
            (transcoded.left, transcoded.bytes),
            (4, bytes),
            "{}",
            subject.codec.name
        );
    }
}

//! What the machine is asked for: its name, and chance.

use std::io;

use klamm_metadata::directory;
use klamm_protocol::Uuid;

/// The machine's own name, by which others reach it where a listener has no address.
pub(crate) fn host_name() -> String {
    let names = rustix::system::uname();
    names.nodename().to_string_lossy().into_owned()
}

/// Bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let flags = rustix::rand::GetRandomFlags::empty();
        match rustix::rand::getrandom(&mut bytes[filled..], flags) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// An id for a cluster or a directory, of which nothing else may have the same in years.
pub fn random_uuid() -> io::Result<Uuid> {
    loop {
        if let Some(id) = uuid(random_bytes()?) {
            return Ok(id);
        }
    }
}

/// An id for what one controller makes.
pub(crate) fn random_id() -> Uuid {
    std::iter::repeat_with(|| uuid(fastrand::u128(..).to_be_bytes()))
        .flatten()
        .next()
        .expect("nearly all bytes make one")
}

/// Version 4 of UUIDs, so none of Kafka's reserved ids; nothing where tools would take it for an
/// option.
fn uuid(mut bytes: [u8; 16]) -> Option<Uuid> {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let id = Uuid::from_bytes(bytes);
    assert!(!directory::is_reserved(id), "reserved ids have no version");
    (!id.to_string().starts_with('-')).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_are_no_options() {
        let ids: std::collections::BTreeSet<String> = (0..1_000)
            .flat_map(|_| [random_uuid().expect("the system has chance"), random_id()])
            .map(|id| id.to_string())
            .collect();
        assert_eq!(ids.len(), 2_000);
        assert!(ids.iter().all(|id| !id.starts_with('-')));
    }

    #[test]
    fn the_machine_has_a_name() {
        assert!(!host_name().is_empty());
    }
}

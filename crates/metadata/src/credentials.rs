//! What clients prove who they are with: SCRAM credentials and delegation tokens.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use klamm_protocol::data::metadata::{
    DelegationTokenRecord, RemoveUserScramCredentialRecord, UserScramCredentialRecord,
};

use sha2::{Digest, Sha256, Sha512};

use crate::{ApplyError, MetadataVersion, Record};

#[cfg(test)]
mod tests;

/// A SCRAM mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScramMechanism {
    /// SCRAM-SHA-256.
    Sha256,
    /// SCRAM-SHA-512.
    Sha512,
}

impl ScramMechanism {
    /// The fewest rounds of hashing.
    pub const MIN_ITERATIONS: i32 = 4096;
    /// The most: what is more takes brokers too long at every login.
    pub const MAX_ITERATIONS: i32 = 16_384;

    /// The code on the wire.
    pub fn from_wire(code: i8) -> Option<Self> {
        match code {
            1 => Some(Self::Sha256),
            2 => Some(Self::Sha512),
            _ => None,
        }
    }

    /// The code on the wire.
    pub fn to_wire(self) -> i8 {
        match self {
            Self::Sha256 => 1,
            Self::Sha512 => 2,
        }
    }

    /// The stored key and the server key of RFC 5802, of a password that was salted and hashed.
    pub fn keys(self, salted_password: &[u8]) -> (Bytes, Bytes) {
        match self {
            Self::Sha256 => keys::<Sha256, Hmac<Sha256>>(salted_password),
            Self::Sha512 => keys::<Sha512, Hmac<Sha512>>(salted_password),
        }
    }

    /// The mechanism with a name such as `SCRAM-SHA-256`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Sha256, Self::Sha512]
            .into_iter()
            .find(|mechanism| mechanism.name() == name)
    }

    /// Its name, as clients and tools say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SCRAM-SHA-256",
            Self::Sha512 => "SCRAM-SHA-512",
        }
    }
}

fn keys<D: Digest, M: Mac + KeyInit>(salted_password: &[u8]) -> (Bytes, Bytes) {
    let key = |text: &[u8]| {
        let mac = <M as KeyInit>::new_from_slice(salted_password);
        let mac = mac.expect("a key may have any length");
        Bytes::copy_from_slice(&mac.chain_update(text).finalize().into_bytes())
    };
    let stored = D::digest(key(b"Client Key"));
    (Bytes::copy_from_slice(&stored), key(b"Server Key"))
}

/// What a broker keeps of a user's password. Debug output leaves the keys out.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramCredential {
    /// The salt.
    pub salt: Box<[u8]>,
    /// The hash that the client's proof is checked with.
    pub stored_key: Box<[u8]>,
    /// The key that the server proves itself with.
    pub server_key: Box<[u8]>,
    /// How often the password was hashed.
    pub iterations: i32,
}

impl fmt::Debug for ScramCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ScramCredential");
        debug
            .field("iterations", &self.iterations)
            .finish_non_exhaustive()
    }
}

/// The SCRAM credentials of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScramCredentials {
    users: BTreeMap<(ScramMechanism, Box<str>), ScramCredential>,
}

impl ScramCredentials {
    /// A user's credential for a mechanism.
    pub fn of(&self, mechanism: ScramMechanism, user: &str) -> Option<&ScramCredential> {
        self.users.get(&(mechanism, Box::from(user)))
    }

    /// Every credential with its mechanism and user.
    pub fn iter(&self) -> impl Iterator<Item = (ScramMechanism, &str, &ScramCredential)> {
        let users = self.users.iter();
        users.map(|((mechanism, user), credential)| (*mechanism, &**user, credential))
    }

    pub(crate) fn set(&mut self, record: &UserScramCredentialRecord) -> Result<(), ApplyError> {
        let mechanism = mechanism(record.mechanism)?;
        let credential = ScramCredential {
            salt: Box::from(&record.salt[..]),
            stored_key: Box::from(&record.stored_key[..]),
            server_key: Box::from(&record.server_key[..]),
            iterations: record.iterations,
        };
        self.users
            .insert((mechanism, Box::from(&*record.name)), credential);
        Ok(())
    }

    pub(crate) fn remove(
        &mut self,
        record: &RemoveUserScramCredentialRecord,
    ) -> Result<(), ApplyError> {
        let mechanism = mechanism(record.mechanism)?;
        self.users.remove(&(mechanism, Box::from(&*record.name)));
        Ok(())
    }

    pub(crate) fn records(&self, version: MetadataVersion) -> impl Iterator<Item = Record> {
        let users = self.iter().filter(move |_| version.allows_scram());
        users.map(|(mechanism, user, credential)| {
            Record::UserScramCredential(UserScramCredentialRecord {
                name: user.into(),
                mechanism: mechanism.to_wire(),
                salt: Bytes::copy_from_slice(&credential.salt),
                stored_key: Bytes::copy_from_slice(&credential.stored_key),
                server_key: Bytes::copy_from_slice(&credential.server_key),
                iterations: credential.iterations,
                ..Default::default()
            })
        })
    }
}

fn mechanism(code: i8) -> Result<ScramMechanism, ApplyError> {
    ScramMechanism::from_wire(code).ok_or(ApplyError::ScramMechanism(code))
}

/// A delegation token (KIP-48). Times are in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegationToken {
    /// Whom it stands for.
    pub owner: Box<str>,
    /// Who asked for it.
    pub requester: Box<str>,
    /// Who else may renew it.
    pub renewers: Vec<Box<str>>,
    /// When it was made.
    pub issue_timestamp_ms: i64,
    /// When it can be renewed no more.
    pub max_timestamp_ms: i64,
    /// When it ends unless it is renewed.
    pub expiration_timestamp_ms: i64,
}

/// The delegation tokens of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelegationTokens {
    tokens: BTreeMap<Box<str>, DelegationToken>,
}

impl DelegationTokens {
    /// The token with this id.
    pub fn by_id(&self, id: &str) -> Option<&DelegationToken> {
        self.tokens.get(id)
    }

    /// Every token with its id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DelegationToken)> {
        self.tokens.iter().map(|(id, token)| (&**id, token))
    }

    pub(crate) fn set(&mut self, record: &DelegationTokenRecord) {
        let token = DelegationToken {
            owner: Box::from(&*record.owner),
            requester: Box::from(&*record.requester),
            renewers: record
                .renewers
                .iter()
                .map(|renewer| Box::from(&**renewer))
                .collect(),
            issue_timestamp_ms: record.issue_timestamp,
            max_timestamp_ms: record.max_timestamp,
            expiration_timestamp_ms: record.expiration_timestamp,
        };
        self.tokens.insert(Box::from(&*record.token_id), token);
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.tokens.remove(id);
    }

    pub(crate) fn records(&self, version: MetadataVersion) -> impl Iterator<Item = Record> {
        let tokens = self
            .iter()
            .filter(move |_| version.allows_delegation_tokens());
        tokens.map(|(id, token)| {
            Record::DelegationToken(DelegationTokenRecord {
                owner: (&*token.owner).into(),
                requester: (&*token.requester).into(),
                renewers: token
                    .renewers
                    .iter()
                    .map(|renewer| (&**renewer).into())
                    .collect(),
                issue_timestamp: token.issue_timestamp_ms,
                max_timestamp: token.max_timestamp_ms,
                expiration_timestamp: token.expiration_timestamp_ms,
                token_id: id.into(),
                ..Default::default()
            })
        })
    }
}

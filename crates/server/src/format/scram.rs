use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use klamm_metadata::{MetadataVersion, Record, ScramMechanism};
use klamm_protocol::data::metadata::UserScramCredentialRecord;
use pbkdf2::pbkdf2_hmac;
use sha2::{Sha256, Sha512};
use thiserror::Error;

use super::FormatError;
use crate::machine::random_bytes;

/// The fewest rounds of hashing, which is also the default.
const MIN_ITERATIONS: i32 = ScramMechanism::MIN_ITERATIONS;
const MAX_ITERATIONS: i32 = ScramMechanism::MAX_ITERATIONS;
const SALT_LEN: usize = 32;

/// A user that is there from the start, written
/// `SCRAM-SHA-256=[name=alice,password=alice-secret]`.
#[derive(Clone, PartialEq, Eq)]
pub struct NewScramCredential {
    mechanism: ScramMechanism,
    name: String,
    iterations: i32,
    salt: Option<Vec<u8>>,
    secret: Secret,
}

#[derive(Clone, PartialEq, Eq)]
enum Secret {
    Password(String),
    Salted(Vec<u8>),
}

impl fmt::Debug for NewScramCredential {
    /// Secrets are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewScramCredential")
            .field("mechanism", &self.mechanism)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A text is no SCRAM credential. The text is not repeated: there is a password in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0}; write SCRAM-SHA-256=[name=alice,password=...] or \
     SCRAM-SHA-512=[name=alice,iterations=8192,salt=\"BASE64\",saltedpassword=\"BASE64\"]"
)]
pub struct ParseScramError(String);

impl FromStr for NewScramCredential {
    type Err = ParseScramError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem: &str| ParseScramError(problem.to_owned());
        let (mechanism, rest) = text.split_once('=').ok_or(fail("it has no ="))?;
        let mechanism = ScramMechanism::from_name(mechanism.trim());
        let unknown = "the mechanism must be SCRAM-SHA-256 or SCRAM-SHA-512";
        let mechanism = mechanism.ok_or(fail(unknown))?;
        let inner = rest.trim().strip_prefix('[');
        let inner = inner.and_then(|rest| rest.strip_suffix(']'));
        let mut fields = fields(inner.ok_or(fail("the brackets are missing"))?)?;
        let mut take = |name: &str| fields.remove(name);
        let bytes = |text: &str| BASE64.decode(text).ok().filter(|bytes| !bytes.is_empty());
        let name = take("name").filter(|name| !name.is_empty());
        let name = name.ok_or(fail("name is missing"))?;
        let iterations = match take("iterations") {
            Some(text) => text.parse().ok().filter(|n| allowed_iterations(*n)),
            None => Some(MIN_ITERATIONS),
        };
        let iterations = iterations.ok_or_else(|| {
            let bounds = format!("{MIN_ITERATIONS} to {MAX_ITERATIONS}");
            ParseScramError(format!("iterations must be a number from {bounds}"))
        })?;
        let salt = match take("salt") {
            Some(text) => Some(bytes(&text).ok_or(fail("salt is not base64"))?),
            None => None,
        };
        let secret = match (take("password"), take("saltedpassword")) {
            (Some(password), None) if !password.is_empty() => Secret::Password(password),
            (None, Some(_)) if salt.is_none() => {
                return Err(fail("saltedpassword needs the salt that belongs to it"));
            }
            (None, Some(text)) => {
                Secret::Salted(bytes(&text).ok_or(fail("saltedpassword is not base64"))?)
            }
            _ => return Err(fail("there must be either password or saltedpassword")),
        };
        if let Some(name) = fields.into_keys().next() {
            return Err(ParseScramError(format!("there is no {name:?} in it")));
        }
        Ok(Self {
            mechanism,
            name,
            iterations,
            salt,
            secret,
        })
    }
}

fn allowed_iterations(iterations: i32) -> bool {
    (MIN_ITERATIONS..=MAX_ITERATIONS).contains(&iterations)
}

/// `name=value,...`; a value in quotes may have commas.
fn fields(text: &str) -> Result<BTreeMap<String, String>, ParseScramError> {
    let fail = |problem: &str| ParseScramError(problem.to_owned());
    let mut fields = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or(fail("a part has no ="))?;
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted
                .split_once('"')
                .ok_or(fail("a quote is not closed"))?,
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim_end(), &after[end..])
            }
        };
        let name = name.trim().to_owned();
        if fields.insert(name, value.to_owned()).is_some() {
            return Err(fail("a part is there twice"));
        }
        rest = after.trim_start();
        if !rest.is_empty() {
            let next = rest.strip_prefix(',').map(str::trim_start);
            rest = next
                .filter(|next| !next.is_empty())
                .ok_or(fail("a comma is missing"))?;
        }
    }
    Ok(fields)
}

/// The records of users that are there from the start.
pub(super) fn records(
    users: &[NewScramCredential],
    version: MetadataVersion,
) -> Result<Vec<Record>, FormatError> {
    if !users.is_empty() && !version.allows_scram() {
        return Err(FormatError::ScramNeeds(version));
    }
    let mut seen = BTreeSet::new();
    let mut records = Vec::new();
    for user in users {
        if !seen.insert((user.mechanism, &user.name)) {
            return Err(FormatError::ScramTwice {
                user: user.name.clone(),
                mechanism: user.mechanism.name(),
            });
        }
        records.push(user.record()?.into());
    }
    Ok(records)
}

impl NewScramCredential {
    fn salted_password(&self, salt: &[u8]) -> Vec<u8> {
        let rounds = self.iterations.unsigned_abs();
        match (&self.secret, self.mechanism) {
            (Secret::Salted(salted), _) => salted.clone(),
            (Secret::Password(password), ScramMechanism::Sha256) => {
                let mut salted = [0; 32];
                pbkdf2_hmac::<Sha256>(password.as_bytes(), salt, rounds, &mut salted);
                salted.to_vec()
            }
            (Secret::Password(password), ScramMechanism::Sha512) => {
                let mut salted = [0; 64];
                pbkdf2_hmac::<Sha512>(password.as_bytes(), salt, rounds, &mut salted);
                salted.to_vec()
            }
        }
    }

    fn record(&self) -> Result<UserScramCredentialRecord, FormatError> {
        let salt = match &self.salt {
            Some(salt) => salt.clone(),
            None => random_bytes::<SALT_LEN>()
                .map_err(FormatError::Chance)?
                .to_vec(),
        };
        let (stored_key, server_key) = self.mechanism.keys(&self.salted_password(&salt));
        Ok(UserScramCredentialRecord {
            name: self.name.as_str().into(),
            mechanism: self.mechanism.to_wire(),
            salt: salt.into(),
            stored_key,
            server_key,
            iterations: self.iterations,
            ..UserScramCredentialRecord::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use hmac::{Hmac, KeyInit, Mac};

    use super::*;

    fn record(text: &str) -> UserScramCredentialRecord {
        let user: NewScramCredential = text.parse().expect("a user");
        user.record().expect("the system has chance")
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The example of RFC 7677, section 3: its server signature is what its server key gives.
    #[test]
    fn keys_are_those_of_the_rfc() {
        let text = "SCRAM-SHA-256=[name=user,iterations=4096,password=pencil,\
                    salt=\"W22ZaJ0SNY7soEsUEjb6gQ==\"]";
        let record = record(text);
        let message = b"n=user,r=rOprNGfwEbeRWgbNEkqO,\
            r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
            s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
            c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let mut mac = Hmac::<Sha256>::new_from_slice(&record.server_key).expect("any length");
        mac.update(message);
        let signature = BASE64.encode(mac.finalize().into_bytes());
        assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert_eq!(record.stored_key.len(), 32);
        assert_eq!(record.iterations, 4096);
    }

    #[test]
    fn a_salted_password_gives_the_keys_of_the_password() {
        let mut salted = [0; 64];
        pbkdf2_hmac::<Sha512>(b"secret", b"pepper", 8192, &mut salted);
        let (salt, salted) = (BASE64.encode(b"pepper"), BASE64.encode(salted));
        let from = |secret: String| {
            let text = format!("SCRAM-SHA-512=[name=a,iterations=8192,salt=\"{salt}\",{secret}]");
            record(&text)
        };
        let one = from("password=secret".to_owned());
        let other = from(format!("saltedpassword=\"{salted}\""));
        assert_eq!(one, other);
        assert_eq!((one.mechanism, one.server_key.len()), (2, 64));
        assert_ne!(hex(&one.server_key), hex(&one.stored_key));
    }

    #[test]
    fn salts_differ() {
        let text = "SCRAM-SHA-256=[name=a,password=b]";
        assert_ne!(record(text).salt, record(text).salt);
        assert_eq!(record(text).salt.len(), SALT_LEN);
    }

    #[test]
    fn texts_that_are_no_users() {
        for text in [
            "",
            "foo",
            "SCRAM-SHA-1=[name=a,password=hunter2]",
            "SCRAM-SHA-256=name=a,password=hunter2",
            "SCRAM-SHA-256=[]",
            "SCRAM-SHA-256=[password=hunter2]",
            "SCRAM-SHA-256=[name=,password=hunter2]",
            "SCRAM-SHA-256=[name=a]",
            "SCRAM-SHA-256=[name=a,password=]",
            "SCRAM-SHA-256=[name=a,password=hunter2,saltedpassword=\"YCE=\",salt=\"YCE=\"]",
            "SCRAM-SHA-256=[name=a,saltedpassword=\"YCE=\"]",
            "SCRAM-SHA-256=[name=a,saltedpassword=\"!\",salt=\"YCE=\"]",
            "SCRAM-SHA-256=[name=a,password=hunter2,iterations=1]",
            "SCRAM-SHA-256=[name=a,password=hunter2,iterations=16385]",
            "SCRAM-SHA-256=[name=a,password=hunter2,salt=\"!\"]",
            "SCRAM-SHA-256=[name=a,password=hunter2,foo=bar]",
            "SCRAM-SHA-256=[name=a,name=b,password=hunter2]",
            "SCRAM-SHA-256=[name=a,password=\"hunter2]",
            "SCRAM-SHA-256=[name=\"a\"password=hunter2]",
            "SCRAM-SHA-256=[name=a,password=hunter2,]",
        ] {
            let error = text.parse::<NewScramCredential>().expect_err(text);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}

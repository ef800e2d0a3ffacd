//! Headers and bodies.

use klamm_protocol::{ApiKey, ApiVersion};

use super::{Context, Halt, Walk, node};
use crate::Direction;
use crate::catalog::message_schema;
use crate::node::{Node, Part, Place, Role, Severity, Subject, Value};

impl Walk {
    /// Reads a request: its header, then the body that the header announces.
    pub(crate) fn request(
        &mut self,
        subject: &mut Subject,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let start = self.position();
        let api = self
            .peek_i16(0)
            .zip(self.peek_i16(2))
            .map(|(key, version)| ApiVersion {
                key: ApiKey(key),
                version,
            });
        let header = api.map_or(1, |api| {
            Direction::Request.header_version(api.key, api.version)
        });
        subject.direction = Some(Direction::Request);
        subject.api = api;
        subject.correlation_id = self.peek_i32(4);
        self.header(Direction::Request, header, subject, out)?;
        let Some(api) = api else { return Ok(()) };
        self.check_api(api, start)?;
        self.body(api, Direction::Request, subject, out)
    }

    /// Reads the response to a request.
    pub(crate) fn response(
        &mut self,
        api: ApiVersion,
        subject: &mut Subject,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let start = self.position();
        subject.direction = Some(Direction::Response);
        subject.api = Some(api);
        subject.correlation_id = self.peek_i32(0);
        let header = Direction::Response.header_version(api.key, api.version);
        self.header(Direction::Response, header, subject, out)?;
        let api = self.answered(api);
        self.check_api(api, start)?;
        self.body(api, Direction::Response, subject, out)
    }

    /// What the response, whose body comes next, is to be read as. A server that does not know the
    /// version of ApiVersions answers in version 0 (KIP-511); neither may klamm know it.
    fn answered(&mut self, api: ApiVersion) -> ApiVersion {
        const UNSUPPORTED_VERSION: i16 = 35;
        let says_unsupported = self.peek_i16(0) == Some(UNSUPPORTED_VERSION);
        if api.key != ApiKey::API_VERSIONS || api.version == 0 || !says_unsupported {
            return api;
        }
        self.problem(
            Severity::Notice,
            self.position(),
            "the server does not know the request's version and answers in version 0",
        );
        ApiVersion { version: 0, ..api }
    }

    /// Reads the header of a response to a request that is not known, which begins with the correlation
    /// id in every version.
    pub(crate) fn unmatched_response(
        &mut self,
        subject: &mut Subject,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        subject.direction = Some(Direction::Response);
        subject.correlation_id = self.peek_i32(0);
        self.header(Direction::Response, 0, subject, out)?;
        // Nobody knows what it is.
        self.set_sensitive();
        let at = self.position();
        self.halt(at, "the request that it answers is not known")
    }

    /// Reads a token of SASL.
    pub(crate) fn token(&mut self, out: &mut Vec<Node>) -> Result<(), Halt> {
        let offset = self.position();
        let content = self.take(self.left())?;
        let len = content.len();
        let token = Node {
            value: if self.options.show_secrets || len == 0 {
                Value::Bytes(content)
            } else {
                Value::Hidden(len)
            },
            encoding: "raw",
            offset,
            len,
            ..node("token", "bytes", Role::Field, Part::Body)
        };
        self.push(out, token)
    }

    /// Reads a body.
    pub(crate) fn body(
        &mut self,
        mut api: ApiVersion,
        direction: Direction,
        subject: &mut Subject,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        if direction == Direction::Response {
            api = self.answered(api);
        }
        self.check_api(api, self.position())?;
        let Some(schema) = message_schema(api.key, direction) else {
            return Ok(());
        };
        subject.message = Some(&schema.name);
        subject.direction = Some(direction);
        subject.api = Some(api);
        let context = Context {
            schema,
            version: api.version,
            part: Part::Body,
        };
        let group = Node {
            place: Some(Place::Message(&schema.name)),
            ..node(
                "body",
                format!("{} v{}", schema.name, api.version),
                Role::Group,
                Part::Body,
            )
        };
        self.group(out, group, |walk, out| walk.message(context, out))
    }

    fn header(
        &mut self,
        direction: Direction,
        version: i16,
        subject: &mut Subject,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let schema = direction.header_schema();
        subject.header_version = Some(version);
        let context = Context {
            schema,
            version,
            part: Part::Header,
        };
        let group = Node {
            place: Some(Place::Message(&schema.name)),
            ..node(
                "header",
                format!("{} v{version}", schema.name),
                Role::Group,
                Part::Header,
            )
        };
        self.group(out, group, |walk, out| walk.message(context, out))
    }

    /// Halts before a body of an API or version that does not exist. `start` is where the frame says so.
    fn check_api(&mut self, api: ApiVersion, start: usize) -> Result<(), Halt> {
        let coded = api.key.coded_versions();
        if coded.contains(api.version) {
            return Ok(());
        }
        // Nobody knows what it would be.
        self.set_sensitive();
        let what = match api.key.name() {
            None => format!("there is no API with key {}", api.key.0),
            Some(name) if coded.is_empty() => {
                format!("{name} ({}) has no version any more", api.key.0)
            }
            Some(name) => format!(
                "{name} ({}) has versions {coded}, not {}",
                api.key.0, api.version
            ),
        };
        self.halt(start, what)
    }

    fn peek_i16(&self, at: usize) -> Option<i16> {
        self.peek(at).map(i16::from_be_bytes)
    }

    fn peek_i32(&self, at: usize) -> Option<i32> {
        self.peek(at).map(i32::from_be_bytes)
    }

    /// Bytes of the window that are not read yet.
    pub(super) fn peek<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes[self.at..self.end]
            .get(at..)?
            .first_chunk()
            .copied()
    }
}

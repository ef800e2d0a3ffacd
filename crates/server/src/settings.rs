//! `server.properties`: which keys a controller knows, and what they say.

//! A plain encoder that walks the schema.

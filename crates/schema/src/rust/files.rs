use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::shape::{Shape, identifier};
use super::{declare, read, tables, write};
use crate::{Kind, Schema, Struct, snake_case};

/// A file of generated code.
#[derive(Clone, Debug)]
pub struct GeneratedFile {
    /// The name, without a folder.
    pub name: String,
    /// Rust source.
    pub text: String,
}

/// Generates `messages.rs`, `data.rs`, `api_keys.rs` and the files that the first two include, from
/// schemas by folder (`clients`, `metadata`, …).
///
/// Schemas without a valid version have no code.
pub fn generate(folders: &BTreeMap<String, Vec<Schema>>) -> Vec<GeneratedFile> {
    let mut files = Vec::new();
    let mut modules = BTreeMap::<String, Vec<&Schema>>::new();
    let mut data = BTreeMap::<String, Vec<&Schema>>::new();
    for (folder, schemas) in folders {
        for schema in schemas
            .iter()
            .filter(|schema| !schema.valid_versions.is_empty())
        {
            match schema.kind {
                Kind::Request | Kind::Response => {
                    modules
                        .entry(tables::api_module(schema))
                        .or_default()
                        .push(schema);
                }
                Kind::Header => {
                    modules
                        .entry(snake_case(&schema.name))
                        .or_default()
                        .push(schema);
                }
                _ => data
                    .entry(snake_case(&folder.replace('-', "_")))
                    .or_default()
                    .push(schema),
            }
        }
    }
    let mut index = Code::new();
    for (module, schemas) in &modules {
        let file = format!("messages_{module}.rs");
        declare_module(module, &file, &schemas[0].name, &mut index);
        files.push(GeneratedFile {
            name: file,
            text: module_code(schemas),
        });
    }
    let all: Vec<&Schema> = folders.values().flatten().collect();
    tables::codecs(modules.values().flatten().copied(), "self", &mut index);
    files.push(GeneratedFile {
        name: "messages.rs".into(),
        text: index.into_text(),
    });

    let mut index = Code::new();
    for (folder, schemas) in &data {
        index.line(format!("pub mod {} {{", identifier(folder)));
        index.line(format!(
            "//! The schemas of the folder `{}`.",
            folder.replace('_', "-")
        ));
        for schema in schemas {
            let module = snake_case(&schema.name);
            let file = format!("data_{folder}_{module}.rs");
            declare_module(&module, &file, &schema.name, &mut index);
            index.line(format!("pub use {module}::{};", schema.name));
            files.push(GeneratedFile {
                name: file,
                text: module_code(&[schema]),
            });
        }
        tables::codecs(schemas.iter().copied(), "self", &mut index);
        index.line("}");
    }
    index.line("");
    index.line("/// The messages of every folder.");
    index.line("pub(crate) const FOLDERS: &[&[crate::Codec]] = &[");
    for folder in data.keys() {
        index.line(format!("{}::CODECS,", identifier(folder)));
    }
    index.line("];");
    files.push(GeneratedFile {
        name: "data.rs".into(),
        text: index.into_text(),
    });
    files.push(GeneratedFile {
        name: "api_keys.rs".into(),
        text: tables::api_keys(&all),
    });
    files
}

fn declare_module(module: &str, file: &str, about: &str, code: &mut Code) {
    code.line(format!("pub mod {} {{", identifier(module)));
    code.line(format!("//! {about}."));
    // One form does for all messages, though not every message needs all of it.
    code.line("#![allow(unused_imports, unused_variables, clippy::all, clippy::pedantic)]");
    code.line(format!(
        "include!(concat!(env!(\"OUT_DIR\"), \"/{file}\"));"
    ));
    code.line("}");
}

/// The code of the schemas that share a module: request and response, or a single one.
fn module_code(schemas: &[&Schema]) -> String {
    let mut code = Code::new();
    code.line("use alloc::vec::Vec;");
    code.line(
        "use crate::{ApiKey, Bytes, SmallString, Message, Request, SmallVec, Uuid, VersionRange};",
    );
    code.line("use crate::wire::{DecodeError, EncodeError, Fixed, Reader, TaggedFields, Writer};");
    code.line("");
    let shared = shared_names(schemas);
    for schema in schemas {
        let prefix = if schema.kind == Kind::Request {
            "Request"
        } else {
            "Response"
        };
        let renamed = schema
            .structs
            .iter()
            .filter(|owner| shared.contains(owner.name.as_str()))
            .map(|owner| (owner.name.clone(), format!("{prefix}{}", owner.name)))
            .collect();
        let shape = Shape { schema, renamed };
        for owner in shape.structs() {
            declare::declare(&shape, owner, &mut code);
            implement(&shape, owner, &mut code);
        }
        if schema.kind == Kind::Request {
            tables::request(schema, &mut code);
        }
    }
    code.into_text()
}

/// The struct names that occur in more than one of the schemas.
fn shared_names<'a>(schemas: &[&'a Schema]) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let names = schemas
        .iter()
        .flat_map(|schema| &schema.structs)
        .map(|owner| owner.name.as_str());
    names.filter(|name| !seen.insert(*name)).collect()
}

fn implement(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let name = shape.struct_name(&owner.name).to_owned();
    let is_message = owner.name == shape.schema.name;
    if is_message {
        let versions = shape.schema.valid_versions;
        let flexible = shape.schema.flexible_versions.intersect(versions);
        code.line(format!("impl Message for {name} {{"));
        code.line(format!("const NAME: &'static str = {name:?};"));
        code.line(format!(
            "const VERSIONS: VersionRange = VersionRange::new({}, {});",
            versions.min, versions.max
        ));
        code.line(format!(
            "const FLEXIBLE: VersionRange = VersionRange::new({}, {});",
            flexible.min, flexible.max
        ));
    } else {
        let least = shape.schema.least_size(owner).max(1);
        // The promise of the allocation limit: see `Reader`.
        code.line(format!(
            "const _: () = assert!(size_of::<{name}>() <= 64 * {name}::LEAST);"
        ));
        code.line("");
        code.line(format!("impl {name} {{"));
        code.line("/// The least number of bytes that it takes on the wire.");
        code.line(format!("const LEAST: usize = {least};"));
    }
    let flexible = shape.flexible(owner);
    let flexible = format!("let flexible = {};", flexible.expression());

    code.line(
        "fn write<'w, 'm>(&'m self, version: i16, mut w: Writer<'w, 'm>) -> Writer<'w, 'm> {",
    );
    code.line(&flexible);
    write::write(shape, owner, code);
    code.line("}");

    code.line("fn read(&mut self, r: &mut Reader<'_>, version: i16) -> Result<(), DecodeError> {");
    code.line(&flexible);
    read::read(shape, owner, code);
    code.line("}");
    code.line("}");
    code.line("");
}

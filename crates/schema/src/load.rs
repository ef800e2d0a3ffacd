use std::fs;
use std::path::Path;

use crate::{Schema, SchemaError};

/// Reads every `.json` file right below `dir`, in the order of the file names.
pub fn load_dir(dir: &Path) -> Result<Vec<Schema>, SchemaError> {
    let read = |source| SchemaError::Read {
        path: dir.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| load_file(path)).collect()
}

fn load_file(path: &Path) -> Result<Schema, SchemaError> {
    let text = fs::read_to_string(path).map_err(|source| SchemaError::Read {
        path: path.to_owned(),
        source,
    })?;
    Schema::parse(&text).map_err(|source| SchemaError::File {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

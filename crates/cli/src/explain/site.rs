use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use klamm_explain::html::Site;

use crate::errors::Problem;

/// What a folder has that klamm wrote pages to: what may be replaced.
const MARK: &str = ".klamm-site";
/// What the mark says to whoever opens it.
const MARK_TEXT: &str = "klamm explain --site wrote these pages, and replaces them.\n";

/// Writes the pages below a folder and says how many. The folder is made if it is not there; one that
/// has anything else is left alone.
pub(super) fn write(folder: &Path) -> Result<usize, Problem> {
    claim(folder)?;
    let site = Site { served: false };
    let mut count = 0;
    for page in site.pages() {
        store(folder, &page.path(), &site.render(page))?;
        count += 1;
    }
    for asset in site.assets() {
        store(folder, asset.path, &asset.content)?;
    }
    Ok(count)
}

/// Makes sure that everything in the folder is klamm's.
fn claim(folder: &Path) -> Result<(), Problem> {
    let name = folder.display();
    let trouble = |error: io::Error| {
        Problem::failure(format!("pages cannot be written to {name}"))
            .because(error.to_string())
            .next("see whether the folder can be made and written to")
    };
    fs::create_dir_all(folder).map_err(trouble)?;
    let mark = folder.join(MARK);
    if !mark.is_file() {
        if fs::read_dir(folder).map_err(trouble)?.next().is_some() {
            let problem = Problem::misuse(format!("{name} has files that are no pages of klamm"))
                .because(format!("it is not empty, and has no {MARK}"))
                .next("give a folder that is empty, or not there yet");
            return Err(problem);
        }
        fs::write(mark, MARK_TEXT).map_err(trouble)?;
    }
    Ok(())
}

fn store(folder: &Path, path: &str, content: &str) -> Result<(), Problem> {
    let path = folder.join(path);
    let made = match path.parent() {
        Some(parent) => fs::create_dir_all(parent),
        None => Ok(()),
    };
    made.and_then(|()| fs::write(&path, content))
        .map_err(|error| {
            let next = match error.kind() {
                ErrorKind::StorageFull => "make room on its disk",
                _ => "see whether the file can be written",
            };
            Problem::failure(format!("{} cannot be written", path.display()))
                .because(error.to_string())
                .next(next)
        })
}

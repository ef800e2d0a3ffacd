use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use klamm_explain::html::Site;

use crate::errors::Problem;
use crate::input::{limited, text};

/// The list of what klamm wrote to a folder: what may be replaced, and removed.
const LIST: &str = ".klamm-site";
/// What the list says to whoever opens it, before the paths of the files, a line each.
const LIST_HEAD: &str = "# klamm explain --site wrote these files; it replaces and removes them.\n";
/// The longest list that is read.
const MOST_LIST_BYTES: u64 = 1 << 20;

/// Writes the pages below a folder and says how many. The folder is made if it is not there; one that
/// has anything else is left alone. What an earlier run wrote and this one does not is removed.
pub(super) fn write(folder: &Path) -> Result<usize, Problem> {
    let before = claim(folder)?;
    let site = Site { served: false };
    let (pages, assets): (Vec<_>, _) = (site.pages().collect(), site.assets());
    let mut paths: BTreeSet<String> = pages.iter().map(|page| page.path()).collect();
    paths.extend(assets.iter().map(|asset| asset.path.to_owned()));
    // Whoever is ended in between leaves a list of all that there may be.
    store(folder, LIST, &list(before.union(&paths)))?;
    let count = pages.len();
    for page in pages {
        store(folder, &page.path(), &site.render(page))?;
    }
    for asset in assets {
        store(folder, asset.path, &asset.content)?;
    }
    for path in before.difference(&paths) {
        remove(folder, path)?;
    }
    store(folder, LIST, &list(paths.iter()))?;
    Ok(count)
}

fn list<'a>(paths: impl Iterator<Item = &'a String>) -> String {
    let lines = paths.map(|path| format!("{path}\n"));
    LIST_HEAD.to_owned() + &lines.collect::<String>()
}

/// Makes sure that the folder is klamm's, and gives what an earlier run wrote to it.
fn claim(folder: &Path) -> Result<BTreeSet<String>, Problem> {
    let name = folder.display();
    let trouble = |error: io::Error| {
        Problem::failure(format!("pages cannot be written to {name}"))
            .because(error.to_string())
            .next("see whether the folder can be made and written to")
    };
    fs::create_dir_all(folder).map_err(trouble)?;
    let path = folder.join(LIST);
    if path.is_file() {
        let file = fs::File::open(&path).map_err(trouble)?;
        let listed = limited(file, MOST_LIST_BYTES)
            .and_then(text)
            .map_err(trouble)?;
        let paths = listed.lines().filter(|line| is_below(line));
        return Ok(paths.map(str::to_owned).collect());
    }
    if fs::read_dir(folder).map_err(trouble)?.next().is_some() {
        let problem = Problem::misuse(format!("{name} has files that are no pages of klamm"))
            .because(format!("it is not empty, and has no {LIST}"))
            .next("give a folder that is empty, or not there yet");
        return Err(problem);
    }
    Ok(BTreeSet::new())
}

/// Whether a line of the list is a path that stays within the folder.
fn is_below(line: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    !line.is_empty() && !line.starts_with('#') && Path::new(line).components().all(is_plain)
}

/// Removes a file, and the folders that it leaves empty. What a link leads to is not klamm's.
fn remove(folder: &Path, path: &str) -> Result<(), Problem> {
    let file = folder.join(path);
    let parent = file.parent().unwrap_or(folder);
    let is_inside = || {
        let (folder, parent) = (folder.canonicalize()?, parent.canonicalize()?);
        Ok(parent.starts_with(folder))
    };
    let removed = match is_inside() {
        Ok(true) => fs::remove_file(&file),
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(
                Problem::failure(format!("{} cannot be removed", file.display()))
                    .because(error.to_string())
                    .next("an earlier run wrote it; remove it by hand"),
            );
        }
    }
    // One that is not empty stays.
    for parent in Path::new(path).ancestors().skip(1) {
        if parent.as_os_str().is_empty() || fs::remove_dir(folder.join(parent)).is_err() {
            break;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_run_wrote_is_removed_and_nothing_else() {
        let root = std::env::temp_dir().join(format!("klamm-site-list-{}", std::process::id()));
        let site = root.join("site");
        let count = write(&site).unwrap();
        assert!(count > 91);
        let there = |path: &str| site.join(path).exists();
        // As a release would have left it that knows more pages, with a list that somebody changed.
        let other = root.join("other.html");
        fs::write(&other, "mine").unwrap();
        let list = fs::read_to_string(site.join(LIST)).unwrap();
        let mut listed = list.clone();
        for path in ["apis/Gone.html", "gone/deep/page.html", "kept/page.html"] {
            store(&site, path, "old").unwrap();
            listed += &format!("{path}\n");
        }
        let absolute = other.display().to_string();
        for path in [
            "../other.html",
            &absolute,
            "",
            "gone/../../other.html",
            "never/was.html",
        ] {
            listed += &format!("{path}\n");
        }
        fs::write(site.join(LIST), &listed).unwrap();
        store(&site, "kept/notes.txt", "mine").unwrap();
        store(&site, "apis/notes.txt", "mine").unwrap();
        assert_eq!(write(&site).unwrap(), count);
        for path in ["apis/Gone.html", "gone", "kept/page.html"] {
            assert!(!there(path), "{path}");
        }
        for path in [
            "index.html",
            "kept/notes.txt",
            "apis/notes.txt",
            "../other.html",
        ] {
            assert!(there(path), "{path}");
        }
        assert_eq!(fs::read_to_string(site.join(LIST)).unwrap(), list);
        fs::remove_dir_all(&root).unwrap();
    }

    /// A folder that was put behind a link after klamm wrote to it is somebody else's.
    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_stays() {
        let root = std::env::temp_dir().join(format!("klamm-site-link-{}", std::process::id()));
        let (site, mine) = (root.join("site"), root.join("mine"));
        fs::create_dir_all(&mine).unwrap();
        fs::create_dir_all(&site).unwrap();
        fs::write(mine.join("page.html"), "mine").unwrap();
        std::os::unix::fs::symlink(&mine, site.join("old")).unwrap();
        fs::write(site.join(LIST), "old/page.html\n").unwrap();
        write(&site).unwrap();
        assert!(mine.join("page.html").exists());
        fs::remove_dir_all(&root).unwrap();
    }
}

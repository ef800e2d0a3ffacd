use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::errors::Problem;

/// The file that a page goes to, opened before there is one: a drill is long, and may be the only one.
/// What the file held stays until the page is there; a new file goes again without one.
#[derive(Debug)]
pub(in crate::drill) struct PageFile {
    path: PathBuf,
    file: File,
    is_spare: bool,
}

impl PageFile {
    pub(in crate::drill) fn open(path: &Path) -> Result<Self, Problem> {
        let mut options = OpenOptions::new();
        options.write(true);
        // Whether it is new tells who may remove it.
        let opened = match options.clone().create_new(true).open(path) {
            Ok(file) => Ok((file, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                options.open(path).map(|file| (file, false))
            }
            Err(error) => Err(error),
        };
        let (file, is_spare) = opened.map_err(|error| {
            Problem::misuse(format!("{} cannot be written", path.display()))
                .because(error.to_string())
                .next("give --html a file in a directory that exists and that you may write to")
        })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            is_spare,
        })
    }

    pub(in crate::drill) fn write(mut self, page: &str) -> Result<(), Problem> {
        self.is_spare = false;
        let written = self.file.write_all(page.as_bytes()).and_then(|()| {
            // A device has no length to set.
            if self.file.metadata()?.is_file() {
                self.file.set_len(page.len() as u64)?;
            }
            Ok(())
        });
        written.map_err(|error| {
            Problem::failure(format!("{} could not be written", self.path.display()))
                .because(error.to_string())
                .next("see whether its disk is full; the report is on standard output")
        })
    }
}

impl Drop for PageFile {
    fn drop(&mut self) {
        if self.is_spare {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_until_there_is_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("drill.html");
        drop(PageFile::open(&path).unwrap());
        assert!(!path.exists());
        std::fs::write(&path, "a longer text than the page").unwrap();
        drop(PageFile::open(&path).unwrap());
        let text = || std::fs::read_to_string(&path).unwrap();
        assert_eq!(text(), "a longer text than the page");
        PageFile::open(&path).unwrap().write("a page").unwrap();
        assert_eq!(text(), "a page");
        for path in [dir.path().to_owned(), dir.path().join("none/drill.html")] {
            let problem = PageFile::open(&path).unwrap_err().to_string();
            assert!(problem.contains("next step: give --html"), "{problem}");
        }
    }
}

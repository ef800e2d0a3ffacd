use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Apache Kafka's jars and the compiled helper classes.
#[derive(Debug)]
pub struct Java {
    classpath: String,
}

impl Java {
    /// Runs `interop/prepare`, once a process, and says where everything is.
    ///
    /// # Panics
    /// If it cannot be made ready: a suite that cannot run fails.
    pub fn prepared() -> &'static Self {
        static READY: OnceLock<Java> = OnceLock::new();
        READY.get_or_init(Self::prepare)
    }

    fn prepare() -> Self {
        let interop = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let script = interop.join("prepare");
        let status = Command::new(&script)
            .status()
            .unwrap_or_else(|e| panic!("cannot run {}: {e}", script.display()));
        assert!(
            status.success(),
            "{} failed with {status}",
            script.display()
        );
        let target: PathBuf = interop.join("java").join("target");
        let file = target.join("classpath.txt");
        let jars = std::fs::read_to_string(&file)
            .unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
        Self {
            classpath: format!("{}:{}", target.join("classes").display(), jars.trim()),
        }
    }

    /// The class path of everything.
    pub fn classpath(&self) -> &str {
        &self.classpath
    }

    /// A JVM with a small heap that starts quickly; the caller adds the arguments of `class`.
    pub fn command(&self, class: &str, heap_mib: u32, options: &[&str]) -> Command {
        let mut command = Command::new("java");
        command
            .arg(format!("-Xmx{heap_mib}m"))
            // Nothing here lives long enough for the second compiler or a parallel collector.
            .args([
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
            ])
            .args([
                "-Xshare:auto",
                "-Djava.awt.headless=true",
                "-Dfile.encoding=UTF-8",
            ])
            .args(options)
            .args(["-cp", &self.classpath, class]);
        command
    }
}

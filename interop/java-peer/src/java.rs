use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A release of Apache Kafka.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The one that klamm is held to, 4.4.
    Latest,
    /// The oldest whose brokers are tried, 4.0.
    Oldest,
}

/// Apache Kafka's jars and the compiled helper classes.
#[derive(Debug)]
pub struct Java {
    latest: String,
    oldest: String,
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
        let classpath = |name| {
            let file = target.join(name);
            let jars = std::fs::read_to_string(&file)
                .unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()));
            format!("{}:{}", target.join("classes").display(), jars.trim())
        };
        Self {
            latest: classpath("classpath.txt"),
            oldest: classpath("classpath-oldest.txt"),
        }
    }

    /// The class path of everything.
    pub fn classpath(&self) -> &str {
        &self.latest
    }

    /// A JVM with the options of Apache Kafka's own start script (`kafka-run-class.sh`), to be compared
    /// with; the caller adds the arguments of `class`.
    pub fn as_scripts_do(&self, class: &str, options: &[&str]) -> Command {
        let mut command = Command::new("java");
        command
            .args(options)
            .args([
                "-server",
                "-XX:+UseG1GC",
                "-XX:MaxGCPauseMillis=20",
                "-XX:InitiatingHeapOccupancyPercent=35",
                "-XX:+ExplicitGCInvokesConcurrent",
                "-Djava.awt.headless=true",
            ])
            .args(["-cp", self.classpath(), class]);
        command
    }

    /// A JVM with a small heap that starts quickly; the caller adds the arguments of `class`.
    pub fn command(&self, class: &str, heap_mib: u32, options: &[&str]) -> Command {
        self.command_of(Release::Latest, class, heap_mib, options)
    }

    /// The same with a release of Apache Kafka; of the helper only what needs no more of it than every
    /// release has, such as starting a node.
    pub fn command_of(
        &self,
        release: Release,
        class: &str,
        heap_mib: u32,
        options: &[&str],
    ) -> Command {
        let classpath = match release {
            Release::Latest => &self.latest,
            Release::Oldest => &self.oldest,
        };
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
            .args(["-cp", classpath, class]);
        command
    }
}

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The `klamm` binary that `KLAMM` names, or else one that is built now.
///
/// # Panics
/// If it cannot be built.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("KLAMM").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--package", "klamm-cli"])
        .args(["--message-format", "json", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "klamm cannot be built: {}",
        output.status
    );
    let messages = String::from_utf8(output.stdout).expect("cargo prints text");
    messages
        .lines()
        .filter_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            message["executable"].as_str().map(PathBuf::from)
        })
        .next_back()
        .expect("cargo says where the binary is")
}

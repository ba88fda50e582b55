//! Compiles the embedded Java sources with the JDK that runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Jvm;

const SOURCES: [(&str, &str); 3] = [
    ("Shapes.java", include_str!("../../java/Shapes.java")),
    ("ProfileAgent.java", include_str!("../../java/ProfileAgent.java")),
    ("jdk/test/whitebox/WhiteBox.java", include_str!("../../java/jdk/test/whitebox/WhiteBox.java")),
];
const JAR: &str = "yamba-gc.jar";

/// A jar with the micro-benchmark and the agent. Its folder is removed when the value is dropped.
pub(crate) struct Classes {
    folder: tempfile::TempDir,
}

impl Classes {
    pub(crate) fn compile(jvm: &Jvm) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let compiled = Self { folder };
        let at = compiled.folder.path();
        for (name, text) in SOURCES {
            let path = at.join(name);
            let parent = path.parent().unwrap_or(at);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, text))
                .map_err(|e| e.to_string())?;
        }
        fs::write(at.join("manifest"), "Premain-Class: ProfileAgent\n")
            .map_err(|e| e.to_string())?;
        let names = SOURCES.map(|(name, _)| name.to_owned());
        let mut javac =
            vec!["--release".to_owned(), "17".to_owned(), "-d".to_owned(), "classes".to_owned()];
        javac.extend(names);
        succeed(&jvm.tool("javac"), &javac, at)?;
        let jar = ["cfm", JAR, "manifest", "-C", "classes", "."].map(str::to_owned);
        succeed(&jvm.tool("jar"), &jar, at)?;
        Ok(compiled)
    }

    pub(crate) fn jar(&self) -> PathBuf {
        self.folder.path().join(JAR)
    }
}

fn succeed(program: &Path, arguments: &[String], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{}: {text}", program.display()))
}

//! The places of the agent and of the benchmarks.

use std::path::{Path, PathBuf};

use crate::library::Fault;

/// The jars that `make java` builds.
#[derive(Clone, Debug)]
pub struct Jars {
    pub agent: PathBuf,
    pub benchmarks: PathBuf,
}

impl Jars {
    /// The jars in the folder that `YAMBA_JAVA` names, else in `jars` beside the program, else
    /// where packages have them: in `../lib/yamba/jars`.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn find() -> Result<Jars, Fault> {
        let named = std::env::var_os("YAMBA_JAVA").filter(|v| !v.is_empty());
        let program = std::env::current_exe().unwrap_or_default();
        Jars::in_folder(&named.map_or_else(|| folder(&program), PathBuf::from))
    }

    fn in_folder(folder: &Path) -> Result<Jars, Fault> {
        let jars =
            Jars { agent: folder.join("agent.jar"), benchmarks: folder.join("benchmarks.jar") };
        let missing = [&jars.agent, &jars.benchmarks].into_iter().find(|jar| !jar.is_file());
        match missing {
            None => Ok(jars),
            Some(jar) => Err(Fault::new(
                format!("{} is missing", jar.display()),
                "`make java` builds it, with a JDK and Maven; YAMBA_JAVA names another folder",
            )),
        }
    }
}

/// The folder of the jars for this program.
fn folder(program: &Path) -> PathBuf {
    let own = program.parent().unwrap_or(Path::new(""));
    let beside = own.join("jars");
    let packaged = own.join("../lib/yamba/jars");
    if !beside.is_dir() && packaged.is_dir() { packaged } else { beside }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn jars_of_a_package_are_found_unless_some_are_beside_the_program() {
        let root = tempfile::tempdir().unwrap();
        let (own, packaged) = (root.path().join("bin"), root.path().join("lib/yamba/jars"));
        fs::create_dir_all(&own).unwrap();
        let program = own.join("yamba");
        assert_eq!(folder(&program), own.join("jars"));
        fs::create_dir_all(&packaged).unwrap();
        assert_eq!(folder(&program).canonicalize().unwrap(), packaged.canonicalize().unwrap());
        fs::create_dir(own.join("jars")).unwrap();
        assert_eq!(folder(&program), own.join("jars"));
    }
}

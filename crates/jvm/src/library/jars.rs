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
    /// The jars in the folder that `YAMBA_JAVA` names, else in `jars` beside the program, or where
    /// packages have them: in `../lib/yamba/jars`.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn find() -> Result<Jars, Fault> {
        let named = std::env::var_os("YAMBA_JAVA").filter(|v| !v.is_empty());
        let own = std::env::current_exe().ok();
        let beside = own.as_deref().and_then(Path::parent).map(|folder| folder.join("jars"));
        let packaged = || beside.as_ref().map(|jars| jars.join("../../lib/yamba/jars"));
        let folder = named.map(PathBuf::from).or_else(|| packaged().filter(|jars| jars.is_dir()));
        let folder = folder.or(beside);
        Jars::in_folder(&folder.unwrap_or_default())
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

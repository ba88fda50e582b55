//! The environment of a page's commands: its own folder and home, few variables, root or an
//! ordinary user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::root;

/// The user id of the ordinary user.
pub const ORDINARY: u32 = 65534;

/// Time limit of a page's command in seconds. It only ends a command that would never end.
const SECONDS: &str = "3600";

/// The common files of all pages of one user: the installed command, a copy of the checkout that
/// every user may read, and the cache.
pub struct Installed {
    folder: TempDir,
    pub cache: Cache,
}

/// A folder of built programs and measured costs that belongs to one user.
pub struct Cache {
    folder: TempDir,
    user: Option<u32>,
}

pub struct Folder<'a> {
    installed: &'a Installed,
    own: TempDir,
}

/// Standard output and standard error in printed order, and the exit status.
pub struct Done {
    pub status: i32,
    pub printed: String,
}

/// Whether this process can become another user.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

impl Cache {
    /// An empty cache of `user`, or of the user who runs the test.
    pub fn for_user(user: Option<u32>) -> Cache {
        let folder = owned_by(user);
        Cache { folder, user }
    }

    /// Copies the folder `name`, if it exists, into another cache.
    pub fn copy(&self, name: &str, to: &Path) {
        let folder = self.folder.path().join("yamba").join(name);
        if folder.is_dir() {
            fs::create_dir_all(to).unwrap();
            does(Command::new("cp").arg("-r").arg(folder).arg(to));
        }
    }

    /// Gives the cache with its content to root.
    pub fn for_root(self) -> Cache {
        does(Command::new("chown").arg("-R").arg("0:0").arg(self.folder.path()));
        Cache { user: None, ..self }
    }
}

impl Installed {
    /// Installs for the user of the cache.
    pub fn new(cache: Cache) -> Installed {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let checkout = folder.path().join("checkout");
        fs::create_dir(&checkout).unwrap();
        for part in ["runtime", "library", "suite", "examples", "tests"] {
            does(Command::new("cp").arg("-r").arg(root().join(part)).arg(&checkout));
        }
        fs::create_dir(folder.path().join("bin")).unwrap();
        // Copied by another process, since a file that this process has open for writing cannot be
        // executed.
        let program = env!("CARGO_BIN_EXE_yamba");
        does(Command::new("cp").arg(program).arg(folder.path().join("bin")));
        let jars = Path::new(program).with_file_name("jars");
        if jars.is_dir() {
            let bin = folder.path().join("bin");
            does(Command::new("cp").arg("-r").arg(jars).arg(bin));
        }
        does(Command::new("chmod").args(["-R", "a+rX"]).arg(folder.path()));
        Installed { folder, cache }
    }

    /// Builds the files that all programs share. Building two programs precompiles the common
    /// header, which single programs then use.
    pub fn precompile(&self) {
        let built = self.folder().run("yamba build lat_syscall_getppid lat_pipe");
        assert_eq!(built.status, 0, "{}", built.printed);
    }

    pub fn is_root(&self) -> bool {
        self.cache.user.is_none() && is_root()
    }

    /// An empty folder for one page. It is on a disk, since some benchmarks refuse to measure files
    /// in memory.
    pub fn folder(&self) -> Folder<'_> {
        Folder { installed: self, own: owned_by(self.cache.user) }
    }
}

fn owned_by(user: Option<u32>) -> TempDir {
    let own = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    chown(own.path(), user, user).unwrap();
    own
}

fn does(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

impl Folder<'_> {
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        chown(&path, self.installed.cache.user, self.installed.cache.user).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.own.path()
    }

    /// Runs a shell script, which ends at the first command that fails.
    pub fn run(&self, script: &str) -> Done {
        let both = format!("exec 2>&1\n{script}");
        let mut command = Command::new("timeout");
        command.args(["-k", "5", SECONDS, "sh", "-ec", &both]);
        if let Some(user) = self.installed.cache.user {
            command.uid(user).gid(user);
        }
        let output = command
            .current_dir(self.path())
            .env_clear()
            .env("PATH", self.paths())
            .env("HOME", self.path())
            .env("XDG_CACHE_HOME", self.installed.cache.folder.path())
            .env("CHECKOUT", self.installed.folder.path().join("checkout"))
            // Pages hold on a busy host, too.
            .env("YAMBA_NEIGHBOURS", "count")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Done {
            status: output.status.code().unwrap_or(-1),
            printed: String::from_utf8_lossy(&output.stdout).into_owned(),
        }
    }

    fn paths(&self) -> std::ffi::OsString {
        let own: PathBuf = self.installed.folder.path().join("bin");
        let all = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(own).chain(std::env::split_paths(&all));
        std::env::join_paths(all).unwrap()
    }
}

//! An ordinary user's own installation.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Answer, root};

/// A user id that owns no files.
const NOBODY: u32 = 65534;

const PRIVILEGED: &str = "yamba needs_root on linux && root { void benchmark() {} }\n";

/// The user's environment: a readable installation of the command, and a folder of the user's own.
pub struct UserEnvironment {
    home: TempDir,
    pub own: TempDir,
}

impl UserEnvironment {
    /// An installation with these parts of the suite.
    pub fn new(suite: &[&str]) -> UserEnvironment {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for part in ["runtime", "library"].iter().chain(suite) {
            let to = home.path().join(part);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            does(Command::new("cp").arg("-r").arg(root().join(part)).arg(to));
        }
        fs::write(home.path().join("suite/cpu/needs_root.yamba"), PRIVILEGED).unwrap();
        // Copied by another process. If this one held the file open for writing while a child
        // starts, the copy could not be executed.
        let program = env!("CARGO_BIN_EXE_yamba");
        does(Command::new("cp").arg(program).arg(home.path()));
        does(Command::new("chmod").args(["-R", "a+rX"]).arg(home.path()));
        let own = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
        UserEnvironment { home, own }
    }

    /// The user's own folder. Runs work there and keep their scratch files in it.
    pub fn folder(&self) -> &Path {
        self.own.path()
    }

    pub fn run(&self, words: &str) -> Answer {
        self.run_as(NOBODY, &[], words)
    }

    /// Runs the command as `user`, with the words `before` as a prefix. If the test does not run as
    /// root, the user is unchanged.
    pub fn run_as(&self, user: u32, before: &[&str], words: &str) -> Answer {
        let program = self.home.path().join("yamba");
        let mut all = before.iter().map(OsStr::new).chain([program.as_os_str()]);
        let mut command = Command::new(all.next().expect("the program is one of them"));
        command.args(all);
        if chown(self.own.path(), Some(user), Some(user)).is_ok() {
            command.uid(user).gid(user);
        }
        command
            .args(words.split(' '))
            .current_dir(self.own.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("YAMBA_HOME", self.home.path())
            .env("YAMBA_STORE", self.own.path().join("results.sqlite"))
            .env("TMPDIR", self.own.path());
        Answer::read(command.output().unwrap())
    }
}

fn does(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

//! A PostgreSQL server for the tests, in a temporary folder. It listens on a socket there and is
//! stopped at the end.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The user that runs the server if the tests run as root, because PostgreSQL refuses to run as
/// root.
pub const NOBODY: u32 = 65534;

/// A shell script that starts a program, and ends it by `signal` when standard input is closed,
/// that is, when the test process ends in any way.
pub fn until_left(signal: &str) -> String {
    format!(r#""$0" "$@" </dev/null & server=$!; read -r _; kill -{signal} $server; wait $server"#)
}

pub struct Server {
    pub folder: tempfile::TempDir,
    pub process: Child,
}

impl Server {
    pub fn start() -> Server {
        let programs = programs();
        let programs =
            programs.expect("postgres is missing: scripts/install-missing test installs it");
        let folder = tempfile::tempdir().unwrap();
        if is_root(folder.path()) {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let made = command(folder.path(), &programs.join("initdb"))
            .args(["-D", "data", "-U", "yamba", "-A", "trust", "-E", "UTF8"])
            .args(["--no-locale", "--no-sync"])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status()
            .unwrap();
        assert!(made.success(), "{}", said(folder.path()));
        configure(folder.path(), "listen_addresses = ''");
        let process = launched(folder.path());
        Server { folder, process }
    }

    pub fn stop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }

    /// Creates a database. `more` are options of `CREATE DATABASE`.
    pub fn database(&self, name: &str, more: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name} {more}"));
        self.url(name)
    }

    pub fn url(&self, database: &str) -> String {
        url(self.folder.path(), database)
    }

    /// The result of a counting statement.
    pub fn count(&self, database: &str, sql: &str) -> i64 {
        let url = self.url(database);
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.query_one(sql, &[]).unwrap().get(0)
    }

    pub fn sql(&self, database: &str, sql: &str) {
        let url = self.url(database);
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(sql).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether the folder belongs to root, or did before it was given away.
pub fn is_root(folder: &Path) -> bool {
    let owner = folder.metadata().unwrap().uid();
    owner == 0 || owner == NOBODY
}

/// The log of the server.
fn said(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// A program in the folder, as a user that may run it.
pub fn command(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if is_root(folder) {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Adds lines to the server's settings. The last line for a setting counts, from the next start.
pub fn configure(folder: &Path, lines: &str) {
    let path = folder.join("data/postgresql.conf");
    let mut file = fs::File::options().append(true).open(path).unwrap();
    writeln!(file, "{lines}").unwrap();
}

/// Starts the server and waits until it answers.
pub fn launched(folder: &Path) -> Child {
    let programs = programs().unwrap();
    let log = fs::File::options().append(true).open(folder.join("log")).unwrap();
    let process = command(folder, Path::new("sh"))
        .args(["-c", &until_left("QUIT")])
        .arg(programs.join("postgres"))
        .args(["-D", "data", "-k"])
        .arg(folder)
        .args(["-c", "fsync=off", "-c", "max_connections=100"])
        .stdin(Stdio::piped())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while let Err(e) = postgres::Client::connect(&url(folder, "postgres"), postgres::NoTls) {
        assert!(begun.elapsed() < Duration::from_secs(600), "{e}\n{}", said(folder));
        std::thread::sleep(Duration::from_millis(20));
    }
    process
}

/// The URL of the socket in the folder.
fn url(folder: &Path, database: &str) -> String {
    let socket = folder.display().to_string().replace('/', "%2F");
    format!("postgresql://yamba@{socket}/{database}")
}

/// Finds PostgreSQL's programs; Debian does not have them in `PATH`.
fn programs() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let usual = std::env::split_paths(&paths);
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = versions.flatten().map(|v| v.path().join("bin"));
    let has_all = |p: &PathBuf| ["initdb", "postgres"].iter().all(|n| p.join(n).is_file());
    usual.chain(debian).find(has_all)
}

//! A PostgreSQL server of the tests' own: in a temporary folder, reached through a socket in it, gone at the end.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Who runs it where the tests are root's: PostgreSQL refuses to be.
const NOBODY: u32 = 65534;

/// Starts the server, and stops it when this process has ended however it did: then nobody holds the other end of standard input.
const UNTIL_LEFT: &str =
    r#""$0" "$@" </dev/null & server=$!; read -r _; kill -QUIT $server; wait $server"#;

pub struct Server {
    folder: tempfile::TempDir,
    process: Child,
}

impl Server {
    /// None where PostgreSQL is not installed, unless all tests must run.
    pub fn start() -> Option<Server> {
        let Some(programs) = programs() else {
            let must = std::env::var_os("YAMBA_TEST_ALL").is_some();
            assert!(!must, "postgres is missing");
            eprintln!("left out: postgres is missing");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let is_root = folder.path().metadata().unwrap().uid() == 0;
        if is_root {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let command = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir(folder.path());
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let made = command(&programs.join("initdb"))
            .args(["-D", "data", "-U", "yamba", "-A", "trust", "-E", "UTF8"])
            .args(["--no-locale", "--no-sync"])
            .stdout(log.try_clone().unwrap())
            .stderr(log.try_clone().unwrap())
            .status()
            .unwrap();
        let said = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        assert!(made.success(), "{}", said());
        let process = command(Path::new("sh"))
            .args(["-c", UNTIL_LEFT])
            .arg(programs.join("postgres"))
            .args(["-D", "data", "-c", "listen_addresses=", "-k"])
            .arg(folder.path())
            .args(["-c", "fsync=off", "-c", "max_connections=30"])
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Server { folder, process };
        let said = || fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
        let begun = Instant::now();
        while let Err(e) = postgres::Client::connect(&server.url("postgres"), postgres::NoTls) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{e}\n{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// A new database; what the statement `CREATE DATABASE name` may have after it is in `more`.
    pub fn database(&self, name: &str, more: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name} {more}"));
        self.url(name)
    }

    pub fn url(&self, database: &str) -> String {
        let socket = self.folder.path().display().to_string();
        let socket = socket.replace('/', "%2F");
        format!("postgresql://yamba@{socket}/{database}")
    }

    /// What a statement that counts says.
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
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Debian keeps them out of the usual folders.
fn programs() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let usual = std::env::split_paths(&paths);
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = versions.flatten().map(|v| v.path().join("bin"));
    let has_all = |p: &PathBuf| ["initdb", "postgres"].iter().all(|n| p.join(n).is_file());
    usual.chain(debian).find(has_all)
}

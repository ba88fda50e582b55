//! PostgreSQL behind PgBouncer, which gives each transaction any of a few connections to the
//! server.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use yamba_store::{Detail, Location, Store};

use super::sample::{entry, run};
use super::server::{NOBODY, Server, command, is_root, launched, until_left};
use super::{SAME, TestStore};

/// Fewer connections to the server than clients, so that transactions of one client use several.
const CONNECTIONS: usize = 2;

/// A PgBouncer before a server. It listens on a socket in a folder of its own.
struct Pool {
    folder: PathBuf,
    process: Child,
}

impl Pool {
    fn start(server: &Server, mode: &str) -> Pool {
        let root = server.folder.path();
        let folder = root.join(mode);
        fs::create_dir(&folder).unwrap();
        if is_root(root) {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let (root, own) = (root.display(), folder.display());
        let settings = format!(
            "[databases]\n* = host={root}\n[pgbouncer]\nlisten_port = 5432\nunix_socket_dir = {own}\nauth_type = trust\nauth_file = {own}/users\npool_mode = {mode}\ndefault_pool_size = {CONNECTIONS}\nserver_login_retry = 1\n"
        );
        fs::write(folder.join("users"), "\"yamba\" \"\"\n").unwrap();
        fs::write(folder.join("settings"), settings).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let process = command(&folder, Path::new("sh"))
            .args(["-c", &until_left("TERM")])
            .arg(program())
            .args(["-q", "settings"])
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let pool = Pool { folder, process };
        let begun = Instant::now();
        while let Err(e) = pool.client("postgres") {
            let log = fs::read_to_string(pool.folder.join("log")).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(600), "{e}\n{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        pool
    }

    fn url(&self, database: &str) -> String {
        let socket = self.folder.display().to_string().replace('/', "%2F");
        format!("postgresql://yamba@{socket}/{database}")
    }

    fn client(&self, database: &str) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(&self.url(database), postgres::NoTls)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Debian's package has the program where only root looks for programs.
fn program() -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::env::split_paths(&paths).map(|folder| folder.join("pgbouncer"));
    let mut places = usual.chain([PathBuf::from("/usr/sbin/pgbouncer")]);
    let found = places.find(|path| path.is_file());
    found.expect("pgbouncer is missing: scripts/install-missing test installs it")
}

#[test]
#[ignore = "needs postgres and pgbouncer"]
fn pool_of_connections_is_a_store() {
    let mut server = Server::start();
    let pool = Pool::start(&server, "transaction");
    for (name, body) in SAME {
        eprintln!("{name}");
        server.database(name, "");
        body(&TestStore::database(&pool.url(name)));
    }
    two_stores_alternate(&server, &pool);
    statement_pooling_is_refused(&server);
    run_outlives_a_restart_of_the_server(&mut server, &pool);
}

/// Each transaction may have another connection, and none may find a setting of an earlier one.
fn two_stores_alternate(server: &Server, pool: &Pool) {
    server.database("shared", "");
    let place = TestStore::database(&pool.url("shared"));
    let mut stores = [place.open(), place.open(), place.open()];
    for (number, store) in stores.iter_mut().enumerate() {
        store.begin(&run(&format!("0{number}"), 1.0)).unwrap();
    }
    for round in 0..20 {
        for (number, store) in stores.iter_mut().enumerate() {
            let id = format!("0{number}");
            store.put(&id, round, &entry("lat_a", 3)).unwrap();
            assert_eq!(store.runs().unwrap().len(), 3);
        }
    }
    let read = place.open().run("02", Detail::Batches).unwrap();
    assert_eq!(read.benchmarks.len(), 20);
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| pool.client("shared").unwrap()).collect();
    let mut open: Vec<_> = clients.iter_mut().map(|c| c.transaction().unwrap()).collect();
    for transaction in &mut open {
        for (setting, usual) in [("search_path", "\"$user\", public"), ("lock_timeout", "0")] {
            let row = transaction.query_typed_one(&format!("SHOW {setting}"), &[]);
            assert_eq!(row.unwrap().get::<_, String>(0), usual);
        }
    }
}

/// A pool of statements gives each statement of a transaction another connection.
fn statement_pooling_is_refused(server: &Server) {
    server.database("statements", "");
    let pool = Pool::start(server, "statement");
    let location = Location::parse(OsStr::new(&pool.url("statements"))).unwrap();
    let Err(error) = Store::open(&location) else { panic!("it was opened") };
    // The reason is lost if the end of the connection is read with it.
    let fault = error.to_string();
    assert!(fault.contains("statement pooling") || fault.contains("connection closed"), "{fault}");
    let help = error.help_text().unwrap();
    assert!(help.contains("pool_mode = transaction"), "{error:?}");
}

fn run_outlives_a_restart_of_the_server(server: &mut Server, pool: &Pool) {
    server.database("restarted", "");
    let place = TestStore::database(&pool.url("restarted"));
    let mut store = place.open();
    let mut whole = run("0a", 1.0);
    whole.benchmarks = (0..2).map(|i| entry(&format!("lat_{i}"), 3)).collect();
    store.begin(&whole).unwrap();
    for (place, benchmark) in whole.benchmarks.iter().enumerate() {
        server.stop();
        server.process = launched(server.folder.path());
        store.put("0a", place, benchmark).unwrap();
    }
    store.finish(&whole).unwrap();
    assert_eq!(place.open().run("0a", Detail::Batches).unwrap(), whole);
}

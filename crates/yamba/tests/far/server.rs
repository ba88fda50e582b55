//! The test's own ssh server for the far end of `yamba run --remote`, on the loopback or on another
//! host.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use yamba_child_guard::{Guarded, StartGuarded};

/// The path of sshd.
pub const PROGRAM: &str = "/usr/sbin/sshd";

/// sshd needs this folder if root starts it. If it is missing, the server runs in a mount name
/// space that has it, so nothing must be removed and no other server is affected. Without a name
/// space, the folder is created.
const WITH_FOLDER: &str = r#"
[ -d /run/sshd ] || [ "$(id -u)" != 0 ] && exec "$@"
unshare --mount true && exec unshare --mount sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"' sh "$@"
mkdir -p /run/sshd && exec "$@""#;

/// Number of ports to try, since another process may take a free port before the server does.
const TRIES: usize = 20;

/// Limit that suits a slow, busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs until it is dropped. Users with the key can log in.
pub struct Server {
    folder: PathBuf,
    address: String,
    port: u16,
    server: Guarded,
}

impl Server {
    /// Starts a server on a free loopback port. Its files are in `folder`, which must exist.
    pub fn start(folder: &Path) -> Server {
        prepare(folder);
        let started = (0..TRIES).find_map(|_| {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            try_to_start(folder, &[], "127.0.0.1", port)
        });
        started.unwrap_or_else(|| panic!("no server of ssh: {}", said(folder)))
    }

    /// Starts a server at `address` on the host that the command prefix `host` leads to. No other
    /// process uses that host's ports.
    pub fn start_on(folder: &Path, host: &[String], address: &str) -> Server {
        prepare(folder);
        let started = try_to_start(folder, host, address, 22);
        started.unwrap_or_else(|| panic!("no server of ssh: {}", said(folder)))
    }

    /// The folder that holds the far end's folder and files.
    pub fn far(&self) -> PathBuf {
        self.folder.join("far")
    }

    /// A folder whose programs precede others in the server's `PATH`.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    /// The process that accepts connections.
    pub fn pid(&self) -> i32 {
        self.server.id() as i32
    }

    /// The machine's name for `YAMBA_SSH`.
    pub fn name(&self) -> &str {
        &self.address
    }

    /// The value for `YAMBA_SSH`.
    pub fn ssh(&self) -> String {
        self.ssh_with("user")
    }

    /// The value with another key. The host's key does not permit a login.
    pub fn ssh_with(&self, key: &str) -> String {
        format!(
            "ssh -F none -o IdentitiesOnly=yes -i {} -o UserKnownHostsFile={} -p {}",
            self.folder.join(key).display(),
            self.folder.join("known").display(),
            self.port
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Creates the keys and the far end's folders.
fn prepare(folder: &Path) {
    for key in ["host", "user"] {
        let mut generator = Command::new("ssh-keygen");
        generator.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        let made = generator.arg(folder.join(key)).status().unwrap();
        assert!(made.success());
    }
    for part in ["far", "programs"] {
        fs::create_dir(folder.join(part)).unwrap();
    }
}

fn said(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// Starts a server. `None` if it ends at once.
fn try_to_start(folder: &Path, host: &[String], address: &str, port: u16) -> Option<Server> {
    let at = |name: &str| folder.join(name);
    let key = fs::read_to_string(at("host.pub")).unwrap();
    let known = match port {
        22 => address.to_owned(),
        _ => format!("[{address}]:{port}"),
    };
    fs::write(at("known"), format!("{known} {key}")).unwrap();
    let configuration = format!(
        "ListenAddress {address}\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\nPidFile none\nMaxStartups 100\nSetEnv \"TMPDIR={}\" \"HOME={}\" \"PATH={}:{}\"\n",
        at("host").display(),
        at("user.pub").display(),
        at("far").display(),
        // The user's own shell start-up files are not used.
        folder.display(),
        at("programs").display(),
        std::env::var("PATH").unwrap_or_default(),
    );
    fs::write(at("configuration"), configuration).unwrap();
    let log = File::create(at("log")).unwrap();
    let own = ["sh", "-c", WITH_FOLDER, "sh", PROGRAM, "-D", "-e", "-f"];
    let mut words = host.iter().map(String::as_str).chain(own);
    let mut server = Command::new(words.next().unwrap_or_default())
        .args(words)
        .arg(at("configuration"))
        .stdin(Stdio::null())
        .stderr(log)
        .start();
    let since = Instant::now();
    // Uses the server's own message, since an open port could belong to another program.
    while !said(folder).contains("Server listening on") {
        assert!(since.elapsed() < PATIENCE, "{}", said(folder));
        if server.try_wait().unwrap().is_some() {
            return None;
        }
        sleep(Duration::from_millis(10));
    }
    Some(Server { folder: folder.to_owned(), address: address.to_owned(), port, server })
}

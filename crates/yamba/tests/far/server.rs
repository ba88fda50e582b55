//! A server of ssh of a test's own, for the far end of `yamba run --remote`: on this machine's loopback, or on another host.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The server's program.
const PROGRAM: &str = "/usr/sbin/sshd";

/// A server that root starts wants this folder. Where it is missing, the server gets a view of the files in which it is there: nothing is
/// to be removed, and no other server waits for it. Who may not have a view of his own makes the folder.
const WITH_FOLDER: &str = r#"
[ -d /run/sshd ] || [ "$(id -u)" != 0 ] && exec "$@"
unshare --mount true && exec unshare --mount sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"' sh "$@"
mkdir -p /run/sshd && exec "$@""#;

/// A free port may be taken by somebody else before the server has it: then another one is tried.
const TRIES: usize = 20;

/// Long enough for a slow machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// It runs as long as this lives, and lets in who has the key.
pub struct Server {
    folder: PathBuf,
    address: String,
    port: u16,
    server: Child,
}

/// Whether all programs that this needs are installed.
pub fn is_installed() -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&paths).any(|p| p.join(name).is_file());
    Path::new(PROGRAM).is_file() && ["ssh", "ssh-keygen"].iter().all(|p| has(p))
}

impl Server {
    /// On a free port of the loopback. Its files are in this folder, which has to be there.
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

    /// On the host that these words lead to, a command that runs another one; it has this address, and nobody else has its ports.
    #[allow(dead_code)]
    pub fn start_on(folder: &Path, host: &[String], address: &str) -> Server {
        prepare(folder);
        let started = try_to_start(folder, host, address, 22);
        started.unwrap_or_else(|| panic!("no server of ssh: {}", said(folder)))
    }

    /// Where the far end's folder is made, and its files.
    pub fn far(&self) -> PathBuf {
        self.folder.join("far")
    }

    /// Programs in it are found before others of their names.
    #[allow(dead_code)]
    pub fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    /// The process that waits for connections.
    #[allow(dead_code)]
    pub fn pid(&self) -> i32 {
        self.server.id() as i32
    }

    /// The name by which the machine is known to `YAMBA_SSH`.
    #[allow(dead_code)]
    pub fn name(&self) -> &str {
        &self.address
    }

    /// What `YAMBA_SSH` is to be.
    pub fn ssh(&self) -> String {
        self.ssh_with("user")
    }

    /// The same with another key: with that of the host, nobody is let in.
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

/// The keys, and the folders of the far end.
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

/// None if it ends at once; it has said why.
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
        // What the user's shell does when it starts is no part of the far end.
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
        .spawn()
        .unwrap();
    let since = Instant::now();
    // By its own word: whether somebody answers at the port would not tell who does.
    while !said(folder).contains("Server listening on") {
        assert!(since.elapsed() < PATIENCE, "{}", said(folder));
        if server.try_wait().unwrap().is_some() {
            return None;
        }
        sleep(Duration::from_millis(10));
    }
    Some(Server {
        folder: folder.to_owned(),
        address: address.to_owned(),
        port,
        server,
    })
}

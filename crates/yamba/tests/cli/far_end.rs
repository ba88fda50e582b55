//! `--remote HOST`, with a server of ssh of the test's own: what is measured, what is left, and what is said where there is no far end.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Yamba, has, processes_of, until};

/// The folder that a server wants which root starts, and gives its privileges up there. Made where there is none, and removed by the last that needs it.
struct Private;

const PRIVATE: &str = "/run/sshd";

/// How many need it; none where it was there before.
static NEED: Mutex<Option<usize>> = Mutex::new(Some(0));

impl Private {
    fn new() -> Private {
        let mut need = NEED.lock().unwrap();
        if *need == Some(0) && fs::create_dir(PRIVATE).is_err() {
            *need = None;
        }
        *need = need.map(|n| n + 1);
        Private
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let mut need = NEED.lock().unwrap();
        *need = need.map(|n| n - 1);
        if *need == Some(0) {
            let _ = fs::remove_dir(PRIVATE);
        }
    }
}

/// A server on a free port of the loopback, which lets in who has the key.
struct Server {
    folder: tempfile::TempDir,
    port: u16,
    server: Child,
    _private: Private,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for key in ["host", "user"] {
            let mut generator = Command::new("ssh-keygen");
            generator.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(generator.arg(at(key)).status().unwrap().success());
        }
        fs::create_dir(at("far")).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let key = fs::read_to_string(at("host.pub")).unwrap();
        fs::write(at("known"), format!("[127.0.0.1]:{port} {key}")).unwrap();
        let configuration = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPidFile none\nSetEnv TMPDIR={}\n",
            at("host").display(),
            at("user.pub").display(),
            at("far").display(),
        );
        fs::write(at("configuration"), configuration).unwrap();
        let private = Private::new();
        let mut server = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(at("configuration"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the server of ssh does not start", || {
            assert!(server.try_wait().unwrap().is_none(), "it has ended");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Server {
            folder,
            port,
            server,
            _private: private,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the far end's folder is made.
    fn far(&self) -> PathBuf {
        self.at("far")
    }

    fn ssh_with(&self, key: &str) -> String {
        format!(
            "ssh -F none -o IdentitiesOnly=yes -i {} -o UserKnownHostsFile={} -p {}",
            self.at(key).display(),
            self.at("known").display(),
            self.port
        )
    }

    fn yamba(&self) -> Yamba {
        Yamba::new().env("YAMBA_SSH", self.ssh_with("user"))
    }

    #[track_caller]
    fn leaves_nothing(&self) {
        until("something is left on the far machine", || {
            processes_of(&self.far()).is_empty() && fs::read_dir(self.far()).unwrap().count() == 0
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The server, where all that is needed is there.
fn server() -> Option<Server> {
    let is_there = Path::new("/usr/sbin/sshd").is_file();
    assert!(is_there || std::env::var_os("YAMBA_TEST_ALL").is_none());
    if !is_there {
        eprintln!("left out: /usr/sbin/sshd is missing");
    }
    let all = ["g++", "ssh", "ssh-keygen"].iter().all(|p| has(p));
    (all && is_there).then(Server::start)
}

#[test]
fn both_ends_measure() {
    let Some(server) = server() else { return };
    let words = "run lat_tcp lat_udp lat_connect lat_ping --quick --remote 127.0.0.1 --json";
    let answer = server.yamba().run(words);
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let all = run["benchmarks"].as_array().unwrap();
    assert_eq!(all.len(), 4, "{}", answer.out);
    for figure in all {
        let class = figure["class"].as_str().unwrap();
        if class == "lat_ping" && figure["status"] == "skipped" {
            continue; // not for everybody
        }
        assert_eq!(figure["parameters"]["host"], "ssh:127.0.0.1");
        let platform = &figure["platform"];
        assert_eq!(platform["far_host"], "127.0.0.1", "{figure}");
        assert_eq!(platform["far_is_this_machine"], true, "{platform}");
        assert!(figure["notes"].to_string().contains("no packet leaves it"));
        let proof = match class {
            "lat_connect" => "accepted_per_connection",
            "lat_ping" => "requests_counted",
            _ => "answers_per_pass",
        };
        assert!(figure["evidence"][proof]["min"].as_f64().unwrap() >= 1.0);
    }
    server.leaves_nothing();
}

/// A run that goes on, when its far end does, and the processes of that.
fn measuring(server: &Server) -> (Yamba, Child, Vec<u32>) {
    let mut yamba = server.yamba();
    let words = "run lat_tcp --time 300s --remote 127.0.0.1 --set message=1";
    // Builds it before: how long that takes says nothing of the far end.
    yamba.run(&format!("{words} --dry-run")).ok();
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = yamba.command(&words);
    let run = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut far = Vec::new();
    until("no far end starts", || {
        far = programs(server);
        far.len() == 2
    });
    // Whatever is killed from now on, there is nothing to remove.
    assert_eq!(fs::read_dir(server.far()).unwrap().count(), 0);
    (yamba, run, far)
}

/// The far end and its partner.
fn programs(server: &Server) -> Vec<u32> {
    let mut all = processes_of(&server.far());
    let program = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    // It removes its own file when it begins.
    all.retain(|pid| program(*pid).ends_with("program (deleted)"));
    all
}

#[test]
fn nothing_is_left_of_a_killed_run() {
    let Some(server) = server() else { return };
    let (_yamba, mut run, _) = measuring(&server);
    run.kill().unwrap();
    run.wait().unwrap();
    server.leaves_nothing();
}

#[test]
fn a_far_end_that_dies_costs_its_launch() {
    let Some(server) = server() else { return };
    let (_yamba, mut run, far) = measuring(&server);
    for pid in &far {
        let _ = kill_process(Pid::from_raw(*pid as i32).unwrap(), Signal::KILL);
    }
    // One accident is forgiven: the next launch has a far end of its own.
    until("it does not go on", || {
        let next = programs(&server);
        run.try_wait().unwrap().is_some() || (next.len() == 2 && next != far)
    });
    let _ = kill_process(Pid::from_child(&run), Signal::INT);
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = ["gone", "reset by peer"].iter().any(|w| words.contains(w));
    assert!(told, "{text}");
    server.leaves_nothing();
}

#[test]
fn who_is_not_let_in_is_told_what_mends_that() {
    let Some(server) = server() else { return };
    let words = "run lat_udp --quick --remote 127.0.0.1 --set message=1";
    let with = |ssh: &str| Yamba::new().env("YAMBA_SSH", ssh).run(words).ok();
    with(&server.ssh_with("host")).says(&["skipped", "Permission denied", "BatchMode=yes"]);
    with("no-such-ssh").says(&["skipped", "no-such-ssh", "not found", "YAMBA_SSH"]);
    server.leaves_nothing();
}

#[test]
fn a_machine_that_takes_no_program_is_told() {
    let Some(server) = server() else { return };
    fs::remove_dir(server.far()).unwrap();
    let words = "run lat_udp --quick --remote 127.0.0.1 --set message=1";
    let answer = server.yamba().run(words).ok();
    answer.says(&["skipped", "cannot be started on", "$TMPDIR"]);
}

#[test]
fn wrong_uses_are_refused() {
    let mut yamba = Yamba::new();
    yamba
        .run("run lat_pipe --remote server")
        .refused(&["lat_pipe does not measure between two hosts", "`host`"]);
    yamba
        .run("run lat_tcp --remote server --set host=veth")
        .refused(&["contradict", "--sweep host=loopback,ssh:server"]);
    yamba
        .run("run lat_tcp --remote=-oProxyCommand=true")
        .refused(&["USER@HOST"]);
}

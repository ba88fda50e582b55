//! A cluster of Slurm on this machine, in a temporary folder: the controller, and two nodes with a
//! daemon each.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Missing;
use crate::pages::is_root;

/// Runs a daemon until standard input is closed, that is, until this process ends in any way.
const UNTIL_LEFT: &str = r#""$@" </dev/null & daemon=$!; read -r _; kill $daemon; wait $daemon"#;

/// Limit that suits a slow, busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs until it is dropped.
pub struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts the cluster with the nodes `n1` and `n2`.
    pub fn start() -> Result<Cluster, Missing> {
        let programs = ["/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"];
        if let Some(missing) = programs.iter().find(|p| !Path::new(p).exists()) {
            let why = format!("needs {missing}: scripts/install-missing cluster installs it");
            return Err(Missing::new(why));
        }
        if !is_root() {
            return Err(Missing::new("slurmd needs root"));
        }
        let mut cluster = Cluster { folder: tempfile::tempdir().unwrap(), daemons: Vec::new() };
        cluster.prepare();
        cluster.start_all();
        Ok(cluster)
    }

    /// The value of `SLURM_CONF`.
    pub fn configuration(&self) -> String {
        self.path("slurm.conf")
    }

    /// A command of Slurm, whose output is returned.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        let output = command.env("SLURM_CONF", self.configuration()).output();
        let output = output.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn prepare(&self) {
        // munged accepts only a folder that others cannot write, and a secret key.
        fs::set_permissions(self.folder.path(), Permissions::from_mode(0o755)).unwrap();
        let key = self.folder.path().join("key");
        let random: Vec<u8> = (0..1024).map(|_| fastrand::u8(..)).collect();
        fs::write(&key, random).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(0o400)).unwrap();
        fs::create_dir(self.path("state")).unwrap();
        let host = host_name();
        let [control, first, second] = free_ports();
        let at = |name: &str| self.path(name);
        let node = |name: &str, port| {
            format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n")
        };
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\n\
             SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={}\n\
             StateSaveLocation={}\nSlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\n\
             SlurmctldLogFile={}\nSlurmdLogFile={}\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SwitchType=switch/none\nMpiDefault=none\nAccountingStorageType=accounting_storage/none\n\
             JobAcctGatherType=jobacct_gather/none\nSchedulerParameters=sched_interval=1,bf_interval=1\n\
             KillWait=2\nReturnToService=2\n{}{}PartitionName=main Nodes=n1,n2 Default=YES \
             MaxTime=INFINITE State=UP OverSubscribe=YES\n",
            at("socket"),
            at("state"),
            at("spool-%n"),
            at("slurmctld.pid"),
            at("slurmd-%n.pid"),
            at("slurmctld.log"),
            at("slurmd-%n.log"),
            node("n1", first),
            node("n2", second),
        );
        fs::write(self.configuration(), text).unwrap();
    }

    fn start_all(&mut self) {
        let (socket, key) = (self.path("socket"), self.path("key"));
        let file = |name: &str, path: String| format!("--{name}={path}");
        self.start_daemon(&[
            "/usr/sbin/munged",
            "--foreground",
            "--force",
            &file("socket", socket.clone()),
            &file("key-file", key),
            &file("log-file", self.path("munge.log")),
            &file("pid-file", self.path("munge.pid")),
            &file("seed-file", self.path("munge.seed")),
        ]);
        self.until("munged listens", |_| Path::new(&socket).exists());
        self.start_daemon(&["/usr/sbin/slurmctld", "-D"]);
        for node in ["n1", "n2"] {
            self.start_daemon(&["/usr/sbin/slurmd", "-D", "-N", node]);
        }
        self.until("both nodes are idle", |cluster| {
            let mut ask = Command::new("sinfo");
            ask.args(["-h", "-N", "-o", "%T"]);
            let said = ask.env("SLURM_CONF", cluster.configuration()).output();
            said.is_ok_and(|s| s.stdout == b"idle\nidle\n")
        });
    }

    fn start_daemon(&mut self, words: &[&str]) {
        let log =
            fs::File::options().create(true).append(true).open(self.path("daemons.log")).unwrap();
        let daemon = Command::new("sh")
            .args(["-c", UNTIL_LEFT, "sh"])
            .args(words)
            .env("SLURM_CONF", self.configuration())
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        self.daemons.push(daemon.unwrap());
    }

    /// Waits until the condition holds.
    #[track_caller]
    pub fn until(&self, what: &str, holds: impl Fn(&Cluster) -> bool) {
        let since = Instant::now();
        while !holds(self) {
            let log = fs::read_to_string(self.path("daemons.log")).unwrap_or_default();
            assert!(since.elapsed() < PATIENCE, "not so: {what}\n{log}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    /// Ends the nodes before the controller, and munged last.
    fn drop(&mut self) {
        for mut daemon in self.daemons.drain(..).rev() {
            drop(daemon.stdin.take());
            let _ = daemon.wait();
        }
    }
}

/// The host's name without its domain.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let short = name.trim().split('.').next();
    short.unwrap_or_default().to_owned()
}

/// Ports that are free now.
fn free_ports() -> [u16; 3] {
    let bound = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    bound.map(|listener| listener.local_addr().unwrap().port())
}

//! Runs in a file system that is mounted only for them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Missing;
use crate::far_host::Cable;
use crate::support::{Answer, Yamba, needs};

/// Runs with the files in `folder/seen`, on which the command `mount` mounts something. Then lists
/// its content in `folder/left`.
pub fn mounted(
    yamba: &Yamba,
    folder: &Path,
    mount: &str,
    words: &[&str],
) -> Result<Answer, Missing> {
    needs(&["unshare", "mount"]);
    let seen = folder.join("seen");
    fs::create_dir(&seen).unwrap();
    let place = folder.display();
    let script = format!(
        "{mount} {place}/seen || exit 9
         \"$@\"
         status=$?
         ls -A {place}/seen >{place}/left
         umount {place}/seen || umount -l {place}/seen
         exit $status"
    );
    let there = |run: Command| {
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "--mount", "--net", "sh", "-c", &script, "sh"])
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(yamba.folder.path())
            .stdin(Stdio::null());
        let set = run.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        command.env("TMPDIR", &seen).output().unwrap()
    };
    let trial = there(Command::new("true"));
    if !trial.status.success() {
        let told = String::from_utf8_lossy(&trial.stderr);
        return Err(Missing::new(format!("`{mount}` is refused here: {told}")));
    }
    Ok(Answer::read(there(yamba.command(words))))
}

/// Possible paths of the SFTP server.
const SFTP_SERVERS: [&str; 3] = [
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
];

/// The SFTP server for sshfs.
fn sftp_server() -> &'static str {
    needs(&["sshfs"]);
    let found = SFTP_SERVERS.into_iter().find(|p| Path::new(p).is_file());
    found.expect("sftp-server, which comes with sshd")
}

/// Runs on the near host, with the far host's folder `under` mounted at `seen` through the cable.
/// Both folders are in `folder`, since the hosts share a disk.
pub fn by_sshfs_over(
    cable: &Cable,
    yamba: &Yamba,
    folder: &Path,
    words: &[&str],
) -> Result<Answer, Missing> {
    let sftp = sftp_server();
    fs::create_dir(folder.join("seen")).unwrap();
    // The mount exists in a separate mount name space, which ends with its last process.
    let script = "sshfs -o sftp_server=\"$1\" -o ssh_command=\"$2\" \"$3\" \"$4\" || exit 9
         seen=$4
         shift 4
         \"$@\"
         status=$?
         umount \"$seen\" || umount -l \"$seen\"
         exit $status";
    let server = &cable.far.server;
    let source = format!("{}:{}", server.name(), folder.join("under").display());
    let enter = cable.near.enter();
    let run = yamba.command(words);
    let mut command = Command::new(&enter[0]);
    command
        .args(&enter[1..])
        .args(["unshare", "--mount", "sh", "-c", script, "sh"])
        .args([sftp, &server.ssh(), &source])
        .arg(folder.join("seen"))
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(yamba.folder.path())
        .stdin(Stdio::null());
    command.envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let answer = Answer::read(command.output().unwrap());
    if answer.status == 9 {
        // No package can provide this.
        return Err(Missing::new(format!("sshfs does not mount: {}", answer.err)));
    }
    Ok(answer)
}

/// Like `mounted`, with `folder/under` mounted by sshfs and no network in between.
pub fn by_sshfs(yamba: &Yamba, folder: &Path, words: &[&str]) -> Result<Answer, Missing> {
    let sftp = sftp_server();
    let server = folder.join("server");
    fs::create_dir_all(folder.join("under")).unwrap();
    fs::write(&server, format!("#!/bin/sh\nexec {sftp}\n")).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.display();
    let mount = format!("sshfs -o ssh_command={place}/server here:{place}/under");
    mounted(yamba, folder, &mount, words)
}

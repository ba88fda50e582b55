//! Runs in a file system that is mounted for them, where they alone see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Answer, Yamba, has, leave_out};

/// A run that has its files in `folder/seen`, upon which this command mounts something. What is there afterwards is listed in `folder/left`. None where nobody may mount that, which is said.
pub fn mounted(yamba: &Yamba, folder: &Path, mount: &str, words: &[&str]) -> Option<Answer> {
    if !has("unshare") || !has("mount") {
        return None;
    }
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
            .args([
                "--map-root-user",
                "--mount",
                "--net",
                "sh",
                "-c",
                &script,
                "sh",
            ])
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
        eprintln!("left out: `{mount}` is refused here: {told}");
        return None;
    }
    Some(Answer::of(there(yamba.command(words))))
}

/// Where the systems have it.
const SFTP_SERVERS: [&str; 3] = [
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
];

/// The same by sshfs, of what is in `folder/under`; no network is between. Nobody has to have sshfs.
pub fn by_sshfs(yamba: &Yamba, folder: &Path, words: &[&str]) -> Option<Answer> {
    let Some(sftp) = SFTP_SERVERS.iter().find(|path| Path::new(path).is_file()) else {
        leave_out("sftp-server is missing");
        return None;
    };
    if Command::new("sshfs").arg("--version").output().is_err() {
        leave_out("sshfs is missing");
        return None;
    }
    let server = folder.join("server");
    fs::create_dir_all(folder.join("under")).unwrap();
    fs::write(&server, format!("#!/bin/sh\nexec {sftp}\n")).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.display();
    let mount = format!("sshfs -o ssh_command={place}/server here:{place}/under");
    mounted(yamba, folder, &mount, words)
}

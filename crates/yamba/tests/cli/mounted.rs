//! Runs in a file system that is mounted for them, where they alone see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::far_host::Cable;
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

/// What serves files to sshfs; none where that or sshfs is missing.
fn sftp_server() -> Option<&'static str> {
    let found = SFTP_SERVERS
        .into_iter()
        .find(|path| Path::new(path).is_file());
    if found.is_none() {
        leave_out("sftp-server is missing");
    } else if Command::new("sshfs").arg("--version").output().is_err() {
        leave_out("sshfs is missing");
        return None;
    }
    found
}

/// A run on the near host, with the folder `under` of the far one, which is reached through the cable, mounted at `seen`. They are beside each other in `folder`, since both hosts have the same disks.
pub fn by_sshfs_over(
    cable: &Cable,
    yamba: &Yamba,
    folder: &Path,
    words: &[&str],
) -> Option<Answer> {
    let sftp = sftp_server()?;
    fs::create_dir(folder.join("seen")).unwrap();
    // The mount is in a view of the files of its own, which ends with who looks at it.
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
    let answer = Answer::of(command.output().unwrap());
    if answer.status == 9 {
        // Of the system, which nobody can install.
        eprintln!("left out: sshfs does not mount: {}", answer.err);
        return None;
    }
    Some(answer)
}

/// The same by sshfs, of what is in `folder/under`; no network is between. Nobody has to have sshfs.
pub fn by_sshfs(yamba: &Yamba, folder: &Path, words: &[&str]) -> Option<Answer> {
    let sftp = sftp_server()?;
    let server = folder.join("server");
    fs::create_dir_all(folder.join("under")).unwrap();
    fs::write(&server, format!("#!/bin/sh\nexec {sftp}\n")).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.display();
    let mount = format!("sshfs -o ssh_command={place}/server here:{place}/under");
    mounted(yamba, folder, &mount, words)
}

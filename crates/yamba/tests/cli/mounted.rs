//! Runs in a file system that is mounted for them, where they alone see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Answer, Yamba};

/// A run that has its files in `folder/seen`, upon which this command mounts something. What is there afterwards is listed in `folder/left`. None where nobody may mount that.
pub fn mounted(yamba: &Yamba, folder: &Path, mount: &str, words: &[&str]) -> Option<Answer> {
    let seen = folder.join("seen");
    fs::create_dir(&seen).unwrap();
    let place = folder.display();
    let script = format!(
        "{mount} {place}/seen || exit 9
         \"$@\"
         status=$?
         ls -A {place}/seen >{place}/left
         umount {place}/seen
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
        command.env("TMPDIR", &seen).output().ok()
    };
    there(Command::new("true"))?
        .status
        .success()
        .then_some(())?;
    Some(Answer::of(there(yamba.command(words))?))
}

/// The same by sshfs, of what is in `folder/under`; no network is between.
pub fn by_sshfs(yamba: &Yamba, folder: &Path, words: &[&str]) -> Option<Answer> {
    let server = folder.join("server");
    fs::create_dir_all(folder.join("under")).unwrap();
    fs::write(&server, "#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n").unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.display();
    let mount = format!("sshfs -o ssh_command={place}/server here:{place}/under");
    mounted(yamba, folder, &mount, words)
}

//! Files on another host: evidence that must fail. If a server or name space is missing, the
//! benchmark and the test report it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::evidence::{Wrong, all_are_caught, are_caught, classes};
use crate::far_host::Cable;
use crate::mounted::{by_sshfs, by_sshfs_over};
use crate::support::{Answer, Yamba, column};
use crate::{Missing, Skipped};

const WRONG: [Wrong; 4] = [
    Wrong {
        name: "cache_kept",
        base: "lat_remote_read_sshfs",
        evidence: "received_per_byte",
        members: "void forget() { if (mounted_file.file < 0) super::forget(); }",
    },
    Wrong {
        name: "cache_filled",
        base: "lat_remote_read_sshfs",
        evidence: "client_pages_before_pass",
        members: "void forget()
         {
             super::forget();
             for (size_t at = 0; at < size; at += block) super::read_at(at);
             mounted_file.look(size);
         }",
    },
    Wrong {
        name: "another_block",
        base: "lat_remote_read_smb",
        evidence: "blocks_right",
        members: "const byte_t *read_at(size_t offset) { return super::read_at(offset == 0 ? block : 0); }",
    },
    Wrong {
        name: "nothing_read",
        base: "lat_remote_read_nfs",
        evidence: "received_per_byte",
        members: "const byte_t *read_at(size_t offset) { return content() + offset; }",
    },
];

pub fn evidence_detects_wrong_remote_reads() -> Result<(), Missing> {
    all_are_caught(Yamba::new(), "", &WRONG, "")
}

/// Wrong benchmarks of a file that is not read through a network.
const WRONG_MOUNTED: [Wrong; 2] = [
    Wrong {
        name: "of_this_host",
        base: "lat_remote_read_mounted",
        evidence: "received_per_byte",
        members: "",
    },
    Wrong {
        name: "in_memory",
        base: "lat_remote_read_mounted",
        evidence: "client_pages_before_pass",
        members: "void forget()
         {
             super::forget();
             for (size_t at = 0; at < size; at += block) read_at(at);
             mounted_file.look(size);
         }",
    },
];

pub fn local_file_is_rejected_as_mounted_file() -> Result<(), Missing> {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::Builder::new().tempdir_in(disk).unwrap();
    fs::create_dir(folder.path().join("under")).unwrap();
    let local = folder.path().join("under/file");
    fs::write(&local, vec![7; 256 << 10]).unwrap();

    let mut yamba = Yamba::new().file("wrong.yamba", classes("", &WRONG_MOUNTED));
    let words = "--quick --json --launches 1 --set size=256K --set";
    let named = |path: &Path| format!("{words} file={}", path.display());
    let words = format!("run lat_remote_read_mounted {}", named(&local));
    let (_, status, notes) = said(&yamba.run(&words).ok()).remove(0);
    assert_eq!(status, "skipped", "{notes}");
    assert!(notes.contains("not known to be of another host"), "{notes}");

    let seen = folder.path().join("seen/file");
    let words = format!("run wrong.yamba {}", named(&seen));
    let words: Vec<&str> = words.split(' ').collect();
    are_caught(&by_sshfs(&yamba, folder.path(), &words)?, &WRONG_MOUNTED)
}

/// Bytes that the far host has sent through the cable, by its own counter.
fn sent(cable: &Cable) -> u64 {
    let enter = cable.far_host.enter();
    let mut command = Command::new(&enter[0]);
    command.args(&enter[1..]).args(["cat", "/proc/net/dev"]);
    let said = command.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    let counts = text.lines().find_map(|l| l.trim().strip_prefix("cable:"));
    let sent = counts.and_then(|c| c.split_whitespace().nth(8));
    sent.expect("the cable").parse().unwrap()
}

/// With a server behind a cable, whose host counts the bytes sent.
pub fn remote_file_is_accepted_as_mounted_file() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("under")).unwrap();
    let blocks = (0u32..64).flat_map(|n| vec![n as u8 + 1; 4096]);
    fs::write(folder.path().join("under/file"), blocks.collect::<Vec<u8>>()).unwrap();
    let file = folder.path().join("seen/file");
    let words = format!(
        "run lat_remote_read_mounted --quick --json --raw --launches 1 --set size=256K --set file={}",
        file.display()
    );
    let words: Vec<&str> = words.split(' ').collect();
    let before = sent(&cable);
    let answer = by_sshfs_over(&cable, &Yamba::new(), folder.path(), &words)?;
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let all = run["benchmarks"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{run}");
    let notes = all[0]["notes"].to_string();
    assert_eq!(all[0]["status"], "ok", "{notes}");
    let told = format!("type fuse.sshfs, mounted from {}:", cable.far.server.name());
    assert!(notes.contains(&told), "{notes}");
    let operations = column(&all[0], "operations");
    let blocks: u64 = operations.iter().map(|n| n.as_u64().unwrap()).sum();
    let sent = sent(&cable) - before;
    assert!(blocks > 0 && sent >= blocks * 4096, "{sent} {blocks}");
    Ok(())
}

/// A program's answer to this option, from standard output and standard error.
fn answered(program: &str, question: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let mut asked = Command::new(program);
    let said = asked
        .arg(question)
        .env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"))
        .output()
        .unwrap();
    let both = [said.stdout, said.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

pub fn external_programs_are_recorded_with_versions() -> Result<(), Missing> {
    let words = "run lat_remote_read_smb lat_remote_read_nfs lat_remote_read_sshfs --quick --json --launches 1 --set order=sequential --set size=64K";
    let all = said(&Yamba::new().run(words));
    let mut skipped = Skipped::default();
    for (class, part, program, question, begins) in [
        ("lat_remote_read_smb", "server", "smbd", "-V", "Version "),
        ("lat_remote_read_nfs", "server", "ganesha.nfsd", "-v", "NFS-Ganesha "),
        ("lat_remote_read_sshfs", "server", "sshd", "-V", "OpenSSH_"),
        ("lat_remote_read_sshfs", "client", "sshfs", "-V", "SSHFS "),
    ] {
        let (_, status, notes) = all.iter().find(|(name, ..)| name == class).unwrap();
        if status == "skipped" {
            skipped.add(class, notes);
            continue;
        }
        let answer = answered(program, question);
        let version = answer.lines().find(|line| line.starts_with(begins));
        let version = version.unwrap_or_else(|| panic!("{program}: {answer}"));
        let told = format!("the {part} is {program}: {version}");
        assert!(notes.contains(&told), "no `{told}` in {notes}");
    }
    skipped.result()
}

/// The class, status and notes of each figure.
pub fn said(answer: &Answer) -> Vec<(String, String, String)> {
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let all = run["benchmarks"].as_array().unwrap();
    let text = |b: &Value, key: &str| b[key].as_str().unwrap_or_default().to_owned();
    all.iter().map(|b| (text(b, "class"), text(b, "status"), b["notes"].to_string())).collect()
}

/// Possible paths of a program.
pub fn places(program: &str) -> Vec<String> {
    let path = std::env::var("PATH").unwrap();
    let known = ["/usr/bin", "/usr/sbin", "/usr/local/sbin"];
    let folders = path.split(':').chain(known);
    folders.map(|f| format!("'{f}/{program}'")).collect()
}

/// The command prefix that hides these files, so that they can be neither run nor loaded. `None` if
/// this user cannot do that.
pub fn without(files: &[String]) -> Option<Command> {
    let hide = format!(
        "for f in {}; do [ ! -e \"$f\" ] || mount --bind /dev/null \"$f\" || exit 9; done; exec \"$@\"",
        files.join(" ")
    );
    let view = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &hide, "sh"]);
        command.args(words);
        command
    };
    let able = view(&["true"]).stderr(Stdio::null()).status();
    able.is_ok_and(|s| s.success()).then(|| view(&[]))
}

pub fn missing_program_is_reported() -> Result<(), Missing> {
    let programs = ["nginx", "smbd", "ganesha.nfsd", "sshfs"];
    let libraries = ["/usr/lib/*", "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let mut files: Vec<String> = programs.into_iter().flat_map(places).collect();
    files.extend(libraries.map(|folder| format!("{folder}/libtirpc.so.3")));
    let Some(mut command) = without(&files) else {
        return Err(Missing::new("only root can mount over files"));
    };
    let yamba = Yamba::new();
    let words = "run lat_http lat_rpc lat_remote_read_smb lat_remote_read_nfs lat_remote_read_sshfs --quick --launches 1 --json";
    let inner = yamba.command(&words.split_whitespace().collect::<Vec<_>>());
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(yamba.folder.path());
    command.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let all = said(&Answer::read(command.output().unwrap()).ok());
    for (class, package) in [
        ("lat_http", "nginx"),
        ("lat_rpc", "libtirpc3"),
        ("lat_remote_read_smb", "samba"),
        ("lat_remote_read_nfs", "nfs-ganesha nfs-ganesha-vfs"),
        ("lat_remote_read_sshfs", "sshfs"),
    ] {
        let mend = format!("`apt install {package}`");
        let told = |(name, status, notes): &(String, String, String)| {
            name == class && status == "skipped" && notes.contains(&mend)
        };
        assert!(all.iter().any(told), "{class}: {all:?}");
    }
    // The suite's own server.
    assert!(all.iter().any(|(name, status, _)| name == "lat_http" && status == "ok"), "{all:?}");
    Ok(())
}

/// Replaces a server and fails at once.
const MORTAL: &str = "#!/bin/sh\necho 'nobody has asked for me' >&2\nexit 1\n";

pub fn dead_server_is_reported() -> Result<(), Missing> {
    let yamba = Yamba::new().file("smbd", MORTAL).file("ganesha.nfsd", MORTAL);
    let own = yamba.folder.path().to_owned();
    for name in ["smbd", "ganesha.nfsd"] {
        fs::set_permissions(own.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let others = std::env::var("PATH").unwrap();
    let mut yamba = yamba.env("PATH", format!("{}:{others}", own.display()));
    let words = "run lat_remote_read_smb lat_remote_read_nfs --quick --json";
    let mut skipped = Skipped::default();
    for (class, status, notes) in said(&yamba.run(words).ok()) {
        assert_eq!(status, "skipped", "{class}: {notes}");
        let is_here = !notes.contains("name space")
            && !notes.contains("root")
            && !notes.contains("mounting is");
        match is_here {
            true => assert!(notes.contains("nobody has asked for me"), "{class}: {notes}"),
            false => skipped.add(&class, &notes),
        }
    }
    skipped.result()
}

//! `--remote HOST` with a HOST that has its own network, connected by a cable, and apparently its
//! own kernel. Only root can create such hosts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Missing;
use crate::far::{Far, Server};
use crate::support::{Answer, Yamba, needs};

const NEAR: &str = "192.0.2.1";
const FAR: &str = "192.0.2.2";
/// Another address of the far host.
const SECOND: &str = "192.0.2.5";

/// A file with an id that is unique to each running kernel.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// An unnamed network name space, which exists as long as this process.
pub struct Host(Child);

impl Host {
    /// Waits until the process reports that the name space exists.
    fn new() -> Option<Host> {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "ip link set lo up && echo up && exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut said = [0; 3];
        let out = holder.stdout.as_mut()?;
        std::io::Read::read_exact(out, &mut said).ok()?;
        Some(Host(holder))
    }

    /// The command prefix that runs a command on the host.
    pub fn enter(&self) -> Vec<String> {
        let own = format!("--net=/proc/{}/ns/net", self.0.id());
        vec!["nsenter".to_owned(), own]
    }

    /// Runs a command on the host. Returns whether it succeeded.
    fn run(&self, words: &str) -> bool {
        let enter = self.enter();
        let mut command = Command::new(&enter[0]);
        command.args(&enter[1..]).args(words.split_whitespace());
        command.status().is_ok_and(|s| s.success())
    }

    /// Runs `yamba` on the host.
    fn run_yamba(&self, yamba: &Yamba, words: &str) -> Answer {
        let inner = yamba.command(&words.split_whitespace().collect::<Vec<_>>());
        let enter = self.enter();
        let mut command = Command::new(&enter[0]);
        command.args(&enter[1..]);
        command.arg(inner.get_program()).args(inner.get_args());
        command.current_dir(yamba.folder.path()).stdin(Stdio::null());
        command.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        Answer::read(command.output().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The near end of a cable, and the machine at its far end.
pub struct Cable {
    pub near: Host,
    pub far: Far,
    pub far_host: Host,
}

impl Cable {
    pub fn new() -> Result<Cable, Missing> {
        needs(&["ip", "nsenter", "unshare"]);
        let hosts = Host::new().zip(Host::new());
        let (near, far) =
            hosts.ok_or_else(|| Missing::new("no network name space can be made here"))?;
        let other = far.0.id();
        let made = near.run(&format!("ip link add cable type veth peer name cable netns {other}"))
            && near.run(&format!("ip address add {NEAR}/29 dev cable"))
            && near.run("ip link set cable up")
            && far.run(&format!("ip address add {FAR}/29 dev cable"))
            && far.run(&format!("ip address add {SECOND}/29 dev cable"))
            && far.run("ip link set cable up");
        if !made {
            return Err(Missing::new("this kernel has no cable between two hosts"));
        }
        Ok(Cable {
            far: Far::new(|folder| Server::start_on(folder, &another_kernel(&far, folder), FAR)),
            far_host: far,
            near,
        })
    }
}

impl Cable {
    /// Configures both ends with the first of `ways` that the kernel supports. Returns its index.
    fn becomes(&self, ways: &[&str]) -> Result<usize, Missing> {
        needs(&["tc"]);
        let hosts = [&self.near, &self.far_host];
        let is_had = |way: &&str| {
            let words = format!("tc qdisc replace dev cable root {way}");
            hosts.iter().all(|host| host.run(&words))
        };
        let found = ways.iter().position(is_had);
        found.ok_or_else(|| Missing::new(format!("this kernel has none of {ways:?}")))
    }
}

/// The command prefix for this host that makes the kernel appear to have another id.
fn another_kernel(host: &Host, folder: &Path) -> Vec<String> {
    let own = folder.join("boot_id");
    fs::write(&own, "another-kernel\n").unwrap();
    let mut words = host.enter();
    let view = format!("mount --bind {} {BOOT_ID} && exec \"$@\"", own.display());
    words.extend(["unshare", "--mount", "sh", "-c"].map(str::to_owned));
    words.extend([view, "sh".to_owned()]);
    words
}

fn figures(answer: &Answer) -> Vec<Value> {
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    run["benchmarks"].as_array().unwrap().clone()
}

pub fn packets_go_to_another_machine() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let words = "run lat_tcp lat_udp lat_connect lat_ping lat_rpc --quick --json --remote";
    let answer = cable.near.run_yamba(&cable.far.yamba(), &format!("{words} {FAR}"));
    let all = figures(&answer);
    assert_eq!(all.len(), 6, "{}", answer.err);
    for figure in &all {
        let notes = figure["notes"].to_string();
        if figure["class"] == "lat_rpc" && notes.contains("libtirpc") {
            continue; // not installed
        }
        let platform = &figure["platform"];
        assert_eq!(platform["far_address"], FAR, "{notes}");
        assert_eq!(platform["near_address"], NEAR);
        assert_eq!(platform["near_interface"], "cable");
        assert_eq!(platform["far_is_this_machine"], false);
        assert!(notes.contains("packets go by cable"), "{notes}");
        assert!(!notes.contains("that is this machine"), "{notes}");
        crosses(figure);
    }
    cable.far.leaves_nothing();
    Ok(())
}

/// Checks by its evidence that a figure's packets crossed the cable.
fn crosses(figure: &Value) {
    let least = |evidence: &str| figure["evidence"][evidence]["min"].as_f64();
    let crossed = match figure["class"].as_str() {
        Some("lat_ping") => "requests_counted",
        Some("lat_connect") => "interface_packets_per_connection",
        _ => "interface_bytes_per_byte",
    };
    assert!(least(crossed) >= Some(1.0), "{figure}");
    // On a busy machine, a short run may not show that twice the passes take longer. That is noise
    // and says nothing about the packets' route.
    let is_noise = figure["notes"].to_string().contains("nothing measurable");
    assert!(figure["status"] == "ok" || is_noise, "{}", figure["notes"]);
}

/// The answers come from a process of the near host, so nothing crosses the cable.
const NOT_THERE: &str = "native {
    #include <sys/socket.h>
    #include <unistd.h>
}
yamba not_there extends lat_udp
{
    void open_ends()
    {
        super::open_ends();
        if (!hosts.has_near()) return;
        int ends[2];
        must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
        if (must(fork()) == 0) {
            yamba::system::signal_with_parent(SIGKILL);
            buffer = new byte_t[message];
            for (;;) take(ends[1]), give(ends[1]);
        }
        near = ends[0];
    }
}
";

pub fn traffic_that_bypasses_the_far_host_is_invalid() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let yamba = cable.far.yamba().file("not_there.yamba", NOT_THERE);
    // Long messages: ssh traffic between the intervals also uses the cable, but is smaller than one
    // message.
    let words = "run not_there.yamba --quick --json --set message=16K --remote";
    let answer = cable.near.run_yamba(&yamba, &format!("{words} {FAR}"));
    let all = figures(&answer);
    let notes = all[0]["notes"].to_string();
    assert_eq!(all[0]["status"], "invalid", "{notes}{}", answer.err);
    for evidence in ["interface_bytes_per_byte", "answers_per_pass"] {
        assert!(notes.contains(evidence), "{notes}");
    }
    cable.far.leaves_nothing();
    Ok(())
}

pub fn another_address_may_be_given() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let words = format!("run lat_udp --quick --json --set message=1 --remote {FAR}");
    let to = |address: &str| {
        let yamba = cable.far.yamba().env("YAMBA_FAR_ADDRESS", address);
        let answer = cable.near.run_yamba(&yamba, &words).ok();
        figures(&answer).remove(0)
    };
    assert_eq!(to(SECOND)["platform"]["far_address"], SECOND);
    let notes = to("192.0.2.77")["notes"].to_string();
    assert!(notes.contains("no address of this machine"), "{notes}");
    cable.far.leaves_nothing();
    Ok(())
}

/// As with a jump host or address translation.
pub fn route_that_only_ssh_has_is_reported() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let elsewhere = Host::new().unwrap();
    let ssh = [cable.near.enter().join(" "), cable.far.server.ssh()].join(" ");
    let yamba = Yamba::new().env("YAMBA_SSH", ssh);
    let words = format!("run lat_tcp --quick --set message=1 --remote {FAR}");
    let answer = elsewhere.run_yamba(&yamba, &words);
    let told = ["skipped", FAR, "unreachable", "ProxyJump"];
    answer.ok().says(&told);
    cable.far.leaves_nothing();
    Ok(())
}

/// Long messages, so that the burst of a slow link is a small part of each.
const MESSAGE: f64 = 16384.0;

pub fn slow_network_raises_the_figure() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let ways = ["netem delay 2ms", "tbf rate 10mbit burst 1600 latency 100ms"];
    let way = cable.becomes(&ways)?;
    // A round trip: each end delays its packets or limits its bit rate.
    let least_ns = 2.0 * [2e6, (MESSAGE - 1600.0) * 8.0 / 10e6 * 1e9][way];
    let words = "run lat_tcp lat_udp --quick --json --launches 1 --set message=16K --remote";
    let answer = cable.near.run_yamba(&cable.far.yamba(), &format!("{words} {FAR}"));
    let all = figures(&answer.ok());
    assert_eq!(all.len(), 2);
    for figure in all {
        assert_eq!(figure["status"], "ok", "{figure}");
        assert_eq!(figure["unit"], "ns", "{figure}");
        assert!(figure["median"].as_f64() >= Some(least_ns), "{figure}");
    }
    cable.far.leaves_nothing();
    Ok(())
}

/// TCP retransmits lost packets; for UDP the loss is reported.
pub fn lossy_network_does_not_block_the_run() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let ways = ["netem loss 3%", "tbf rate 20mbit burst 1600 limit 6000"];
    cable.becomes(&ways)?;
    let run = |words: &str| {
        let words = format!("run {words} --quick --json --launches 1 --remote {FAR}");
        let answer = cable.near.run_yamba(&cable.far.yamba(), &words);
        figures(&answer).remove(0)
    };
    let figure = run("bw_tcp --set message=16K --set amount=256K");
    assert_eq!(figure["status"], "ok", "{figure}");
    let retransmitted = &figure["evidence"]["retransmitted"]["max"];
    assert!(retransmitted.as_f64() > Some(0.0), "{figure}");
    // A retransmission takes as long as many passes. If it delays one pass but no pair of passes,
    // the figure is invalid.
    for (words, told) in
        [("lat_tcp", "twice the passes do not take longer"), ("lat_udp", "no answer has come")]
    {
        let figure = run(&format!("{words} --set message=16K"));
        let is_told = figure["notes"].to_string().contains(told);
        assert!(figure["status"] == "ok" || is_told, "{figure}");
    }
    cable.far.leaves_nothing();
    Ok(())
}

pub fn nginx_serves_from_another_machine() -> Result<(), Missing> {
    let cable = Cable::new()?;
    needs(&["nginx"]);
    for (fresh, processes) in [(true, 1), (false, 1), (false, 2)] {
        let words = format!(
            "run lat_http --quick --json --launches 1 --set server=nginx --set fresh={fresh} -P {processes} --remote {FAR}"
        );
        let answer = cable.near.run_yamba(&cable.far.yamba(), &words);
        let all = figures(&answer);
        assert_eq!(all.len(), 1, "{}", answer.err);
        let figure = &all[0];
        crosses(figure);
        assert_eq!(figure["platform"]["near_interface"], "cable", "{figure}");
        let accepted = &figure["evidence"]["accepted_per_request"];
        assert_eq!(accepted["max"], f64::from(u8::from(fresh)), "{figure}");
        cable.far.leaves_nothing();
    }
    Ok(())
}

/// Messages of the remote server are reported here.
pub fn dead_remote_nginx_is_reported() -> Result<(), Missing> {
    let cable = Cable::new()?;
    let stub =
        "#!/bin/sh\n[ \"$5\" != -q ] || echo 'nobody has asked for me' >&2\n[ \"$5\" != -q ]\n";
    let own = cable.far.server.programs().join("nginx");
    fs::write(&own, stub).unwrap();
    fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
    let words =
        format!("run lat_http --quick --json --launches 1 --set server=nginx --remote {FAR}");
    let answer = cable.near.run_yamba(&cable.far.yamba(), &words);
    let figure = figures(&answer).remove(0);
    let notes = figure["notes"].to_string();
    assert_eq!(figure["status"], "crashed", "{notes}");
    for part in ["the far end", "ended with status 1", "nobody has asked for me"] {
        assert!(notes.contains(part), "{notes}");
    }
    cable.far.leaves_nothing();
    Ok(())
}

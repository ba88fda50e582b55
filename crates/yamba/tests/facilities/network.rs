//! Network benchmarks without a network, when they are killed, and when they do not measure what
//! they claim.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Answer, Yamba, needs, processes_of, until};
use crate::{Missing, Skipped};

/// Every benchmark that connects this machine to itself is skipped with a way out, where its
/// loopback interface is down; none crashes.
pub fn missing_network_has_help() -> Result<(), Missing> {
    let yamba = Yamba::new();
    let words = "run lat_tcp lat_select lat_poll lat_epoll lat_io_uring_poll --quick --json";
    let inner = yamba.command(&words.split(' ').collect::<Vec<_>>());
    let mut command = Command::new("unshare");
    command.args(["--user", "--net", "--map-root-user"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(yamba.folder.path());
    command.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let allowed = Command::new("unshare")
        .args(["--user", "--net", "--map-root-user", "true"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|s| s.success()) {
        return Err(Missing::new("no network name space can be made here"));
    }
    let answer = Answer::read(command.output().unwrap()).ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let entries = run["benchmarks"].as_array().unwrap();
    assert!(entries.len() >= 5, "{}", answer.out);
    for entry in entries {
        let notes = entry["notes"].to_string();
        let host = entry["parameters"]["host"].as_str().unwrap_or("loopback");
        let is_skipped = entry["status"] == "skipped" && notes.contains("ip link set lo up");
        assert!(is_skipped || host != "loopback", "{entry}");
    }
    Ok(())
}

pub fn lat_connect_with_several_processes_is_skipped() {
    Yamba::new()
        .run("run lat_connect -P 2 --quick --set host=loopback")
        .ok()
        .says(&["skipped", "TIME_WAIT"]);
}

pub fn no_process_outlives_a_killed_run() {
    let place = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().env("TMPDIR", place.path());
    // Build first, so that no compiler is among the processes.
    yamba.run("build lat_tcp lat_http").ok();
    for words in [
        "run lat_tcp --time 300s --set host=veth --set placement=same --set message=1",
        "run lat_http --time 300s --set server=own --set placement=same",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut run = yamba.begin(&words);
        // The command, its cleanup process, the measuring process and its partner. The run may also
        // have ended, if two hosts cannot be created here.
        until("it does not start", || {
            processes_of(place.path()).len() >= 4 || run.try_wait().unwrap().is_some()
        });
        let _ = run.kill();
        run.wait().unwrap();
        until("a process is left", || processes_of(place.path()).is_empty());
    }
}

const FALSE_ONES: &str = "native {
    #include <sys/socket.h>
    #include <unistd.h>
}
yamba another_answer extends lat_tcp
{
    void answer() { take(far); buffer[0]++; give(far); }
}
yamba no_connections extends lat_connect
{
    void benchmark() { for (int end : ends) made += end >= 0; }
}
yamba no_end extends lat_teardown
{
    std::vector<int> copies;
    void benchmark()
    {
        for (int end : ends) copies.push_back(must(dup(end)));
        super::benchmark();
    }
    void after_pass()
    {
        super::after_pass();
        for (int copy : copies) must(close(copy));
        copies.clear();
    }
}
yamba one_connection extends lat_http
{
    server = \"own\" over {\"own\"};
    bool is_open;
    void benchmark(iter_t iterations)
    {
        if (!is_open) is_open = must(connect());
        asked += iterations;
        while (iterations-- > 0) right += web_client.get(connection) == page;
    }
}
";

/// These benchmarks stay on the near host, so none of their packets pass the device.
const HOME_BODIES: &str = "native {
    #include <sys/socket.h>
    #include <unistd.h>
}
yamba no_network extends lat_udp
{
    placement = \"same\" over {\"same\"};
    void open_ends()
    {
        int ends[2];
        must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
        near = ends[0], far = ends[1];
    }
}
yamba no_cable extends lat_connect
{
    void setup()
    {
        super::setup();
        int own = hosts.near_socket(SOCK_STREAM, 0);
        socklen_t length = sizeof address;
        address = hosts.place(\"127.0.0.1\", 0);
        must(bind(own, hosts.generic(address), length));
        must(getsockname(own, hosts.generic(address), &length));
        must(listen(own, 128));
        if (must(fork()) != 0) return;
        yamba::system::signal_with_parent(SIGKILL);
        for (;;) must(close(must(accept(own, nullptr, nullptr))));
    }
    void after_pass() { for (int end : ends) hosts.abort(end); }
}
yamba no_call_abroad extends lat_rpc
{
    placement = \"same\" over {\"same\"};
    transport = \"udp\" over {\"udp\"};
    void connect()
    {
        sockaddr_in there = hosts.place(\"127.0.0.1\", 0);
        socklen_t length = sizeof there;
        timeval patience{};
        patience.tv_sec = 5;
        far = hosts.near_socket(SOCK_DGRAM, 0), near = hosts.near_socket(SOCK_DGRAM, 0);
        must(bind(far, hosts.generic(there), length));
        must(getsockname(far, hosts.generic(there), &length));
        client = must(sun_rpc.call_by_udp(&there, program, version, patience, &near));
    }
    native {
        static inline int (*translate)(void *, void *);
        static int add_one(void *stream, void *value) { ++*static_cast<int *>(value); return translate(stream, value); }
    }
    // The number after the next comes back.
    void join()
    {
        super::join();
        translate = sun_rpc.translate_int;
        sun_rpc.translate_int = add_one;
    }
}
yamba no_pings extends lat_ping
{
    void benchmark(iter_t) {}
}
yamba no_stream extends bw_tcp
{
    placement = \"same\" over {\"same\"};
    int pair[2];
    void connect()
    {
        super::connect();
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    }
    int receiving_end() { return pair[0]; }
    int sending_end()   { return pair[1]; }
}
yamba one_for_all extends lat_http
{
    server = \"own\" over {\"own\"};
    void setup()
    {
        super::setup();
        body[page / 2]++;
        if (must(fork()) == 0) lose_packets();
    }
    void before_batch()
    {
        super::before_batch();
        for (auto before = hosts.all_retransmitted(); hosts.all_retransmitted() == before;) usleep(1000);
    }
    // A batch may be a single request: then none is sent.
    void benchmark(iter_t iterations)
    {
        asked += iterations;
        if (iterations > 1) get();
    }
    native {
        // Connects repeatedly to a listener whose queue is full. The kernel sends each request
        // a second time after 1 s, so about 200 a second once that has passed.
        [[noreturn]] void lose_packets()
        {
            yamba::system::signal_with_parent(SIGKILL);
            int full = hosts.far_socket(SOCK_STREAM, 0);
            sockaddr_in there = hosts.bind_far(full);
            must(listen(full, 0));
            int ends[512] = {};
            for (size_t i = 0;; i = (i + 1) % 512) {
                if (ends[i] != 0) close(ends[i]);
                ends[i] = hosts.near_socket(SOCK_STREAM | SOCK_NONBLOCK, 0);
                if (::connect(ends[i], hosts.generic(there), sizeof there) != 0) must(errno == EINPROGRESS);
                usleep(5000);
            }
        }
    }
}
";

/// The only figure of a class.
pub fn figure_of<'a>(run: &'a Value, class: &str) -> &'a Value {
    let mut all = run["benchmarks"].as_array().unwrap().iter();
    all.find(|b| b["class"] == class).unwrap()
}

pub fn is_caught_by(figure: &Value, evidence: &str) {
    assert_eq!(figure["valid"], false, "{figure}");
    assert!(figure["notes"].to_string().contains(evidence), "{figure}");
}

pub fn network_benchmark_of_something_else_is_invalid() {
    let mut yamba = Yamba::new().file("false_ones.yamba", FALSE_ONES);
    let answer = yamba.run("run false_ones.yamba --quick --set host=loopback --json");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    is_caught_by(figure_of(&run, "another_answer"), "message_unchanged");
    is_caught_by(figure_of(&run, "no_connections"), "accepted_per_connection");
    is_caught_by(figure_of(&run, "no_end"), "ended_per_connection");
    is_caught_by(figure_of(&run, "one_connection"), "accepted_per_request");
}

/// Other tests' packets pass the loopback device, but not a separate network.
pub fn traffic_that_does_not_cross_the_network_is_invalid() -> Result<(), Missing> {
    let mut yamba = Yamba::new().file("home_bodies.yamba", HOME_BODIES);
    let words = "run home_bodies.yamba --quick --launches 1 --set host=veth --json";
    let run: Value = serde_json::from_str(&yamba.run(words).out).unwrap();
    let mut skipped = Skipped::default();
    for (class, evidence) in [
        ("no_network", &["interface_bytes_per_byte", "datagrams_per_pass"][..]),
        ("no_cable", &["interface_packets_per_connection"]),
        ("no_call_abroad", &["interface_bytes_per_byte", "right_answers"]),
        ("no_pings", &["replies_counted"]),
        ("no_stream", &["tcp_bytes_per_byte", "interface_bytes_per_byte"]),
        (
            "one_for_all",
            &["pages_per_request", "page_is_right", "requests_not_served", "retransmitted"],
        ),
    ] {
        let figure = figure_of(&run, class);
        if figure["status"] == "skipped" {
            skipped.add(class, &figure["notes"].to_string());
            continue;
        }
        for name in evidence {
            is_caught_by(figure, name);
        }
    }
    skipped.result()
}

/// Uses one connection for all requests instead of one for each.
const KEPT_BY_NGINX: &str = "yamba kept_by_nginx extends lat_http
{
    server = \"nginx\" over {\"nginx\"};
    bool is_open;
    void benchmark(iter_t iterations)
    {
        if (!is_open) is_open = must(connect());
        asked += iterations;
        while (iterations-- > 0) right += web_client.get(connection) == page;
    }
}
";

/// nginx may be installed anywhere.
pub fn nginx_distinguishes_new_connections() {
    needs(&["nginx"]);
    let yamba = Yamba::new().file("kept.yamba", KEPT_BY_NGINX);
    let place = yamba.folder.path().join("a folder; with \"odd\" characters");
    std::fs::create_dir(&place).unwrap();
    let mut yamba = yamba.env("TMPDIR", &place);
    let words = "--quick --set host=loopback --set placement=same --json";
    let answer = yamba.run(&format!("run kept.yamba {words}"));
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    is_caught_by(figure_of(&run, "kept_by_nginx"), "accepted_per_request");
    for fresh in [true, false] {
        let words = format!("run lat_http {words} --set server=nginx --set fresh={fresh}");
        let answer = yamba.run(&words).ok();
        let run: Value = serde_json::from_str(&answer.out).unwrap();
        let accepted = &figure_of(&run, "lat_http")["evidence"]["accepted_per_request"];
        assert_eq!(accepted["max"], f64::from(u8::from(fresh)), "{run}");
    }
}

/// Replaces nginx and first injects a fault.
const STUB: &str = r#"#!/bin/sh
# -p FOLDER -c CONFIGURATION OPTION
case "$FAULT $5" in
"without its module -t") ! grep -q stub_status "$4" || exit 1 ;;
"refuses -t") echo 'nginx: [emerg] "daemon" is no word of mine' >&2; echo 'the test failed' >&2; exit 1 ;;
"dies -q")
    echo 'nginx: [alert] could not open error log file' >&2
    echo 'nginx: [emerg] no "room" for \' >&2
    echo 'nginx: [alert] it was not I' >&2
    exit 1 ;;
"dies late -q") sed -i 's/worker_connections 64/worker_connections 400000000000000/' "$4" ;;
"its port is wanted -q")
    address=$(sed -n 's/.*listen \([0-9.]*:[0-9]*\).*/\1/p' "$4")
    perl -MSocket -e 'my ($host, $port) = split /:/, shift; socket(S, PF_INET, SOCK_STREAM, 0) or die $!;
        print bind(S, sockaddr_in($port, inet_aton($host))) ? "taken" : $!' "$address" >"$TOLD" ;;
esac
PATH=${PATH#*:} exec nginx "$@"
"#;

/// The figure of `lat_http` with nginx and this fault, and the message of the fault.
fn with_fault(fault: &str) -> (Value, String) {
    let yamba = Yamba::new().file("nginx", STUB);
    let own = yamba.folder.path().to_owned();
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(own.join("nginx"), runs).unwrap();
    let others = std::env::var("PATH").unwrap();
    let mut yamba = yamba
        .env("PATH", format!("{}:{others}", own.display()))
        .env("FAULT", fault)
        .env("TOLD", own.join("request"));
    let words = "run lat_http --quick --launches 1 --json --set server=nginx";
    let answer = yamba.run(&format!("{words} --set placement=same"));
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let told = std::fs::read_to_string(own.join("request")).unwrap_or_default();
    (figure_of(&run, "lat_http").clone(), told)
}

pub fn unusual_nginx_is_handled() {
    needs(&["nginx", "perl"]);
    let (figure, told) = with_fault("its port is wanted");
    assert_eq!(figure["status"], "ok", "{figure}");
    assert_eq!(told, "Address already in use");
    let (figure, _) = with_fault("without its module");
    assert_eq!(figure["status"], "ok", "{figure}");
    assert!(figure["notes"].to_string().contains("stub_status"), "{figure}");
    let (figure, _) = with_fault("dies");
    assert_eq!(figure["status"], "crashed", "{figure}");
    let notes = figure["notes"].to_string();
    let said = r#"ended with status 1, and has said: nginx: [emerg] no "room" for \"#;
    let said = Value::from(said).to_string();
    assert!(notes.contains(said.trim_matches('"')), "{figure}");
    // nginx itself fails after reading its configuration: it lacks memory for that many
    // connections.
    let (figure, _) = with_fault("dies late");
    assert_eq!(figure["status"], "crashed", "{figure}");
    let notes = figure["notes"].to_string();
    for part in ["ended with status 2", "[emerg]", "malloc("] {
        assert!(notes.contains(part), "{figure}");
    }
    let (figure, _) = with_fault("refuses");
    assert_eq!(figure["status"], "skipped", "{figure}");
    let notes = figure["notes"].to_string();
    assert!(notes.contains("is no word of mine"), "{figure}");
}

/// Data that nginx writes counts toward the benchmark's disk limit.
pub fn page_too_large_for_the_disk_is_reported() {
    needs(&["nginx"]);
    Yamba::new()
        .run("run lat_http --quick --set server=nginx --set placement=same --set page=4M --disk-limit 1M")
        .ok()
        .says(&["skipped", "needs 4 MiB on disk", "--disk-limit"]);
}

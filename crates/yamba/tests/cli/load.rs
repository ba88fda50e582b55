//! `yamba load`: logs and models that are written here, and servers of `yamba load serve-origin`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use yamba_child_guard::{Guarded, StartGuarded};

use crate::schema;
use crate::support::{Answer, Yamba, rescued, until};

/// A log of `count` requests, ten a second, for 30 objects: object n is asked for about 1/n as
/// often as object 1.
fn log(count: usize) -> String {
    let mut random = fastrand::Rng::with_seed(5);
    let line = |i: usize| {
        let object = (30_f64.powf(random.f64())) as usize;
        let second = i / 10;
        format!(
            "10.0.0.{} - - [17/May/2015:10:{:02}:{:02} +0000] \"GET /{object} HTTP/1.1\" 200 {} \"-\" \"agent\"\n",
            i % 40,
            second / 60,
            second % 60,
            1000 * object
        )
    };
    (0..count).map(line).collect()
}

fn yamba() -> Yamba {
    let mut yamba = Yamba::new().file("access.log", log(3000));
    yamba.run("load fit access.log -o site.load --no-plot").ok();
    yamba
}

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answer.out, answer.err))
}

/// A process of `yamba load serve-origin`.
struct Origin {
    child: Guarded,
    url: String,
}

impl Origin {
    fn start(yamba: &Yamba, words: &[&str]) -> Origin {
        let words = [&["load", "serve-origin", "site.load"], words].concat();
        let mut command = yamba.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).start();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(' ').find(|word| word.starts_with("http://"));
        Origin { url: url.unwrap_or_else(|| panic!("{line}")).to_owned(), child }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn fit_prints_each_distribution_and_writes_a_document() {
    let mut yamba = Yamba::new().file("access.log", log(3000) + "nonsense\n");
    let answer = yamba.run("load fit access.log -o site.load").ok();
    assert!(answer.err.contains("access.log:3001: left out: it has no fields"), "{}", answer.err);
    let answer = answer.says(&[
        "3000 requests with GET and HEAD by 40 clients",
        "distribution",
        "popularity",
        "arrivals",
        "session requests",
        "think times",
        "methods   GET 100.0 %",
        "statuses  200 100.0 %",
        "share up to it against bytes, logarithmic",
        "o log",
        "x model",
    ]);
    assert!(!answer.out.contains("NaN"));
    let written = std::fs::read_to_string(yamba.folder.path().join("site.load")).unwrap();
    let model: Value = serde_json::from_str(&written).unwrap();
    schema::holds("yamba-load/1", &model);
    let printed = document(&yamba.run("load fit access.log --json").ok());
    assert_eq!(printed, model);
    assert_eq!(model["source"]["refused_lines"], 1);
    for marginal in model["goodness"].as_array().unwrap() {
        assert!(marginal["chosen"]["p_value"].as_f64().unwrap() >= 0.01, "{marginal:#}");
    }
}

/// As attackers send them, to find buffers without a bound.
#[test]
fn requests_for_too_long_names_are_left_out() {
    let long = log(1).replace("GET /", &format!("GET /{}", "a".repeat(70_000)));
    let mut yamba = Yamba::new().file("access.log", log(30) + &long);
    let answer = yamba.run("load fit access.log --no-plot -o site.load").ok();
    let note = "access.log:31: left out: the object of its request has a name of more than 20000";
    assert!(answer.err.contains(note), "{}", answer.err);
    let origin = Origin::start(&yamba, &[]);
    yamba.run(&format!("load replay access.log {} --users 2", origin.url)).ok();
}

#[test]
fn lines_that_are_left_out_are_in_the_summary() {
    let text = log(30) + &"nonsense\n".repeat(14) + "a b\n";
    let mut yamba = Yamba::new().file("access.log", text);
    let answer = yamba.run("load fit access.log --no-plot").ok();
    let reasons =
        "15 of 45 lines (33.3 %) are left out: it has no fields (14); it has no [time] (1)";
    assert!(answer.err.contains(reasons), "{}", answer.err);
    answer.says(&[&format!("left out  {reasons}\n")]);
    let model = document(&yamba.run("load fit access.log --json").ok());
    schema::holds("yamba-load/1", &model);
    assert_eq!(
        model["source"]["refused_by"],
        json!([
            {"reason": "it has no fields", "lines": 14},
            {"reason": "it has no [time]", "lines": 1},
        ])
    );
}

/// A log of 60 requests by 19 clients, two seconds apart, with these texts before the client, in
/// the request and after the bytes.
fn log_with(before: &str, url: fn(usize) -> String, after: fn(usize) -> String) -> String {
    let line = |i: usize| {
        format!(
            "{before}10.0.0.{} - - [03/May/2020:10:{:02}:{:02} +0000] \"GET {} HTTP/1.1\" 200 {}{}\n",
            7 * i % 19,
            i / 30,
            2 * i % 60,
            url(i),
            400 + i,
            after(i)
        )
    };
    (0..60).map(line).collect()
}

fn path(i: usize) -> String {
    format!("/{}", i % 9)
}

#[test]
fn fields_before_the_client_are_skipped_and_named() {
    let mut yamba = Yamba::new()
        .file("vhost.log", log_with("shop.example.org:443 ", path, |_| String::new()))
        .file("proxy.log", log_with("192.0.2.1 ", path, |_| String::new()));
    let answer = yamba.run("load fit vhost.log --no-plot").ok();
    assert!(
        answer
            .err
            .contains("vhost.log: field 1 of the lines (\"shop.example.org:443\") is not used"),
        "{}",
        answer.err
    );
    answer.says(&["60 requests with GET and HEAD by 19 clients"]);
    yamba
        .run("load fit proxy.log")
        .refused(&["fields 1 and 2 before the time are addresses", "--client-field N"]);
    yamba.run("load fit proxy.log --client-field 2 --no-plot").ok().says(&["by 19 clients"]);
}

/// A time of day and a ratio of compression are no latencies; microseconds are one if the user says
/// so.
#[test]
fn latency_is_a_time_with_its_field_and_unit() {
    let mut yamba = Yamba::new()
        .file(
            "msec.log",
            log_with("", path, |i| {
                format!(" \"-\" \"curl\" 0.0{:02} 1588500{:03}.098", i + 10, 2 * i)
            }),
        )
        .file("fast.log", log_with("", path, |_| " \"-\" \"curl\" 0.000".to_owned()))
        .file("gzip.log", log_with("", path, |i| format!(" \"-\" \"curl\" 2.{:02}", i + 10)))
        .file("apache.log", log_with("", path, |i| format!(" \"-\" \"curl\" {}", 4000 + 2 * i)));
    let answer = yamba.run("load fit msec.log --no-plot").ok();
    assert!(answer.err.contains("not used: 4 (\"1588500000.098\")"), "{}", answer.err);
    // 10 to 69 ms
    let answer = answer
        .says(&["latency   mean 39.5 ms of 60 requests, from field 3 after the bytes, in s; "]);
    answer.says(&[" ms in the model, which spreads each upwards over a step of 1 ms\n"]);
    yamba.run("load fit fast.log --no-plot").ok().says(&["latency   mean below 1 ms of 60"]);
    let answer = yamba.run("load fit gzip.log --no-plot").ok();
    assert!(answer.err.contains("not used: 3 (\"2.10\")"), "{}", answer.err);
    assert!(!answer.out.contains("latency"), "{}", answer.out);
    let answer = yamba.run("load fit apache.log --no-plot").ok();
    assert!(answer.err.contains("not used: 3 (\"4000\")"), "{}", answer.err);
    yamba
        .run("load fit apache.log --no-plot --latency-field 3=us")
        .ok()
        .says(&["latency   mean 4.059 ms of 60 requests, from field 3 after the bytes, in us"]);
    yamba
        .run("load fit apache.log --latency-field 4=us")
        .refused(&["--latency-field names a field that the log does not have: there are 3"]);
    yamba.run("load fit apache.log --latency-field 3").refused(&["3=us"]);
}

#[test]
fn hosts_of_full_urls_and_squid_logs_are_objects_of_their_own() {
    let url = |i: usize| format!("http://{}.example/x", ["a", "b", "c"][i % 3]);
    let squid = |i: usize| {
        format!(
            "1588500{:03}.098    {} 10.0.0.{} TCP_MISS/200 5432 GET http://{}.example/x - HIER_DIRECT/192.0.2.1 text/html\n",
            2 * i,
            100 + i,
            i % 19,
            ["a", "b", "c"][i % 3]
        )
    };
    let mut yamba = Yamba::new()
        .file("urls.log", log_with("", url, |_| String::new()))
        .file("squid.log", (0..60).map(squid).collect::<String>());
    yamba.run("load fit urls.log --no-plot").ok().says(&["by 19 clients", "for 3 objects"]);
    let answer = yamba.run("load fit squid.log --no-plot").ok();
    assert!(answer.err.contains("sizes include the headers"), "{}", answer.err);
    answer.says(&[
        "by 19 clients in 118 s, for 3 objects",
        "latency   mean 129.5 ms of 60 requests, from the elapsed time, in ms",
    ]);
}

#[test]
fn compressed_logs_are_read_or_refused() {
    let text = log(500);
    let mut whole = GzEncoder::new(Vec::new(), Compression::fast());
    whole.write_all(text.as_bytes()).unwrap();
    let whole = whole.finish().unwrap();
    let mut yamba = Yamba::new()
        .file("access.log", text)
        .file("access.log.gz", &whole)
        .file("cut.log.gz", &whole[..whole.len() / 2])
        .file("access.log.zst", b"\x28\xb5\x2f\xfd\0")
        .file("access.zip", b"PK\x03\x04\0\0\0")
        .file("wide.log", b"\xff\xfe1\0\n\0");
    let plain = yamba.run("load fit access.log --json").ok().out;
    assert_eq!(yamba.run("load fit access.log.gz --json").ok().out, plain);
    yamba.run("load fit cut.log.gz").refused(&[
        "cut.log.gz: it is compressed by gzip, and cut off or damaged",
        "gzip -cd cut.log.gz | yamba load fit -",
    ]);
    yamba.run("load fit access.log.zst").refused(&["compressed by zstd", "zstdcat"]);
    yamba.run("load fit access.zip").refused(&["compressed by zip", "unzip -p access.zip"]);
    yamba.run("load fit wide.log").refused(&["UTF-16", "iconv"]);
}

#[test]
fn logs_in_other_forms_are_refused_by_name() {
    let other = |from: &str, to: &str| log(30).replace(from, to);
    let mut yamba = Yamba::new()
        .file("caddy.log", "{\"ts\":1646861401.52,\"request\":{\"uri\":\"/\"}}\n")
        .file("iis.log", "#Software: Microsoft Internet Information Services 10.0\n")
        .file("month.log", other("/May/", "/Mai/"))
        .file("zone.log", other(" +0000]", "]"))
        .file("iso.log", other("17/May/2015:10:", "2015-05-17T10:"));
    for (file, reason) in [
        ("caddy.log", "its lines are JSON"),
        ("iis.log", "W3C Extended Log File Format"),
        ("month.log", "the month of its time is not an English one"),
        ("zone.log", "its time has no zone"),
        ("iso.log", "its time is in ISO 8601"),
    ] {
        yamba.run(&format!("load fit {file}")).refused(&[file, reason]);
    }
}

/// Each request of this log has a client of its own.
#[test]
fn users_of_a_log_without_think_times_are_refused() {
    let lines: String = log(300)
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let (_, rest) = line.split_once(' ').unwrap();
            format!("10.0.{}.{} {rest}\n", i / 250, i % 250)
        })
        .collect();
    let mut yamba = Yamba::new().file("access.log", lines);
    yamba.run("load fit access.log -o site.load --no-plot").ok();
    let origin = Origin::start(&yamba, &[]);
    let words = format!("load run site.load {} --users 2 --requests 20", origin.url);
    yamba.run(&words).refused(&["site.load: it has no think times", "--rate", "--no-think"]);
    yamba.run(&format!("{words} --no-think")).ok();
}

#[test]
fn model_without_paths_names_no_object() {
    let mut yamba = Yamba::new().file("access.log", log(500).replace("GET /", "GET /secret/"));
    let named = yamba.run("load fit access.log --json").ok();
    assert!(named.out.contains("secret"));
    let answer = yamba.run("load fit access.log --without-paths --json").ok();
    assert!(!answer.out.contains("secret"), "{}", answer.out);
}

#[test]
fn wrong_logs_and_models_are_refused() {
    let once = log_with("", path, |_| String::new());
    let once = once.lines().map(|line| {
        line[..line.find('[').unwrap()].to_owned()
            + "[03/May/2020:10:00:00 +0000]"
            + &line[line.find(']').unwrap() + 1..]
            + "\n"
    });
    let mut yamba = Yamba::new()
        .file("short.log", log(10))
        .file("once.log", once.collect::<String>())
        .file("posts.log", log(30).replace("GET", "POST"))
        .file("none.log", "hello\n")
        .file("bad.load", "{}");
    yamba
        .run("load fit once.log")
        .refused(&["once.log: all 60 requests with GET or HEAD have the same time"]);
    yamba
        .run("load replay posts.log http://127.0.0.1:1")
        .refused(&["posts.log: it has no request with GET or HEAD"]);
    yamba.run("load fit absent.log").refused(&["absent.log"]);
    yamba
        .run("load fit short.log")
        .refused(&["short.log: 10 requests with GET or HEAD are too few"]);
    yamba.run("load fit none.log").refused(&["none.log: no line is a request", "it has no fields"]);
    yamba
        .run("load run bad.load http://127.0.0.1:1 --rate 1")
        .refused(&["bad.load: missing field"]);
    yamba.run("load serve-origin absent.load").refused(&["absent.load"]);
    let mut yamba = self::yamba();
    yamba.run("load run site.load https://127.0.0.1 --rate 1").refused(&["only http:// is spoken"]);
    let folder = yamba.folder.path().to_string_lossy().into_owned();
    let words = "load run site.load http://127.0.0.1:1 --rate 1";
    let mut command = yamba.command(&words.split(' ').collect::<Vec<_>>());
    let output = command.env("YAMBA_STORE", &folder).output().unwrap();
    Answer::read(output).refused(&[&folder]);
    yamba.run(&format!("{words}e8")).refused(&["write a number of at most 10000000"]);
    yamba.run(&format!("{words} --no-think")).refused(&["--no-think"]);
    let broken = std::fs::read_to_string(yamba.folder.path().join("site.load")).unwrap();
    let mut yamba = yamba.file("broken.load", broken.replace("yamba-load/1", "yamba-load/2"));
    yamba
        .run("load run broken.load http://127.0.0.1:1 --rate 1")
        .refused(&["schema: it must be \"yamba-load/1\""]);
}

#[test]
fn rate_is_measured_and_kept() {
    let mut yamba = yamba();
    let origin = Origin::start(&yamba, &["--latency", "5ms"]);
    let words = format!("load run site.load {} --rate 600 --for 3s", origin.url);
    let answer = yamba.run(&words).ok();
    assert!(answer.err.contains(" stored\n"), "{}", answer.err);
    answer.says(&[
        "throughput  ",
        " responses/s",
        "latency     ",
        "p50 ",
        "p99 ",
        "longest ",
        "of status 200",
        "errors      none",
    ]);
    let run = document(&yamba.run("show latest --json").ok());
    schema::holds("yamba-run/1", &run);
    let [latency, throughput] = &run["benchmarks"].as_array().unwrap()[..] else {
        panic!("{run:#}");
    };
    assert_eq!(
        (&latency["name"], &throughput["name"]),
        (&"load_latency".into(), &"load_throughput".into())
    );
    assert!(latency["median"].as_f64().unwrap() >= 5e6, "{latency:#}");
    let rate = throughput["median"].as_f64().unwrap();
    assert!((360.0..900.0).contains(&rate), "{rate}");
    assert_eq!(latency["parameters"]["model"], "site");
    assert_eq!(latency["parameters"]["rate"], 600.0);
    yamba.run("show latest").ok().says(&["load_latency", "p99 "]);
}

#[test]
fn users_and_replay_have_the_objects_of_the_log() {
    let mut yamba = yamba();
    let origin = Origin::start(&yamba, &[]);
    for words in [
        format!("load run site.load {} --users 4 --no-think --requests 3000 --json", origin.url),
        format!("load replay access.log {} --users 4 --json", origin.url),
        format!("load replay access.log {} --speed 1000 --json", origin.url),
    ] {
        let answer = yamba.run(&words).ok();
        let run = document(&answer);
        assert_eq!(run["interrupted"], false, "{run:#}");
        assert_eq!(run["benchmarks"][0]["distribution"]["count"], 3000, "{words}");
        let notes = run["benchmarks"][0]["notes"].as_array().unwrap();
        // Beside other tests, this machine may be busy.
        let is_of_machine = |note: &serde_json::Value| {
            let text = note.as_str().unwrap();
            text.starts_with("this program sent its requests late")
                || text.starts_with("this program read responses late")
        };
        assert!(notes.iter().all(is_of_machine), "{words}: {notes:?}");
    }
}

#[test]
fn server_without_the_objects_gives_no_valid_figure() {
    let mut yamba = yamba();
    let origin = Origin::start(&yamba, &[]);
    let words = format!("load run site.load {}/absent --rate 200 --for 1s", origin.url);
    let answer = yamba.run(&words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["INVALID", " status 404\n", "100.0 % instead of 0.0 % in the log"]);
    yamba
        .run(&format!("load run site.load {} --rate 1 --header nonsense", origin.url))
        .refused(&["is no header such as"]);
}

/// `serve-origin` knows objects with full URLs by the header that --host replaces.
#[test]
fn objects_of_several_hosts_are_asked_for_by_their_hosts() {
    let text = log(600).replace("GET /1 ", "GET http://one.example/1 ");
    let mut yamba = Yamba::new().file("access.log", text);
    yamba.run("load fit access.log -o site.load --no-plot").ok();
    let origin = Origin::start(&yamba, &[]);
    let words = format!("load replay access.log {} --users 4", origin.url);
    yamba.run(&words).ok().says(&["600 of status 200", "errors      none"]);
    let words =
        format!("load replay access.log {} --users 4 --host other.example --json", origin.url);
    let run = document(&yamba.run(&words).ok());
    assert_eq!(run["benchmarks"][0]["parameters"]["host_header"], "other.example");
}

#[test]
fn server_that_refuses_is_an_error() {
    let mut yamba = yamba();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let answer = yamba.run(&format!("load run site.load http://{closed} --rate 100"));
    answer.refused(&["nothing was measured at", "did not accept a connection"]);
}

#[test]
fn server_that_dies_ends_the_load_with_what_was_measured() {
    let mut yamba = yamba();
    let mut origin = Origin::start(&yamba, &[]);
    let words = format!("load run site.load {} --users 4 --no-think --for 60s", origin.url);
    let words: Vec<&str> = words.split(' ').collect();
    let load = yamba.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    origin.child.kill().unwrap();
    let answer = Answer::read(load.finish());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("the server did not accept a connection"), "{}", answer.err);
    answer.says(&["INVALID", "throughput", "p50 "]);
    let run = document(&yamba.run("show latest --json").ok());
    assert_eq!(
        (&run["interrupted"], &run["benchmarks"][0]["status"]),
        (&false.into(), &"invalid".into())
    );
}

#[test]
fn load_that_no_store_takes_is_in_a_file() {
    let yamba = yamba().file("taken", "no folder");
    let origin = Origin::start(&yamba, &[]);
    let folder = tempfile::tempdir().unwrap();
    let taken = yamba.folder.path().join("taken");
    let mut yamba =
        yamba.without("YAMBA_STORE").env("XDG_DATA_HOME", taken).env("TMPDIR", folder.path());
    let words = format!("load run site.load {} --users 2 --no-think --requests 50", origin.url);
    let answer = yamba.run(&words).ok();
    assert!(answer.err.contains("warning: the run cannot be stored now"), "{}", answer.err);
    assert!(!answer.err.contains(" stored\n"), "{}", answer.err);
    let document = rescued(folder.path());
    assert!(answer.err.contains(&format!("`yamba import {document}` stores it")), "{}", answer.err);
    let mut yamba = yamba.env("YAMBA_STORE", folder.path().join("results.sqlite"));
    yamba.run(&format!("import {document}")).ok();
    let run = self::document(&yamba.run("show latest --json").ok());
    assert_eq!(run["benchmarks"][0]["distribution"]["count"], 50, "{run:#}");
}

#[test]
fn server_that_stalls_is_an_error() {
    let mut yamba = yamba();
    // Connections wait in the queue of a listener that accepts none.
    let stalled = TcpListener::bind("127.0.0.1:0").unwrap();
    let words = format!(
        "load run site.load http://{} --rate 100 --timeout 300ms",
        stalled.local_addr().unwrap()
    );
    yamba.run(&words).refused(&["the server no longer answered"]);
}

#[test]
fn server_that_speaks_no_http_is_named() {
    let mut yamba = yamba();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let _ = stream.unwrap().write_all(b"SSH-2.0-OpenSSH\r\n\r\n");
        }
    });
    let words = format!("load run site.load http://{address} --rate 100 --for 500ms");
    yamba.run(&words).refused(&["malformed response", "speaks HTTP/1.1 without TLS"]);
}

/// Answers requests, and counts them.
fn counting_server() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&served);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let count = Arc::clone(&count);
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.is_empty() {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
                std::io::Result::Ok(())
            });
        }
    });
    (url, served)
}

#[test]
fn signal_keeps_what_was_measured() {
    let mut yamba = yamba();
    let (url, served) = counting_server();
    let words = format!("load run site.load {url} --rate 100 --for 60s --json");
    let words: Vec<&str> = words.split(' ').collect();
    let load = yamba.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("a hundred requests", || served.load(Ordering::Relaxed) >= 100);
    let pid = rustix::process::Pid::from_raw(load.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let answer = Answer::read(load.finish());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let run = document(&answer);
    assert_eq!(run["interrupted"], true);
    assert_eq!(run["benchmarks"][0]["status"], "ok", "{run:#}");
    yamba.run("show latest").ok();
}

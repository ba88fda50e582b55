//! `yamba load`: logs and models that are written here, and servers of `yamba load serve-origin`.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::Value;
use yamba_child_guard::{Guarded, StartGuarded};

use crate::schema;
use crate::support::{Answer, Yamba};

/// A log of `count` requests, ten a second, for 30 objects: object n is asked for about 1/n as often as object 1.
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
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.split(' ').find(|word| word.starts_with("http://"));
        Origin {
            url: url.unwrap_or_else(|| panic!("{line}")).to_owned(),
            child,
        }
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
    assert!(
        answer
            .err
            .contains("access.log:3001: left out: it has no fields"),
        "{}",
        answer.err
    );
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
    schema::holds("yamba-load-1.json", &model);
    let printed = document(&yamba.run("load fit access.log --json").ok());
    assert_eq!(printed, model);
    assert_eq!(model["source"]["refused_lines"], 1);
    for marginal in model["goodness"].as_array().unwrap() {
        assert!(
            marginal["chosen"]["p_value"].as_f64().unwrap() >= 0.01,
            "{marginal:#}"
        );
    }
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
    let mut yamba = Yamba::new()
        .file("short.log", log(10))
        .file("none.log", "hello\n")
        .file("bad.load", "{}");
    yamba.run("load fit absent.log").refused(&["absent.log"]);
    yamba
        .run("load fit short.log")
        .refused(&["short.log: 10 requests with GET or HEAD are too few"]);
    yamba
        .run("load fit none.log")
        .refused(&["none.log: no line is a request", "it has no fields"]);
    yamba
        .run("load run bad.load http://127.0.0.1:1 --rate 1")
        .refused(&["bad.load: missing field"]);
    yamba
        .run("load serve-origin absent.load")
        .refused(&["absent.load"]);
    let mut yamba = self::yamba();
    yamba
        .run("load run site.load https://127.0.0.1 --rate 1")
        .refused(&["only http:// is spoken"]);
    let broken = std::fs::read_to_string(yamba.folder.path().join("site.load")).unwrap();
    let mut yamba = yamba.file(
        "broken.load",
        broken.replace("yamba-load/1", "yamba-load/2"),
    );
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
    schema::holds("yamba-run-1.json", &run);
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
    yamba
        .run("show latest")
        .ok()
        .says(&["load_latency", "p99 "]);
}

#[test]
fn users_and_replay_have_the_objects_of_the_log() {
    let mut yamba = yamba();
    let origin = Origin::start(&yamba, &[]);
    for words in [
        format!(
            "load run site.load {} --users 4 --no-think --requests 3000 --json",
            origin.url
        ),
        format!("load replay access.log {} --users 4 --json", origin.url),
        format!("load replay access.log {} --speed 1000 --json", origin.url),
    ] {
        let answer = yamba.run(&words).ok();
        let run = document(&answer);
        assert_eq!(run["interrupted"], false, "{run:#}");
        assert_eq!(
            run["benchmarks"][0]["distribution"]["count"], 3000,
            "{words}"
        );
        let notes = run["benchmarks"][0]["notes"].as_array().unwrap();
        // Beside other tests, this machine may be busy.
        let is_of_machine = |note: &serde_json::Value| {
            let text = note.as_str().unwrap();
            text.starts_with("this program sent its requests late")
        };
        assert!(notes.iter().all(is_of_machine), "{words}: {notes:?}");
    }
}

#[test]
fn server_that_refuses_is_an_error() {
    let mut yamba = yamba();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let answer = yamba.run(&format!("load run site.load http://{closed} --rate 100"));
    answer.refused(&["nothing was measured at", "did not accept a connection"]);
}

#[test]
fn server_that_dies_ends_the_load_with_what_was_measured() {
    let mut yamba = yamba();
    let mut origin = Origin::start(&yamba, &[]);
    let words = format!(
        "load run site.load {} --users 4 --no-think --for 60s",
        origin.url
    );
    let words: Vec<&str> = words.split(' ').collect();
    let load = yamba
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    origin.child.kill().unwrap();
    let answer = Answer::of(load.finish());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    assert!(
        answer
            .err
            .contains("the server did not accept a connection"),
        "{}",
        answer.err
    );
    answer.says(&["INVALID", "throughput", "p50 "]);
    let run = document(&yamba.run("show latest --json").ok());
    assert_eq!(
        (&run["interrupted"], &run["benchmarks"][0]["status"]),
        (&true.into(), &"invalid".into())
    );
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
    yamba
        .run(&words)
        .refused(&["the server no longer answered"]);
}

#[test]
fn signal_keeps_what_was_measured() {
    let mut yamba = yamba();
    let origin = Origin::start(&yamba, &[]);
    let words = format!(
        "load run site.load {} --rate 100 --for 60s --json",
        origin.url
    );
    let words: Vec<&str> = words.split(' ').collect();
    let load = yamba
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let pid = rustix::process::Pid::from_raw(load.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let answer = Answer::of(load.finish()).ok();
    let run = document(&answer);
    assert_eq!(run["interrupted"], true);
    assert_eq!(run["benchmarks"][0]["status"], "ok", "{run:#}");
    yamba.run("show latest").ok();
}

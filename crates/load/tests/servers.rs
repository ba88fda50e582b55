//! Loads against servers of each kind: good ones, and ones that refuse, die, stall, close and
//! babble.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use yamba_load::drive::{
    Ending, Headers, Origin, Outcome, Pace, Plan, Requests, Target, drive, log_at_full_speed,
    log_at_its_times, model_at_rate, model_users,
};
use yamba_load::model::{Model, Options, Replayed, fit, log, object_sizes, replayed};

/// A log of `count` requests for 20 objects, ten a second.
fn text(count: usize) -> String {
    let line = |i: usize| {
        let (object, second) = ((i * i) % 20, i / 10);
        format!(
            "10.0.0.{} - - [17/May/2015:10:{:02}:{:02} +0000] \"GET /{object} HTTP/1.1\" 200 {}\n",
            i % 7,
            second / 60,
            second % 60,
            100 * object + 1
        )
    };
    (0..count).map(line).collect()
}

fn model() -> Model {
    fit(&log::read(&text(2000)).unwrap(), Options { names_paths: true, seed: 1 }).unwrap().model
}

/// A server of one thread for each connection.
struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepted: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(connection: fn(TcpStream)) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_over, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&accepted));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let stream = stream.unwrap();
                thread::spawn(move || connection(stream));
            }
        });
        Server { address, is_over, accepted, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Reads a request up to its empty line.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        text.push(byte[0]);
    }
    String::from_utf8(text).ok()
}

/// Answers all requests after 20 ms.
fn good(mut stream: TcpStream) {
    while read_request(&mut stream).is_some() {
        thread::sleep(Duration::from_millis(20));
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").is_err() {
            return;
        }
    }
}

fn stalled(mut stream: TcpStream) {
    while read_request(&mut stream).is_some() {}
}

fn closing(mut stream: TcpStream) {
    read_request(&mut stream);
}

fn babbling(mut stream: TcpStream) {
    read_request(&mut stream);
    let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n");
}

/// Answers one request on each connection, and closes it later, without saying so.
fn impatient(mut stream: TcpStream) {
    read_request(&mut stream);
    let _ = stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
}

fn plan(address: SocketAddr, model: &Model, pace: Pace, length: Option<Duration>) -> Plan {
    let target = Target::resolve(&format!("http://{address}")).unwrap();
    let requests =
        Requests::new(&target, &Headers::default(), (0..20).map(|o| model.path(o))).unwrap();
    Plan { target, requests, pace, length, timeout: Duration::from_millis(400), connections: 16 }
}

fn loaded(address: SocketAddr, pace: impl Fn(&Model) -> Pace, length: Duration) -> Outcome {
    let model = model();
    drive(plan(address, &model, pace(&model), Some(length)), &|| false, &mut |_| {}).unwrap()
}

const LONG: Duration = Duration::from_secs(30);

#[test]
fn rate_is_kept_and_connections_stay_open() {
    let server = Server::start(good);
    let outcome =
        loaded(server.address, |m| model_at_rate(m, 200.0, u64::MAX, 3), Duration::from_secs(2));
    assert_eq!((outcome.ending, outcome.errors.len(), outcome.unsent), (None, 0, 0));
    assert!((300..500).contains(&outcome.sent), "{}", outcome.sent);
    assert_eq!((outcome.responses, outcome.bytes), (outcome.sent, outcome.sent * 5));
    assert!(outcome.latency_ns.min() >= 20_000_000);
    let accepted = server.accepted.load(Ordering::SeqCst);
    assert_eq!(outcome.connections, accepted);
    assert!(accepted <= 16, "{accepted}");
    assert_eq!(outcome.windows.len(), 20);
    let offered = outcome.offered.unwrap();
    // A request that is due in the last millisecond may not be taken up any more.
    assert_eq!(offered.requests, outcome.sent + outcome.overdue);
    assert!(outcome.overdue <= 2, "{}", outcome.overdue);
    assert!((150.0..250.0).contains(&offered.rate().unwrap()), "{offered:?}");
}

/// No processor sends ten million requests a second.
#[test]
fn requests_that_this_program_could_not_take_up_are_counted() {
    let server = Server::start(good);
    let length = Duration::from_millis(300);
    let outcome = loaded(server.address, |m| model_at_rate(m, 1e7, u64::MAX, 3), length);
    assert!(outcome.overdue > 1_000_000, "{}", outcome.overdue);
    let due = (outcome.sent + outcome.unsent + outcome.overdue) as f64;
    let expected = outcome.elapsed_ns as f64 / 100.0;
    assert!((due / expected - 1.0).abs() < 0.02, "{due} {expected}");
}

/// Four connections answer 200 requests a second at most. At 400, each request waits longer than
/// the one before, and its latency includes that.
#[test]
fn latency_counts_from_the_time_at_which_a_request_was_due() {
    let server = Server::start(good);
    let model = model();
    let mut plan = plan(
        server.address,
        &model,
        model_at_rate(&model, 400.0, u64::MAX, 3),
        Some(Duration::from_secs(2)),
    );
    plan.connections = 4;
    let outcome = drive(plan, &|| false, &mut |_| {}).unwrap();
    assert!(outcome.unsent > 100, "{}", outcome.unsent);
    assert!(outcome.latency_ns.max() > 500_000_000, "{}", outcome.latency_ns.max());
}

#[test]
fn users_think_and_have_a_connection_for_each_session() {
    let server = Server::start(good);
    let outcome =
        loaded(server.address, |m| model_users(m, 8, false, u64::MAX, 3), Duration::from_secs(1));
    // Eight users without pauses: each is answered every 20 ms.
    assert!((200..=400).contains(&outcome.responses), "{}", outcome.responses);
    assert_eq!(outcome.connections, 8);
    let thoughtful =
        loaded(server.address, |m| model_users(m, 8, true, u64::MAX, 3), Duration::from_secs(1));
    assert!(thoughtful.responses < outcome.responses / 2, "{}", thoughtful.responses);
}

#[test]
fn log_is_replayed_at_its_times_and_at_full_speed() {
    let server = Server::start(good);
    let log = log::read(&text(100)).unwrap();
    let requests: Vec<Replayed> = replayed(&log, 1);
    let model = model();
    for (pace, least) in [
        (log_at_its_times(requests.clone().into_iter(), 10.0), 0.8),
        (log_at_full_speed(requests.into_iter(), 16), 0.1),
    ] {
        let begun = Instant::now();
        let outcome =
            drive(plan(server.address, &model, pace, None), &|| false, &mut |_| {}).unwrap();
        assert_eq!((outcome.responses, outcome.ending), (100, None));
        assert!(begun.elapsed().as_secs_f64() >= least);
    }
}

/// All requests are due at once, and one connection sends them one after the other.
#[test]
fn requests_that_are_due_at_the_end_of_the_log_are_sent() {
    let server = Server::start(good);
    let model = model();
    let log = log::read(&text(30)).unwrap();
    let pace = log_at_its_times(replayed(&log, 1).into_iter(), 1e6);
    let mut plan = plan(server.address, &model, pace, None);
    plan.connections = 1;
    plan.timeout = Duration::from_secs(20);
    let outcome = drive(plan, &|| false, &mut |_| {}).unwrap();
    assert_eq!((outcome.responses, outcome.unsent), (30, 0));
}

/// Users without pauses always wait for a response. So each of three has one that is complete after
/// the end and counts with a share, however late the machine sends and receives.
#[test]
fn last_responses_count_with_the_share_of_their_time() {
    let server = Server::start(|mut stream| {
        while read_request(&mut stream).is_some() {
            thread::sleep(Duration::from_millis(300));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    let model = model();
    let pace = model_users(&model, 3, false, u64::MAX, 3);
    let length = Some(Duration::from_millis(1000));
    let mut plan = plan(server.address, &model, pace, length);
    plan.timeout = LONG;
    let outcome = drive(plan, &|| false, &mut |_| {}).unwrap();
    let (counted, all) = (outcome.responses_in_time, outcome.responses as f64);
    assert!(counted < all && counted > all - 3.0, "{outcome:?}");
    assert!((outcome.bytes_in_time - 5.0 * counted).abs() < 1e-6, "{outcome:?}");
}

#[test]
fn number_of_requests_ends_the_load() {
    let server = Server::start(good);
    for pace in
        [|m: &Model| model_at_rate(m, 500.0, 50, 3), |m: &Model| model_users(m, 4, false, 50, 3)]
    {
        let outcome = loaded(server.address, pace, LONG);
        assert_eq!((outcome.sent, outcome.responses, outcome.ending), (50, 50, None));
    }
}

#[test]
fn server_that_refuses_ends_the_load() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let outcome = loaded(address, |m| model_at_rate(m, 100.0, u64::MAX, 3), LONG);
    assert!(matches!(outcome.ending, Some(Ending::Unreachable(_))), "{outcome:?}");
    assert_eq!(outcome.responses, 0);
}

#[test]
fn server_that_dies_ends_the_load_with_its_responses() {
    // Each connection is closed after its third response, so that the load needs new ones.
    let server = Server::start(|mut stream| {
        for _ in 0..3 {
            read_request(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let address = server.address;
    let dying = thread::spawn(move || {
        while server.accepted.load(Ordering::SeqCst) < 50 {
            thread::sleep(Duration::from_millis(5));
        }
        drop(server);
    });
    let outcome = loaded(address, |m| model_users(m, 4, false, u64::MAX, 3), LONG);
    dying.join().unwrap();
    assert!(outcome.responses >= 100, "{outcome:?}");
    assert!(matches!(outcome.ending, Some(Ending::Unreachable(_))), "{:?}", outcome.ending);
}

#[test]
fn server_that_stalls_ends_the_load() {
    let server = Server::start(stalled);
    for pace in [
        |m: &Model| model_at_rate(m, 100.0, u64::MAX, 3),
        |m: &Model| model_users(m, 4, false, u64::MAX, 3),
    ] {
        let outcome = loaded(server.address, pace, LONG);
        assert_eq!(outcome.ending, Some(Ending::Stalled));
        assert_eq!(outcome.responses, 0);
        assert!(outcome.errors["timeout"] > 0);
    }
}

#[test]
fn server_that_closes_or_babbles_ends_the_load() {
    for (server, kind) in [
        (Server::start(closing), "connection closed"),
        (Server::start(babbling), "malformed response"),
    ] {
        let outcome = loaded(server.address, |m| model_users(m, 4, false, u64::MAX, 3), LONG);
        assert_eq!(outcome.ending, Some(Ending::Failing(kind.to_owned())));
        assert!(outcome.errors[kind] > 1, "{:?}", outcome.errors);
    }
}

/// A connection that the server closed meanwhile is no error of the request that finds it closed.
#[test]
fn closed_idle_connection_is_opened_again() {
    let server = Server::start(impatient);
    let outcome = loaded(
        server.address,
        |m| model_users(m, 2, false, u64::MAX, 3),
        Duration::from_millis(500),
    );
    assert_eq!(outcome.ending, None);
    assert!(outcome.responses > 10, "{outcome:?}");
    let kinds: Vec<&String> = outcome.errors.keys().collect();
    assert_eq!(kinds, ["status 503"]);
    assert!(outcome.connections > 10, "{outcome:?}");
    // Only where the client has not seen the end yet when it sends.
    assert!(outcome.repeated < outcome.responses, "{outcome:?}");
}

/// The second response of each connection ends within its body.
#[test]
fn cut_response_is_a_failure() {
    let server = Server::start(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhel");
    });
    let outcome = loaded(server.address, |m| model_users(m, 1, false, 20, 3), LONG);
    assert_eq!((outcome.responses, outcome.failed, outcome.repeated), (10, 10, 0));
    assert_eq!(outcome.errors["connection closed"], 10);
}

#[test]
fn stop_keeps_what_was_measured() {
    let server = Server::start(good);
    let model = model();
    let plan = plan(server.address, &model, model_at_rate(&model, 100.0, u64::MAX, 3), Some(LONG));
    let responses = Cell::new(0);
    let outcome = drive(plan, &|| responses.get() >= 20, &mut |n| responses.set(n)).unwrap();
    assert_eq!(outcome.ending, Some(Ending::Stopped));
    assert!(outcome.responses >= 20);
    // The last responses are awaited.
    assert_eq!((outcome.responses, outcome.unanswered), (outcome.sent, 0));
}

/// One thread sends what 64 users ask for, and their responses wait in it: this server answers each
/// within microseconds.
#[test]
fn delay_of_this_program_is_measured_with_users() {
    let server = Server::start(|mut stream| {
        let mut request = [0; 1024];
        while stream.read(&mut request).is_ok_and(|length| length > 0) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let pace = |m: &Model| model_users(m, 64, false, u64::MAX, 3);
    let outcome = loaded(server.address, pace, Duration::from_secs(1));
    let median = |of: &Histogram<u64>| of.value_at_quantile(0.5);
    let (late, latency) = (median(&outcome.late_ns), median(&outcome.latency_ns));
    assert!(outcome.late_ns.len() == outcome.responses && 10 * late > latency, "{late} {latency}");
}

/// Answers twenty requests on each connection, and no more.
fn freezing(mut stream: TcpStream) {
    for _ in 0..20 {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
    stalled(stream);
}

#[test]
fn unanswered_requests_of_a_stopped_load_have_no_latency() {
    let server = Server::start(freezing);
    let model = model();
    let plan = Plan {
        timeout: LONG,
        ..plan(server.address, &model, model_users(&model, 4, false, u64::MAX, 3), Some(LONG))
    };
    let responses = Cell::new(0);
    let outcome = drive(plan, &|| responses.get() >= 80, &mut |n| responses.set(n)).unwrap();
    assert_eq!((outcome.responses, outcome.unanswered), (80, 4));
    assert!(outcome.latency_ns_at(0.95).is_some() && outcome.latency_ns_at(0.96).is_none());
}

#[test]
fn origin_has_the_objects_of_the_model() {
    let model = model();
    let latency = Duration::from_millis(30);
    let origin = Origin::open(&model, "127.0.0.1:0".parse().unwrap(), Some(latency), 1).unwrap();
    let address = origin.address().unwrap();
    let asked = thread::spawn(move || {
        let ask = |request: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        (ask("GET /4"), ask("HEAD /4"), ask("GET /none"))
    });
    let begun = Instant::now();
    let served = origin.serve(&|| asked.is_finished());
    let (whole, head, absent) = asked.join().unwrap();
    assert_eq!(served, 3);
    assert!(begun.elapsed() >= 3 * latency);
    let (object, bytes) =
        (0..20).zip(object_sizes(&model)).find(|(o, _)| model.path(*o) == "/4").unwrap();
    let body = "y".repeat(bytes as usize);
    assert!(bytes > 0, "{object}");
    assert!(
        whole.starts_with("HTTP/1.1 200 OK\r\n") && whole.ends_with(&format!("\r\n\r\n{body}")),
        "{whole}"
    );
    let length = format!("content-length: {bytes}");
    assert!(whole.contains(&length) && whole.contains("cache-control: max-age="));
    assert!(head.contains(&length) && head.ends_with("\r\n\r\n"), "{head}");
    assert!(absent.starts_with("HTTP/1.1 404"));
}

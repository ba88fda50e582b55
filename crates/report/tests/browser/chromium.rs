//! A client for headless Chromium that speaks the DevTools protocol over a pipe
//! (<https://chromedevtools.github.io/devtools-protocol/>).
//!
//! The protocol is JSON in both directions with a zero byte after each message. A pipe needs
//! neither a driver program nor a port, which another test could take.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Timeout for an answer. It ends a test that hangs and measures nothing.
const PATIENCE: Duration = Duration::from_secs(600);

/// Names of the program, Debian's first.
const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// No window, no first-run dialog, no network. The sandbox needs rights that containers lack; the
/// browser only opens pages of these tests.
const OPTIONS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
];

/// A running browser with its temporary folder.
pub struct Browser {
    process: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    last: u64,
    /// Events that arrived before an awaited answer.
    events: VecDeque<Value>,
    folder: TempDir,
}

/// The browser that all running tests of this process share.
static SHARED: Mutex<Weak<Mutex<Browser>>> = Mutex::new(Weak::new());

/// The browser that the tests of this process share. Starts it if none is running.
pub fn shared() -> Arc<Mutex<Browser>> {
    let mut shared = lock(&SHARED);
    if let Some(browser) = shared.upgrade() {
        return browser;
    }
    let program = program().unwrap_or_else(|| panic!("none of {PROGRAMS:?} is installed"));
    let browser = Arc::new(Mutex::new(Browser::start(&program)));
    *shared = Arc::downgrade(&browser);
    browser
}

/// Locks a mutex even if another test panicked while it held the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let all = PROGRAMS.iter().flat_map(|p| folders.iter().map(move |f| f.join(p)));
    all.into_iter().find(|path| path.is_file())
}

impl Browser {
    fn start(program: &Path) -> Browser {
        let folder = tempfile::tempdir().unwrap();
        let mut data = std::ffi::OsString::from("--user-data-dir=");
        data.push(folder.path());
        // Chromium reads from descriptor 3 and writes to 4.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "sh"])
            .arg(program)
            .args(OPTIONS)
            .arg(data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = process.stdin.take();
        let from = messages(process.stdout.take().unwrap());
        Browser { process, to, from, last: 0, events: VecDeque::new(), folder }
    }

    /// Sends a command and returns its result.
    pub fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let to = self.to.as_mut().unwrap();
        to.write_all(message.to_string().as_bytes()).unwrap();
        to.write_all(&[0]).unwrap();
        to.flush().unwrap();
        loop {
            let mut message = self.next(method);
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push_back(message);
        }
    }

    /// Waits for an event of a session. Earlier events stay queued.
    pub fn wait(&mut self, session: &str, event: &str) -> Value {
        let mut seen = 0;
        loop {
            while seen == self.events.len() {
                let message = self.next(event);
                self.events.push_back(message);
            }
            let message = &self.events[seen];
            if message["sessionId"] == session && message["method"] == event {
                return self.events.remove(seen).unwrap()["params"].take();
            }
            seen += 1;
        }
    }

    /// All queued events of a session.
    pub fn events(&mut self, session: &str) -> Vec<Value> {
        let all = std::mem::take(&mut self.events).into_iter();
        let (own, others): (Vec<Value>, Vec<Value>) = all.partition(|m| m["sessionId"] == session);
        self.events = others.into();
        own
    }

    /// The folder for pages and downloads.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn next(&mut self, wanted: &str) -> Value {
        let message = self.from.recv_timeout(PATIENCE);
        message.unwrap_or_else(|e| panic!("no answer of the browser to {wanted}: {e}"))
    }
}

impl Drop for Browser {
    /// Closing the pipe ends the browser and its helpers; otherwise it is killed.
    fn drop(&mut self) {
        self.to = None;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(_)) = self.process.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Receives messages on a thread until the browser ends, so that waiting can time out.
fn messages(from: ChildStdout) -> Receiver<Value> {
    let (to, messages) = channel();
    thread::spawn(move || {
        for message in BufReader::new(from).split(0).map_while(Result::ok) {
            let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
            if to.send(message).is_err() {
                break;
            }
        }
    });
    messages
}

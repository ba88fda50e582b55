//! One load, from its first request to its end.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::sleep;

use crate::drive::client::Client;
pub use crate::drive::closed::Users;
use crate::drive::closed::user;
use crate::drive::offered::Offered;
pub use crate::drive::open::TimedRequests;
use crate::drive::open::{Queue, dispatch};
use crate::drive::request::Requests;
use crate::drive::target::Target;
use crate::drive::totals::Ending;
use crate::drive::totals::{Outcome, Totals};

/// The longest interval between two checks whether the load has to end.
const STEP: Duration = Duration::from_millis(20);

/// The longest wait for the last responses of a load that the user stopped.
const AFTER_STOP: Duration = Duration::from_secs(1);

/// When requests are sent.
pub enum Pace {
    /// At their own times.
    Open(TimedRequests),
    /// By this number of users, who wait for each response.
    Closed(usize, Box<dyn Users>),
}

/// A load to send.
pub struct Plan {
    /// The server.
    pub target: Target,
    /// The paths.
    pub requests: Requests,
    /// When requests are sent.
    pub pace: Pace,
    /// Length of the load. `None`: until there are no more requests.
    pub length: Option<Duration>,
    /// Limit on the time of each response.
    pub timeout: Duration,
    /// The most connections of an open load.
    pub connections: usize,
}

/// Sends a load and measures it. `stop` says whether to end early; `progress` gets the number of
/// responses now and then.
///
/// # Errors
/// If the system refuses a timer or an event queue. Faults of the server are part of the outcome.
pub fn drive(
    plan: Plan,
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Outcome> {
    allow_connections();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, run(plan, stop, progress))
}

/// Each connection is an open file. Raises the limit of this process to the greatest that it may
/// set; if that fails, the limit stays, and a connection beyond it is a fault with a reason.
fn allow_connections() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The tasks that send the requests of a load.
enum Senders {
    /// The dispatcher of the requests, until it has ended.
    Open(Rc<Queue>, Option<JoinHandle<io::Result<()>>>),
    Closed(Vec<JoinHandle<()>>),
}

impl Senders {
    fn start(plan: Plan, totals: &Rc<RefCell<Totals>>) -> Senders {
        let Plan { target, requests, timeout, connections, .. } = plan;
        let client = move || Client::new(&target, &requests, timeout);
        match plan.pace {
            Pace::Open(timed) => {
                let queue = Rc::new(Queue::new(timed, connections));
                let task = dispatch(Rc::clone(&queue), Rc::clone(totals), client);
                Senders::Open(queue, Some(spawn_local(task)))
            }
            Pace::Closed(count, users) => {
                let users = Rc::new(RefCell::new(users));
                let start = |_| spawn_local(user(client(), Rc::clone(&users), Rc::clone(totals)));
                Senders::Closed((0..count).map(start).collect())
            }
        }
    }

    /// Whether all requests have been sent. The error is that of the dispatcher.
    async fn are_done(&mut self) -> io::Result<bool> {
        match self {
            Senders::Closed(users) => Ok(users.iter().all(JoinHandle::is_finished)),
            Senders::Open(queue, dispatcher) => {
                // All requests may be due while workers still have to send them, so the result is
                // taken only once.
                if let Some(ended) = dispatcher.take_if(|task| task.is_finished()) {
                    ended.await.map_err(io::Error::other)??;
                }
                Ok(queue.is_done())
            }
        }
    }
}

async fn run(
    plan: Plan,
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Outcome> {
    let (length, timeout) = (plan.length, plan.timeout);
    let totals = Rc::new(RefCell::new(Totals::new(length, timeout)));
    let begun = totals.borrow().begun();
    let mut senders = Senders::start(plan, &totals);
    while !totals.borrow().is_closing() {
        let left = length.map_or(STEP, |length| length.saturating_sub(begun.elapsed()));
        sleep(left.min(STEP)).await;
        if stop() {
            totals.borrow_mut().end(Some(Ending::Stopped));
        }
        if length.is_some_and(|length| begun.elapsed() >= length) {
            totals.borrow_mut().end(None);
        }
        progress(totals.borrow().responses());
        let is_idle = totals.borrow().is_idle();
        if !totals.borrow().is_closing() && senders.are_done().await? && is_idle {
            totals.borrow_mut().complete();
        }
    }
    if let Senders::Open(queue, _) = &senders {
        let overdue = |elapsed, offered: &mut Offered| queue.take_overdue(elapsed, offered);
        totals.borrow_mut().give_up(queue.give_up(), overdue);
    }
    await_last(&totals, timeout).await;
    let totals = totals.replace(Totals::new(None, timeout));
    Ok(totals.finish())
}

/// Waits for the responses to requests that were sent in time, unless the server or this machine
/// ended the load.
async fn await_last(totals: &RefCell<Totals>, timeout: Duration) {
    let longest = match totals.borrow().ending() {
        None => timeout,
        Some(Ending::Stopped) => timeout.min(AFTER_STOP),
        Some(_) => return,
    };
    let until = Instant::now() + longest;
    while !totals.borrow().is_idle() && Instant::now() < until {
        sleep(Duration::from_millis(2)).await;
    }
}

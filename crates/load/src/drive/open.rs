//! Requests at times of their own, whether or not the server has answered earlier ones.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::iter::Peekable;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::{spawn_local, yield_now};

use crate::drive::client::Client;
use crate::drive::closed::ask;
use crate::drive::offered::Offered;
use crate::drive::request::Request;
use crate::drive::timer::Timer;
use crate::drive::totals::Totals;

/// Number of overdue requests after which workers get their turn.
const BATCH: u32 = 16;

/// The longest time in which overdue requests are counted at the end of a load. A rate far beyond
/// this machine may have billions of them; the rest is then estimated.
const COUNTING: Duration = Duration::from_secs(1);

/// Number of overdue requests that are counted between two looks at the clock.
const COUNTED: u64 = 4096;

/// Requests with their times since the start.
pub type TimedRequests = Box<dyn Iterator<Item = (Duration, Request)>>;

/// Requests that become due, and the workers who send them.
pub(crate) struct Queue {
    /// The requests that the dispatcher has not taken yet.
    schedule: RefCell<Peekable<TimedRequests>>,
    /// The requests that wait for a worker.
    due: RefCell<VecDeque<(Instant, Request)>>,
    wake: Notify,
    /// Number of workers that wait for a request.
    idle: Cell<usize>,
    workers: Cell<usize>,
    most_workers: usize,
}

impl Queue {
    pub(crate) fn new(requests: TimedRequests, most_workers: usize) -> Queue {
        Queue {
            schedule: RefCell::new(requests.peekable()),
            due: RefCell::default(),
            wake: Notify::new(),
            idle: Cell::new(0),
            workers: Cell::new(0),
            most_workers,
        }
    }

    /// The time of the next request of the schedule. `None`: it has no more.
    fn next_time(&self) -> Option<Duration> {
        self.schedule.borrow_mut().peek().map(|(after, _)| *after)
    }

    fn next(&self) -> Option<(Duration, Request)> {
        self.schedule.borrow_mut().next()
    }

    /// Whether all requests have been sent.
    pub(crate) fn is_done(&self) -> bool {
        self.next_time().is_none() && self.due.borrow().is_empty()
    }

    /// Drops the requests that wait for a worker, and returns their number.
    pub(crate) fn give_up(&self) -> u64 {
        self.due.borrow_mut().drain(..).count() as u64
    }

    /// Takes the requests of the schedule that were due within `elapsed`: the dispatcher fell
    /// behind. Adds them to `offered`, and returns their number.
    pub(crate) fn take_overdue(&self, elapsed: Duration, offered: &mut Offered) -> u64 {
        let before = offered.requests;
        let begun = Instant::now();
        while let Some(after) = self.next_time() {
            let count = offered.requests - before;
            let is_long = count % COUNTED == COUNTED - 1 && begun.elapsed() > COUNTING;
            if after > elapsed || is_long {
                let rest_s = elapsed.saturating_sub(after).as_secs_f64();
                offered.requests += (offered.rate().unwrap_or(0.0) * rest_s) as u64;
                offered.span_s = elapsed.as_secs_f64();
                break;
            }
            offered.add(after);
            self.next();
        }
        offered.requests - before
    }
}

/// Puts each request into the queue when it is due. The workers are clients that `client` makes.
pub(crate) async fn dispatch(
    queue: Rc<Queue>,
    totals: Rc<RefCell<Totals>>,
    client: impl Fn() -> Client,
) -> io::Result<()> {
    let timer = Timer::new()?;
    let begun = totals.borrow().begun();
    let mut overdue = 0;
    while let Some(after) = queue.next_time() {
        let due = begun + after;
        if due > Instant::now() {
            timer.until(due).await?;
            overdue = 0;
        } else {
            overdue += 1;
            if overdue % BATCH == 0 {
                yield_now().await;
            }
        }
        if totals.borrow().is_closing() {
            break;
        }
        let Some((_, request)) = queue.next() else {
            break;
        };
        totals.borrow_mut().due(after, due.elapsed());
        queue.due.borrow_mut().push_back((due, request));
        let is_short = queue.due.borrow().len() > queue.idle.get();
        if is_short && queue.workers.get() < queue.most_workers {
            queue.workers.set(queue.workers.get() + 1);
            spawn_local(worker(client(), Rc::clone(&queue), Rc::clone(&totals)));
        }
        queue.wake.notify_one();
    }
    Ok(())
}

async fn worker(mut client: Client, queue: Rc<Queue>, totals: Rc<RefCell<Totals>>) {
    loop {
        let next = queue.due.borrow_mut().pop_front();
        let Some((due, request)) = next else {
            queue.idle.set(queue.idle.get() + 1);
            queue.wake.notified().await;
            queue.idle.set(queue.idle.get() - 1);
            continue;
        };
        ask(&mut client, request, due, &totals).await;
    }
}

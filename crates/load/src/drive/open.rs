//! Requests at times of their own, whether or not the server has answered earlier ones.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::{spawn_local, yield_now};

use crate::drive::client::Client;
use crate::drive::closed::ask;
use crate::drive::request::Request;
use crate::drive::timer::Timer;
use crate::drive::totals::Totals;

/// Number of overdue requests after which workers get their turn.
const BATCH: u32 = 16;

/// Requests with their times since the start.
pub type TimedRequests = Box<dyn Iterator<Item = (Duration, Request)>>;

/// Requests that are due, and the workers who send them.
pub(crate) struct Queue {
    due: RefCell<VecDeque<(Instant, Request)>>,
    wake: Notify,
    /// Number of workers that wait for a request.
    idle: Cell<usize>,
    workers: Cell<usize>,
    most_workers: usize,
    /// Whether no more requests become due.
    is_complete: Cell<bool>,
}

impl Queue {
    pub(crate) fn new(most_workers: usize) -> Queue {
        Queue {
            due: RefCell::default(),
            wake: Notify::new(),
            idle: Cell::new(0),
            workers: Cell::new(0),
            most_workers,
            is_complete: Cell::new(false),
        }
    }

    /// Whether all requests have been sent.
    pub(crate) fn is_done(&self) -> bool {
        self.is_complete.get() && self.due.borrow().is_empty()
    }

    /// Drops the requests that are due, and returns their number.
    pub(crate) fn give_up(&self) -> u64 {
        self.due.borrow_mut().drain(..).count() as u64
    }
}

/// Puts each request into the queue when it is due. The workers are clients that `client` makes.
pub(crate) async fn dispatch(
    requests: TimedRequests,
    queue: Rc<Queue>,
    totals: Rc<RefCell<Totals>>,
    client: impl Fn() -> Client,
) -> io::Result<()> {
    let timer = Timer::new()?;
    let begun = totals.borrow().begun();
    let mut overdue = 0;
    for (after, request) in requests {
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
        totals.borrow_mut().late(due.elapsed());
        queue.due.borrow_mut().push_back((due, request));
        let is_short = queue.due.borrow().len() > queue.idle.get();
        if is_short && queue.workers.get() < queue.most_workers {
            queue.workers.set(queue.workers.get() + 1);
            spawn_local(worker(client(), Rc::clone(&queue), Rc::clone(&totals)));
        }
        queue.wake.notify_one();
    }
    queue.is_complete.set(true);
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

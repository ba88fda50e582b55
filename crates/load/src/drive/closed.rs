//! Users who wait for each response, and think before the next request.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::drive::client::Client;
use crate::drive::request::Request;
use crate::drive::totals::Totals;

/// Pause after a failed request, so that a broken server is not asked in a loop.
pub(crate) const AFTER_FAULT: Duration = Duration::from_millis(10);

/// The behaviour of users.
pub trait Users {
    /// The next request. `None`: there are no more.
    fn request(&mut self) -> Option<Request>;
    /// The number of requests of the next session, which has a connection of its own.
    fn session_requests(&mut self) -> u64;
    /// The pause before the next request.
    fn think(&mut self) -> Duration;
}

/// One user, until the load ends or there are no more requests.
pub(crate) async fn user(
    mut client: Client,
    users: Rc<RefCell<Box<dyn Users>>>,
    totals: Rc<RefCell<Totals>>,
) {
    // Users do not begin together.
    think(&users).await;
    loop {
        let requests = users.borrow_mut().session_requests();
        for _ in 0..requests {
            if totals.borrow().is_closing() {
                return;
            }
            let Some(request) = users.borrow_mut().request() else {
                return;
            };
            ask(&mut client, request, Instant::now(), &totals).await;
            think(&users).await;
        }
        client.close();
    }
}

async fn think(users: &RefCell<Box<dyn Users>>) {
    let pause = users.borrow_mut().think();
    if !pause.is_zero() {
        sleep(pause).await;
    }
}

/// Sends a request that was due at `due`, and enters its end into the totals.
pub(crate) async fn ask(
    client: &mut Client,
    request: Request,
    due: Instant,
    totals: &RefCell<Totals>,
) {
    let sent = Instant::now();
    totals.borrow_mut().sent();
    let answer = client.exchange(request, |event| totals.borrow_mut().count(event)).await;
    match answer {
        Ok(answer) => totals.borrow_mut().answered(due, answer),
        Err(fault) => {
            totals.borrow_mut().failed(sent, &fault);
            sleep(AFTER_FAULT).await;
        }
    }
}

//! One connection to the server, which stays open for many requests.

mod arrival;
mod stream;

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Body;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustix::io::Errno;
use tokio::time::timeout;

use crate::drive::request::{Request, Requests};
use crate::drive::target::Target;
use stream::{Received, WatchedStream};

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Bytes of the body.
    pub(crate) bytes: u64,
    /// The time from the arrival of its last bytes at this machine until it was read. `None`: the
    /// kernel does not say it.
    pub(crate) late: Option<Duration>,
}

/// The kind of a fault in [`crate::drive::Outcome::errors`]: the connection was closed early.
pub const CLOSED: &str = "connection closed";

/// The kind of a fault in [`crate::drive::Outcome::errors`]: the response is no HTTP.
pub const MALFORMED: &str = "malformed response";

/// Why a request has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no connection to the server.
    Unreachable(String),
    /// This machine allows no more connections, for this reason.
    Exhausted(String),
    /// The server closed the connection before its response was complete.
    Closed,
    /// The response is no HTTP.
    Malformed,
    /// The response was not complete in time.
    TimedOut,
}

impl Fault {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Fault::Unreachable(_) => "no connection",
            Fault::Exhausted(_) => "no connection, by a limit of this machine",
            Fault::Closed => CLOSED,
            Fault::Malformed => MALFORMED,
            Fault::TimedOut => "timeout",
        }
    }

    fn from_hyper(error: &hyper::Error) -> Fault {
        if error.is_parse() { Fault::Malformed } else { Fault::Closed }
    }

    /// Why there is no new connection.
    fn from_connect(error: &io::Error) -> Fault {
        let limited = |what: &str, limit: &str| {
            Fault::Exhausted(format!("{what} ({error}); `{limit}` is the limit"))
        };
        match Errno::from_io_error(error) {
            Some(Errno::MFILE) => limited("this program may open no more files", "ulimit -Hn"),
            Some(Errno::NFILE) => limited("no program may open more files", "sysctl fs.file-max"),
            Some(Errno::ADDRNOTAVAIL) => {
                limited("no local port is free", "sysctl net.ipv4.ip_local_port_range")
            }
            _ => Fault::Unreachable(error.to_string()),
        }
    }
}

/// An event of a connection while a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A connection was opened.
    Connected,
    /// The request is sent again.
    Repeated,
}

type Driver = Connection<TokioIo<WatchedStream>, Empty<Bytes>>;

/// An open connection.
struct Open {
    sender: SendRequest<Empty<Bytes>>,
    /// Moves the bytes. `None`: it has ended.
    driver: Option<Pin<Box<Driver>>>,
    /// Whether a request was sent over it.
    is_used: bool,
    received: Received,
}

impl Open {
    async fn to(target: &Target) -> io::Result<Open> {
        let stream = target.connect().await?;
        stream.set_nodelay(true)?;
        let received = Received::default();
        let stream = WatchedStream::new(stream, received.clone());
        let (sender, driver) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        Ok(Open { sender, driver: Some(Box::pin(driver)), is_used: false, received })
    }

    async fn exchange(&mut self, request: hyper::Request<Empty<Bytes>>) -> hyper::Result<Answer> {
        let sender = &mut self.sender;
        let exchange = async {
            sender.ready().await?;
            let mut response = sender.send_request(request).await?;
            let mut bytes = 0;
            while let Some(frame) = poll_fn(|cx| Pin::new(response.body_mut()).poll_frame(cx)).await
            {
                bytes += frame?.data_ref().map_or(0, |data| data.len() as u64);
            }
            let late = self.received.arrival().map(since);
            Ok(Answer { status: response.status().as_u16(), bytes, late })
        };
        driven(&mut self.driver, exchange).await
    }
}

/// The time since then, which is a time since 1970.
fn since(arrival: Duration) -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH + arrival).unwrap_or_default()
}

/// Runs `exchange` and the connection that it needs in the same task.
async fn driven<T>(driver: &mut Option<Pin<Box<Driver>>>, exchange: impl Future<Output = T>) -> T {
    let mut exchange = pin!(exchange);
    poll_fn(|cx| {
        if let Poll::Ready(done) = exchange.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        let Some(open) = driver else {
            return Poll::Pending;
        };
        if open.as_mut().poll(cx).is_ready() {
            *driver = None;
            // The end of the connection is an error of the exchange, or its response.
            return exchange.as_mut().poll(cx);
        }
        Poll::Pending
    })
    .await
}

/// A client of the server, with at most one connection.
pub(crate) struct Client {
    target: Target,
    requests: Requests,
    timeout: Duration,
    open: Option<Open>,
}

impl Client {
    pub(crate) fn new(target: &Target, requests: &Requests, timeout: Duration) -> Client {
        Client { target: target.clone(), requests: requests.clone(), timeout, open: None }
    }

    /// Closes the connection: the next request needs a new one.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    /// Sends a request and reads its response. `report` is called for each event.
    pub(crate) async fn exchange(
        &mut self,
        request: Request,
        report: impl Fn(Event),
    ) -> Result<Answer, Fault> {
        let limit = self.timeout;
        match timeout(limit, self.exchange_once_more(request, report)).await {
            Ok(answer) => answer,
            Err(_elapsed) => {
                self.close();
                Err(Fault::TimedOut)
            }
        }
    }

    /// Servers close connections that were idle, while the next request may already be on its way.
    /// Such a request is sent again over a new connection, once, if nothing of its response came.
    async fn exchange_once_more(
        &mut self,
        request: Request,
        report: impl Fn(Event),
    ) -> Result<Answer, Fault> {
        let used = self.open.as_ref().filter(|open| open.is_used);
        let received = used.map(|open| open.received.clone());
        match self.exchange_once(request, &report).await {
            Err(Fault::Closed) if received.is_some_and(|received| received.is_nothing()) => {
                report(Event::Repeated);
                self.exchange_once(request, &report).await
            }
            answer => answer,
        }
    }

    async fn exchange_once(
        &mut self,
        request: Request,
        report: &impl Fn(Event),
    ) -> Result<Answer, Fault> {
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let opened = Open::to(&self.target).await;
                let opened = opened.map_err(|e| Fault::from_connect(&e))?;
                report(Event::Connected);
                none.insert(opened)
            }
        };
        open.received.clear();
        let answer = open.exchange(self.requests.build(request)).await;
        open.is_used = true;
        if answer.is_err() || open.driver.is_none() {
            self.close();
        }
        answer.map_err(|e| Fault::from_hyper(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_this_machine_are_no_faults_of_the_server() {
        let fault = |errno: Errno| Fault::from_connect(&io::Error::from(errno));
        let text = |errno| match fault(errno) {
            Fault::Exhausted(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(text(Errno::MFILE).contains("ulimit -Hn"));
        assert!(text(Errno::ADDRNOTAVAIL).contains("ip_local_port_range"));
        assert!(matches!(fault(Errno::CONNREFUSED), Fault::Unreachable(_)));
    }
}

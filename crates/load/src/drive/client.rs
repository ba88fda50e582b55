//! One connection to the server, which stays open for many requests.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Body;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::drive::request::{Request, Requests};
use crate::drive::target::Target;

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Bytes of the body.
    pub(crate) bytes: u64,
}

/// Why a request has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no connection to the server.
    Unreachable(String),
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
            Fault::Closed => "connection closed",
            Fault::Malformed => "malformed response",
            Fault::TimedOut => "timeout",
        }
    }

    fn from_hyper(error: &hyper::Error) -> Fault {
        if error.is_parse() { Fault::Malformed } else { Fault::Closed }
    }
}

type Driver = Connection<TokioIo<TcpStream>, Empty<Bytes>>;

/// An open connection.
struct Open {
    sender: SendRequest<Empty<Bytes>>,
    /// Moves the bytes. `None`: it has ended.
    driver: Option<Pin<Box<Driver>>>,
    /// Whether a response came over it.
    is_used: bool,
}

impl Open {
    async fn to(target: &Target) -> std::io::Result<Open> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        let (sender, driver) =
            handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)?;
        Ok(Open { sender, driver: Some(Box::pin(driver)), is_used: false })
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
            Ok(Answer { status: response.status().as_u16(), bytes })
        };
        driven(&mut self.driver, exchange).await
    }
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

    /// Sends a request and reads its response. `connected` is called for each connection that is
    /// opened.
    pub(crate) async fn exchange(
        &mut self,
        request: Request,
        connected: impl Fn(),
    ) -> Result<Answer, Fault> {
        let limit = self.timeout;
        match timeout(limit, self.exchange_once_more(request, connected)).await {
            Ok(answer) => answer,
            Err(_elapsed) => {
                self.close();
                Err(Fault::TimedOut)
            }
        }
    }

    /// Servers close connections that were idle. A request over such a connection is sent again
    /// over a new one.
    async fn exchange_once_more(
        &mut self,
        request: Request,
        connected: impl Fn(),
    ) -> Result<Answer, Fault> {
        let was_used = self.open.as_ref().is_some_and(|open| open.is_used);
        match self.exchange_once(request, &connected).await {
            Err(Fault::Closed) if was_used => self.exchange_once(request, &connected).await,
            answer => answer,
        }
    }

    async fn exchange_once(
        &mut self,
        request: Request,
        connected: &impl Fn(),
    ) -> Result<Answer, Fault> {
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let opened = Open::to(&self.target).await;
                let opened = opened.map_err(|e| Fault::Unreachable(e.to_string()))?;
                connected();
                none.insert(opened)
            }
        };
        let answer = open.exchange(self.requests.build(request)).await;
        open.is_used = true;
        if answer.is_err() || open.driver.is_none() {
            self.close();
        }
        answer.map_err(|e| Fault::from_hyper(&e))
    }
}

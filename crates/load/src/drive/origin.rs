//! A server whose objects have the sizes and statuses of a model, and whose answers take the
//! model's time.

mod body;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use crate::model::{Model, Sampler, object_sizes};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, LAST_MODIFIED,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;

use crate::drive::request::encoded;
use body::{Filler, chunk};

/// The interval between two checks whether the origin has to stop.
const STEP: Duration = Duration::from_millis(50);

/// Pause after a connection that could not be accepted, for example because no descriptors are
/// left.
const AFTER_REFUSAL: Duration = Duration::from_millis(10);

/// How long a cache may keep an object.
const FRESH: &str = "max-age=86400";

/// When all objects were last changed: a fixed time, so that caches see the same object each time.
const CHANGED: &str = "Wed, 01 May 2024 00:00:00 GMT";

/// An origin that accepts connections.
pub struct Origin {
    runtime: Runtime,
    listener: TcpListener,
    site: Rc<Site>,
}

/// Why there is no origin: the system refused its port.
#[derive(Debug)]
pub struct OriginError(pub io::Error);

/// The objects.
struct Site {
    /// Size in bytes and status by path or URL, as requests have it.
    objects: HashMap<String, (u64, StatusCode)>,
    sampler: RefCell<Sampler>,
    /// Replaces the model's times.
    latency: Option<Duration>,
    chunk: Bytes,
    served: Cell<u64>,
}

impl Origin {
    /// Opens the port. `latency` replaces the times of the model; without both, the origin answers
    /// at once.
    ///
    /// # Errors
    /// If the port is in use, or the user may not open it.
    pub fn open(
        model: &Model,
        address: SocketAddr,
        latency: Option<Duration>,
        seed: u64,
    ) -> Result<Origin, OriginError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(OriginError)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(OriginError)?;
        let site = Site {
            objects: objects(model),
            sampler: RefCell::new(Sampler::new(model, seed)),
            latency,
            chunk: chunk(),
            served: Cell::new(0),
        };
        Ok(Origin { runtime, listener, site: Rc::new(site) })
    }

    /// The address, with the port that the system chose for port 0.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` says so. Returns the number of responses.
    pub fn serve(self, stop: &dyn Fn() -> bool) -> u64 {
        let local = LocalSet::new();
        local.block_on(&self.runtime, async {
            spawn_local(accept_all(self.listener, Rc::clone(&self.site)));
            while !stop() {
                sleep(STEP).await;
            }
        });
        self.site.served.get()
    }
}

fn objects(model: &Model) -> HashMap<String, (u64, StatusCode)> {
    let each = object_sizes(model).into_iter().zip(&model.objects.statuses).enumerate();
    each.map(|(object, (bytes, status))| (encoded(&model.path(object)), (bytes, answered(*status))))
        .collect()
}

/// The status of an answer to an unconditional request for a whole object.
fn answered(status: u16) -> StatusCode {
    match StatusCode::from_u16(status) {
        Ok(StatusCode::NOT_MODIFIED | StatusCode::PARTIAL_CONTENT) | Err(_) => StatusCode::OK,
        Ok(status) if status.is_informational() => StatusCode::OK,
        Ok(status) => status,
    }
}

async fn accept_all(listener: TcpListener, site: Rc<Site>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(spawn_local(connection(stream, Rc::clone(&site)))),
            Err(_refused) => sleep(AFTER_REFUSAL).await,
        }
    }
}

/// Serves one connection. Its faults are those of the client, and end it alone.
async fn connection(stream: TcpStream, site: Rc<Site>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let service = service_fn(move |request| {
        let site = Rc::clone(&site);
        async move { site.answer(request).await }
    });
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    drop(served);
}

impl Site {
    /// The object of a request, by its path or by its full URL. A proxy sends the URL's host as a
    /// header.
    fn object(&self, request: &Request<Incoming>) -> Option<(u64, StatusCode)> {
        let uri = request.uri();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let by_url = || {
            let header = request.headers().get(HOST)?.to_str().ok();
            let host = uri.authority().map(|host| host.as_str()).or(header)?;
            self.objects.get(&format!("http://{host}{path}"))
        };
        self.objects.get(path).or_else(by_url).copied()
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Filler>, hyper::http::Error> {
        let pause = self.latency.or_else(|| {
            let seconds = self.sampler.borrow_mut().latency_s()?;
            Duration::try_from_secs_f64(seconds).ok()
        });
        if let Some(pause) = pause {
            sleep(pause).await;
        }
        self.served.set(self.served.get() + 1);
        let known = self.object(&request);
        let (bytes, status) = known.unwrap_or((0, StatusCode::NOT_FOUND));
        let has_body = request.method() != Method::HEAD && status != StatusCode::NO_CONTENT;
        let mut response = Response::builder()
            .status(status)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"))
            .header(LAST_MODIFIED, HeaderValue::from_static(CHANGED));
        if status != StatusCode::NO_CONTENT {
            response = response.header(CONTENT_LENGTH, bytes);
        }
        if status == StatusCode::OK {
            response = response.header(CACHE_CONTROL, HeaderValue::from_static(FRESH));
        }
        response.body(Filler::new(if has_body { bytes } else { 0 }, &self.chunk))
    }
}

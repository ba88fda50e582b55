//! A stream that knows when bytes came over it.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::arrival::{receive, stamp_arrivals};

/// The bytes that came over a stream since the last call of `clear`.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    is_something: Rc<Cell<bool>>,
    arrival: Rc<Cell<Option<Duration>>>,
}

impl Received {
    pub(super) fn clear(&self) {
        self.is_something.set(false);
        self.arrival.set(None);
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.is_something.get()
    }

    /// When the last bytes arrived at this machine, since 1970. `None`: the kernel does not say it.
    pub(super) fn arrival(&self) -> Option<Duration> {
        self.arrival.get()
    }
}

/// A stream that keeps a [`Received`].
pub(super) struct WatchedStream {
    stream: TcpStream,
    received: Received,
}

impl WatchedStream {
    pub(super) fn new(stream: TcpStream, received: Received) -> WatchedStream {
        stamp_arrivals(&stream);
        WatchedStream { stream, received }
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let WatchedStream { stream, received } = self.get_mut();
        loop {
            ready!(stream.poll_read_ready(cx))?;
            let into = buffer.initialize_unfilled();
            let read = stream.try_io(Interest::READABLE, || receive(stream, into));
            match read {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
                Err(e) => return Poll::Ready(Err(e)),
                Ok((length, arrival)) => {
                    buffer.advance(length);
                    if length > 0 {
                        received.is_something.set(true);
                        received.arrival.set(arrival);
                    }
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

//! A body of any number of bytes, without memory for them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// Bytes of a frame.
const CHUNK_BYTES: usize = 64 << 10;

/// The bytes of all bodies.
pub(super) fn chunk() -> Bytes {
    Bytes::from(vec![b'y'; CHUNK_BYTES])
}

/// A body that repeats a chunk.
pub(super) struct Filler {
    left: u64,
    chunk: Bytes,
}

impl Filler {
    pub(super) fn new(bytes: u64, chunk: &Bytes) -> Filler {
        Filler { left: bytes, chunk: chunk.clone() }
    }
}

impl Body for Filler {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let length = self.left.min(self.chunk.len() as u64);
        self.left -= length;
        let data = self.chunk.slice(..length as usize);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

//! From the log of a server to a stochastic model of its load, and from the model to requests.
//!
//! Pure: no file, no process, no clock and no printing. All randomness has a seed.

mod buckets;
mod curves;
mod deal;
mod distribution;
mod document;
mod fit;
mod gaps;
mod goodness;
mod locality;
pub mod log;
mod lru_stack;
mod popularity;
mod replay;
mod sample;
mod sessions;
mod sizes;

pub use curves::Curve;
pub use distribution::Distribution;
pub use document::{Marginal, Mix, Model, Objects, Refused, SCHEMA, Sessions, Source};
pub use fit::{FEWEST_REQUESTS, Fitted, Options, Unfit, fit, mix};
pub use goodness::{Compared, LEVEL};
pub use locality::Locality;
pub use log::{FieldChoice, LatencyField, Log, LogFault, LogReader, TookFrom};
pub use popularity::Popularity;
pub use replay::{Replayed, repeated, replayed};
pub use sample::{Drawn, Sampler, object_sizes};
pub use sessions::SessionLength;
pub use sizes::{BodyTail, Sizes};

//! Sends the requests of a model or of a log to an HTTP server, and measures how it answers. Also
//! an origin whose answers follow a model.
//!
//! HTTP/1.1 by `hyper`, on one thread. No command line, no store, no printing.

mod client;
mod closed;
mod of_log;
mod of_model;
mod offered;
mod open;
mod origin;
mod request;
mod session;
mod target;
mod timer;
mod totals;

pub use client::{CLOSED, MALFORMED};
pub use of_log::{log_at_full_speed, log_at_its_times};
pub use of_model::{model_at_rate, model_users};
pub use offered::Offered;
pub use origin::{Origin, OriginError};
pub use request::{Headers, Request, Requests};
pub use session::{Pace, Plan, TimedRequests, Users, drive};
pub use target::Target;
pub use totals::{Ending, Outcome, Window};

//! Traces system calls by programs in the kernel (BPF).

mod calibrate;
mod cost;
mod counted;
mod event;
#[cfg(test)]
mod layout_tests;
mod names;
mod programs;
mod reader;
mod ring;
mod shared;
mod threads;
mod tracer;
mod unavailable;
mod work;

pub use calibrate::attach;
pub use cost::Cost;
pub use event::Event;
pub use names::details;
pub use reader::EventReader;
pub use threads::now_ns;
pub use tracer::Tracer;
pub use unavailable::Unavailable;

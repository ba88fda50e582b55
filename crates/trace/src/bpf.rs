//! Traces system calls by programs in the kernel (BPF).

mod assembler;
mod btf;
mod calibrate;
mod cost;
mod counted;
mod event;
mod kernel;
mod layout;
mod names;
mod programs;
mod reader;
mod ring;
mod threads;
mod tracer;
mod unavailable;
mod work;

pub use calibrate::attach;
pub use cost::Cost;
pub use names::reads;
pub use reader::EventReader;
pub use tracer::Tracer;
pub use unavailable::Unavailable;

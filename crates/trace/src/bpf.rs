//! Traces system calls by programs in the kernel (BPF).

mod assembler;
mod btf;
mod calibrate;
mod event;
mod kernel;
mod layout;
mod names;
mod programs;
mod reader;
mod ring;
mod threads;
mod tracer;

pub use calibrate::attach;
pub use names::reads;
pub use reader::{Cost, EventReader};
pub use threads::{add_this_process, add_thread};
pub use tracer::{Tracer, Unavailable};

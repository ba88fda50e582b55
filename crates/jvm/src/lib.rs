//! Java programs: what calls of the class library cost, and what garbage collection costs.

pub mod gc;
pub mod library;
pub mod run;

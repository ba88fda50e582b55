//! The load of a server: a stochastic model of its log, and requests to a real server.

pub mod drive;
pub mod model;

//! Many machines: the file that is carried to each, the engines that start it there, and the nodes
//! that are slower than their kind.

pub mod bundle;
pub mod launch;
pub mod slow_nodes;

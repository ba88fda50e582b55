//! yamba-stats

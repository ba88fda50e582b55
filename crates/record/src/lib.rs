//! yamba-record

//! yamba-codegen

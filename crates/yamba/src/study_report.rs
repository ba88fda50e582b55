//! Converts a study with its figures for `yamba_report`: as a document, as part of its run's page,
//! and as texts that the terminal output shares.

mod document;
mod page;
pub mod words;

pub use document::document;
pub use page::page;

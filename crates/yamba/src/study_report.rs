//! A study and its figures as `yamba_report` takes them: a document, a part of its run's page, and the words that both share with the terminal.

mod document;
mod page;
pub mod words;

pub use document::document;
pub use page::page;

//! Formats runs as text, pages and charts, with one file per format. It does not measure.

pub mod document;
mod html;
mod markdown;
mod number;
mod place;
mod plot;
mod shell;
mod summary;
mod ticks;

pub use document::Document;
pub use html::{Operation, Study, html};
pub use markdown::markdown;
pub use place::Place;
pub use plot::plots;
pub use shell::command_line;
pub use summary::summary;

//! Runs as text, pages and charts: one file a format. It measures nothing.

mod html;
mod number;

pub use html::html;

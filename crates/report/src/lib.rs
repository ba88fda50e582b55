//! Formats runs as text, pages and charts, with one file per format. It does not measure.

pub mod chart;
mod contention;
pub mod hardware;
mod html;
mod letters;
pub mod markdown;
mod number;
mod percentiles;
mod place;
mod plot;
mod sections;
mod shell;
mod summary;
pub mod terminal;
mod ticks;
mod view;
mod wrap;

pub use contention::{disturbing_share, neighbours_sentence};
pub use html::verdict::share;
pub use html::{MeasuredBar, MissRatios, PredictedBar, PredictedPart, predictions};
pub use html::{Operation, PairVerdict, SideBySide, Study, VerdictKind, html, page};
pub use number::{figure, interval, short, short_label};
pub use percentiles::percentiles;
pub use place::RunLocation;
pub use plot::plots;
pub use sections::sections;
pub use shell::command_line;
pub use summary::summary;
pub use ticks::ends;
pub use view::{HeatMap, Matrix, Part, Section, Span, Table, Text, Tone, View};
pub use wrap::{wrap, wrapped};

//! Formats runs as text, pages and charts, with one file per format. It does not measure.

pub mod chart;
mod contention;
pub mod hardware;
mod html;
mod intervals;
mod left_out;
mod letters;
pub mod markdown;
mod number;
mod place;
mod plot;
mod sections;
mod summary;
pub mod terminal;
mod ticks;
mod view;

pub use contention::{disturbance_sentences, disturbing_share};
pub use html::verdict::share;
pub use html::{
    MeasuredBar, MissRatios, Operation, PairVerdict, PredictedBar, PredictedPart, PredictedTime,
    SideBySide, Study, VerdictKind, html, page, predictions,
};
pub use number::{figure, interval, percentiles, short, short_label, short_name};
pub use place::{RunLocation, command_line};
pub use plot::plots;
pub use sections::sections;
pub use summary::summary;
pub use terminal::{wrap, wrapped};
pub use ticks::ends;
pub use view::{HeatMap, Matrix, Part, Section, Span, Table, Text, Tone, View};

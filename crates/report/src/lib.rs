//! Formats runs as text, pages and charts, with one file per format. It does not measure.

mod contention;
mod html;
mod interval_scope;
pub mod markdown;
mod number;
mod percentiles;
mod place;
mod plot;
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
pub use interval_scope::{BETWEEN_RUNS, has_intervals_between_runs};
pub use number::{counted, figure, interval, listed, short, short_label};
pub use percentiles::percentiles;
pub use place::RunLocation;
pub use plot::{PlainChart, PlainCurve, curves, plots};
pub use shell::command_line;
pub use summary::summary;
pub use ticks::ends;
pub use view::{CurveChart, CurvePoint, HeatMap, Part, Section, Span, Table, Text, Tone, View};
pub use wrap::{wrap, wrapped};

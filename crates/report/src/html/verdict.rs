//! The comparison of two runs side by side. The caller computes it; the page shows it in each row
//! and sums it up.

use maud::{Markup, html as markup};
use yamba_record::Run;

use super::rows::PointRow;

/// Maximum number of differences that the summary lists.
const MOST_LISTED: usize = 12;

/// The comparison of the page's two runs.
#[derive(Clone, Debug, Default)]
pub struct SideBySide {
    /// The numbers of verdicts, in one sentence.
    pub summary: String,
    /// Remarks on the comparison as a whole: reasons of undecided pairs, differences between the
    /// machines.
    pub remarks: Vec<String>,
    /// The verdicts on pairs.
    pub pairs: Vec<PairVerdict>,
}

/// The verdict on one benchmark of both runs.
#[derive(Clone, Debug)]
pub struct PairVerdict {
    /// Indices of the entries in the first and the second run.
    pub entries: [usize; 2],
    /// Second divided by first.
    pub ratio: Option<f64>,
    /// The confidence interval of the ratio.
    pub confidence_interval: Option<[f64; 2]>,
    pub kind: VerdictKind,
    /// The verdict in words; for an undecided pair the reason.
    pub word: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// The second run is slower, or seems so.
    Slower,
    /// The second run is faster, or seems so.
    Faster,
    /// The figures differ, but neither direction is better.
    Differs,
    /// No difference is shown.
    Same,
    /// There is too little to compare.
    Undecided,
}

impl VerdictKind {
    /// The class of its text in the page.
    pub(crate) fn class(self) -> &'static str {
        match self {
            VerdictKind::Slower => "slower",
            VerdictKind::Faster => "faster",
            VerdictKind::Differs => "differs",
            VerdictKind::Same => "same",
            VerdictKind::Undecided => "undecided",
        }
    }

    fn is_difference(self) -> bool {
        matches!(self, VerdictKind::Slower | VerdictKind::Faster | VerdictKind::Differs)
    }
}

impl SideBySide {
    /// The verdict on a row. `None` if it is not a pair.
    pub(crate) fn verdict(&self, runs: &[Run], row: &PointRow) -> Option<&PairVerdict> {
        let [Some(a), Some(b)] = row.entries[..] else {
            return None;
        };
        let is_it = |pair: &&PairVerdict| {
            let [x, y] = pair.entries;
            let entry = |run: usize, at: usize| runs[run].benchmarks.get(at);
            entry(0, x).is_some_and(|x| std::ptr::eq(x, a))
                && entry(1, y).is_some_and(|y| std::ptr::eq(y, b))
        };
        self.pairs.iter().find(is_it)
    }
}

/// `0.983 [0.951, 1.02]`
pub(crate) fn ratio_text(verdict: &PairVerdict) -> Option<String> {
    let ratio = share(verdict.ratio?);
    Some(match verdict.confidence_interval {
        Some([low, high]) => format!("{ratio} [{}, {}]", share(low), share(high)),
        None => ratio,
    })
}

/// Formats a ratio. Two launches far apart can leave it completely open; beyond a factor of 1000
/// only the limit is shown.
pub fn share(ratio: f64) -> String {
    match ratio {
        r if r < 0.001 => "<0.001".to_owned(),
        r if r > 1000.0 => ">1000".to_owned(),
        r if (0.1..100.0).contains(&r) => format!("{r:.3}"),
        r => yamba_record::number::number(r),
    }
}

/// The section that sums up the differences.
pub(crate) fn section(runs: &[Run], rows: &[&PointRow], of: &SideBySide) -> Markup {
    let mut differing: Vec<(&PointRow, &PairVerdict)> = rows
        .iter()
        .filter_map(|row| Some((*row, of.verdict(runs, row)?)))
        .filter(|(_, verdict)| verdict.kind.is_difference())
        .collect();
    let size = |verdict: &PairVerdict| verdict.ratio.map_or(0.0, |r| r.ln().abs());
    differing.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    let more = differing.len().saturating_sub(MOST_LISTED);
    markup! {
        section aria-labelledby="differences" {
            h2 #differences { "What differs between A and B?" }
            p.counts { strong { (of.summary) } }
            @for remark in &of.remarks { p.prose { (remark) } }
            @if !differing.is_empty() {
                ul.differences {
                    @for (row, verdict) in differing.iter().take(MOST_LISTED) {
                        li {
                            a href={ "#entry-" (row.place) } { (row.name) @if !row.settings.is_empty() { " " (row.short_point()) } }
                            ": " span.verdict.(verdict.kind.class()) { (verdict.word) }
                            @if let Some(text) = ratio_text(verdict) { ", B/A " (text) }
                        }
                    }
                    @if more > 0 { li { (more) " more, in the tables below" } }
                }
            }
        }
    }
}

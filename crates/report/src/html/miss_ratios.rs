//! The miss-ratio curve of a page cache as a figure with its table: curves over the size of the
//! cache, and measured points.

use maud::{Markup, html as markup};
use yamba_record::number::{bytes, number};

use crate::ticks::{LogAxis, ends};

/// The size of the drawing and of the margin for its labels, in units of the drawing.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 48.0;

/// Miss ratios of the page cache by its size.
#[derive(Clone, Debug, Default)]
pub struct MissRatios {
    pub application: String,
    /// Size in bytes and share of misses, of an ideal LRU cache without read-ahead, in ascending
    /// order of sizes.
    pub lru: Vec<(u64, f64)>,
    /// The miss ratios of the simulated page cache of Linux.
    pub linux: Vec<(u64, f64)>,
    pub measured: Vec<(u64, f64)>,
}

impl MissRatios {
    fn sizes(&self) -> impl Iterator<Item = f64> + Clone {
        let all = self.lru.iter().chain(&self.linux).chain(&self.measured);
        all.map(|(bytes, _)| *bytes as f64)
    }
}

/// The figure. Empty without a size.
pub(super) fn figure(of: &MissRatios) -> Markup {
    if of.sizes().next().is_none() {
        return markup! {};
    }
    let (low, high) = ends(of.sizes());
    let axis = LogAxis::binary(low, high);
    let place = |(bytes, ratio): (f64, f64)| {
        let [low, high] = axis.range.map(f64::log2);
        let x = (bytes.log2() - low) / (high - low);
        (MARGIN + x * (WIDTH - 2.0 * MARGIN), HEIGHT - MARGIN + ratio * (2.0 * MARGIN - HEIGHT))
    };
    let points = |all: &[(u64, f64)]| {
        let each = all.iter().map(|(bytes, ratio)| (*bytes as f64, *ratio));
        each.map(place).collect::<Vec<_>>()
    };
    markup! {
        figure.misses {
            figcaption {
                "Share of the pages that miss the page cache, by its size: " (of.application) ". "
                "The solid line is the simulated page cache of Linux, the dashed one an ideal LRU cache without read-ahead"
                @if of.measured.is_empty() { "." } @else { "; crosses are measured." }
            }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "Miss ratios of " (of.application) ", as in the table below" } {
                @for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    @let (x, y) = place((axis.range[0], share));
                    line.grid x1=(x) x2=(WIDTH - MARGIN) y1=(y) y2=(y) {}
                    text.share x=(x - 6.0) y=(y) { (100.0 * share) " %" }
                }
                @for (size, _) in &axis.ticks {
                    @let (x, y) = place((*size, 0.0));
                    line.grid x1=(x) x2=(x) y1=(y) y2=(y + 5.0) {}
                    text.size x=(x) y=(y + 20.0) { (bytes(*size as u64)) }
                }
                polyline.lru points=(path(&points(&of.lru))) {}
                polyline.linux points=(path(&points(&of.linux))) {}
                @for (x, y) in points(&of.linux) { circle cx=(short(x)) cy=(short(y)) r="3" {} }
                @for (x, y) in points(&of.measured) { path d={ "M" (short(x - 5.0)) " " (short(y - 5.0)) "l10 10m0 -10l-10 10" } {} }
            }
            (table(of))
        }
    }
}

fn short(value: f64) -> String {
    format!("{value:.1}")
}

fn path(points: &[(f64, f64)]) -> String {
    let each = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
    each.collect::<Vec<_>>().join(" ")
}

/// The sizes that were simulated or measured.
fn table(of: &MissRatios) -> Markup {
    let mut sizes: Vec<u64> = of.linux.iter().chain(&of.measured).map(|p| p.0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |all: &[(u64, f64)], size: u64| {
        let found = all.iter().find(|(bytes, _)| *bytes == size);
        found.map_or(String::new(), |(_, ratio)| format!("{} %", number(100.0 * ratio)))
    };
    markup! {
        table {
            caption { "Misses of " (of.application) }
            thead { tr {
                th scope="col" { "page cache" } th scope="col" { "Linux, simulated" } th scope="col" { "ideal LRU" }
                @if !of.measured.is_empty() { th scope="col" { "measured" } }
            } }
            tbody {
                @for size in sizes {
                    tr {
                        th scope="row" { (bytes(size)) }
                        td.number { (at(&of.linux, size)) }
                        td.number { (at(&of.lru, size)) }
                        @if !of.measured.is_empty() { td.number { (at(&of.measured, size)) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_measured_points_share_the_axes() {
        let of = MissRatios {
            application: "a<b".to_owned(),
            lru: vec![(1 << 20, 1.0), (1 << 22, 0.0)],
            linux: vec![(1 << 20, 0.5), (1 << 22, 0.0)],
            measured: vec![(1 << 21, 0.25)],
        };
        let drawn = figure(&of).into_string();
        // The first size is at the left end, the last one at the right end; 1.0 is at the top, 0 at
        // the bottom.
        assert!(drawn.contains(r#"class="lru" points="48.0,48.0 592.0,212.0""#), "{drawn}");
        assert!(drawn.contains(r#"class="linux" points="48.0,130.0 592.0,212.0""#), "{drawn}");
        // Half of the logarithmic way, a quarter of the height: 320 and 171.
        assert!(drawn.contains(r#"d="M315.0 166.0l"#), "{drawn}");
        assert!(drawn.contains("a&lt;b") && drawn.contains("2 MiB"));
        assert_eq!(drawn.matches("25 %").count(), 2, "the axis and the table");
        assert_eq!(figure(&MissRatios::default()).into_string(), "");
    }
}
